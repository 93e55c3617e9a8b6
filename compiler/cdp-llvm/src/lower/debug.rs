//! Debug information: line tables for `-lineinfo`, DWARF with types and variables for `-g -G`.
//!
//! DWARF describes the IR's machine types: integers carry C's usual name for their width.
//!
//! Source files are named as they were given to the compiler, and the compilation directory is `.`
//! unless [`LowerOptions::working_directory`] names one: the same sources make the same bytes in
//! every folder (what clang does for `-fdebug-compilation-dir=.`). A debugger takes such names
//! relative to the folder it runs in, or to those it is told with `directory`.

use std::cell::RefCell;
use std::collections::HashMap;

use cdp_ir::{
    AddressSpace, Block, FloatKind, FuncId, Global, Loc, LocalId, Module as IrModule, RecordId,
    RecordKind, StmtKind, Target, Type, TypeId,
};
use inkwell::builder::Builder;
use inkwell::context::Context;
use inkwell::debug_info::{
    AsDIScope, DICompileUnit, DIFile, DIFlags, DIFlagsConstants, DILexicalBlock, DILocation,
    DIScope, DISubprogram, DIType, DWARFEmissionKind, DWARFSourceLanguage, DebugInfoBuilder,
};
use inkwell::module::Module;
use inkwell::values::{FunctionValue, GlobalValue};

use super::Unit;
use super::body::{AlignedAddress, Body};
use crate::options::{DebugInfo, LowerOptions, OptLevel};
use crate::raw;

/// DWARF's encodings of base types (DWARF 4, section 7.8).
const DW_ATE_BOOLEAN: u32 = 2;
const DW_ATE_FLOAT: u32 = 4;
const DW_ATE_SIGNED: u32 = 5;
const DW_ATE_SIGNED_CHAR: u32 = 6;
const DW_ATE_UNSIGNED: u32 = 7;
const DW_ATE_UNSIGNED_CHAR: u32 = 8;

/// DWARF's operations by which LLVM is told `DW_AT_address_class` (LLVM, "User Guide for NVPTX
/// Back-end", debug information; DWARF 4, section 7.7.1).
const DW_OP_CONSTU: i64 = 0x10;
const DW_OP_SWAP: i64 = 0x16;
const DW_OP_XDEREF: i64 = 0x18;

/// What debuggers of device code read: ptxas takes no later version than 2 from LLVM.
const DEVICE_DWARF: u32 = 2;
/// What debuggers of host code read. The end of a prologue can be told from version 3 on; with 5
/// LLVM adds an index of names, which gdb 13 takes to be that of the runtime's code too.
const HOST_DWARF: u32 = 4;

/// The address class of pointers: generic addresses (`ptxGenericStorage`). Without it cuda-gdb takes
/// the address of a local for one of global memory.
const GENERIC: u16 = 12;

/// The address class that tells cuda-gdb where a variable lives (`ptxStorageKind` in CUDA's
/// `cudadebugger.h`); global memory is LLVM's own choice.
fn address_class(space: AddressSpace) -> Option<i64> {
    match space {
        AddressSpace::Global => None,
        AddressSpace::Constant => Some(4),
        AddressSpace::Shared => Some(8),
    }
}

/// Debug information of a translation unit.
pub(super) struct DebugUnit<'ctx> {
    builder: DebugInfoBuilder<'ctx>,
    unit: DICompileUnit<'ctx>,
    files: Vec<DIFile<'ctx>>,
    types: RefCell<HashMap<TypeId, DIType<'ctx>>>,
    subprograms: RefCell<HashMap<FuncId, DISubprogram<'ctx>>>,
    context: &'ctx Context,
    full: bool,
    on_device: bool,
    optimized: bool,
}

/// Debug information of a function, at some place in it.
#[derive(Clone, Copy)]
pub(super) struct Scope<'ctx> {
    subprogram: DISubprogram<'ctx>,
    /// The innermost block with variables of its own.
    block: Option<DILexicalBlock<'ctx>>,
    file: u32,
}

