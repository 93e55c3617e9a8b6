//! Whatever the PTX does, the process survives: damaged texts are refused or run to a report, and
//! no kernel reaches memory that is not its own.

mod common;

use std::time::Duration;

use cdp_emulator::{Completion, Config, Emulator, Launch, Source, StreamId};
use common::config;

const TEXTS: [&str; 4] = [
    include_str!("ptx/hello.ptx"),
    include_str!("ptx/launch.ptx"),
    include_str!("ptx/warp.ptx"),
    include_str!("ptx/faults.ptx"),
];

fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    *state >> 33
}

/// Loads a text and runs each of its kernels with odd parameters and tight bounds.
fn survive(text: &str, state: &mut u64) {
    let config = Config {
        max_instructions: Some(300_000),
        timeout: Some(Duration::from_secs(2)),
        reserve_bytes: 256 << 20,
        memory_bytes: 64 << 20,
        schedule_seed: next(state).is_multiple_of(2).then_some(1),
        ..config()
    };
    let mut device = Emulator::new(config).expect("address space");
    let Ok(module) = device.load(&[Source { name: "damaged.ptx", text }]) else { return };
    for kernel in device.kernels(module) {
        let size = device.kernel_info(kernel).expect("kernel").param_bytes as usize;
        let params: Vec<u8> = (0..size)
            .map(|_| if next(state).is_multiple_of(3) { next(state) as u8 } else { 0 })
            .collect();
        let launch = Launch {
            kernel,
            grid: [1 + next(state) as u32 % 3, 1, 1],
            block: [1 + next(state) as u32 % 70, 1, 1],
            shared_bytes: next(state) as u32 % 512,
            stream: StreamId::NULL,
            params: &params,
            cooperative: false,
            programmatic: false,
            cluster: None,
        };
        if device.launch(&launch).is_err() {
            continue;
        }
        if let Ok(Completion::Faulted(report)) = device.synchronize() {
            // Every report can be shown.
            assert!(!report.to_string().is_empty());
            return;
        }
    }
}

/// Changes a text in one of several ways that keep most of it PTX.
fn damage(text: &str, state: &mut u64) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    for _ in 0..1 + next(state) % 3 {
        let at = next(state) as usize % lines.len();
        let other = next(state) as usize % lines.len();
        match next(state) % 6 {
            0 => {
                lines.remove(at);
            }
            1 => lines.swap(at, other),
            2 => {
                let copy = lines[at].clone();
                lines.insert(other, copy);
            }
            3 => {
                // Another register, offset or constant.
                let line = lines[at].clone();
                let digits: Vec<usize> = line
                    .bytes()
                    .enumerate()
                    .filter(|(_, b)| b.is_ascii_digit())
                    .map(|(i, _)| i)
                    .collect();
                if let Some(&digit) = digits.get(next(state) as usize % digits.len().max(1)) {
                    let new = (b'0' + (next(state) % 10) as u8) as char;
                    lines[at].replace_range(digit..=digit, &new.to_string());
                }
            }
            4 => {
                let from = [
                    "u32", "s32", "b64", "f32", "global", "local", "shared", "param", "lt", "eq",
                    "add", "ld",
                ];
                let to = [
                    "s64", "u16", "b32", "f64", "shared", "global", "local", "const", "ge", "ne",
                    "sub", "st",
                ];
                let pick = next(state) as usize % from.len();
                lines[at] = lines[at].replace(from[pick], to[next(state) as usize % to.len()]);
            }
            _ => {
                let line = lines[at].clone();
                let cut = next(state) as usize % (line.len() + 1);
                if line.is_char_boundary(cut) {
                    lines[at].truncate(cut);
                }
            }
        }
        if lines.is_empty() {
            break;
        }
    }
    lines.join("\n")
}

#[test]
fn damaged_texts_do_no_harm() {
    let rounds = std::env::var("CDP_FUZZ_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(300);
    let mut state = std::env::var("CDP_FUZZ_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    for round in 0..rounds {
        let text = damage(TEXTS[round % TEXTS.len()], &mut state);
        survive(&text, &mut state);
    }
}
