//! A second reading by clang of files in which it refused what nvcc takes, with other text in their place.
//!
//! Functions of device code that host code calls where device code alone is read are declared for it as well.
//! Shared variables with constructors are written as [`shared`] says; an `alignas` that asks for less than its type
//! has gets the type's beside it; function objects are of both sides ([`functors`]); files that the source includes get
//! clang's spelling; calls and casts get the one of [`lenient`]. What has no cure here stays clang's error.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::ops::Range;
use std::path::{Path, PathBuf};

use cdp_toolchain::{ClangOutput, ClangRequest, Job, clang};

use super::functors;
use super::lenient::{self, Lenient};
use super::messages::{Line, Severity};
use super::spelling::is_word;
use super::{as_clang_takes_it, own_as_clang_takes_it, shared, unmarked};
use crate::error::Error;

/// How often clang is asked again: each time it may see templates that it did not reach before.
const MOST_ROUNDS: usize = 4;

/// What is to be written anew: line and column in bytes, both from 1, as clang gives them, and how.
type Places = Vec<((u32, u32), Cure)>;

/// What makes clang take what it refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cure {
    /// The declaration of a shared variable, as [`shared`] writes it.
    Storage,
    /// This alignment as well: of several the strictest counts, as nvcc has it.
    Alignment(u32),
    /// A lambda of device code is one of both sides.
    BothSides,
    /// All function objects of device code are of both sides, as [`functors`] writes them.
    Functors,
    /// What [`lenient`] writes.
    Lenient(Lenient),
}

/// The parts of clang's message around the alignment that a type has at least.
const UNDERALIGNED: [&str; 2] =
    ["requested alignment is less than minimum alignment of ", " for type"];

/// Runs clang, again with such declarations written anew where it refuses some, and with files that the source
/// includes in clang's spelling ([`as_clang_takes_it`]) where it finds errors in them. `main` is the name of the
/// source, which is in that spelling already.
///
/// # Errors
/// clang did not run, or the text could not be kept for it.
pub(super) fn run(
    job: &Job,
    program: &Path,
    request: &ClangRequest,
    main: &str,
) -> Result<ClangOutput, Error> {
    let mut output = clang(job, program, request)?;
    let mut again = Again {
        job,
        first: request,
        request: request.clone(),
        main: Path::new(main),
        texts: BTreeMap::new(),
        of_device: BTreeSet::new(),
        declared: None,
        marks: None,
    };
    let mut said_first = None;
    for _ in 0..MOST_ROUNDS {
        let wanted = again.wanted(&output);
        let mut is_new = false;
        if output.failed && request.args.iter().any(|word| word == "--cuda-device-only") {
            is_new = again.declare_for_host(&output)?;
        }
        let of_both = |cure: &Cure| matches!(cure, Cure::BothSides | Cure::Functors);
        if is_new || wanted.values().flatten().any(|(_, cure)| of_both(cure)) {
            said_first.get_or_insert_with(|| output.clone());
        }
        is_new |= again.take_templates(&output);
        for (file, places) in wanted {
            is_new |= again.rewrite(&file, &places)?;
        }
        if !is_new {
            break;
        }
        output = again.ask(program)?;
    }
    // Where the declarations do not help they would only be in the way of the messages.
    Ok(said_first.filter(|_| output.failed).unwrap_or(output))
}

/// What the next reading has beside the first.
struct Again<'a> {
    job: &'a Job,
    first: &'a ClangRequest,
    /// The first one with the options that have been added.
    request: ClangRequest,
    main: &'a Path,
    /// What clang reads in the place of a file: the file, its text, and where that is kept.
    texts: BTreeMap<PathBuf, (String, PathBuf)>,
    /// Functions of device code alone, and the option that declares them for the host.
    of_device: BTreeSet<String>,
    declared: Option<OsString>,
    /// A program's own words for what clang is asked about.
    marks: Option<functors::Marks>,
}

