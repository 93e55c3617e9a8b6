//! The host's link of an executable: the host halves, what other compilers' objects bring, the device code and the
//! runtime. It knows nothing of how halves and device code are made.

use std::path::PathBuf;

use cdp_image::pieces;
use cdp_toolchain::{
    HostLinkOptions, LATE_BUILD_ID, LATE_SECTION, ObjectParts, ToolError, empty_code, host_link,
    is_archive, launch_stub_names, put_code, set_build_id,
};

use crate::build::parts;
use crate::compiler::Compiler;
use crate::digest;
use crate::error::Error;
use crate::input::{Input, InputKind};
use crate::request::BuildRequest;
use cdp_llvm::DebugInfo;

/// What the C++ library of the system is called on the linker's command line.
const CXX_LIBRARY: &str = "stdc++";

/// A host object with its name.
pub(crate) type Half<'a> = (String, &'a [u8]);

/// All of the link but the halves and the device code.
pub(crate) struct HostLink<'a> {
    compiler: &'a Compiler,
    request: &'a BuildRequest<'a>,
    others: Others<'a>,
    runtime: PathBuf,
}

impl<'a> HostLink<'a> {
    /// # Errors
    /// There is no runtime library.
    pub fn new(compiler: &'a Compiler, request: &'a BuildRequest<'a>) -> Result<Self, Error> {
        let runtime = request.runtime_library.clone().ok_or_else(|| Error::Request {
            message: "libcdp_runtime.a was not found, and an executable needs it".into(),
            cure: Some(
                "`cargo xtask install --prefix DIR` in cdp's repository installs cdpc and the \
                          library; CDP_RUNTIME_LIB names another one"
                    .into(),
            ),
        })?;
        Ok(HostLink { compiler, request, others: Others::of(request.inputs), runtime })
    }

