//! Function signatures: how parameters and results travel.
//!
//! On the device an aggregate parameter is a `byval` pointer (PTX: a `.param` byte array) and an
//! aggregate result is returned by value (a `.param` byte array again), as nvcc does it, so that
//! objects of both link. A kernel's parameters are aligned to at most 16 bytes (FACTS.md). On the
//! host everything goes as the C compilers of x86-64 have it ([`super::sysv`]).

use cdp_ir::{Expr, FloatKind, FuncId, FunctionKind, Inline, Linkage as IrLinkage, Type, TypeId};
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::Linkage;
use inkwell::types::{AnyTypeEnum, BasicMetadataTypeEnum, BasicType, BasicTypeEnum, FunctionType};
use inkwell::values::{CallSiteValue, FunctionValue};

use super::Unit;
use super::sysv::{Parts, Registers, goes_by_address};
use crate::error::Result;
use crate::kernel::PTX_KERNEL;

/// How one parameter travels.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ParamAbi<'ctx> {
    /// In a register; `Some(signed)` for integers below 32 bits.
    Direct { ty: BasicTypeEnum<'ctx>, extend: Option<bool> },
    /// A copy in memory.
    ByVal { ty: BasicTypeEnum<'ctx>, align: u64 },
    /// The address of a copy that the caller has made.
    Address { align: u64 },
    /// An aggregate in registers, each an LLVM parameter.
    Parts { parts: Parts<'ctx> },
}

impl<'ctx> ParamAbi<'ctx> {
    /// How many LLVM parameters it is.
    fn count(&self) -> u32 {
        match self {
            ParamAbi::Direct { .. } | ParamAbi::ByVal { .. } | ParamAbi::Address { .. } => 1,
            ParamAbi::Parts { parts } => parts.iter().flatten().count() as u32,
        }
    }
}

/// How the result travels.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RetAbi<'ctx> {
    Void,
    Direct {
        ty: BasicTypeEnum<'ctx>,
        extend: Option<bool>,
    },
    /// By value, as a first-class aggregate.
    Aggregate {
        ty: BasicTypeEnum<'ctx>,
        align: u64,
    },
    /// An aggregate in one or two registers; `ty` is the part or a struct of both.
    Parts {
        ty: BasicTypeEnum<'ctx>,
        parts: Parts<'ctx>,
    },
    /// Through a hidden first parameter.
    Hidden {
        ty: BasicTypeEnum<'ctx>,
        align: u64,
    },
}

/// A function's signature.
#[derive(Clone, Debug)]
pub(crate) struct Signature<'ctx> {
    pub ty: FunctionType<'ctx>,
    pub params: Vec<ParamAbi<'ctx>>,
    pub ret: RetAbi<'ctx>,
}

impl<'ctx> Signature<'ctx> {
    /// The LLVM index of the first parameter.
    fn first_param(&self) -> u32 {
        u32::from(matches!(self.ret, RetAbi::Hidden { .. }))
    }

    /// The LLVM index where parameter `index` begins.
    pub fn param_index(&self, index: usize) -> u32 {
        let before = self.params.iter().take(index);
        self.first_param() + before.map(ParamAbi::count).sum::<u32>()
    }
}

