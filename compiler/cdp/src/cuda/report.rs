//! clang's messages, and what the back end says of launches, as diagnostics of ours.

use std::collections::HashMap;
use std::sync::Arc as Shared;

use cdp_diagnostics::Diagnostics;
use cdp_diagnostics::source::{FileId, FileOrigin, Span};
use cdp_diagnostics::{Code, Diagnostic, Suggestion, WarningOptions};
use cdp_frontend::Session;
use cdp_launch::limits::{check_block, check_grid};
use cdp_llvm::{LaunchCallError, LaunchFact};

use super::messages::{ClangPlace, Line, Severity, range};
use super::spelling::is_word;
use crate::analysis::{Report, SourceInput};

/// clang's messages.
pub(super) fn read(text: &str, source: &SourceInput, options: &WarningOptions) -> Report {
    let mut building = Building::new(source);
    for line in text.lines() {
        building.line(line);
    }
    building.finish(options)
}

/// Launches that cannot be lowered.
pub(super) fn of_launches(source: &SourceInput, errors: &[LaunchCallError]) -> Report {
    let mut building = Building::new(source);
    for error in errors {
        let place = error.place.as_ref();
        let span = place.map_or(Span::NONE, |at| building.token(&at.file, at.line, at.column));
        let function = cdp_llvm::source_name(&error.function);
        let message = match error.argument {
            Some(argument) => format!("argument {argument} of this launch {}", error.message),
            None => error.message.clone(),
        };
        building.diagnostics.add(Code::E0902, span, message).note(format!("in `{function}`"));
    }
    building.finish(&WarningOptions::default())
}

/// Launches whose configuration no device can run.
pub(super) fn of_limits(
    source: &SourceInput,
    launches: &[LaunchFact],
    options: &WarningOptions,
) -> Report {
    let mut building = Building::new(source);
    for launch in launches {
        let place = launch.place.as_ref();
        let wrong = [check_block(launch.block).err(), check_grid(launch.grid).err()];
        for error in wrong.into_iter().flatten() {
            let span = place.map_or(Span::NONE, |at| building.token(&at.file, at.line, at.column));
            let child = cdp_llvm::source_name(&launch.child);
            building
                .diagnostics
                .add(Code::W0902, span, error.to_string())
                .note(format!("the launch of `{child}` fails with cudaErrorInvalidConfiguration"));
        }
    }
    building.finish(options)
}

/// What to do about differences between clang and nvcc, by a part of clang's message.
const CURES: &[(&str, &str)] = &[
    (
        super::shared::REFUSED,
        "shared variables have no initial value; where the declaration has none and comes from a macro, \
         write it out",
    ),
    (
        "no matching function for call to 'cudaDeviceSynchronize'",
        "kernels cannot wait for their children since CUDA 12: launch what comes after them into \
         cudaStreamTailLaunch; `--cdp 1` brings the old way back, for architectures below sm_90 \
         (sm_75 if none is named)",
    ),
];

/// Libraries that a toolkit has beside the compiler's headers, by how the names of their headers begin.
const LIBRARIES: &[(&str, &str)] = &[
    ("cublas", "cuBLAS"),
    ("cudnn", "cuDNN"),
    ("cufft", "cuFFT"),
    ("curand", "cuRAND"),
    ("cusolver", "cuSOLVER"),
    ("cusparse", "cuSPARSE"),
    ("nccl", "NCCL"),
    ("npp", "NPP"),
    ("nvml", "NVML"),
    ("nvToolsExt", "NVTX"),
    ("nvtx3/", "NVTX"),
];
/// What the names of the C++ library's headers contain.
const CXX_LIBRARY: &str = "/include/c++/";
/// The part of cuRAND that is headers alone begins with this one.
const CURAND_KERNEL: &str = "curand_kernel.h";
/// clang's own part that not every clang has.
const OPENMP: &str = "omp.h";
/// How the names of headers for windows and drawing begin.
const GRAPHICS: &[&str] =
    &["GL/", "GLFW/", "GLES", "EGL/", "helper_gl", "rendercheck_gl", "cuda_gl_interop"];

