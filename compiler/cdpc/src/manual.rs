//! What is made of the definition of the arguments: completions for shells, manual pages, and the page
//! `compiler/docs/command-line.md`.

use std::fmt::Write;
use std::path::Path;

use clap::builder::PossibleValue;
use clap::{Arg, Command, CommandFactory};
use clap_complete::Shell as Generator;

use crate::args::nvcc::{Means, NVCC};
use crate::args::{Cli, Shell};
use crate::common::{Messages, exit_code};
use crate::output::write_output;

/// `cdpc completions`.
pub fn completions(shell: Shell) -> i32 {
    let generator = match shell {
        Shell::Bash => Generator::Bash,
        Shell::Elvish => Generator::Elvish,
        Shell::Fish => Generator::Fish,
        Shell::Zsh => Generator::Zsh,
    };
    let mut script = Vec::new();
    clap_complete::generate(generator, &mut Cli::command(), "cdpc", &mut script);
    Messages::plain().print(&String::from_utf8_lossy(&script))
}

/// `cdpc man`.
pub fn pages(folder: &Path) -> i32 {
    let messages = Messages::plain();
    let made = std::fs::create_dir_all(folder).map_err(|source| cdp::Error::Io {
        action: "make the folder".into(),
        path: folder.to_owned(),
        source,
    });
    let written = made.and_then(|()| {
        manual_pages()
            .iter()
            .try_for_each(|(name, page)| write_output(&folder.join(name), page, false))
    });
    match written {
        Ok(()) => 0,
        Err(error) => {
            messages.error(&error.to_string());
            exit_code(&error)
        }
    }
}

/// The manual pages, as (file name, text).
pub fn manual_pages() -> Vec<(String, Vec<u8>)> {
    let mut cli = Cli::command();
    cli.build();
    let mut pages = vec![page("cdpc", &cli)];
    for verb in verbs(&cli) {
        let name = format!("cdpc-{}", verb.get_name());
        pages.push(page(&name, verb));
    }
    pages
}

fn page(name: &str, command: &Command) -> (String, Vec<u8>) {
    let mut text = Vec::new();
    // Writing to memory does not fail.
    let _ = clap_mangen::Man::new(command.clone()).render(&mut text);
    (format!("{name}.1"), text)
}

fn verbs(cli: &Command) -> impl Iterator<Item = &Command> {
    cli.get_subcommands().filter(|verb| verb.get_name() != "help")
}

/// `compiler/docs/command-line.md`: every verb, option, environment variable and JSON format.
pub fn reference() -> String {
    let mut out = String::from(
        "# The command line\n\nMade from the code by `cargo xtask bless command_line`; a test fails when it \
         differs.\n\n",
    );
    out.push_str(INTRODUCTION);
    let mut cli = Cli::command();
    cli.build();
    let every: Vec<&Command> = verbs(&cli).collect();
    out.push_str("\n## Verbs\n\n| verb | what |\n| --- | --- |\n");
    for verb in &every {
        let name = verb.get_name();
        let _ = writeln!(out, "| [`cdpc {name}`](#cdpc-{name}) | {} |", about(verb));
    }
    out.push_str("| `cdpc help VERB` | The help of a verb; `-h` in short |\n");
    let shared = shared_options(&every);
    for verb in &every {
        let _ = writeln!(out, "\n### cdpc {}\n\n{}.\n", verb.get_name(), about(verb));
        let _ = writeln!(out, "    {}\n", usage(verb));
        table(
            &mut out,
            verb.get_arguments().filter(|arg| !shared.contains(&arg.get_id().as_str())),
        );
        if verb.get_arguments().any(|arg| arg.get_id() == "arch") {
            out.push_str("\nAnd the [options of every verb that reads programs](#options-of-every-verb-that-reads-programs).\n");
        }
    }
    out.push_str("\n## Options of every verb that reads programs\n\n");
    if let Some(build) = every.iter().find(|verb| verb.get_name() == "build") {
        table(
            &mut out,
            build.get_arguments().filter(|arg| shared.contains(&arg.get_id().as_str())),
        );
    }
    out.push_str(ENDINGS);
    nvcc_table(&mut out);
    out
}