impl Again<'_> {
    /// What is to be written anew after an answer.
    fn wanted(&self, output: &ClangOutput) -> BTreeMap<PathBuf, Places> {
        let mut wanted = if output.failed { refused(&output.messages) } else { BTreeMap::new() };
        if output.failed && functors::are_asked_about(&output.messages) {
            for file in functors::files(self.main, self.first) {
                wanted.entry(file).or_default().push(((1, 1), Cure::Functors));
            }
        }
        wanted
    }

    /// Declares for the host the functions of device code that it calls; whether there are more of them than before.
    fn declare_for_host(&mut self, output: &ClangOutput) -> Result<bool, Error> {
        let known = self.of_device.len();
        self.of_device.extend(names_of_device(&output.messages));
        if self.of_device.len() == known {
            return Ok(false);
        }
        let kept = self.job.work_dir().join(self.job.file_name("again", "h"));
        keep(&kept, &declared_for_host(&self.of_device))?;
        self.request.args.retain(|word| Some(word) != self.declared.as_ref());
        self.declared = Some([OsString::from("--include="), kept.into()].into_iter().collect());
        self.request.args.extend(self.declared.clone());
        Ok(true)
    }

    /// Takes templates for those of both sides, if clang is to and does not yet.
    fn take_templates(&mut self, output: &ClangOutput) -> bool {
        let option = OsString::from(lenient::TEMPLATES_OF_BOTH);
        let is_new = output.failed
            && lenient::needs_templates(&output.messages)
            && !self.request.args.contains(&option);
        self.request.args.extend(is_new.then_some(option));
        is_new
    }

    /// Writes a file anew: in clang's spelling the first time, else at these places; whether that makes a difference.
    fn rewrite(&mut self, file: &Path, places: &Places) -> Result<bool, Error> {
        let is_main = file == self.main;
        // The source may be read from the job's folder, behind a line that gives it its name ([`super::on_disk`]).
        let is_put = is_main && self.first.source != self.main;
        let Some(path) = plain(if is_main { &self.first.source } else { file }) else {
            return Ok(false);
        };
        let known = self.texts.get(&path).map(|(text, _)| text.clone());
        let is_spelled = known.is_some() || is_main;
        let Some(whole) = known.or_else(|| std::fs::read_to_string(&path).ok()) else {
            return Ok(false);
        };
        let behind_name = whole.find('\n').map_or(0, |end| end + 1);
        let (name, text) = whole.split_at(if is_put { behind_name } else { 0 });
        let spelled = if is_spelled {
            None
        } else if is_installed(&path, self.first) {
            as_clang_takes_it(text)
        } else {
            own_as_clang_takes_it(text)
        };
        let marks = self
            .marks
            .get_or_insert_with(|| functors::Marks::of(&functors::files(self.main, self.first)));
        let Some(text) = spelled.or_else(|| rewrite(text, places, marks)) else {
            return Ok(false);
        };
        let text = format!("{name}{text}");
        let kept = self.job.work_dir().join(self.job.file_name("again", "cu"));
        keep(&kept, &text)?;
        self.texts.insert(path, (text, kept));
        Ok(true)
    }

    /// Runs clang with what has been added.
    fn ask(&self, program: &Path) -> Result<ClangOutput, Error> {
        let list = self.job.work_dir().join(self.job.file_name("again", "yaml"));
        let texts = self.texts.iter().map(|(name, (_, kept))| (name.as_path(), kept.as_path()));
        keep(&list, &overlay(texts))?;
        let mut request = self.request.clone();
        request.args.extend(["-ivfsoverlay".into(), list.into()]);
        Ok(clang(self.job, program, &request)?)
    }
}

/// Functions of device code that functions of the host's call, which clang refuses in the device half too, where nobody
/// runs them: a macro may be something else in the host half (`#ifdef __CUDA_ARCH__`).
fn names_of_device(messages: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut called = None;
    for line in messages.lines().filter_map(Line::read) {
        if line.severity != Severity::Note {
            let name = line.text.strip_prefix("no matching function for call to '");
            called = name.and_then(|name| name.split('\'').next());
        } else if line.text.contains("call to __device__ function from __host__ function") {
            let is_plain = |name: &&str| name.bytes().all(is_word);
            names.extend(called.filter(is_plain).map(str::to_owned));
        }
    }
    names
}

/// Declarations that let functions of the host's name them. Device code does not see these.
fn declared_for_host(names: &BTreeSet<String>) -> String {
    let mut text =
        String::from("struct __cdp_anything { template <typename T> operator T() const; };\n");
    for name in names {
        text.push_str(&format!(
            "template <typename... A> __attribute__((host)) __cdp_anything {name}(A &&...);\n"
        ));
    }
    text
}

fn keep(path: &Path, text: &str) -> Result<(), Error> {
    std::fs::write(path, text).map_err(|source| Error::Io {
        action: "write".into(),
        path: path.to_owned(),
        source,
    })
}

/// A path as LLVM's file systems compare it: absolute, without `.` and `..`.
fn plain(path: &Path) -> Option<PathBuf> {
    std::path::absolute(path).ok().map(|path| cdp_frontend::preprocess::clean(&path))
}

/// What there is for a message.
fn cure_of(message: &str) -> Option<Cure> {
    if message.starts_with(shared::REFUSED) {
        return Some(Cure::Storage);
    }
    if let Some(cure) = Lenient::of(message) {
        return Some(Cure::Lenient(cure));
    }
    let (number, _) = message.strip_prefix(UNDERALIGNED[0])?.split_once(UNDERALIGNED[1])?;
    number.parse().ok().map(Cure::Alignment)
}

