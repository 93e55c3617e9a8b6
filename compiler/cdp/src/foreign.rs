//! LLVM IR of other compilers: its launches are lowered, and code is made of it.

use cdp_llvm::{ForeignFacts, LlvmModule, LowerError, LowerOptions, inkwell};
use cdp_toolchain::Arch;

use crate::compiler::{Compiler, from_lowering};
use crate::emit::{DeviceCode, Emitted};
use crate::error::{Error, guard_input};
use crate::input_description::Description;
use crate::options::CompileOptions;
use crate::ptx_version;
use cdp_launch::LaunchAbi;

impl Compiler {
    /// PTX of another compiler's LLVM IR (text or bitcode), launches lowered.
    ///
    /// # Errors
    /// [`Error::Input`] for IR that is malformed or asks for an impossible launch.
    pub fn emit_foreign(
        &self,
        name: &str,
        bytes: &[u8],
        arch: Arch,
        options: &CompileOptions,
    ) -> Result<DeviceCode, Error> {
        self.foreign_code(name, bytes, arch, options, false)
    }

    /// The same, with the LLVM IR that PTX is made of if it is wanted.
    pub(crate) fn foreign_code(
        &self,
        name: &str,
        bytes: &[u8],
        arch: Arch,
        options: &CompileOptions,
        want_llvm_ir: bool,
    ) -> Result<DeviceCode, Error> {
        let lower_options = self.foreign_options(bytes, arch, options)?;
        let address_bits = options.address_size.bits();
        let failed = |error| from_foreign(name, error);
        guard_input(name, || {
            let (lowered, facts) =
                cdp_llvm::lower_foreign(name, bytes, address_bits, &lower_options)
                    .map_err(failed)?;
            let emitted = Emitted::of(lowered, &lower_options, want_llvm_ir).map_err(failed)?;
            let Description { kernels, graph } = Description::of_foreign(name, &facts);
            emitted.into_code(kernels, graph, options)
        })
    }

    pub(crate) fn foreign_facts(
        &self,
        name: &str,
        bytes: &[u8],
        arch: Arch,
        options: &CompileOptions,
    ) -> Result<ForeignFacts, Error> {
        let lower_options = self.foreign_options(bytes, arch, options)?;
        guard_input(name, || {
            cdp_llvm::foreign_facts(name, bytes, options.address_size.bits(), &lower_options)
                .map_err(|error| from_foreign(name, error))
        })
    }

    /// LLVM IR text of another compiler's module with its launches lowered and nothing else done.
    ///
    /// # Errors
    /// As [`Compiler::emit_foreign`].
    pub fn lower_foreign(
        &self,
        name: &str,
        bytes: &[u8],
        arch: Arch,
        options: &CompileOptions,
    ) -> Result<String, Error> {
        self.lower_foreign_as(name, bytes, arch, options, LlvmModule::emit_llvm_ir)
    }

    /// The same as bitcode.
    ///
    /// # Errors
    /// As [`Compiler::emit_foreign`].
    pub fn lower_foreign_to_bitcode(
        &self,
        name: &str,
        bytes: &[u8],
        arch: Arch,
        options: &CompileOptions,
    ) -> Result<Vec<u8>, Error> {
        self.lower_foreign_as(name, bytes, arch, options, LlvmModule::emit_bitcode)
    }

    fn lower_foreign_as<T: Send>(
        &self,
        name: &str,
        bytes: &[u8],
        arch: Arch,
        options: &CompileOptions,
        emit: fn(&LlvmModule) -> T,
    ) -> Result<T, Error> {
        let lower_options = self.foreign_options(bytes, arch, options)?;
        let address_bits = options.address_size.bits();
        guard_input(name, || {
            cdp_llvm::lower_foreign_only(name, bytes, address_bits, &lower_options)
                .map(|lowered| emit(&lowered))
                .map_err(|error| from_foreign(name, error))
        })
    }

    /// PTX of a module that the embedder built with inkwell and keeps: it is not changed.
    ///
    /// # Errors
    /// As [`Compiler::emit_foreign`].
    pub fn emit_module(
        &self,
        module: &inkwell::module::Module<'_>,
        arch: Arch,
        options: &CompileOptions,
    ) -> Result<DeviceCode, Error> {
        let name = module.get_name().to_string_lossy().into_owned();
        // LLVM writes an invalid module wrongly, if it does not crash.
        cdp_llvm::foreign::verify(module).map_err(|error| from_foreign(&name, error))?;
        let bitcode = module.write_bitcode_to_memory();
        self.emit_foreign(&name, bitcode.as_slice(), arch, options)
    }

