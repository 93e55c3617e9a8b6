//! A PTX module as data: functions, variables, initialisers, source locations. Names are resolved;
//! everything that an instruction refers to is an index into one of the tables here.
//!
//! Instructions themselves are in [`crate::inst`]. Nothing here reads or writes text.

use crate::inst::{CallSignature, CallTarget, Inst};
use crate::limits::Limits;
use crate::types::{ScalarType, Space, Word, words};

/// Declares index types into the tables of a module or of a function.
macro_rules! indices {
    ($($name:ident of $table:literal,)*) => {$(
        #[doc = concat!("Index into [`", $table, "`].")]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);
        impl $name {
            /// The position in the table.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

indices! {
    FunctionId of "Module::functions",
    GlobalId of "Module::variables",
    Reg of "Body::registers",
    LocalId of "Body::variables",
    LabelId of "Body::labels",
    LocationId of "Body::locations",
    PrototypeId of "Body::prototypes",
    BranchTableId of "Body::branch_tables",
    CallTableId of "Body::call_tables",
}

/// A line of the PTX text, counted from 1; 0 when unknown. All lines compare equal, so that two
/// modules that differ only in layout are equal.
#[derive(Clone, Copy, Debug, Default)]
pub struct PtxLine(pub u32);

impl PartialEq for PtxLine {
    fn eq(&self, _: &PtxLine) -> bool {
        true
    }
}
impl Eq for PtxLine {}

/// A whole PTX translation unit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module {
    /// `.version major.minor`
    pub version: (u32, u32),
    /// `.target`
    pub target: Target,
    /// Bits of an address: 32 or 64 (32 when the text has no `.address_size`).
    pub address_bits: u32,
    /// `.file` entries, in the order of the text.
    pub files: Vec<SourceFile>,
    /// Kernels and device functions, declared, defined, or aliases; one entry a name.
    pub functions: Vec<Function>,
    /// Module-scope variables; one entry a name.
    pub variables: Vec<Variable>,
    /// Module-scope `.pragma` strings.
    pub pragmas: Vec<String>,
}

impl Module {
    /// The function or kernel called `name`.
    pub fn function(&self, name: &str) -> Option<FunctionId> {
        let position = self.functions.iter().position(|f| f.name == name)?;
        Some(FunctionId(position as u32))
    }

    /// The module-scope variable called `name`.
    pub fn variable(&self, name: &str) -> Option<GlobalId> {
        let position = self.variables.iter().position(|v| v.name == name)?;
        Some(GlobalId(position as u32))
    }

    /// The file with this number.
    pub fn file(&self, number: u32) -> Option<&SourceFile> {
        self.files.iter().find(|file| file.index == number)
    }

    /// The return parameters and the parameters of what a call in `body` goes to.
    pub fn signature<'m>(
        &'m self,
        body: &'m Body,
        target: &CallTarget,
    ) -> (&'m [Param], &'m [Param]) {
        let id = match target {
            CallTarget::Direct(id) => *id,
            CallTarget::Indirect { signature: CallSignature::Targets(id), .. } => {
                body.call_tables[id.index()].targets[0]
            }
            CallTarget::Indirect { signature: CallSignature::Prototype(id), .. } => {
                let prototype = &body.prototypes[id.index()];
                return (&prototype.returns, &prototype.params);
            }
        };
        let function = &self.functions[id.index()];
        (&function.returns, &function.params)
    }
}

/// `.target sm_90a, debug, ...`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// 90 for `sm_90`.
    pub sm: u32,
    /// `a` (architecture-specific) or `f` (family-specific).
    pub suffix: Option<char>,
    /// The other words: `texmode_unified`, `texmode_independent`, `map_f64_to_f32`. `debug` is not
    /// kept: it demands debug sections, which are not kept either.
    pub options: Vec<String>,
}

/// `.file index "path", timestamp, size`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// The number that `.loc` uses.
    pub index: u32,
    /// The path as written.
    pub path: String,
    /// Modification time and size in bytes, when given.
    pub stamp: Option<(u64, u64)>,
}

words! {
    /// Linkage directive of a function or variable.
    Linkage {
        /// No directive: private to the module.
        Internal = "",
        Visible = "visible", Weak = "weak",
        /// Defined in another module.
        Extern = "extern",
        /// Variables only: merged by name, the largest wins.
        Common = "common",
    }

    /// Kernel or device function.
    FunctionKind { Kernel = "entry", Func = "func", }
}

