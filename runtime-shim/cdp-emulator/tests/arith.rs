//! Every arithmetic instruction on 4096 operand triples, against what an H200 computed.
//!
//! `data/expected.txt` has a checksum of the H200's results for each line of
//! `data/instructions.txt` (made by `examples/crosscheck`). Approximations are not in it, and
//! neither is `vadd.u32.u32.u32.sat`, which wraps there although the manual says that it saturates.

mod common;
#[path = "common/instructions.rs"]
mod instructions;

use cdp_emulator::{Config, Emulator, Launch, Source, StreamId};
use common::config;
use instructions::{COUNT, lines, module, operands};

fn checksum(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3))
}

#[test]
fn results_are_those_of_the_hardware() {
    let lines = lines();
    let mut device = Emulator::new(Config { ..config() }).unwrap();
    let text = module(&lines);
    let module = device.load(&[Source { name: "arith.ptx", text: &text }]).unwrap();
    let input = device.alloc(COUNT as u64 * 24).unwrap();
    let output = device.alloc(COUNT as u64 * 8).unwrap();
    let _ = device.copy_to_device(input, &operands(), StreamId::NULL).unwrap();
    let params: Vec<u8> = [input, output].iter().flat_map(|p| p.to_le_bytes()).collect();
    let mut wrong = Vec::new();
    let mut checked = 0;
    for expected in include_str!("data/expected.txt").lines() {
        let (sum, line) = expected.split_once(' ').unwrap();
        let index = lines.iter().position(|l| *l == line).unwrap();
        let kernel = device.kernel(module, &format!("k{index}")).unwrap();
        let launch = Launch {
            kernel,
            grid: [COUNT as u32 / 128, 1, 1],
            block: [128, 1, 1],
            shared_bytes: 0,
            stream: StreamId::NULL,
            params: &params,
            cooperative: false,
            programmatic: false,
            cluster: None,
        };
        device.launch(&launch).unwrap();
        let mut bytes = vec![0; COUNT * 8];
        let _ = device.copy_from_device(&mut bytes, output, StreamId::NULL).unwrap();
        assert!(device.fault().is_none(), "{line}: {:?}", device.fault());
        if format!("{:016x}", checksum(&bytes)) != sum {
            wrong.push(line);
        }
        checked += 1;
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(checked > 750, "{checked}");
}