impl<'ctx> DebugUnit<'ctx> {
    pub fn new(
        context: &'ctx Context,
        llvm: &Module<'ctx>,
        ir: &IrModule,
        options: &LowerOptions,
    ) -> Option<Self> {
        let kind = match options.debug {
            DebugInfo::None => return None,
            DebugInfo::Lines => DWARFEmissionKind::LineTablesOnly,
            DebugInfo::Full => DWARFEmissionKind::Full,
        };
        raw::add_module_flag(context, llvm, "Debug Info Version", 3);
        let on_device = matches!(ir.target, Target::Device { .. });
        let version = if on_device { DEVICE_DWARF } else { HOST_DWARF };
        raw::add_module_flag(context, llvm, "Dwarf Version", version);
        let main = ir.files.first().map_or(ir.name.as_str(), |file| file.path.as_str());
        let directory = options.working_directory.as_str();
        let optimized = options.opt_level != OptLevel::O0;
        let (builder, unit) = llvm.create_debug_info_builder(
            true,
            DWARFSourceLanguage::CPlusPlus,
            main,
            if directory.is_empty() { "." } else { directory },
            "cdpc",
            optimized,
            "",
            0,
            "",
            kind,
            0,
            false,
            false,
            "",
            "",
        );
        let files =
            ir.files.iter().map(|file| builder.create_file(&file.path, directory)).collect();
        let full = options.debug == DebugInfo::Full;
        Some(DebugUnit {
            builder,
            unit,
            files,
            types: RefCell::default(),
            subprograms: RefCell::default(),
            context,
            full,
            on_device,
            optimized,
        })
    }

    /// Resolves what is still open; nothing may be added afterwards.
    pub fn finish(&self) {
        self.builder.finalize();
    }

    /// Whether variables and types are described.
    pub fn is_full(&self) -> bool {
        self.full
    }