/// Whether a header is CUDA's or the system's, not the program's.
fn is_installed(path: &Path, request: &ClangRequest) -> bool {
    let roots = request.args.iter().filter_map(|word| word.to_str()?.strip_prefix("--cuda-path="));
    path.starts_with("/usr") || roots.into_iter().any(|root| path.starts_with(root))
}

/// Files that messages name when there are errors, and where in them clang refused something that has a cure.
fn refused(messages: &str) -> BTreeMap<PathBuf, Places> {
    let mut files: BTreeMap<PathBuf, Places> = BTreeMap::new();
    let mut of_destructor = false;
    for line in messages.lines() {
        // What a file lacks may be a matter of one that includes it.
        if let Some(above) = line.strip_prefix("In file included from ") {
            let file = above.trim_end_matches(':').rsplit_once(':').map(|(file, _)| file);
            files.extend(file.map(|file| (PathBuf::from(file), Places::new())));
            continue;
        }
        let Some(line) = Line::read(line) else { continue };
        for (file, at) in constrained(line.text) {
            files.entry(PathBuf::from(file)).or_default().push((at, Cure::BothSides));
        }
        if let Some(place) = line.place {
            let places = files.entry(PathBuf::from(place.file)).or_default();
            let cure = match line.severity {
                Severity::Error => {
                    of_destructor = unmarked::is_of_destructor(line.text);
                    cure_of(line.text)
                }
                _ => std::mem::take(&mut of_destructor)
                    .then_some(Cure::Lenient(Lenient::UnmarkedDestructor)),
            };
            places.extend(cure.map(|cure| (place.at, cure)));
        }
    }
    files
}

/// Where the lambdas begin that clang says do not meet a constraint: constraints of host functions are checked as host code is,
/// where nvcc asks only whether a call is well formed.
fn constrained(message: &str) -> Vec<(&str, (u32, u32))> {
    const WORDS: [&str; 3] = ["constraints not satisfied", "because '", "static assertion failed"];
    if !WORDS.iter().any(|words| message.contains(words)) {
        return Vec::new();
    }
    let place = |text: &'_ str| -> Option<(usize, (u32, u32))> {
        let mut parts = text[..text.find(')')?].rsplitn(3, ':');
        let (column, line) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        Some((parts.next()?.len(), (line, column)))
    };
    let lambdas = message.split("(lambda at ").skip(1);
    lambdas.filter_map(|text| place(text).map(|(length, at)| (&text[..length], at))).collect()
}

/// The mark of the host for a lambda that begins at a place and has that of the device alone.
fn for_both_sides(
    text: &str,
    at: usize,
    known: &functors::Marks,
) -> Option<(Range<usize>, String)> {
    let mut depth = 0u32;
    let length = text.get(at..)?.bytes().position(|byte| {
        match byte {
            b'[' => depth += 1,
            b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    })?;
    let behind = text[at + length + 1..].trim_start();
    let word = functors::first_word(behind);
    let after = functors::first_word(behind[word.len()..].trim_start());
    let start = text.len() - behind.len();
    (length > 0 && known.is_of_device_alone(word) && !known.is_of_host(after))
        .then(|| (start..start, "__host__ ".into()))
}

/// The text with those places written anew; `None` if none could be.
fn rewrite(text: &str, places: &Places, known: &functors::Marks) -> Option<String> {
    let mut edits: BTreeMap<usize, (usize, String)> = BTreeMap::new();
    for &(place, cure) in places {
        let Some(at) = offset(text, place) else { continue };
        let found = match cure {
            Cure::Storage => shared::anew(text, at),
            Cure::Alignment(bytes) => Some((at..at, format!("alignas({bytes}) "))),
            Cure::BothSides => for_both_sides(text, at, known),
            Cure::Functors => {
                edits.extend(functors::marks(text, known));
                None
            }
            Cure::Lenient(cure) => cure.anew(text, at),
        };
        let Some((range, new)) = found else { continue };
        // Several names of one declaration ask for it once.
        edits.entry(range.start).or_insert((range.end, new));
    }
    edited(text, edits)
}

/// A text with parts of it (start, and end with what comes there) written anew; `None` if there are none.
pub(super) fn edited(text: &str, edits: BTreeMap<usize, (usize, String)>) -> Option<String> {
    if edits.is_empty() {
        return None;
    }
    let mut made = String::with_capacity(text.len() + 256 * edits.len());
    let mut done = 0;
    for (start, (end, new)) in edits {
        // What lies within another part waits for the next reading.
        if start < done {
            continue;
        }
        made.push_str(&text[done..start]);
        made.push_str(&new);
        done = end;
    }
    made.push_str(&text[done..]);
    Some(made)
}

/// A file that tells clang to read other text in the place of files (`-ivfsoverlay`), with their names
/// kept in messages and line tables.
fn overlay<'a>(files: impl Iterator<Item = (&'a Path, &'a Path)>) -> String {
    // The format is YAML; in single quotes only the quote itself is special.
    let quoted = |path: &Path| format!("'{}'", path.to_string_lossy().replace('\'', "''"));
    let entries: Vec<String> = files
        .map(|(name, kept)| {
            format!(
                "{{ 'type': 'file', 'name': {}, 'external-contents': {} }}",
                quoted(name),
                quoted(kept)
            )
        })
        .collect();
    format!(
        "{{ 'version': 0, 'use-external-names': 'false', 'roots': [{}] }}\n",
        entries.join(", ")
    )
}

