//! What command lines mean.

use super::*;

fn parse(line: &str) -> Build {
    let words = normalise(line.split_whitespace().map(OsString::from)).unwrap();
    match Cli::try_parse_from(words).map(|cli| cli.command) {
        Ok(Command::Build(build)) => build,
        other => panic!("{other:?}"),
    }
}

#[test]
fn lines_without_a_verb_are_builds_as_nvccs() {
    let words = |line: &str| line.split_whitespace().map(OsString::from).collect::<Vec<_>>();
    let with_verb = |line: &str| Cli::with_verb(words(line));
    for line in ["-m32 hello.cdp", "hello.cdp -o hello", "--ptx a.cu"] {
        let made = with_verb(&format!("cdpc {line}"));
        assert_eq!(made, words(&format!("cdpc build --as-nvcc {line}")), "{line}");
    }
    for line in ["cdpc", "cdpc -V", "cdpc --help", "cdpc help run", "cdpc build -m32", "cdpc biuld"]
    {
        assert_eq!(with_verb(line), words(line), "{line}");
    }
}

#[test]
fn intermediate_files_are_kept_here_where_no_folder_is_named() {
    for line in ["--keep a.cu -o a", "a.cu --keep", "--keep -c a.cu", "-keep a.cu"] {
        let build = parse(&format!("cdpc build {line}"));
        assert_eq!(build.keep, Some(".".into()), "{line}");
        assert_eq!(build.inputs, [PathBuf::from("a.cu")], "{line}");
    }
    let build = parse("cdpc build --keep there a.cu");
    assert_eq!((build.keep, build.inputs), (Some("there".into()), vec!["a.cu".into()]));
}

#[test]
fn levels_above_the_highest_are_the_highest() {
    for line in ["-O4", "-O 4", "-O9", "--optimize=4", "-optimize 4"] {
        let build = parse(&format!("cdpc build {line} a.cu"));
        assert_eq!(build.source.opt_level, Some(3), "{line}");
    }
}

#[test]
fn levels_of_gcc() {
    for (line, level) in [("-Os", 2), ("-Oz", 2), ("-Og", 1), ("-O s", 2)] {
        let build = parse(&format!("cdpc build {line} a.cu"));
        assert_eq!(build.source.opt_level, Some(level), "{line}");
    }
    for (line, cure) in [("-Ofast", "write `-O3 --use-fast-math`"), ("-Ox", "levels are 0 to 3")] {
        let words = format!("cdpc build {line} a.cu");
        let error = Cli::try_parse_from(words.split(' ')).unwrap_err().to_string();
        assert!(error.contains(cure), "{line}: {error}");
    }
}

#[test]
fn nvcc_lines_carry_over() {
    let build = parse("cdpc build -arch=sm_75 -rdc=true hello.cu -o hello -lcudadevrt");
    assert_eq!(build.source.arch, ["sm_75"]);
    assert_eq!(build.source.cudadevrt, "always");
    assert_eq!(build.output.as_deref(), Some("hello".as_ref()));

    let build = parse("cdpc build -dc -Iinc -DN=3 -UM -O2 -m32 -maxrregcount 32 -Xptxas -v a.cdp");
    assert!(build.compile_only);
    assert_eq!(build.source.include_dirs, [PathBuf::from("inc")]);
    assert_eq!(build.source.defines, ["N=3"]);
    assert_eq!(build.source.opt_level, Some(2));
    assert_eq!(build.source.address_size, 32);
    assert_eq!(build.maxrregcount, Some(32));
    assert_eq!(build.xptxas, ["-v"]);
    let build = parse(
        "cdpc build -t4 -E -isystem sys -Wall -shared -ccbin g++ -Xptxas -v,-O1 -res-usage a.cdp",
    );
    assert_eq!((build.source.threads, build.preprocess, build.shared), (4, true, true));
    assert_eq!(build.source.system_dirs, [PathBuf::from("sys")]);
    assert_eq!(build.xptxas, ["-v", "-O1"]);
    assert!(build.resource_usage && build.host.ccbin == Some("g++".into()));
}

#[test]
fn dependency_options_of_gcc() {
    let build = parse("cdpc build -MMD -MP -MFa.d -MTname a.cdp -O3 -O0 -o a -o b.cubin");
    assert!(build.md && build.mp && !build.m);
    assert_eq!(build.mf.as_deref(), Some("a.d".as_ref()));
    assert_eq!(build.mt.as_deref(), Some("name".as_ref()));
    // Of options with one value the last counts.
    assert_eq!((build.source.opt_level, build.output), (Some(0), Some("b.cubin".into())));
    let build = parse("cdpc build -MM -MF a.d a.cdp --arch sm_80 --arch sm_90 -DA -DB");
    assert!(build.m && !build.md && build.mf.is_some());
    assert_eq!((build.source.arch.len(), build.source.defines.len()), (2, 2));
}

#[test]
fn architectures_come_as_lists_and_as_gencode() {
    let build = parse("cdpc build --arch sm_75,sm_90 a.cdp");
    assert_eq!(build.source.arch, ["sm_75", "sm_90"]);
    let build = parse("cdpc build -gencode arch=compute_80,code=sm_86 a.cdp");
    assert_eq!(build.source.arch, ["sm_86"]);
}
