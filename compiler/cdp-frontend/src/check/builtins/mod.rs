//! What CUDA declares without the program saying so: builtin functions, types, constants and
//! variables, each found by name when it is first used.
//!
//! Functions are declared in CUDA ([`functions`]). Nothing is set up at start: their rows stand in static
//! tables with an index made when this crate is compiled, signatures are text parsed on demand
//! ([`signature`]), and what is best said in CUDA C (`make_float4`, SIMD-in-word functions) is a row whose
//! body is text that the checker compiles when the function is called ([`Lower::Inline`]).
//!
//! For the checker:
//! - a name that no scope of the program declares is looked up here, before "undeclared" is said;
//!   a function name that the program declares at file scope still has the rows here in its
//!   overload set, as if an included header had declared them;
//! - `std::name` finds the rows with [`Flags::std`];
//! - a name that is nowhere may still be one of CUDA or the C library that the subset leaves
//!   out ([`outside()`]): say so rather than "undeclared";
//! - convert a row's types once and keep them (by [`Overload::key`]): look-ups are cheap, but not
//!   free.
//!
//! What this is not: the checker's type system (types here are names), overload resolution, or
//! lowering to LLVM. Sources: CUDA 13.0's documentation and what nvcc 13.0 accepts; values and
//! layouts were printed by programs compiled with CUDA 13.0.

pub mod constants;
pub mod functions;
mod index;
mod outside;
pub mod signature;
pub mod types;
pub mod variables;

pub use constants::{BuiltinConst, lookup_constant};
pub use outside::{
    Outside, declared as outside_declared, libraries as outside_libraries, listed as outside_names,
    outside,
};
pub use signature::{SigBase, SigParam, SigType, Signature};
pub use types::{BuiltinTypeDef, BuiltinTypeKind, is_type_name, lookup_type};
pub use variables::{BuiltinVariable, lookup_variable};

use cdp_ir::{BinaryOp, CastKind, CompareOp, FastMath, Intrinsic, RuntimeFn, UnaryOp};

/// The header that nvcc wants included before it knows a name. Everything without one comes with
/// `cuda_runtime.h`, which nvcc includes by itself.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Header {
    /// Always there.
    None,
    /// `cuda_fp16.h`
    Fp16,
    /// `cuda_bf16.h`
    Bf16,
}

impl Header {
    /// The file to include.
    pub fn file(self) -> Option<&'static str> {
        match self {
            Header::None => None,
            Header::Fp16 => Some("cuda_fp16.h"),
            Header::Bf16 => Some("cuda_bf16.h"),
        }
    }
}

/// How a call becomes IR. Arguments are converted to the signature's parameter types first; the
/// result has the signature's result type unless the variant says otherwise.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Lower {
    /// Not callable in this pass: an error that gives the reason and what to use instead. Empty
    /// text: there is nothing more to say than that the function belongs to the other side.
    Refuse(&'static str),
    /// One intrinsic with the arguments in order. A signature that returns `bool` belongs to an
    /// intrinsic that yields `Bool`.
    Intrinsic(Intrinsic),
    /// One operation on the only argument.
    Unary(UnaryOp),
    /// One operation on the two arguments.
    Binary(BinaryOp),
    /// A comparison; the signature returns `bool`.
    Compare(CompareOp),
    /// A cast of the only argument to the result type.
    Cast(CastKind),
    /// A call of the device runtime.
    Runtime(RuntimeFn),
    /// A call of an `extern "C"` function with this symbol and the signature's types.
    Extern(&'static str),
    /// Device `printf` ([`cdp_ir::ExprKind::Printf`]).
    Printf,
    /// A function with this body, compiled as an internal `inline` device function when called;
    /// [`Overload::source`] is its whole text. It sees the builtins only (none of the program's
    /// names), those with [`Flags::internal`] included.
    Inline(&'static str),
    /// The first when single-precision denormals are flushed (`-ftz=true`).
    IfFtz(&'static Lower, &'static Lower),
    /// The first under `-use_fast_math`.
    IfFast(&'static Lower, &'static Lower),
    /// The first from this architecture (`90` for sm_90) on.
    IfSm(u16, &'static Lower, &'static Lower),
}

/// Properties of a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flags {
    /// Also visible as `std::name`.
    pub std: bool,
    /// Takes the call when the arguments are arithmetic and no row fits exactly: integers count as
    /// `double`, and mixed floating types go to the larger (C++ [cmath.syn]: the overloads for
    /// integer and mixed arguments). In host code only: for nvcc these overloads are host functions,
    /// so in device code `sin(3)` is an error, whose cure is to write the argument as a floating
    /// value.
    pub promote: bool,
    /// As [`Flags::promote`], in device code too (`pow`).
    pub promote_on_device: bool,
    /// For [`Lower::Inline`] bodies only; a program cannot name it. Its name begins with `__cdp_`.
    pub internal: bool,
    /// `T` is not deduced but written: `name<T>(...)`.
    pub explicit_type: bool,
    /// A template of CUDA's headers: a call may write the type too.
    pub template: bool,
    /// Does not return.
    pub noreturn: bool,
}

impl Flags {
    /// None set.
    pub const NONE: Flags = Flags {
        std: false,
        promote: false,
        promote_on_device: false,
        internal: false,
        explicit_type: false,
        template: false,
        noreturn: false,
    };
}

/// One row: one function, or one family that differs by a type `T`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BuiltinFn {
    /// As programs spell it; operators are `operator+`.
    pub name: &'static str,
    /// `result(parameter, ...)`, see [`signature`].
    pub signature: &'static str,
    /// What `T` stands for, one overload each; empty when the signature has no `T`.
    pub types: &'static [&'static str],
    pub header: Header,
    /// The lowest architecture (`75` for sm_75) that has it; 0 for all.
    pub min_sm: u16,
    /// In the device pass.
    pub device: Lower,
    /// In the host pass.
    pub host: Lower,
    pub flags: Flags,
    /// One sentence for the generated documentation.
    pub summary: &'static str,
}