fn offset(text: &str, (line, column): (u32, u32)) -> Option<usize> {
    let (line, column) = (line as usize, column as usize);
    let start = match line.checked_sub(2) {
        None => 0,
        Some(before) => text.match_indices('\n').nth(before)?.0 + 1,
    };
    let at = start + column.checked_sub(1)?;
    text.is_char_boundary(at).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_from_clangs_messages() {
        let text = "dir/a.cu:17:54:{17:1-17:9}: error: initialization is not supported for __shared__ \
                    variables [x]\na.cu:3:1: error: something else\nC:9:2: error: initialization is \
                    not supported for __shared__ variables\n";
        let found = refused(text);
        assert_eq!(found[Path::new("dir/a.cu")], [((17, 54), Cure::Storage)]);
        assert_eq!(found[Path::new("C")], [((9, 2), Cure::Storage)]);
        assert_eq!(found[Path::new("a.cu")], []);
        assert_eq!(found.len(), 3);
    }

    #[test]
    fn alignments_are_written_beside_those_that_are_too_small() {
        let said = "a.cu:2:3: error: requested alignment is less than minimum alignment of 128 for type 'M'\n\
                    a.cu:2:3: error: requested alignment is less than minimum alignment of 128 for type 'M'\n";
        let places = &refused(said)[Path::new("a.cu")];
        let made =
            rewrite("struct P {\n  alignas(64) M m;\n};\n", places, &Default::default()).unwrap();
        assert_eq!(made, "struct P {\n  alignas(128) alignas(64) M m;\n};\n");
        assert_eq!(
            cure_of("requested alignment is less than minimum alignment of x for type 'M'"),
            None
        );
    }

    #[test]
    fn functions_of_device_code_are_declared_for_the_host() {
        let said = "a.cu:3:1: error: no matching function for call to '__trap'\n\
                    b.h:1:1: note: candidate function not viable: call to __device__ function from __host__ function\n\
                    a.cu:4:1: error: no matching function for call to 'f'\n\
                    b.h:2:1: note: candidate function not viable: requires 1 argument\n";
        let names = names_of_device(said);
        assert_eq!(names, BTreeSet::from(["__trap".to_owned()]));
        assert!(declared_for_host(&names).contains(" __trap(A &&...);"));
    }

    #[test]
    fn lambdas_that_constraints_are_asked_of_are_of_both_sides() {
        let said = "a.cu:9:3: note: candidate template ignored: constraints not satisfied [with F = (lambda at \
                    a.cu:2:6)]\na.cu:9:3: note: because 'std::invocable<(lambda at a.cu:2:6), (lambda at b.h:1:1)>' \
                    evaluated to false\na.cu:9:3: note: in instantiation of 'f<(lambda at c.h:1:1)>'\n";
        let found = refused(said);
        assert_eq!(found[Path::new("b.h")], [((1, 1), Cure::BothSides)]);
        assert!(!found.contains_key(Path::new("c.h")));
        let known = functors::Marks::default();
        let made = |text: &str| rewrite(text, &found[Path::new("a.cu")], &known);
        assert_eq!(made("x;\n go([] __device__(int i) {});"), None);
        assert_eq!(
            made("x;\n go( [] __device__ () {});").as_deref(),
            Some("x;\n go( [] __host__ __device__ () {});")
        );
        assert_eq!(
            made("x;\n  go([p = a[1]] __device__ (int i) {});").as_deref(),
            Some("x;\n  go([p = a[1]] __host__ __device__ (int i) {});")
        );
        assert_eq!(made("x;\n go( [] __device__ __host__ () {});"), None);
        assert_eq!(made("x;\n go( [] __host__ __device__ () {});"), None);
        assert_eq!(made("x;\n go( [] () {});"), None);
    }

    #[test]
    fn places_outside_the_text_are_left() {
        let places = [(9, 9), (1, 5), (0, 0)].map(|at| (at, Cure::Alignment(8)));
        assert_eq!(rewrite("x", &places.to_vec(), &Default::default()), None);
    }
}
