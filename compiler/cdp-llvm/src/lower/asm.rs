//! Inline assembly, and intrinsics that are a PTX template.
//!
//! CUDA writes operands as `%0` and a percent sign as `%%`; LLVM writes `$0` and `%`. NVPTX has no
//! assembly variants, so braces pass as they are.

use cdp_ir::{AsmOutput, Expr, InlineAsm, PtxTemplate, Type, TypeId};
use inkwell::attributes::AttributeLoc;
use inkwell::types::{AnyType, BasicMetadataTypeEnum, BasicType, BasicTypeEnum};
use inkwell::values::{BasicMetadataValueEnum, BasicValueEnum, CallSiteValue};

use super::body::{AlignedAddress, Body, Value};
use crate::error::{Result, bug};

/// What LLVM may assume of an assembly call.
struct Effects {
    side_effects: bool,
    memory: bool,
    convergent: bool,
}

impl<'ctx> Body<'_, '_, 'ctx> {
    pub fn asm(&mut self, asm: &InlineAsm) -> Result<Value<'ctx>> {
        let mut constraints = Vec::new();
        let mut result_types = Vec::new();
        // Register outputs: where each goes. Memory operands are arguments, with their types.
        let mut places: Vec<(AlignedAddress<'ctx>, TypeId)> = Vec::new();
        let mut args = Vec::new();
        let mut in_memory = Vec::new();
        let mut operand_types = Vec::new();
        for output in &asm.outputs {
            let place = self.place_of(&output.addr)?;
            let ty = self.pointee(&output.addr)?;
            if self.is_memory(&output.constraint) {
                in_memory.push((args.len() as u32, ty));
                args.push(place.address.into());
                constraints.push("=*m".into());
                operand_types.push(None);
                continue;
            }
            let register = self.operand_type(&output.constraint, ty)?;
            result_types.push(register);
            operand_types.push(Some(register));
            constraints.push(format!("={}", self.constraint(&output.constraint)?));
            places.push((place, ty));
        }
        let mut memory = asm.outputs.iter().any(|output| self.is_memory(&output.constraint));
        for input in &asm.inputs {
            let value = self.scalar_of(&input.value)?;
            if self.is_memory(&input.constraint) {
                memory = true;
                in_memory.push((args.len() as u32, self.pointee(&input.value)?));
                args.push(value);
                constraints.push("*m".into());
                continue;
            }
            args.push(self.operand(&input.constraint, value, input.value.ty, &operand_types)?);
            constraints.push(self.constraint(&input.constraint)?);
        }
        let mut registers = places.iter();
        for (index, output) in asm.outputs.iter().enumerate() {
            if self.is_memory(&output.constraint) {
                if output.read_write {
                    let place = self.place_of(&output.addr)?;
                    in_memory.push((args.len() as u32, self.pointee(&output.addr)?));
                    args.push(place.address.into());
                    constraints.push("*m".into());
                }
                continue;
            }
            let Some((place, ty)) = registers.next() else { break };
            if output.read_write {
                args.push(self.old_value(output, *place, *ty)?);
                constraints.push(index.to_string());
            }
        }
        for clobber in &asm.clobbers {
            memory |= clobber == "memory";
            constraints.push(format!("~{{{}}}", clobber.trim_start_matches('%')));
        }
        if !self.unit.on_device() {
            // Nobody of x86 says so: assembly keeps no flags.
            constraints.extend(["~{dirflag}", "~{fpsr}", "~{flags}"].map(String::from));
        }
        let effects = Effects {
            side_effects: asm.volatile || asm.outputs.is_empty() || memory,
            memory,
            convergent: true,
        };
        let text = operands_for_llvm(&asm.template, !self.unit.on_device());
        let call = self.asm_call(&text, &constraints.join(","), &result_types, &args, &effects)?;
        for (index, ty) in in_memory {
            let kind = inkwell::attributes::Attribute::get_named_enum_kind_id("elementtype");
            let ty = self.unit.storage_type(ty)?.as_any_type_enum();
            let attribute = self.unit.context.create_type_attribute(kind, ty);
            call.add_attribute(AttributeLoc::Param(index), attribute);
        }
        let results = self.asm_results(call, result_types.len())?;
        for (value, (place, ty)) in results.into_iter().zip(places) {
            let value = self.operand_value(value, ty)?;
            self.store(place, Value::Scalar(value), ty, false)?;
        }
        Ok(Value::Void)
    }