    fn file(&self, index: u32) -> DIFile<'ctx> {
        self.files.get(index as usize).copied().unwrap_or_else(|| self.unit.get_file())
    }

    /// Describes a function and its parameters' types.
    pub fn function(
        &self,
        unit: &Unit<'_, 'ctx>,
        id: FuncId,
        value: FunctionValue<'ctx>,
    ) -> Scope<'ctx> {
        let function = unit.ir.function(id);
        let file = self.file(function.loc.file);
        let mut params = Vec::new();
        let mut ret = None;
        if self.full {
            params =
                function.params().iter().filter_map(|param| self.ty(unit.ir, param.ty)).collect();
            ret = self.ty(unit.ir, function.ret);
        }
        let ty = self.builder.create_subroutine_type(file, ret, &params, DIFlags::PUBLIC);
        let subprogram = self.builder.create_function(
            self.unit.as_debug_info_scope(),
            &function.name,
            Some(&function.symbol),
            file,
            function.loc.line,
            ty,
            function.linkage == cdp_ir::Linkage::Internal,
            true,
            function.loc.line,
            DIFlags::PUBLIC,
            self.optimized,
        );
        value.set_subprogram(subprogram);
        self.subprograms.borrow_mut().insert(id, subprogram);
        Scope { subprogram, block: None, file: function.loc.file }
    }

    /// Describes a kernel's host function, so that its name and lines mean the kernel to a debugger
    /// before any device code is loaded.
    pub fn describe_handle(
        &self,
        unit: &Unit<'_, 'ctx>,
        id: FuncId,
        handle: FunctionValue<'ctx>,
        builder: &Builder<'ctx>,
    ) {
        let scope = self.function(unit, id, handle);
        let location = self.location(unit.context, &scope, unit.ir.function(id).loc);
        builder.set_current_debug_location(location);
    }

    /// Describes a variable with static storage.
    pub fn global(&self, unit: &Unit<'_, 'ctx>, global: &Global, value: GlobalValue<'ctx>) {
        // String literals have names that no source can have, and no declaration.
        let named = !global.name.is_empty() && !global.name.starts_with('$');
        // `extern __shared__` arrays lie behind the other shared variables, where no linker says.
        if !self.full || !named || !global.defined || global.loc.line == 0 {
            return;
        }
        let Some(ty) = self.ty(unit.ir, global.ty) else { return };
        let subprograms = self.subprograms.borrow();
        let scope = match global.function.and_then(|id| subprograms.get(&id)) {
            Some(function) => function.as_debug_info_scope(),
            None => self.namespace(&global.symbol),
        };
        let class = if self.on_device { address_class(global.space) } else { None };
        let operations =
            class.map_or(Vec::new(), |class| vec![DW_OP_CONSTU, class, DW_OP_SWAP, DW_OP_XDEREF]);
        let described = self.builder.create_global_variable_expression(
            scope,
            &global.name,
            // With the symbol gdb would look for the name that it stands for, namespaces included.
            "",
            self.file(global.loc.file),
            global.loc.line,
            ty,
            global.linkage == cdp_ir::Linkage::Internal,
            Some(self.builder.create_expression(operations)),
            None,
            (global.align * 8) as u32,
        );
        raw::describe_global(unit.context, value, described);
    }

    /// The namespace of a symbol.
    fn namespace(&self, symbol: &str) -> DIScope<'ctx> {
        let inner = |outer: DIScope<'ctx>, name: &str| {
            self.builder.create_namespace(outer, name, false).as_debug_info_scope()
        };
        namespaces(symbol).into_iter().fold(self.unit.as_debug_info_scope(), inner)
    }

    fn location(&self, context: &'ctx Context, scope: &Scope<'ctx>, loc: Loc) -> DILocation<'ctx> {
        let mut at = scope.innermost();
        if loc.line != 0 && loc.file != scope.file {
            let block = self.builder.create_lexical_block(at, self.file(loc.file), loc.line, 0);
            at = block.as_debug_info_scope();
        }
        self.builder.create_debug_location(context, loc.line, loc.column, at, None)
    }

    /// The description of a type; `None` for void.
    fn ty(&self, ir: &IrModule, id: TypeId) -> Option<DIType<'ctx>> {
        if let Some(ty) = self.types.borrow().get(&id) {
            return Some(*ty);
        }
        let ty = self.make_type(ir, id)?;
        self.types.borrow_mut().insert(id, ty);
        Some(ty)
    }

    fn make_type(&self, ir: &IrModule, id: TypeId) -> Option<DIType<'ctx>> {
        let layout = ir.types.layout(id);
        let (bits, align) = (layout.size * 8, (layout.align * 8) as u32);
        match ir.types.get(id) {
            Type::Void | Type::Function { .. } => None,
            Type::Bool => self.base("bool", 8, DW_ATE_BOOLEAN),
            Type::Int { bits, signed } => {
                let (name, encoding) = int_name(*bits, *signed);
                self.base(name, u64::from(*bits), encoding)
            }
            Type::Float(kind) => {
                let name = match kind {
                    FloatKind::F16 => "__half",
                    FloatKind::BF16 => "__nv_bfloat16",
                    FloatKind::F32 => "float",
                    FloatKind::F64 => "double",
                };
                self.base(name, kind.bytes() * 8, DW_ATE_FLOAT)
            }
            Type::Pointer(pointee) => {
                let pointee = self.ty(ir, *pointee);
                let pointee = pointee.or_else(|| self.base("void", 8, DW_ATE_UNSIGNED))?;
                let space = if self.on_device { GENERIC } else { 0 };
                let space = inkwell::AddressSpace::from(space);
                let pointer = self.builder.create_pointer_type("", pointee, bits, align, space);
                Some(pointer.as_type())
            }
            Type::Array { elem, len } => {
                let elem = self.ty(ir, *elem)?;
                let range = 0..*len as i64;
                Some(self.builder.create_array_type(elem, bits, align, &[range]).as_type())
            }
            Type::Record(record) => self.record(ir, id, *record),
        }
    }

    fn base(&self, name: &str, bits: u64, encoding: u32) -> Option<DIType<'ctx>> {
        let ty = self.builder.create_basic_type(name, bits, encoding, DIFlags::PUBLIC).ok()?;
        Some(ty.as_type())
    }

    /// A struct or union. While its members are described, which may point back to it, another node
    /// stands for it.
    fn record(&self, ir: &IrModule, ty: TypeId, id: RecordId) -> Option<DIType<'ctx>> {
        // SAFETY: a temporary node of this builder's context; `close_type` below frees it.
        let open = unsafe { self.builder.create_placeholder_derived_type(self.context) };
        self.types.borrow_mut().insert(ty, open.as_type());
        let record = self.closed_record(ir, id);
        self.types.borrow_mut().insert(ty, record);
        // SAFETY: nothing keeps `open` but the nodes made meanwhile, which get the record. Every
        // record has an identifier of its own, so that no two of them become equal and one is freed
        // while `types` has it.
        unsafe { raw::close_type(open, record) };
        Some(record)
    }

    fn closed_record(&self, ir: &IrModule, id: RecordId) -> DIType<'ctx> {
        let record = ir.types.record(id);
        let identifier = format!("record {}", id.0);
        let scope = self.unit.as_debug_info_scope();
        let file = self.unit.get_file();
        let mut members = Vec::new();
        for field in &record.fields {
            let Some(ty) = self.ty(ir, field.ty) else { continue };
            let layout = ir.types.layout(field.ty);
            let bits = field.bits.map_or(layout.size * 8, |range| u64::from(range.width));
            let offset = field.offset * 8 + field.bits.map_or(0, |range| u64::from(range.offset));
            let align = (layout.align * 8) as u32;
            let mut flags = DIFlags::PUBLIC;
            if field.bits.is_some() {
                flags |= DIFlags::BIT_FIELD;
            }
            let member = self.builder.create_member_type(
                scope,
                &field.name,
                file,
                0,
                bits,
                align,
                offset,
                flags,
                ty,
            );
            members.push(member.as_type());
        }
        let (bits, align) = (record.layout.size * 8, (record.layout.align * 8) as u32);
        let name = &record.name;
        let flags = if record.complete { DIFlags::PUBLIC } else { DIFlags::FWD_DECL };
        match record.kind {
            RecordKind::Struct => self
                .builder
                .create_struct_type(
                    scope,
                    name,
                    file,
                    0,
                    bits,
                    align,
                    flags,
                    None,
                    &members,
                    0,
                    None,
                    &identifier,
                )
                .as_type(),
            RecordKind::Union => self
                .builder
                .create_union_type(
                    scope,
                    name,
                    file,
                    0,
                    bits,
                    align,
                    flags,
                    &members,
                    0,
                    &identifier,
                )
                .as_type(),
        }
    }
}