/// What to do about a header that is not there.
fn cure_of_header(message: &str) -> Option<String> {
    let name = message.strip_prefix('\'')?.strip_suffix("' file not found")?;
    if name == CURAND_KERNEL {
        return Some(
            "this is cuRAND's, whose functions for kernels are headers alone: give them with -I (`pip download \
             --no-deps nvidia-curand` brings them, CUDA's installer as libcurand-dev); `cargo xtask setup` in cdp's \
             repository adds them to its toolkit"
                .into(),
        );
    }
    if let Some((_, library)) = LIBRARIES.iter().find(|(start, _)| name.starts_with(start)) {
        return Some(format!(
            "this is {library}'s: give the toolkit that has it with --cuda-path, or its headers with -I and its \
             library with -L and -l; what it computes it computes on a GPU"
        ));
    }
    if name == OPENMP {
        return Some("clang's OpenMP library brings it (Debian: libomp-22-dev)".into());
    }
    GRAPHICS.iter().any(|start| name.starts_with(start)).then(|| {
        "this is OpenGL's: give its headers with -I and its libraries with -l; calls that share buffers with it \
         (cudaGraphics...) return cudaErrorNotSupported"
            .into()
    })
}

struct Building {
    session: Session,
    files: HashMap<String, Option<FileId>>,
    diagnostics: Diagnostics,
    /// The finding that notes and cures belong to.
    last: Option<Diagnostic>,
    source: SourceInput,
}

impl Building {
    fn new(source: &SourceInput) -> Building {
        Building {
            session: Session::new(),
            files: HashMap::new(),
            diagnostics: Diagnostics::new(),
            last: None,
            source: source.clone(),
        }
    }

    fn finish(mut self, options: &WarningOptions) -> Report {
        self.keep_last();
        let diagnostics = self.diagnostics.finish(options, &self.session.sources);
        Report { diagnostics, session: Shared::new(self.session) }
    }

    fn keep_last(&mut self) {
        if let Some(last) = self.last.take() {
            self.diagnostics.push(last);
        }
    }

    fn file(&mut self, name: &str) -> Option<FileId> {
        if let Some(known) = self.files.get(name) {
            return *known;
        }
        let sources = &mut self.session.sources;
        let text = self.source.text_of(name).filter(|text| sources.has_room(text.len()));
        let file = text.map(|text| sources.add_file(name, text, FileOrigin::Main));
        self.files.insert(name.to_owned(), file);
        file
    }

    /// The position of a line and column (in bytes), both from 1.
    fn position(&mut self, name: &str, line: u32, column: u32) -> Option<u32> {
        let file = self.file(name)?;
        let file = self.session.sources.file(file);
        let range = file.line_range(line.checked_sub(1)? as usize)?;
        let at = (range.start + column.saturating_sub(1) as usize).min(range.end);
        Some(file.base + at as u32)
    }

    /// The word, or the character, at a place.
    fn token(&mut self, name: &str, line: u32, column: u32) -> Span {
        let Some(start) = self.position(name, line, column.max(1)) else { return Span::NONE };
        let Some(file) = self.file(name) else { return Span::NONE };
        let file = self.session.sources.file(file);
        let rest = &file.text.as_bytes()[(start - file.base) as usize..];
        let length = rest.iter().take_while(|byte| is_word(**byte)).count().max(1).min(rest.len());
        Span::new(start, start + length as u32)
    }

