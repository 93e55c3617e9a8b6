//! The normal form of PTX from the command line, and the recipes of `compiler/docs/snapshots.md`, each
//! run as it stands there.

use std::process::Command;
use std::time::Duration;

use libtest_mimic::{Failed, Trial};

use crate::support::{Outcome, cdpc, read, root, run_limited, same, trial};

const LIMIT: Duration = Duration::from_secs(120);

pub fn trials() -> Vec<Trial> {
    let tests: [(&str, fn() -> Outcome); 4] = [
        ("command_line", command_line),
        ("shell_recipe", shell),
        ("filecheck_recipe", file_check),
        ("pytest_recipe", pytest),
    ];
    tests.into_iter().map(|(name, test)| trial(format!("normal_form::{name}"), test)).collect()
}

/// The first block of a language in the page.
fn block(language: &str) -> Result<String, Failed> {
    let page = read(&root().join("compiler/docs/snapshots.md"))?;
    let (_, rest) = page.split_once(&format!("```{language}\n")).ok_or("no such block")?;
    Ok(rest.split_once("```").ok_or("a block without end")?.0.to_owned())
}

/// A folder with the program that the recipes speak of, and a `cdpc` to be found in PATH.
struct RecipeFolder {
    folder: tempfile::TempDir,
}

impl RecipeFolder {
    fn new() -> Result<RecipeFolder, Failed> {
        let place =
            RecipeFolder { folder: tempfile::tempdir().map_err(|error| error.to_string())? };
        let (program, _) = cdpc_paths()?;
        place
            .write("cdpc", &format!("#!/bin/sh\nCDP_TESTS_AS_CDPC=1 exec '{program}' \"$@\"\n"))?;
        let script = place.folder.path().join("cdpc");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(script, mode).map_err(|error| error.to_string())?;
        place.write("spawn.cdp", &block("cuda")?)?;
        Ok(place)
    }

    fn write(&self, name: &str, text: &str) -> Outcome {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()).into())
    }

    /// Standard output of a command that must succeed.
    fn run(&self, program: &str, args: &[&str]) -> Result<String, Failed> {
        let old = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new(program);
        command.args(args).current_dir(self.folder.path());
        command.env("PATH", format!("{}:{old}", self.folder.path().display()));
        let output = run_limited(&mut command, LIMIT)?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        if output.status.success() {
            return Ok(text(&output.stdout));
        }
        let both = text(&output.stdout) + &text(&output.stderr);
        Err(format!("{program} {args:?}: {}\n{both}", output.status).into())
    }
}

fn cdpc_paths() -> Result<(String, Command), Failed> {
    let command = cdpc();
    Ok((command.get_program().to_string_lossy().into_owned(), command))
}

fn command_line() -> Outcome {
    let place = RecipeFolder::new()?;
    let build = |more: &[&str]| {
        let always = ["build", "spawn.cdp", "-flaunch-opt=off", "--emit", "ptx", "-o", "-"];
        place.run("./cdpc", &[&always, more].concat())
    };
    let text = build(&["--normalize", "--function", "parent"])?;
    let is_whole = text.contains("_Z6parentPi(") && text.contains(".extern .func");
    if !is_whole || text.contains("_Z5childPi(") || text.contains("//") {
        return Err(text.into());
    }
    let with_header = build(&["--normalize", "--function", "parent", "--header"])?;
    let rest: String = with_header.lines().skip(3).map(|line| format!("{line}\n")).collect();
    same("the text after the header", rest.trim_start(), &text)?;
    for (args, said) in [
        (&["--normalize", "--function", "nobody"][..], "no function `nobody`"),
        (&["--function", "parent"], "--normalize"),
        (&["--normalize", "--emit", "llvm-ir"], "--emit ptx"),
    ] {
        let failed = build(args).err().and_then(|failed| failed.message().map(str::to_owned));
        if !failed.as_ref().is_some_and(|message| message.contains(said)) {
            return Err(format!("{args:?}: {failed:?}").into());
        }
    }
    Ok(())
}

fn shell() -> Outcome {
    let place = RecipeFolder::new()?;
    let recipe = block("sh")?;
    let make = recipe.lines().next().unwrap_or_default();
    place.run("sh", &["-ec", make])?;
    let expected = place.folder.path().join("expected");
    std::fs::create_dir(&expected).map_err(|error| error.to_string())?;
    std::fs::rename(place.folder.path().join("parent.ptx"), expected.join("parent.ptx"))
        .map_err(|error| error.to_string())?;
    place.run("sh", &["-ec", &recipe]).map(|_| ())
}

/// lit replaces `%s` and runs the line; FileCheck comes with LLVM's tools under a name with its version.
fn file_check() -> Outcome {
    let place = RecipeFolder::new()?;
    place.write("FileCheck", "#!/bin/sh\nexec FileCheck-22 \"$@\"\n")?;
    place.run("chmod", &["+x", "FileCheck"])?;
    let source = block("cuda")?;
    let line =
        source.lines().find_map(|line| line.strip_prefix("// RUN: ")).ok_or("no RUN line")?;
    let line = line.replace("%s", "spawn.cdp");
    place.run("sh", &["-ec", &line])?;
    place.write("spawn.cdp", &source.replace("[param2], 32;", "[param2], 33;"))?;
    match place.run("sh", &["-ec", &line]) {
        Ok(_) => Err("FileCheck accepts what is not there".into()),
        Err(_) => Ok(()),
    }
}

fn pytest() -> Outcome {
    let place = RecipeFolder::new()?;
    place.write("test_spawn.py", &block("python")?)?;
    let program = "import test_spawn; test_spawn.test_parent_launches_once()";
    place.run("python3", &["-c", program]).map(|_| ())
}