/// The namespaces in a variable's symbol, `_ZN` then lengths and names then `E` (Itanium C++ ABI,
/// section 5.1.2).
fn namespaces(symbol: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut rest = symbol.strip_prefix("_ZN").unwrap_or_default();
    while rest.starts_with(|c: char| c.is_ascii_digit()) {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (length, text) = rest.split_at(digits);
        let Some((name, after)) = length.parse().ok().and_then(|n| text.split_at_checked(n)) else {
            break;
        };
        names.push(name);
        // `L` comes before the names of what is `static`.
        rest = after.strip_prefix('L').unwrap_or(after);
    }
    names.pop();
    names
}

fn int_name(bits: u8, signed: bool) -> (&'static str, u32) {
    match (bits, signed) {
        (8, true) => ("char", DW_ATE_SIGNED_CHAR),
        (8, false) => ("unsigned char", DW_ATE_UNSIGNED_CHAR),
        (16, true) => ("short", DW_ATE_SIGNED),
        (16, false) => ("unsigned short", DW_ATE_UNSIGNED),
        (32, true) => ("int", DW_ATE_SIGNED),
        (32, false) => ("unsigned int", DW_ATE_UNSIGNED),
        (64, true) => ("long long", DW_ATE_SIGNED),
        (64, false) => ("unsigned long long", DW_ATE_UNSIGNED),
        (_, true) => ("__int128", DW_ATE_SIGNED),
        (_, false) => ("unsigned __int128", DW_ATE_UNSIGNED),
    }
}