/// One overload of a builtin function.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Overload {
    pub func: &'static BuiltinFn,
    /// What `T` is, when the row has one.
    pub subst: Option<&'static str>,
}

/// The pass a call is compiled in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pass {
    Device,
    Host,
}

/// What conditional lowerings depend on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mode {
    pub pass: Pass,
    /// `90` for sm_90.
    pub sm: u16,
    pub fast_math: FastMath,
}

impl Overload {
    /// Result and parameter types.
    pub fn signature(&self) -> Signature {
        Signature::parse(self.func.signature, self.subst)
    }

    /// How a call becomes IR in this mode, conditions decided. [`Lower::Refuse`] when the function
    /// is for the other pass; [`BuiltinFn::min_sm`] is left to the caller.
    pub fn lower(&self, mode: &Mode) -> Lower {
        let mut lower = match mode.pass {
            Pass::Device => &self.func.device,
            Pass::Host => &self.func.host,
        };
        loop {
            let (condition, yes, no) = match lower {
                Lower::IfFtz(yes, no) => (mode.fast_math.ftz, yes, no),
                Lower::IfFast(yes, no) => (mode.fast_math.fast_functions, yes, no),
                Lower::IfSm(sm, yes, no) => (mode.sm >= *sm, yes, no),
                other => return *other,
            };
            lower = if condition { yes } else { no };
        }
    }

    /// Identifies the overload as long as the program runs: one per row and `T`.
    pub fn key(&self) -> (usize, usize) {
        let subst = self.subst.map_or(0, |text| text.as_ptr() as usize);
        (std::ptr::from_ref(self.func) as usize, subst)
    }

    /// The text of a function of this name that calls the row; `None` for a row that takes a
    /// function, a variable, or any pointer.
    pub fn wrapper(&self, name: &str) -> Option<String> {
        let plain = |base| !matches!(base, SigBase::Any | SigBase::Kernel | SigBase::Symbol);
        let signature = self.signature();
        let params = &signature.params;
        if signature.variadic
            || params.iter().any(|param| !plain(param.ty.base) || param.name.is_empty())
        {
            return None;
        }
        let args: Vec<&str> = params.iter().map(|param| param.name).collect();
        let body = format!("{{ return {}({}); }}", self.func.name, args.join(", "));
        Some(signature::definition(name, self.func.signature, &body, self.subst))
    }

    /// The text of a function definition with this body ([`Lower::Inline`]): result, name,
    /// parameters, body, without specifiers. In the body, the word `T` is the family's type.
    pub fn source(&self, body: &str) -> String {
        signature::definition(self.func.name, self.func.signature, body, self.subst)
    }
}

/// All overloads of a function name, in the order of the tables; empty for an unknown name.
pub fn lookup_function(name: &str) -> Vec<Overload> {
    let mut found = Vec::new();
    for func in functions::rows(name) {
        if func.types.is_empty() {
            found.push(Overload { func, subst: None });
        } else {
            found.extend(func.types.iter().map(|ty| Overload { func, subst: Some(ty) }));
        }
    }
    found
}

/// The names that a `<type>` may follow.
pub fn template_names() -> impl Iterator<Item = &'static str> {
    let mut names: Vec<&str> = all_functions()
        .filter(|row| (row.flags.explicit_type || row.flags.template) && !row.flags.internal)
        .map(|row| row.name)
        .collect();
    names.dedup();
    names.into_iter()
}

/// Whether there is a builtin function of this name.
pub fn is_function_name(name: &str) -> bool {
    functions::rows(name).next().is_some()
}

/// Every row of every table, for the documentation and the tests.
pub fn all_functions() -> impl Iterator<Item = &'static BuiltinFn> {
    functions::TABLES.iter().flat_map(|table| table.iter())
}