impl<'ctx> Unit<'_, 'ctx> {
    pub fn signature(
        &self,
        ret: TypeId,
        params: &[TypeId],
        variadic: bool,
        kernel: bool,
    ) -> Result<Signature<'ctx>> {
        let ret = self.ret_abi(ret)?;
        let mut registers = Registers::new(matches!(ret, RetAbi::Hidden { .. }));
        let params = params.iter().map(|ty| self.param_abi(*ty, kernel, &mut registers));
        let params = params.collect::<Result<Vec<_>>>()?;
        let mut llvm_params: Vec<BasicMetadataTypeEnum<'ctx>> = Vec::new();
        if matches!(ret, RetAbi::Hidden { .. }) {
            llvm_params.push(self.ptr.into());
        }
        for param in &params {
            match param {
                ParamAbi::Direct { ty, .. } => llvm_params.push(BasicMetadataTypeEnum::from(*ty)),
                ParamAbi::ByVal { .. } | ParamAbi::Address { .. } => {
                    llvm_params.push(self.ptr.into());
                }
                ParamAbi::Parts { parts } => {
                    llvm_params.extend(
                        parts.iter().flatten().map(|part| BasicMetadataTypeEnum::from(part.ty)),
                    );
                }
            }
        }
        let ty = match ret {
            RetAbi::Void | RetAbi::Hidden { .. } => {
                self.context.void_type().fn_type(&llvm_params, variadic)
            }
            RetAbi::Direct { ty, .. } | RetAbi::Aggregate { ty, .. } | RetAbi::Parts { ty, .. } => {
                ty.fn_type(&llvm_params, variadic)
            }
        };
        Ok(Signature { ty, params, ret })
    }

    /// The signature of one call: `params` has the arguments beyond those of the declaration too, each
    /// travelling as a parameter of its type would.
    pub fn call_signature(
        &self,
        ret: TypeId,
        params: &[TypeId],
        variadic: bool,
        args: &[Expr],
    ) -> Result<Signature<'ctx>> {
        let declared = self.signature(ret, params, variadic, false)?;
        if args.len() <= params.len() {
            return Ok(declared);
        }
        let beyond = args[params.len()..].iter().map(|arg| arg.ty);
        let all: Vec<_> = params.iter().copied().chain(beyond).collect();
        Ok(Signature { ty: declared.ty, ..self.signature(ret, &all, variadic, false)? })
    }

    pub(super) fn param_abi(
        &self,
        id: TypeId,
        kernel: bool,
        registers: &mut Registers,
    ) -> Result<ParamAbi<'ctx>> {
        let ty = self.storage_type(id)?;
        if self.is_host_record(id) && goes_by_address(&self.ir.types, id) {
            registers.take_scalar(self.ptr.into());
            return Ok(ParamAbi::Address { align: self.ir.types.layout(id).align });
        }
        if self.is_host_record(id)
            && let Some(parts) = self.register_parts(id)
            // A half is one integer: behind the registers it has a place on the stack, as a struct of its
            // size has.
            && (registers.take_all(&parts) || !self.ir.types.is_aggregate(id))
        {
            return Ok(ParamAbi::Parts { parts });
        }
        if self.ir.types.is_aggregate(id) {
            let align = self.ir.types.layout(id).align;
            let align = if kernel { cdp_launch::param_align(align) } else { align };
            return Ok(ParamAbi::ByVal { ty, align });
        }
        registers.take_scalar(ty);
        let extend = if kernel { None } else { self.extension(id) };
        Ok(ParamAbi::Direct { ty, extend })
    }

    /// What C++ host code has as a struct: aggregates, and the half types.
    fn is_host_record(&self, id: TypeId) -> bool {
        let half = Type::Float(FloatKind::F16);
        let bfloat = Type::Float(FloatKind::BF16);
        let ty = self.ir.types.get(id);
        !self.on_device() && (self.ir.types.is_aggregate(id) || *ty == half || *ty == bfloat)
    }

    fn ret_abi(&self, id: TypeId) -> Result<RetAbi<'ctx>> {
        if *self.ir.types.get(id) == Type::Void {
            return Ok(RetAbi::Void);
        }
        let ty = self.storage_type(id)?;
        let align = self.ir.types.layout(id).align;
        if self.is_host_record(id)
            && let Some(parts) = self.register_parts(id)
        {
            let types: Vec<_> = parts.iter().flatten().map(|part| part.ty).collect();
            return Ok(match types[..] {
                [] => RetAbi::Void,
                [ty] => RetAbi::Parts { ty, parts },
                _ => RetAbi::Parts { ty: self.context.struct_type(&types, false).into(), parts },
            });
        }
        Ok(if !self.ir.types.is_aggregate(id) {
            RetAbi::Direct { ty, extend: self.extension(id) }
        } else if self.on_device() {
            RetAbi::Aggregate { ty, align }
        } else {
            RetAbi::Hidden { ty, align }
        })
    }

    fn extension(&self, id: TypeId) -> Option<bool> {
        match self.ir.types.get(id) {
            Type::Bool => Some(false),
            Type::Int { bits, signed } if *bits < 32 => Some(*signed),
            _ => None,
        }
    }

    /// Attributes that a signature puts on a function and on its calls alike.
    pub fn signature_attributes(
        &self,
        signature: &Signature<'ctx>,
        mut add: impl FnMut(AttributeLoc, Attribute),
    ) {
        let extension = |signed| if signed { "signext" } else { "zeroext" };
        match signature.ret {
            RetAbi::Direct { extend: Some(signed), .. } => {
                add(AttributeLoc::Return, self.attribute(extension(signed)));
            }
            RetAbi::Aggregate { align, .. } => {
                add(AttributeLoc::Return, self.attribute_value("alignstack", align));
            }
            RetAbi::Hidden { ty, align } => {
                add(AttributeLoc::Param(0), self.type_attribute("sret", ty));
                add(AttributeLoc::Param(0), self.attribute_value("align", align));
            }
            RetAbi::Void | RetAbi::Direct { .. } | RetAbi::Parts { .. } => {}
        }
        let mut next = signature.first_param();
        for param in &signature.params {
            let at = AttributeLoc::Param(next);
            next += param.count();
            match param {
                ParamAbi::Direct { extend: Some(signed), .. } => {
                    add(at, self.attribute(extension(*signed)));
                }
                ParamAbi::Direct { .. } | ParamAbi::Parts { .. } | ParamAbi::Address { .. } => {}
                ParamAbi::ByVal { ty, align } => {
                    add(at, self.type_attribute("byval", *ty));
                    add(at, self.attribute_value("align", *align));
                }
            }
        }
    }

    pub(super) fn type_attribute(&self, name: &str, ty: BasicTypeEnum<'ctx>) -> Attribute {
        let ty = match ty {
            BasicTypeEnum::ArrayType(ty) => AnyTypeEnum::ArrayType(ty),
            BasicTypeEnum::StructType(ty) => AnyTypeEnum::StructType(ty),
            BasicTypeEnum::IntType(ty) => AnyTypeEnum::IntType(ty),
            BasicTypeEnum::FloatType(ty) => AnyTypeEnum::FloatType(ty),
            BasicTypeEnum::PointerType(ty) => AnyTypeEnum::PointerType(ty),
            BasicTypeEnum::VectorType(ty) => AnyTypeEnum::VectorType(ty),
            BasicTypeEnum::ScalableVectorType(ty) => AnyTypeEnum::ScalableVectorType(ty),
        };
        self.context.create_type_attribute(Attribute::get_named_enum_kind_id(name), ty)
    }

    /// Puts a signature's attributes on a call.
    pub fn attribute_call(&self, signature: &Signature<'ctx>, call: CallSiteValue<'ctx>) {
        self.signature_attributes(signature, |at, attribute| call.add_attribute(at, attribute));
        if self.on_device() {
            call.add_attribute(AttributeLoc::Function, self.attribute("convergent"));
        }
    }

    pub fn function_signature(&self, id: FuncId) -> Result<Signature<'ctx>> {
        let function = self.ir.function(id);
        let params: Vec<_> = function.params().iter().map(|param| param.ty).collect();
        let kernel = function.is_kernel() && self.on_device();
        self.signature(function.ret, &params, function.variadic, kernel)
    }

    /// The LLVM function of an IR function; its body is put on the list when it has one.
    pub fn function(&self, id: FuncId) -> Result<FunctionValue<'ctx>> {
        if let Some(value) = self.functions.borrow()[id.0 as usize] {
            return Ok(value);
        }
        let value = self.declare_function(id)?;
        self.functions.borrow_mut()[id.0 as usize] = Some(value);
        if self.ir.function(id).body.is_some() {
            self.pending.borrow_mut().push_back(id);
        }
        Ok(value)
    }

    fn declare_function(&self, id: FuncId) -> Result<FunctionValue<'ctx>> {
        let function = self.ir.function(id);
        // A name may be declared several times (a redeclared prototype, or a runtime helper).
        if let Some(value) = self.llvm.get_function(&function.symbol) {
            return Ok(value);
        }
        let signature = self.function_signature(id)?;
        let mut linkage = self.linkage(id);
        let mut symbol = function.symbol.clone();
        if self.on_device() && function.is_kernel() {
            symbol = self.device_symbol(&symbol, function.linkage);
            if symbol != function.symbol {
                linkage = Linkage::External;
            }
        }
        let value = self.llvm.add_function(&symbol, signature.ty, Some(linkage));
        self.signature_attributes(&signature, |at, attribute| value.add_attribute(at, attribute));
        let flag = |name: &str| {
            value.add_attribute(AttributeLoc::Function, self.attribute(name));
        };
        flag("nounwind");
        if self.on_device() {
            flag("convergent");
            // The device heap can be exhausted, and programs look: LLVM must not assume away an
            // allocation whose result is only compared with null.
            if matches!(function.symbol.as_str(), "malloc" | "free") {
                flag("nobuiltin");
            }
        }
        if function.attrs.noreturn {
            flag("noreturn");
        }
        match function.attrs.inline {
            Inline::Always => flag("alwaysinline"),
            Inline::Never => flag("noinline"),
            Inline::Hint => flag("inlinehint"),
            Inline::Default => {}
        }
        if self.on_device() {
            self.device_attributes(id, value);
        }
        Ok(value)
    }

    fn linkage(&self, id: FuncId) -> Linkage {
        let function = self.ir.function(id);
        match (function.linkage, function.body.is_some()) {
            (_, false) | (IrLinkage::External, true) => Linkage::External,
            (IrLinkage::Internal, true) => Linkage::Internal,
            (IrLinkage::LinkOnce, true) if function.is_kernel() => Linkage::WeakODR,
            (IrLinkage::LinkOnce, true) => Linkage::LinkOnceODR,
        }
    }

    /// Kernel properties and floating-point mode, in the spelling of LLVM 22's NVPTX back end.
    fn device_attributes(&self, id: FuncId, value: FunctionValue<'ctx>) {
        let function = self.ir.function(id);
        let text = |name: &str, text: &str| {
            let attribute = self.context.create_string_attribute(name, text);
            value.add_attribute(AttributeLoc::Function, attribute);
        };
        if self.ir.fast_math.ftz {
            text("denormal-fp-math-f32", "preserve-sign,preserve-sign");
        }
        if function.kind != FunctionKind::Kernel {
            return;
        }
        value.set_call_conventions(PTX_KERNEL);
        let number = |name: &str, number: u32| {
            if number > 0 {
                text(name, &number.to_string());
            }
        };
        let attrs = &function.attrs;
        number("nvvm.maxntid", attrs.launch_bounds.max_threads_per_block);
        number("nvvm.minctasm", attrs.launch_bounds.min_blocks_per_multiprocessor);
        number("nvvm.maxclusterrank", attrs.launch_bounds.max_blocks_per_cluster);
        number("nvvm.maxnreg", attrs.max_registers);
        if attrs.cluster_dims != [0; 3] {
            let dims = attrs.cluster_dims.map(|dim| dim.max(1).to_string());
            text("nvvm.cluster_dim", &dims.join(","));
        }
        for (index, param) in function.params().iter().enumerate() {
            let at = AttributeLoc::Param(index as u32);
            if self.ir.types.is_pointer(param.ty) && param.param.restrict {
                value.add_attribute(at, self.attribute("noalias"));
            }
            if param.param.grid_constant && self.ir.types.is_aggregate(param.ty) {
                let attribute = self.context.create_string_attribute("nvvm.grid_constant", "");
                value.add_attribute(at, attribute);
                value.add_attribute(at, self.attribute("readonly"));
            }
        }
    }
}