/// A kernel or a device function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Name as written.
    pub name: String,
    /// `.entry` or `.func`
    pub kind: FunctionKind,
    /// Linkage directive.
    pub linkage: Linkage,
    /// Return parameters (at most one in what compilers emit; none for kernels).
    pub returns: Vec<Param>,
    /// Parameters in order.
    pub params: Vec<Param>,
    /// `.maxntid`, `.reqntid` and other directives.
    pub limits: Limits,
    /// The function this one is an `.alias` of. Then `body` is `None`.
    pub alias_of: Option<FunctionId>,
    /// `None` for a declaration.
    pub body: Option<Body>,
    /// Where the function's header begins.
    pub line: PtxLine,
}

impl Function {
    /// Size in bytes of a parameter, a return parameter or a call parameter of `body`.
    pub fn param_bytes(&self, body: &Body, symbol: Symbol) -> Option<u64> {
        match symbol {
            Symbol::Param(index) => Some(self.params[index as usize].size_bytes()),
            Symbol::Return(index) => Some(self.returns[index as usize].size_bytes()),
            Symbol::Local(id) => {
                let variable = &body.variables[id.index()];
                (variable.space == Space::Param).then(|| variable.size_bytes())
            }
            Symbol::Global(_) | Symbol::Function(_) => None,
        }
    }
}

/// Where a parameter of a device function lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ParamStorage {
    /// `.param`: memory of the parameter space.
    Memory,
    /// `.reg`: a register. The id is meaningful in a defined function only (its body's table);
    /// declarations and prototypes hold `None`.
    Register(Option<Reg>),
}

/// A parameter or return parameter of a function, kernel or prototype.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// Name as written, `_` if none.
    pub name: String,
    /// Element type.
    pub ty: ScalarType,
    /// Alignment in bytes: `.align`, else that of the type.
    pub align_bytes: u32,
    /// Elements of an array; `None` for a scalar. `Some(0)` is an array of unspecified size (the
    /// tail of a variadic function).
    pub array_len: Option<u64>,
    /// Memory or register.
    pub storage: ParamStorage,
    /// `.ptr` attribute of a kernel parameter.
    pub pointer: Option<PointerAttribute>,
}

impl Param {
    /// Size in bytes.
    pub fn size_bytes(&self) -> u64 {
        u64::from(self.ty.bytes()) * self.array_len.unwrap_or(1)
    }
}

/// `.ptr .global .align 16` on a kernel parameter: what the pointer points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PointerAttribute {
    /// State space of the pointee; `Generic` if not given.
    pub space: Space,
    /// Alignment of the pointee in bytes (4 if not given).
    pub align_bytes: u32,
}

/// A variable, at module scope or inside a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Name. Inside a function it is unique in that function: names of nested scopes that clash
    /// have been changed.
    pub name: String,
    /// `Global`, `Const`, `Shared`, `Local`, or, inside a function, `Param` (a call parameter).
    pub space: Space,
    /// Linkage directive (always `Internal` inside a function).
    pub linkage: Linkage,
    /// Alignment in bytes: `.align`, else that of the type or vector.
    pub align_bytes: u32,
    /// 1, 2 or 4 (`.v2`, `.v4`).
    pub vector_len: u32,
    /// Element type.
    pub ty: ScalarType,
    /// Dimensions, outermost first; empty for a scalar. The first is 0 for an array of unspecified
    /// size (`extern __shared__ x[]`).
    pub dims: Vec<u64>,
    /// Initial contents; `None` means zero for `.global` and `.const`, undefined for others.
    pub init: Option<Initializer>,
    /// `.attribute(.managed)`
    pub managed: bool,
    /// `.attribute(.unified(uuid1, uuid2))`
    pub unified: Option<(u64, u64)>,
    /// Where it is declared.
    pub line: PtxLine,
}

impl Variable {
    /// Size in bytes; 0 for an array of unspecified size. The parser has checked that it fits.
    pub fn size_bytes(&self) -> u64 {
        let element = u64::from(self.ty.bytes()) * u64::from(self.vector_len);
        self.dims.iter().fold(element, |size, dim| size.saturating_mul(*dim))
    }

    /// Dimensions, outermost first, the vector's last: a level of braces of the initial values each.
    pub(crate) fn levels(&self) -> Vec<u64> {
        let lanes = (self.vector_len > 1).then_some(u64::from(self.vector_len));
        self.dims.iter().copied().chain(lanes).collect()
    }

    /// An array declared without a size, such as dynamic shared memory.
    pub fn is_unsized(&self) -> bool {
        self.dims.first() == Some(&0)
    }
}