    /// One line of clang's.
    fn line(&mut self, line: &str) {
        if let Some(fix) = line.strip_prefix("fix-it:") {
            self.fix(fix);
            return;
        }
        let Some(Line { place, severity, text }) = Line::read(line) else { return };
        let span = place.map_or(Span::NONE, |place| self.span(place));
        if severity == Severity::Note {
            if let Some(last) = &mut self.last {
                match span.is_none() {
                    true => last.note(text),
                    false => last.secondary(span, text),
                };
            }
            return;
        }
        let code = if severity == Severity::Error { Code::E0901 } else { Code::W0901 };
        self.keep_last();
        // A template of the C++ library warns of another: nothing that the program could change.
        if code == Code::W0901 && place.is_some_and(|place| place.file.contains(CXX_LIBRARY)) {
            return;
        }
        // Memory that a launch gives is defined nowhere, whatever namespace it is named in.
        let undefined = text.starts_with("variable '")
            && text.contains("has internal linkage but is not defined");
        if undefined && place.is_some_and(|place| self.declares_shared(place)) {
            return;
        }
        let known = CURES.iter().find(|(part, _)| text.contains(part));
        let cure = known.map(|(_, cure)| (*cure).to_owned()).or_else(|| cure_of_header(text));
        self.last.insert(Diagnostic::new(code, span, text)).help(cure.unwrap_or_default());
    }

    /// Whether a place is in the declaration of a `__shared__` variable, as far as that is on its line.
    fn declares_shared(&mut self, place: ClangPlace<'_>) -> bool {
        let Some(file) = self.file(place.file) else { return false };
        let file = self.session.sources.file(file);
        let line = file.line_range((place.at.0 as usize).saturating_sub(1));
        line.and_then(|range| file.text.get(range)).is_some_and(|line| line.contains("__shared__"))
    }

    /// Of the ranges the one that the place is in, else the word there.
    fn span(&mut self, place: ClangPlace<'_>) -> Span {
        for (from, to) in place.ranges() {
            if from <= place.at && place.at < to && from.0 == to.0 {
                let start = self.position(place.file, from.0, from.1);
                let end = self.position(place.file, to.0, to.1);
                if let (Some(start), Some(end)) = (start, end) {
                    return Span::new(start, end);
                }
            }
        }
        self.token(place.file, place.at.0, place.at.1)
    }