    /// Links with a block of device code.
    ///
    /// # Errors
    /// As [`host_link`].
    pub fn whole(&self, halves: &[Half<'_>], code: &[u8]) -> Result<Vec<u8>, Error> {
        self.link(halves, code, None)
    }

    /// Whether the program is linked without its device code, which is put into it afterwards ([`HostLink::put`]). Where
    /// somebody will look at the commands or the files, they are what they seem.
    pub fn is_early(&self) -> bool {
        let job = self.request.job;
        !job.is_dry_run() && !job.keeps_files()
    }

    /// The program without device code.
    ///
    /// # Errors
    /// As [`host_link`].
    pub fn early(&self, halves: &[Half<'_>]) -> Result<Vec<u8>, Error> {
        self.link(halves, &empty_code(), Some(LATE_SECTION))
    }

    /// Puts the device code into a program of [`HostLink::early`]; `None` where the linker laid it out in another way.
    pub fn put(mut program: Vec<u8>, code: &[u8]) -> Option<Vec<u8>> {
        put_code(&mut program, code)?;
        let id = digest::of(&program);
        set_build_id(&mut program, std::array::from_fn(|index| id[index]));
        Some(program)
    }

    /// The block of device code: machine code, and PTX of our own and of other compilers.
    pub fn code(&self, machine_code: &[u8], ptx: &[String]) -> Vec<u8> {
        let own = ptx.iter().map(String::as_bytes);
        let theirs = self.others.parts.ptx.iter().map(Vec::as_slice);
        pieces::join([machine_code].into_iter().chain(own).chain(theirs))
    }

    fn link(
        &self,
        halves: &[Half<'_>],
        code: &[u8],
        section: Option<&str>,
    ) -> Result<Vec<u8>, Error> {
        let (compiler, request, others) = (self.compiler, self.request, &self.others);
        let image = compiler.emit_code(code, section, &others.parts.open_units())?;
        let mut objects = halves.to_vec();
        objects.push(("cdp_image.o".into(), &image));
        objects.extend(others.objects.iter().cloned());
        let mut link = request.host_link.clone();
        if section.is_some() {
            // Before the arguments that were given, which may ask for another.
            link.extra_args.insert(0, LATE_BUILD_ID.into());
        }
        let has_cuda = request.inputs.iter().any(|input| matches!(input, Input::Cuda(_)));
        let entries = match has_cuda || others.parts.lists_entries {
            true => compiler.emit_entries()?,
            false => Vec::new(),
        };
        if !entries.is_empty() {
            objects.push(("cdp_entries.o".into(), &entries));
        }
        objects.extend(others.libraries.iter().cloned());
        if has_cuda {
            openmp(compiler, &mut link)?;
        }
        if has_cuda || others.parts.wants_cxx {
            link.libraries.push(CXX_LIBRARY.into());
        }
        if has_cuda || others.parts.host {
            let names = launch_stub_names(objects.iter().map(|(_, bytes)| *bytes));
            let defined =
                names.into_iter().map(|(name, other)| format!("-Wl,--defsym={name}={other}"));
            link.extra_args.extend(defined);
        }
        link.files.push(self.runtime.clone());
        link.libraries.extend(["m", "dl", "pthread"].map(String::from));
        if request.options.debug == DebugInfo::None {
            link.extra_args.push("-Wl,--gc-sections".into());
        }
        host_link(request.job, &request.inputs[0].stem(), &objects, &link).map_err(without_main)
    }
}

/// A program without `main` as the request that it is: linkers say this of their own start-up code, each in its words.
fn without_main(error: ToolError) -> Error {
    let ToolError::Failed { output, .. } = &error else { return error.into() };
    if !says_no_main(output) {
        return error.into();
    }
    Error::Request {
        message: "no input has a function `main`, where a program begins".into(),
        cure: Some(
            "write one, run a kernel alone with `cdpc run --kernel NAME`, or stop before the program: `-c`, \
             `--emit ptx`, `--emit cubin`"
                .into(),
        ),
    }
}

fn says_no_main(output: &str) -> bool {
    let marks = ["undefined reference to ", "undefined symbol: "];
    output.lines().any(|line| {
        let name = marks.iter().find_map(|mark| Some(line.split_once(mark)?.1));
        name.is_some_and(|name| name.trim().trim_matches(['`', '\'', '"']) == "main")
    })
}

/// clang calls another OpenMP library than the compiler that links asks for.
fn openmp(compiler: &Compiler, link: &mut HostLinkOptions) -> Result<(), Error> {
    const WORD: &str = "-fopenmp";
    if !link.extra_args.iter().any(|word| word == WORD) {
        return Ok(());
    }
    let clang = compiler.toolchain().clang()?;
    let clang = std::fs::canonicalize(clang).unwrap_or_else(|_| clang.to_owned());
    let folder = clang.ancestors().nth(2).map(|folder| folder.join("lib")).unwrap_or_default();
    let library = folder.join("libomp.so");
    if !library.is_file() {
        return Err(Error::Request {
            message: format!(
                "{WORD} asks for OpenMP in host code, and {} is missing",
                library.display()
            ),
            cure: Some("install clang's OpenMP library (Debian: libomp-22-dev)".into()),
        });
    }
    link.extra_args.retain(|word| word != WORD);
    link.extra_args.push(format!("-Wl,-rpath,{}", folder.display()));
    link.files.push(library);
    Ok(())
}

/// What the objects and libraries of other compilers among the inputs bring for the host.
#[derive(Default)]
struct Others<'a> {
    objects: Vec<Half<'a>>,
    /// They come last: linkers take from them what is wanted by then.
    libraries: Vec<Half<'a>>,
    /// All of them together.
    parts: ObjectParts,
}

impl<'a> Others<'a> {
    fn of(inputs: &'a [Input]) -> Self {
        let mut others = Others::default();
        for input in inputs {
            let Input::Bytes(InputKind::Object, name, bytes) = input else { continue };
            let parts = parts(input);
            if parts.host {
                let list = match is_archive(bytes) {
                    true => &mut others.libraries,
                    false => &mut others.objects,
                };
                list.push((name.clone(), bytes));
            }
            others.parts = std::mem::take(&mut others.parts).and(parts);
        }
        others
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_without_main_are_known_in_the_words_of_linkers() {
        assert!(says_no_main(
            "/usr/bin/ld: Scrt1.o: in function `_start':\n(.text+0x17): undefined reference to `main'\n"
        ));
        assert!(says_no_main("ld.lld: error: undefined symbol: main\n>>> referenced by crt1.o"));
        assert!(says_no_main("a.c:(.text+0x1): undefined reference to 'main'"));
        assert!(!says_no_main(
            "k.o: in function `main':\nk.cdp: undefined reference to `main_loop'"
        ));
    }
}
