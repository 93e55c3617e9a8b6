//! LLVM IR of other compilers, as text and as bitcode, launches by `@cdp.launch` in it.

use cdp::llvm::catch_crashes;
use cdp::{Arch, CompileOptions, Compiler, LaunchOpt, OptLevel};

use crate::{choice, ptx, unless_refused};

/// Describes a module, lowers its launches, and makes PTX of it, which is PTX. LLVM may give up or crash over IR that is
/// not valid: that is an error with its words, as for who embeds the compiler.
pub fn llvm(data: &[u8]) {
    catch_crashes();
    let compiler = Compiler::without_tools();
    let mut options = CompileOptions::default();
    let choice = choice(data);
    options.opt_level = [OptLevel::O3, OptLevel::O0][choice % 2];
    options.launch_opt = [LaunchOpt::Off, LaunchOpt::Fast][choice / 2 % 2];
    options.threads = 1;
    let (name, arch) = ("fuzz.ll", Arch::SM_90);
    unless_refused(compiler.describe_foreign(name, data, arch, &options));
    unless_refused(compiler.lower_foreign(name, data, arch, &options));
    let made = compiler.emit_foreign(name, data, arch, &options);
    // Inline assembly is the module's own text.
    if let Some(code) = unless_refused(made)
        && !data.windows(3).any(|word| word == b"asm")
        && !data.starts_with(b"BC")
    {
        ptx::own(&code.ptx);
    }
}