    /// Replaces the launches (`@cdp.launch`) of a module that the embedder built with inkwell and
    /// hands over. After an error some may have been replaced already. `context` is the module's own. It
    /// works on the calling thread, and verifies the module first; of a valid one nothing is asked that LLVM
    /// would end the process for.
    ///
    /// # Errors
    /// As [`Compiler::emit_foreign`], and [`Error::Input`] for a module that is not valid.
    pub fn lower_module<'ctx>(
        &self,
        context: &'ctx inkwell::context::Context,
        module: &inkwell::module::Module<'ctx>,
        arch: Arch,
        options: &CompileOptions,
    ) -> Result<(), Error> {
        let abi = self.foreign_abi(arch, options)?;
        let version = ptx_version::of_target(arch, options)?;
        let lower_options = self.lower_options(arch, abi, version, options);
        let name = module.get_name().to_string_lossy().into_owned();
        cdp_llvm::lower_in_place(context, module, options.address_size.bits(), &lower_options)
            .map_err(|error| from_foreign(&name, error))
    }

    /// How a module of another compiler is lowered; its features decide the version of PTX.
    pub(crate) fn foreign_options(
        &self,
        bytes: &[u8],
        arch: Arch,
        options: &CompileOptions,
    ) -> Result<LowerOptions, Error> {
        let abi = self.foreign_abi(arch, options)?;
        let version = ptx_version::of_foreign(arch, options, bytes)?;
        Ok(self.lower_options(arch, abi, version, options))
    }

    pub(crate) fn foreign_abi(
        &self,
        arch: Arch,
        options: &CompileOptions,
    ) -> Result<LaunchAbi, Error> {
        let request = cdp_launch::AbiRequest {
            arch_sm: u32::from(arch.number()),
            cdp: options.cdp(),
            address_bits: options.address_size.bits(),
        };
        Ok(cdp_launch::choose(options.launch_abi, request)?)
    }
}

/// A failure of lowering as one of the module that was handed in.
pub(crate) fn from_foreign(name: &str, error: LowerError) -> Error {
    match from_lowering(error) {
        Error::Request { message, cure: None } => Error::Input { name: name.into(), message },
        // What LLVM refuses to emit, the module asked for.
        Error::Bug { stage: "emit", message, .. } => Error::Input { name: name.into(), message },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use cdp_llvm::inkwell::builder::Builder;
    use cdp_llvm::inkwell::context::Context;
    use cdp_llvm::inkwell::module::Module;
    use cdp_llvm::inkwell::values::FunctionValue;

    use super::*;

    /// A module of an embedder, with a kernel whose body `fill` makes.
    fn with_module(
        fill: impl for<'c> Fn(&'c Context, &Module<'c>, &Builder<'c>, FunctionValue<'c>),
    ) -> [Result<(), Error>; 2] {
        let context = Context::create();
        let module = context.create_module("embedder");
        let ty = context.void_type().fn_type(&[context.i32_type().into()], false);
        let kernel = module.add_function("kernel", ty, None);
        kernel.set_call_conventions(cdp_llvm::PTX_KERNEL);
        let builder = context.create_builder();
        builder.position_at_end(context.append_basic_block(kernel, "entry"));
        fill(&context, &module, &builder, kernel);
        let (compiler, options) = (Compiler::without_tools(), CompileOptions::default());
        let emitted = compiler.emit_module(&module, Arch::SM_90, &options).map(|_| ());
        [emitted, compiler.lower_module(&context, &module, Arch::SM_90, &options)]
    }

    /// What an embedder may get wrong with inkwell is said, and no crash of LLVM's.
    #[test]
    fn wrong_modules_are_errors() {
        let good = with_module(|_, _, builder, _| {
            builder.build_return(None).unwrap();
        });
        assert!(good.iter().all(Result::is_ok), "{good:?}");
        let unfinished = with_module(|_, _, _, _| {});
        let foreign_value = with_module(|context, module, builder, kernel| {
            let other = module.add_function("other", kernel.get_type(), None);
            let inner = context.create_builder();
            inner.position_at_end(context.append_basic_block(other, "entry"));
            let number = other.get_nth_param(0).unwrap().into_int_value();
            inner.build_return(None).unwrap();
            builder.build_int_add(number, number, "sum").unwrap();
            builder.build_return(None).unwrap();
        });
        let other_module = with_module(|context, _, builder, kernel| {
            let other = context.create_module("other");
            let callee = other.add_function("callee", kernel.get_type(), None);
            let number = kernel.get_nth_param(0).unwrap();
            builder.build_direct_call(callee, &[number.into()], "").unwrap();
            builder.build_return(None).unwrap();
            // The call refers to it, so it has to live.
            std::mem::forget(other);
        });
        let no_arguments = with_module(|context, module, builder, kernel| {
            let ty = context.i32_type().fn_type(&[], true);
            let launch = module.add_function("cdp.launch", ty, None);
            let kernel = kernel.as_global_value().as_pointer_value();
            builder.build_direct_call(launch, &[kernel.into()], "").unwrap();
            builder.build_return(None).unwrap();
        });
        for (results, wanted) in [
            (unfinished, "terminator"),
            (foreign_value, "another function"),
            (other_module, "another module"),
            (no_arguments, "@cdp.launch"),
        ] {
            for result in results {
                let error = result.unwrap_err();
                assert!(matches!(error, Error::Input { .. }), "{error:?}");
                assert!(error.to_string().contains(wanted), "{error}");
            }
        }
    }

    /// The context must be the module's own.
    #[test]
    fn another_context_is_an_error() {
        let [context, other] = [Context::create(), Context::create()];
        let module = context.create_module("embedder");
        let (compiler, options) = (Compiler::without_tools(), CompileOptions::default());
        let error = compiler.lower_module(&other, &module, Arch::SM_90, &options).unwrap_err();
        assert!(error.to_string().contains("context"), "{error}");
    }
}