impl<'ctx> Scope<'ctx> {
    fn innermost(&self) -> DIScope<'ctx> {
        match &self.block {
            Some(block) => block.as_debug_info_scope(),
            None => self.subprogram.as_debug_info_scope(),
        }
    }
}

impl<'ctx> Body<'_, '_, 'ctx> {
    /// Opens the scope of a block that declares variables; what to give [`Self::leave_scope`].
    pub fn enter_scope(&mut self, block: &Block) -> Option<Scope<'ctx>> {
        let outer = self.debug_scope;
        let (Some(debug), Some(scope)) = (&self.unit.debug, &mut self.debug_scope) else {
            return outer;
        };
        let mut declared = block.stmts.iter().filter(|s| matches!(s.kind, StmtKind::Declare(_)));
        if let Some(first) = declared.next().filter(|_| debug.full) {
            let (file, loc) = (debug.file(first.loc.file), first.loc);
            let inner =
                debug.builder.create_lexical_block(scope.innermost(), file, loc.line, loc.column);
            scope.block = Some(inner);
        }
        outer
    }

    /// Goes back to the scope around a block.
    pub fn leave_scope(&mut self, outer: Option<Scope<'ctx>>) {
        self.debug_scope = outer;
        self.set_loc(self.loc);
    }

    /// Instructions built from here on belong to this place in the source.
    pub fn set_loc(&mut self, loc: Loc) {
        if loc.line == 0 && self.loc.line != 0 {
            return;
        }
        self.loc = loc;
        if let (Some(debug), Some(scope)) = (&self.unit.debug, &self.debug_scope) {
            let location = debug.location(self.unit.context, scope, loc);
            self.builder.set_current_debug_location(location);
        }
    }

    /// Tells the debugger where a parameter or local lives, whose scope is the open one.
    pub(super) fn describe_variable(&self, id: LocalId, place: AlignedAddress<'ctx>) {
        let (Some(debug), Some(scope)) = (&self.unit.debug, &self.debug_scope) else { return };
        let local = self.function.local(id);
        if !debug.full || local.name.is_empty() {
            return;
        }
        let Some(ty) = debug.ty(self.unit.ir, local.ty) else { return };
        let file = debug.file(local.loc.file);
        let at = scope.innermost();
        let flags = DIFlags::PUBLIC;
        let variable = if id.0 < self.function.param_count {
            let number = id.0 + 1;
            debug.builder.create_parameter_variable(
                at,
                &local.name,
                number,
                file,
                local.loc.line,
                ty,
                true,
                flags,
            )
        } else {
            let align = place.align * 8;
            debug.builder.create_auto_variable(
                at,
                &local.name,
                file,
                local.loc.line,
                ty,
                true,
                flags,
                align,
            )
        };
        let location = debug.location(self.unit.context, scope, local.loc);
        let expression = debug.builder.create_expression(Vec::new());
        // In the entry block, which control always passes: a declaration may stand in dead code,
        // before the first `case` of a `switch`.
        raw::declare_variable(
            &debug.builder,
            place.address,
            variable,
            expression,
            location,
            self.entry_block(),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::namespaces;

    #[test]
    fn namespaces_of_symbols() {
        assert_eq!(namespaces("_ZN4deep5insid7counterE"), ["deep", "insid"]);
        assert_eq!(namespaces("_ZN4deepL7counterE"), ["deep"]);
        assert!(namespaces("counter").is_empty());
        assert!(namespaces("_ZL7counter").is_empty());
        assert!(namespaces("_ZN99x").is_empty());
    }
}
