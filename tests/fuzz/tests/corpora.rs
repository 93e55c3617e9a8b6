//! Every file of the corpora through its target, by the stable toolchain and without libFuzzer; and every file once
//! more damaged.

use std::path::{Path, PathBuf};

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries =
        std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files
}

/// A few bytes are others and some are gone: a fixed way for each file.
fn damaged(data: &[u8]) -> Vec<u8> {
    let mut state = data.len() as u64 + 1;
    let mut next = |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below.max(1)
    };
    let mut damaged = data.to_vec();
    for _ in 0..3 {
        let (at, from) = (next(damaged.len()), next(damaged.len()));
        if let Some(&byte) = damaged.get(from) {
            damaged[at] = byte ^ (next(2) as u8);
        }
        let (at, count) = (next(damaged.len()), next(4));
        damaged.drain(at..(at + count).min(data.len()).min(at + damaged[at..].len()));
    }
    damaged
}

/// One test for all: the process has one panic hook.
#[test]
fn every_target_takes_its_corpus() {
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let mut bytes = 0;
    for target in cdp_fuzz::TARGETS {
        let files = files(&corpora.join(target.name));
        assert!(files.len() >= 3, "{}: a corpus of {} files", target.name, files.len());
        for file in files {
            let data = std::fs::read(&file).expect("a file of a corpus");
            bytes += data.len();
            println!("{}", file.display());
            cdp_fuzz::run(target.name, &data);
            cdp_fuzz::run(target.name, &damaged(&data));
        }
    }
    assert!(bytes < 300_000, "corpora are small, and these have {bytes} bytes");
    let folders = files(&corpora).len();
    assert_eq!(folders, cdp_fuzz::TARGETS.len(), "a folder for each target");
}

#[test]
fn targets_are_programs() {
    let manifest = include_str!("../Cargo.toml");
    for target in cdp_fuzz::TARGETS {
        assert!(manifest.contains(&format!("name = \"{}\"", target.name)), "{}", target.name);
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("targets/{}.rs", target.name));
        let program = std::fs::read_to_string(&path).expect("its program");
        assert!(program.contains(&format!("run(\"{}\"", target.name)), "{program}");
    }
}