    fn old_value(
        &mut self,
        output: &AsmOutput,
        place: AlignedAddress<'ctx>,
        ty: TypeId,
    ) -> Result<BasicValueEnum<'ctx>> {
        match self.load(place, ty, false)? {
            Value::Scalar(value) => self.operand(&output.constraint, value, ty, &[]),
            _ => Err(self.unsupported("an aggregate as an operand of asm")),
        }
    }

    /// Whether an operand of host assembly is memory, which assembly takes by its address.
    fn is_memory(&self, constraint: &str) -> bool {
        !self.unit.on_device() && constraint == "m"
    }

    fn constraint(&self, constraint: &str) -> Result<String> {
        if self.unit.on_device() {
            return match constraint {
                "C" => Err(self.unsupported("the asm constraint \"C\" is not available")),
                _ => Ok(constraint.to_string()),
            };
        }
        // A letter that is one register, as LLVM names it.
        let (early, letters) = match constraint.strip_prefix('&') {
            Some(letters) => ("&", letters),
            None => ("", constraint),
        };
        Ok(match letters {
            "a" | "b" | "c" | "d" => format!("{early}{{{letters}x}}"),
            "S" => format!("{early}{{si}}"),
            "D" => format!("{early}{{di}}"),
            _ => constraint.to_string(),
        })
    }

    /// The register type of an operand: decided by the constraint on the device, by the C type on
    /// the host.
    fn operand_type(&self, constraint: &str, ty: TypeId) -> Result<BasicTypeEnum<'ctx>> {
        let context = self.unit.context;
        if !self.unit.on_device() {
            return self.unit.storage_type(ty);
        }
        Ok(match constraint {
            "h" => context.i16_type().into(),
            "r" => context.i32_type().into(),
            "l" => context.i64_type().into(),
            "q" => context.i128_type().into(),
            "f" => context.f32_type().into(),
            "d" => context.f64_type().into(),
            "b" => context.bool_type().into(),
            _ => self.unit.storage_type(ty)?,
        })
    }

    fn operand(
        &self,
        constraint: &str,
        value: BasicValueEnum<'ctx>,
        ty: TypeId,
        outputs: &[Option<BasicTypeEnum<'ctx>>],
    ) -> Result<BasicValueEnum<'ctx>> {
        // A matching constraint ("0") has the type of the output it matches.
        let target = match constraint.parse::<usize>() {
            Ok(index) => outputs
                .get(index)
                .copied()
                .flatten()
                .ok_or_else(|| self.unsupported("an asm constraint that matches no output"))?,
            Err(_) => self.operand_type(constraint, ty)?,
        };
        self.as_operand(value, ty, target)
    }

    fn as_operand(
        &self,
        value: BasicValueEnum<'ctx>,
        ty: TypeId,
        target: BasicTypeEnum<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>> {
        let b = &self.builder;
        let value = match value {
            BasicValueEnum::PointerValue(pointer)
                if !matches!(target, BasicTypeEnum::PointerType(_)) =>
            {
                b.build_ptr_to_int(pointer, self.unit.size, "")?.into()
            }
            other => other,
        };
        if value.get_type() == target {
            return Ok(value);
        }
        match (value, target) {
            (BasicValueEnum::IntValue(int), BasicTypeEnum::IntType(target)) => {
                let signed = self.is_signed(ty);
                Ok(b.build_int_cast_sign_flag(int, target, signed, "")?.into())
            }
            (BasicValueEnum::FloatValue(_), _) | (_, BasicTypeEnum::FloatType(_)) => {
                self.same_bits(value, target)
            }
            _ => Err(self.unsupported("an asm operand whose type does not fit its constraint")),
        }
    }

    fn same_bits(
        &self,
        value: BasicValueEnum<'ctx>,
        target: BasicTypeEnum<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>> {
        let width = |ty: BasicTypeEnum<'ctx>| match ty {
            BasicTypeEnum::IntType(ty) => ty.get_bit_width(),
            BasicTypeEnum::FloatType(ty) => ty.get_bit_width(),
            _ => 0,
        };
        if width(value.get_type()) != width(target) {
            return Err(self.unsupported("an asm operand whose size does not fit its constraint"));
        }
        Ok(self.builder.build_bit_cast(value, target, "")?)
    }

    /// A result register as a value of an IR type.
    fn operand_value(
        &self,
        value: BasicValueEnum<'ctx>,
        ty: TypeId,
    ) -> Result<BasicValueEnum<'ctx>> {
        let storage = self.unit.storage_type(ty)?;
        let value = match (value, storage) {
            (value, storage) if value.get_type() == storage => value,
            (BasicValueEnum::IntValue(int), BasicTypeEnum::IntType(target)) => {
                self.builder.build_int_cast_sign_flag(int, target, false, "")?.into()
            }
            (BasicValueEnum::IntValue(int), BasicTypeEnum::PointerType(target)) => {
                self.builder.build_int_to_ptr(int, target, "")?.into()
            }
            (value, storage) => self.same_bits(value, storage)?,
        };
        self.storage_value(value, ty)
    }

    fn asm_call(
        &self,
        text: &str,
        constraints: &str,
        results: &[BasicTypeEnum<'ctx>],
        args: &[BasicValueEnum<'ctx>],
        effects: &Effects,
    ) -> Result<CallSiteValue<'ctx>> {
        let context = self.unit.context;
        let params: Vec<BasicMetadataTypeEnum<'ctx>> =
            args.iter().map(|arg| arg.get_type().into()).collect();
        let ty = match results {
            [] => context.void_type().fn_type(&params, false),
            [one] => one.fn_type(&params, false),
            many => context.struct_type(many, false).fn_type(&params, false),
        };
        let callee = context.create_inline_asm(
            ty,
            text.to_string(),
            constraints.to_string(),
            effects.side_effects,
            false,
            None,
            false,
        );
        let values: Vec<BasicMetadataValueEnum<'ctx>> =
            args.iter().map(|arg| (*arg).into()).collect();
        let call = self.builder.build_indirect_call(ty, callee, &values, "")?;
        let flag = |attribute| call.add_attribute(AttributeLoc::Function, attribute);
        flag(self.unit.attribute("nounwind"));
        if effects.convergent && self.unit.on_device() {
            flag(self.unit.attribute("convergent"));
        }
        if !effects.side_effects && !effects.memory {
            // `memory(none)`
            flag(self.unit.attribute_value("memory", 0));
            // Without this a loop around it may not come to its end, and its turns cannot be counted.
            flag(self.unit.attribute("willreturn"));
        }
        Ok(call)
    }

    fn asm_results(
        &self,
        call: CallSiteValue<'ctx>,
        count: usize,
    ) -> Result<Vec<BasicValueEnum<'ctx>>> {
        match (count, call.try_as_basic_value().basic()) {
            (0, _) => Ok(Vec::new()),
            (1, Some(value)) => Ok(vec![value]),
            (count, Some(BasicValueEnum::StructValue(value))) => (0..count as u32)
                .map(|index| Ok(self.builder.build_extract_value(value, index, "")?))
                .collect(),
            _ => Err(bug("lower", "asm without its results")),
        }
    }

    /// An intrinsic that is a PTX template.
    pub fn ptx_template(
        &mut self,
        template: &PtxTemplate,
        args: &[Expr],
        ty: TypeId,
    ) -> Result<Value<'ctx>> {
        let letters = |text: &'static str| text.chars().map(String::from).collect::<Vec<_>>();
        let (result_letters, arg_letters) = (letters(template.results), letters(template.args));
        let fields = self.result_fields(ty, result_letters.len())?;
        let mut constraints = Vec::new();
        let mut result_types = Vec::new();
        for (letter, (field, _)) in result_letters.iter().zip(&fields) {
            result_types.push(self.operand_type(letter, *field)?);
            constraints.push(format!("={letter}"));
        }
        let mut operands = Vec::new();
        for (letter, arg) in arg_letters.iter().zip(args) {
            let value = self.scalar_of(arg)?;
            operands.push(self.operand(letter, value, arg.ty, &[])?);
            constraints.push(letter.clone());
        }
        if template.memory {
            constraints.push("~{memory}".into());
        }
        let effects = Effects {
            side_effects: template.side_effects || template.memory,
            memory: template.memory,
            convergent: template.convergent,
        };
        let constraints = constraints.join(",");
        let call =
            self.asm_call(template.text, &constraints, &result_types, &operands, &effects)?;
        let results = self.asm_results(call, result_types.len())?;
        if *self.unit.ir.types.get(ty) == Type::Void {
            return Ok(Value::Void);
        }
        if !self.unit.ir.types.is_aggregate(ty) {
            let value = results.first().ok_or_else(|| bug("lower", "a template without result"))?;
            return Ok(Value::Scalar(self.operand_value(*value, ty)?));
        }
        let place = self.temporary(ty)?;
        for (value, (field, offset)) in results.into_iter().zip(fields) {
            let value = self.operand_value(value, field)?;
            let target = self.place_at(place, offset)?;
            self.store(target, Value::Scalar(value), field, false)?;
        }
        Ok(Value::Memory(place))
    }

    /// Types and offsets that a template's results go to.
    fn result_fields(&self, ty: TypeId, count: usize) -> Result<Vec<(TypeId, u64)>> {
        if count == 0 {
            return Ok(Vec::new());
        }
        if !self.unit.ir.types.is_aggregate(ty) {
            return Ok(vec![(ty, 0)]);
        }
        let fields = &self.record_of(ty)?.fields;
        if fields.len() != count {
            return Err(bug("lower", "a template with another number of results than its record"));
        }
        Ok(fields.iter().map(|field| (field.ty, field.offset)).collect())
    }

    /// A template made here, for what LLVM has no intrinsic for: one register result or none.
    pub fn inline_ptx(
        &self,
        text: &str,
        constraints: &str,
        result: Option<BasicTypeEnum<'ctx>>,
        args: &[BasicValueEnum<'ctx>],
        side_effects: bool,
    ) -> Result<Option<BasicValueEnum<'ctx>>> {
        let effects = Effects { side_effects, memory: side_effects, convergent: false };
        let results: Vec<_> = result.into_iter().collect();
        let call = self.asm_call(text, constraints, &results, args, &effects)?;
        Ok(self.asm_results(call, results.len())?.first().copied())
    }
}