/// The options that `check`, which has no others, shares with the rest.
fn shared_options<'c>(verbs: &[&'c Command]) -> Vec<&'c str> {
    let check = verbs.iter().find(|verb| verb.get_name() == "check");
    let args = check.into_iter().flat_map(|verb| verb.get_arguments());
    args.map(|arg| arg.get_id().as_str()).filter(|id| !matches!(*id, "inputs" | "help")).collect()
}

fn about(command: &Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default()
}

fn usage(verb: &Command) -> String {
    let text = verb.clone().render_usage().to_string();
    text.trim_start_matches("Usage: ").trim().to_owned()
}

fn table<'a>(out: &mut String, args: impl Iterator<Item = &'a Arg>) {
    let args: Vec<_> = args.filter(|arg| arg.get_id() != "help" && !arg.is_hide_set()).collect();
    if args.is_empty() {
        return;
    }
    out.push_str("| option | what |\n| --- | --- |\n");
    for arg in args {
        let _ = writeln!(out, "| {} | {} |", spelling(arg), cell(&what(arg)));
    }
}

/// A cell's text.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// The option as one types it.
fn spelling(arg: &Arg) -> String {
    let names = arg.get_value_names().unwrap_or_default();
    let value = names.first().map(ToString::to_string).filter(|_| arg.get_action().takes_values());
    let mut forms = Vec::new();
    if let Some(short) = arg.get_short() {
        forms.push(match &value {
            Some(value) => format!("`-{short} {value}`"),
            None => format!("`-{short}`"),
        });
    }
    if let Some(long) = arg.get_long() {
        forms.push(match &value {
            Some(value) => format!("`--{long} {value}`"),
            None => format!("`--{long}`"),
        });
    }
    if forms.is_empty() {
        forms.push(format!("`{}`", value.unwrap_or_else(|| arg.get_id().to_string())));
    }
    cell(&forms.join(", "))
}

fn what(arg: &Arg) -> String {
    let mut text = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let values: Vec<PossibleValue> = match arg.get_action().takes_values() {
        true => arg.get_possible_values(),
        false => Vec::new(),
    };
    if !values.is_empty() {
        let said = |value: &PossibleValue| match value.get_help() {
            Some(help) => format!("`{}` ({help})", value.get_name()),
            None => format!("`{}`", value.get_name()),
        };
        let _ = write!(text, ": {}", values.iter().map(said).collect::<Vec<_>>().join(", "));
    }
    let defaults: Vec<_> =
        arg.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    if !defaults.is_empty() && arg.get_action().takes_values() {
        let _ = write!(text, "; default `{}`", defaults.join(","));
    }
    text
}

/// nvcc's options and what they mean here.
fn nvcc_table(out: &mut String) {
    out.push_str("\n## nvcc's options\n\n| nvcc | here |\n| --- | --- |\n");
    for row in NVCC {
        let value = if row.value { " VALUE" } else { "" };
        let here = match row.means {
            Means::Ours(name) => format!("`{name}{value}`"),
            Means::Words(words) => format!("`{}`", words.join(" ")),
            Means::Nothing(why) => format!("nothing: {why}"),
            Means::Refused(cure) => format!("an error: {cure}"),
            Means::Arch => "`--arch VALUE`, unless `-code` names machine code".to_owned(),
            Means::Code => "`--arch VALUE` for each `sm_..` in it".to_owned(),
            Means::Gencode => {
                "`--arch VALUE` for each `sm_..` in it, else for its `arch`".to_owned()
            }
            Means::Library => "`-l VALUE`".to_owned(),
            Means::Machine => "`--address-size VALUE`".to_owned(),
            Means::Werror => {
                "`-Werror` for all-warnings and alone; other kinds: nothing".to_owned()
            }
            Means::Forward => {
                "`--xcompiler` or `--xlinker` for options that are neither nvcc's nor cdpc's"
                    .to_owned()
            }
            Means::OptionsFile => "the words of the file, with quotes as in a shell".to_owned(),
        };
        let _ =
            writeln!(out, "| `{}{value}`, `{}{value}` | {} |", row.short, row.long, cell(&here));
    }
}

const INTRODUCTION: &str = include_str!("manual/introduction.md");
const ENDINGS: &str = include_str!("manual/formats.md");