    /// `"file":{4:35-4:35}:";"`
    fn fix(&mut self, fix: &str) {
        let mut inner = || {
            let (name, rest) = fix.strip_prefix('"')?.split_once("\":{")?;
            let (place, text) = rest.split_once("}:\"")?;
            let (from, to) = range(place)?;
            let span =
                Span::new(self.position(name, from.0, from.1)?, self.position(name, to.0, to.1)?);
            let text = text.strip_suffix('"')?.replace("\\\"", "\"").replace("\\\\", "\\");
            Some((span, text))
        };
        let Some((span, replacement)) = inner() else { return };
        let Some(mut last) = self.last.take() else { return };
        let text = if replacement.is_empty() {
            "leave this out".to_owned()
        } else {
            format!("write `{}` here", replacement.trim())
        };
        let suggestion = Some(Suggestion { span, replacement });
        last.helps.push(cdp_diagnostics::Help { text, suggestion });
        self.last = Some(last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cdp_diagnostics::render::{Format, short};

    fn source(text: &str) -> SourceInput {
        SourceInput::text("k.cu", text)
    }

    #[test]
    fn messages_with_places_notes_and_cures() {
        let text = "template<class T> int f(T x) { return x.foo; }\nint k() { return f(3) }\n";
        let said = "\
In file included from <built-in>:1:
k.cu:1:41:{1:39-1:40}{1:41-1:44}: error: member reference base type 'int' is no structure
k.cu:2:18: note: in instantiation of function template specialization 'f<int>' requested here
k.cu:2:22: error: expected ';' after return statement
fix-it:\"k.cu\":{2:22-2:22}:\";\"
k.cu:2:5:{2:5-2:6}: warning: no previous prototype: error: none [-Wmissing-prototypes]
clang: warning: argument unused
2 errors generated when compiling for sm_90.";
        let report = read(said, &source(text), &WarningOptions::default());
        let all: Vec<_> = report.diagnostics.iter().collect();
        assert_eq!(report.diagnostics.error_count(), 2);
        assert_eq!(report.diagnostics.warning_count(), 2);
        let shown = |part: &str| {
            let found = all.iter().find(|d| d.message.contains(part)).unwrap();
            (short(found, &report.session.sources), *found)
        };
        let (line, member) = shown("member reference");
        assert!(line.starts_with("k.cu:1:41: error[E0901]: member"), "{line}");
        assert_eq!(report.session.sources.text(member.primary.span), "foo");
        assert_eq!(member.secondary.len(), 1);
        let (_, semicolon) = shown("expected ';'");
        assert_eq!(semicolon.helps[0].suggestion.as_ref().unwrap().replacement, ";");
        let (line, _) = shown("no previous");
        assert!(line.starts_with("k.cu:2:5: warning[W0901]"), "{line}");
        let human = crate::render_reports(std::slice::from_ref(&report), Format::Human);
        assert!(human.contains("return x.foo;"), "{human}");
    }

    #[test]
    fn warnings_within_the_library_are_left_out() {
        let said = "\
/usr/lib/gcc/x86_64-linux-gnu/12/../../../../include/c++/12/bits/stl_tempbuf.h:263:8: warning: 'f' is deprecated [-W]
k.cu:1:1: note: in instantiation of member function 'f' requested here
k.cu:1:1: warning: own [-W]";
        let report = read(said, &source("int k;\n"), &WarningOptions::default());
        assert_eq!(report.diagnostics.warning_count(), 1);
        assert!(report.diagnostics.iter().all(|found| found.message.starts_with("own")));
        let error = said.replace("warning: 'f'", "error: 'f'");
        assert!(read(&error, &source("int k;\n"), &WarningOptions::default()).has_errors());
    }

    #[test]
    fn shared_memory_of_launches_is_defined_nowhere() {
        let said = "k.cu:1:23: warning: variable '(anonymous namespace)::s' has internal linkage but is not defined [-W]
k.cu:2:1: note: used here
k.cu:2:5: warning: variable 't' has internal linkage but is not defined [-W]";
        let text = "extern __shared__ int s[];\nint t;\n";
        let report = read(said, &source(text), &WarningOptions::default());
        assert_eq!(report.diagnostics.warning_count(), 1);
        assert!(report.diagnostics.iter().all(|found| found.message.contains("'t'")));
    }

    #[test]
    fn headers_of_other_libraries_are_named() {
        for (name, part) in [
            ("cublas_v2.h", "cuBLAS's"),
            ("curand.h", "computes on a GPU"),
            ("curand_kernel.h", "headers alone"),
            ("GL/glut.h", "OpenGL's"),
            ("omp.h", "libomp"),
            ("own.h", ""),
        ] {
            let said = format!("k.cu:1:10: fatal error: '{name}' file not found");
            let report = read(&said, &source("#include <x.h>\n"), &WarningOptions::default());
            let helps: Vec<_> = report.diagnostics.iter().flat_map(|found| &found.helps).collect();
            assert_eq!(
                helps.iter().any(|help| help.text.contains(part)),
                !part.is_empty(),
                "{name}"
            );
        }
    }

    #[test]
    fn impossible_configurations_are_warnings() {
        let fact = |block| LaunchFact {
            parent: "p".into(),
            child: "_Z1kv".into(),
            place: None,
            grid: [Some(1); 3],
            block,
        };
        let launches = [fact([Some(2048), Some(1), Some(1)]), fact([None, Some(1), Some(1)])];
        let report = of_limits(&source(""), &launches, &WarningOptions::default());
        assert_eq!((report.diagnostics.warning_count(), report.has_errors()), (1, false));
        let mut strict = WarningOptions::default();
        strict.apply("error").unwrap();
        assert!(of_limits(&source(""), &launches, &strict).has_errors());
    }
}