/// The initial contents of a variable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Initializer {
    /// Little-endian bytes from the start; what is missing up to the variable's size is zero.
    /// Zero where a relocation applies.
    pub bytes: Vec<u8>,
    /// Addresses to be filled in, by increasing offset.
    pub relocations: Vec<Relocation>,
}

/// An address inside an initialiser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// Where in the variable.
    pub offset_bytes: u64,
    /// How many bytes of the (shifted) address are stored: 1 for the mask form on `.b8`, else 4
    /// or 8.
    pub size_bytes: u32,
    /// The address is shifted right by this many bits before it is stored: `0xFF00(sym)` is 8.
    pub shift_bits: u32,
    /// Whose address: a function or a module variable.
    pub symbol: Symbol,
    /// Added to the address, in bytes.
    pub addend: i64,
    /// `generic(sym)`: the generic address and not that in the variable's own space.
    pub generic: bool,
}

/// What a name in an address or call means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Symbol {
    /// A kernel or device function.
    Function(FunctionId),
    /// A module-scope variable.
    Global(GlobalId),
    /// A variable of the function: `.local`, `.shared`, or a call parameter.
    Local(LocalId),
    /// The function's own parameter, by position.
    Param(u32),
    /// The function's own return parameter, by position.
    Return(u32),
}

/// The inside of a defined function.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Body {
    /// Registers that occur in the text, numbered in the order of their first occurrence
    /// (register parameters first).
    pub registers: Vec<Register>,
    /// `.local`, `.shared`, `.global`, `.const` and `.param` variables declared in the function,
    /// nested scopes included.
    pub variables: Vec<Variable>,
    /// Labels, in the order of the text.
    pub labels: Vec<Label>,
    /// The instructions in order. Falling off the end is `ret`.
    pub instructions: Vec<Instruction>,
    /// Source locations that `instructions` refer to.
    pub locations: Vec<Location>,
    /// `.callprototype` entries.
    pub prototypes: Vec<Prototype>,
    /// `.branchtargets` entries.
    pub branch_tables: Vec<Table<LabelId>>,
    /// `.calltargets` entries.
    pub call_tables: Vec<Table<FunctionId>>,
}

/// A virtual register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register {
    /// Name with its `%`, unique in the function.
    pub name: String,
    /// Declared type: gives the width; the interpretation is the instruction's.
    pub ty: ScalarType,
}

/// A place to branch to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Name, unique in the function.
    pub name: String,
    /// Index of the instruction it stands before; the number of instructions if at the end.
    pub position: u32,
}

/// One instruction with what surrounds it.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    /// `@%p1` or `@!%p1`.
    pub guard: Option<Guard>,
    /// What it does.
    pub inst: Inst,
    /// The `.loc` in force.
    pub location: Option<LocationId>,
    /// Where it is in the PTX text.
    pub line: PtxLine,
}

/// Predicate guard: the instruction runs in lanes where the register is true (false if negated).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    /// A `.pred` register.
    pub reg: Reg,
    /// `@!`
    pub negated: bool,
}

/// `.loc`: a place in the source program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The number of the file ([`Module::file`]).
    pub file: u32,
    /// Line, from 1 (0: compiler-generated).
    pub line: u32,
    /// Column, from 1 (0: unknown).
    pub column: u32,
    /// If the code comes from a function that was inlined: where.
    pub inlined_at: Option<Box<InlinedAt>>,
}

/// `, function_name LABEL, inlined_at FILE LINE COLUMN` of a `.loc`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InlinedAt {
    /// The (mangled) name of the inlined function, when the text has the string it refers to.
    pub function: Option<String>,
    /// The number of the call's file.
    pub file: u32,
    /// The call's line.
    pub line: u32,
    /// The call's column.
    pub column: u32,
    /// The call's own location, which may again be inlined: the last `.loc` before this one with
    /// the same file, line and column.
    pub parent: Option<LocationId>,
}

/// `.callprototype`: the signature of an indirect call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prototype {
    /// The label that calls use.
    pub name: String,
    /// Return parameters.
    pub returns: Vec<Param>,
    /// Parameters.
    pub params: Vec<Param>,
    /// `.noreturn`, `.abi_preserve`
    pub limits: Limits,
}

/// `.branchtargets`, the labels of a `brx.idx`, or `.calltargets`, the functions that an indirect call may reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table<T> {
    /// The label that instructions use.
    pub name: String,
    /// The targets by index; functions all have the same signature.
    pub targets: Vec<T>,
}
