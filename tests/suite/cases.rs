//! Directives: what a case file says about itself in comments at its beginning.
//!
//! `// arch: sm_75 sm_90` architectures (default sm_90); `// cdp: 1`; `// abi: all` or names;
//! `// bits: 32 64`; `// function: NAME ...` what a snapshot shows; `// flags: ...` words for cdpc;
//! `// skip: nvcc: REASON` leaves an oracle out, a line for each; `// warns: W0712` a warning that the case deserves;
//! `// fault: KIND` the kind of report that the case deserves; `// needs: HEADER` a header that not every toolkit has.

use std::path::Path;

use cdp::{AddressSize, Arch, CdpVersion, CompileOptions, LaunchAbi};
use libtest_mimic::Failed;

use crate::support::read;

#[derive(Clone, Debug, Default)]
pub struct Directives {
    lines: Vec<(String, String)>,
}

impl Directives {
    pub fn of(path: &Path) -> Result<Directives, Failed> {
        Ok(Directives::parse(&read(path)?))
    }

    fn parse(text: &str) -> Directives {
        let lines = text
            .lines()
            .take(20)
            .filter_map(|line| line.strip_prefix("// ")?.split_once(':'))
            .filter(|(key, _)| {
                matches!(
                    *key,
                    "arch"
                        | "cdp"
                        | "abi"
                        | "bits"
                        | "function"
                        | "flags"
                        | "skip"
                        | "warns"
                        | "fault"
                        | "needs"
                )
            })
            .map(|(key, value)| (key.to_string(), value.trim().to_string()))
            .collect();
        Directives { lines }
    }

    /// The words of all lines with this key.
    pub fn words(&self, key: &str) -> Vec<&str> {
        let of_key = self.lines.iter().filter(|(found, _)| found == key);
        of_key.flat_map(|(_, value)| value.split_whitespace()).collect()
    }

    pub fn archs(&self) -> Result<Vec<Arch>, Failed> {
        let words = self.words("arch");
        if words.is_empty() {
            return Ok(vec![Arch::SM_90]);
        }
        words.iter().map(|word| Arch::parse(word).map_err(|e| e.to_string().into())).collect()
    }

    pub fn cdp(&self) -> Option<CdpVersion> {
        match self.words("cdp").first() {
            Some(&"1") => Some(CdpVersion::Cdp1),
            Some(_) => Some(CdpVersion::Cdp2),
            None => None,
        }
    }

    /// The ABIs asked for; empty for the automatic choice.
    pub fn abis(&self) -> Vec<LaunchAbi> {
        let words = self.words("abi");
        LaunchAbi::ALL
            .into_iter()
            .filter(|abi| words.contains(&"all") || words.contains(&abi.name()))
            .collect()
    }

    pub fn address_sizes(&self) -> Vec<AddressSize> {
        let words = self.words("bits");
        let sizes = [("64", AddressSize::Bits64), ("32", AddressSize::Bits32)];
        let chosen: Vec<_> =
            sizes.iter().filter(|(name, _)| words.contains(name)).map(|(_, size)| *size).collect();
        if chosen.is_empty() { vec![AddressSize::Bits64] } else { chosen }
    }

    /// Options for one architecture.
    pub fn options(&self, arch: Arch) -> CompileOptions {
        // What other families look at are launches; the family `launches` looks at every level.
        CompileOptions::default().with(|options| {
            options.archs = vec![arch];
            options.cdp = self.cdp();
            options.launch_opt = cdp::LaunchOpt::Off;
        })
    }

    /// Whether an oracle is left out. The reason may name the other one, so only what precedes its
    /// colon counts.
    pub fn skips(&self, oracle: &str) -> bool {
        let values = self.lines.iter().filter(|(key, _)| key == "skip").map(|(_, value)| value);
        values
            .filter_map(|value| value.split(':').next())
            .any(|names| names.split_whitespace().any(|name| name == oracle))
    }
}