/// `%0` to `$0`, `%%` to `%`, `$` to `$$`; in host assembly also `%b0` to `${0:b}` and `%=`.
fn operands_for_llvm(template: &str, host: bool) -> String {
    let mut text = String::with_capacity(template.len());
    let mut chars = template.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('$', _) => text.push_str("$$"),
            ('%', Some('%')) => {
                chars.next();
                text.push('%');
            }
            ('%', Some(next)) if next.is_ascii_digit() => {
                // `${12}` keeps a following digit or letter apart.
                text.push_str("${");
                while let Some(digit) = chars.next_if(char::is_ascii_digit) {
                    text.push(digit);
                }
                text.push('}');
            }
            ('%', Some('=')) if host => {
                chars.next();
                text.push_str("${:uid}");
            }
            ('%', Some(modifier)) if host && modifier.is_ascii_alphabetic() => {
                let modifier = *modifier;
                chars.next();
                text.push_str("${");
                while let Some(digit) = chars.next_if(char::is_ascii_digit) {
                    text.push(digit);
                }
                text.push(':');
                text.push(modifier);
                text.push('}');
            }
            (other, _) => text.push(other),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::operands_for_llvm;

    #[test]
    fn operands_and_escapes() {
        assert_eq!(operands_for_llvm("mov.u32 %0, %%laneid;", false), "mov.u32 ${0}, %laneid;");
        assert_eq!(operands_for_llvm("{ add %10, $x; }", false), "{ add ${10}, $$x; }");
        assert_eq!(operands_for_llvm("movb %b1, %h0", true), "movb ${1:b}, ${0:h}");
    }
}
