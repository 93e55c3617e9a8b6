//! What `cdpc build ... --report json` prints: one JSON object about one program. This is the schema
//! that the demo and the benchmarks read; `cdpc` writes it.

use serde::Deserialize;

/// The whole report.
#[derive(Debug, Deserialize)]
pub struct BuildReport {
    /// Every kernel of the cubin that the program defines, in source order.
    pub kernels: Vec<Kernel>,
    /// Every launch, in source order.
    pub launches: Vec<Launch>,
    /// Size of the linked cubin.
    pub cubin_bytes: u64,
    /// Where the time went.
    pub seconds: Seconds,
}

/// A kernel as it lies in the cubin.
#[derive(Debug, Deserialize)]
pub struct Kernel {
    /// Its name in the source.
    pub name: String,
    /// Its symbol in the cubin.
    pub symbol: String,
    /// Registers a thread, read back from the cubin.
    pub registers: Option<u32>,
    /// Static shared memory a block, read back from the cubin.
    pub shared_bytes: Option<u64>,
    /// Parameters in order.
    pub params: Vec<Param>,
    /// The whole parameter buffer.
    pub buffer_bytes: u32,
}

/// A parameter and its place in the buffer.
#[derive(Debug, Deserialize)]
pub struct Param {
    /// Position from 0.
    pub ordinal: u32,
    /// Its name in the source; empty for an unnamed one.
    pub name: String,
    /// Its type, as in the source.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Offset in the buffer, in bytes.
    pub offset: u32,
    /// Size in bytes.
    pub size: u32,
    /// Alignment in bytes.
    pub align: u32,
}

/// A launch expression.
#[derive(Debug, Deserialize)]
pub struct Launch {
    /// The function that launches.
    pub parent: String,
    /// Whether device code launches; host code may be part of the program too.
    pub from_device: bool,
    /// The kernel launched.
    pub child: String,
    /// The grid expression as text.
    pub grid: String,
    /// The block expression as text.
    pub block: String,
    /// The dynamic shared memory expression, empty when left out.
    pub shared: String,
    /// The stream expression, empty when left out.
    pub stream: String,
}

/// Wall time by stage, in seconds.
#[derive(Debug, Deserialize)]
pub struct Seconds {
    /// Preprocessing, parsing, checking and lowering to our IR.
    pub frontend: f64,
    /// LLVM, to PTX.
    pub llvm: f64,
    /// ptxas.
    pub ptxas: f64,
    /// nvlink.
    pub nvlink: f64,
    /// All of it.
    pub total: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_schema() {
        let text = r#"{ "kernels": [{ "name": "child", "symbol": "_Z5childPi", "registers": 10, "shared_bytes": 0,
            "params": [{ "ordinal": 0, "name": "p", "type": "int *", "offset": 0, "size": 8, "align": 8 }],
            "buffer_bytes": 8 }],
            "launches": [{ "parent": "parent", "from_device": true, "child": "child", "grid": "1", "block": "32", "shared": "", "stream": "" }],
            "cubin_bytes": 200000,
            "seconds": { "frontend": 0.001, "llvm": 0.004, "ptxas": 0.03, "nvlink": 0.012, "total": 0.05 } }"#;
        let report: BuildReport = serde_json::from_str(text).unwrap();
        assert_eq!(
            (report.kernels[0].params[0].type_name.as_str(), report.launches[0].child.as_str()),
            ("int *", "child")
        );
    }
}
