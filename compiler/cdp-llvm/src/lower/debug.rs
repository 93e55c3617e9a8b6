//! Debug information: line tables for `-lineinfo`, DWARF with types and variables for `-g -G`.
//!
//! DWARF describes the IR's machine types: integers carry C's usual name for their width.

use std::cell::RefCell;
use std::collections::HashMap;

use cdp_ir::{FloatKind, FuncId, Loc, LocalId, Module as IrModule, RecordKind, Type, TypeId};
use inkwell::context::Context;
use inkwell::debug_info::{
    AsDIScope, DICompileUnit, DIFile, DIFlags, DIFlagsConstants, DILocation, DIScope, DISubprogram,
    DIType, DWARFEmissionKind, DWARFSourceLanguage, DebugInfoBuilder,
};
use inkwell::module::Module;
use inkwell::values::FunctionValue;

use super::Unit;
use super::body::{Body, Place};
use crate::options::{DebugInfo, LowerOptions, OptLevel};
use crate::raw;

/// DWARF's encodings of base types (DWARF 4, section 7.8).
const DW_ATE_BOOLEAN: u32 = 2;
const DW_ATE_FLOAT: u32 = 4;
const DW_ATE_SIGNED: u32 = 5;
const DW_ATE_SIGNED_CHAR: u32 = 6;
const DW_ATE_UNSIGNED: u32 = 7;
const DW_ATE_UNSIGNED_CHAR: u32 = 8;

/// Debug information of a translation unit.
pub(super) struct DebugUnit<'ctx> {
    builder: DebugInfoBuilder<'ctx>,
    unit: DICompileUnit<'ctx>,
    files: Vec<DIFile<'ctx>>,
    types: RefCell<HashMap<TypeId, DIType<'ctx>>>,
    full: bool,
    optimized: bool,
}

/// Debug information of a function.
#[derive(Clone, Copy)]
pub(super) struct Scope<'ctx> {
    subprogram: DISubprogram<'ctx>,
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
        raw::add_module_flag(context, llvm, "Dwarf Version", 2);
        let main = ir.files.first().map_or(ir.name.as_str(), |file| file.path.as_str());
        let directory = options.working_directory.as_str();
        let optimized = options.opt_level != OptLevel::O0;
        let (builder, unit) = llvm.create_debug_info_builder(
            true,
            DWARFSourceLanguage::CPlusPlus,
            main,
            directory,
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
        Some(DebugUnit { builder, unit, files, types: RefCell::default(), full, optimized })
    }

    /// Resolves what is still open; nothing may be added afterwards.
    pub fn finish(&self) {
        self.builder.finalize();
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
        Scope { subprogram, file: function.loc.file }
    }

    fn location(&self, context: &'ctx Context, scope: &Scope<'ctx>, loc: Loc) -> DILocation<'ctx> {
        let mut at: DIScope<'ctx> = scope.subprogram.as_debug_info_scope();
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
                let pointee = match ir.types.get(*pointee) {
                    // A record may hold a pointer to itself: the pointer does not describe it.
                    Type::Record(record) => self.opaque(&ir.types.record(*record).name),
                    _ => self.ty(ir, *pointee).or_else(|| self.base("void", 8, DW_ATE_UNSIGNED)),
                }?;
                let space = inkwell::AddressSpace::default();
                let pointer = self.builder.create_pointer_type("", pointee, bits, align, space);
                Some(pointer.as_type())
            }
            Type::Array { elem, len } => {
                let elem = self.ty(ir, *elem)?;
                let range = 0..*len as i64;
                Some(self.builder.create_array_type(elem, bits, align, &[range]).as_type())
            }
            Type::Record(record) => self.record(ir, ir.types.record(*record)),
        }
    }

    fn base(&self, name: &str, bits: u64, encoding: u32) -> Option<DIType<'ctx>> {
        let ty = self.builder.create_basic_type(name, bits, encoding, DIFlags::PUBLIC).ok()?;
        Some(ty.as_type())
    }

    fn opaque(&self, name: &str) -> Option<DIType<'ctx>> {
        self.base(if name.is_empty() { "struct" } else { name }, 8, DW_ATE_UNSIGNED_CHAR)
    }

    fn record(&self, ir: &IrModule, record: &cdp_ir::Record) -> Option<DIType<'ctx>> {
        let scope = self.unit.as_debug_info_scope();
        let file = self.unit.get_file();
        let mut members = Vec::new();
        for field in &record.fields {
            let Some(ty) = self.ty(ir, field.ty) else { continue };
            let layout = ir.types.layout(field.ty);
            let bits = field.bits.map_or(layout.size * 8, |range| u64::from(range.width));
            let offset = field.offset * 8 + field.bits.map_or(0, |range| u64::from(range.offset));
            let align = (layout.align * 8) as u32;
            let public = DIFlags::PUBLIC;
            let member = self.builder.create_member_type(
                scope,
                &field.name,
                file,
                0,
                bits,
                align,
                offset,
                public,
                ty,
            );
            members.push(member.as_type());
        }
        let (bits, align) = (record.layout.size * 8, (record.layout.align * 8) as u32);
        let name = &record.name;
        let flags = DIFlags::PUBLIC;
        Some(match record.kind {
            RecordKind::Struct => self
                .builder
                .create_struct_type(
                    scope, name, file, 0, bits, align, flags, None, &members, 0, None, "",
                )
                .as_type(),
            RecordKind::Union => self
                .builder
                .create_union_type(scope, name, file, 0, bits, align, flags, &members, 0, "")
                .as_type(),
        })
    }
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

impl<'ctx> Body<'_, '_, 'ctx> {
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

    /// Tells the debugger where a parameter or local lives.
    pub(super) fn declare_variable(&self, id: LocalId, place: Place<'ctx>) {
        let (Some(debug), Some(scope)) = (&self.unit.debug, &self.debug_scope) else { return };
        let local = self.function.local(id);
        if !debug.full || local.name.is_empty() {
            return;
        }
        let Some(ty) = debug.ty(self.unit.ir, local.ty) else { return };
        let file = debug.file(local.loc.file);
        let at = scope.subprogram.as_debug_info_scope();
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
        if let Some(block) = self.builder.get_insert_block() {
            raw::declare_variable(
                &debug.builder,
                place.address,
                variable,
                expression,
                location,
                block,
            );
        }
    }
}
