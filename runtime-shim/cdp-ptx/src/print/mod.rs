//! A [`Module`] as PTX text that ptxas accepts and that parses to an equal module.
//!
//! Layout and comments of an original text are not kept; nested scopes are flat.

pub(crate) mod operand;

use std::collections::HashSet;
use std::fmt::Write;

use crate::module::*;
use crate::types::*;

/// The text of a module.
pub(crate) fn print_module(module: &Module) -> String {
    let mut printer = Printer {
        module,
        current: None,
        out: String::new(),
        start: 0,
        pending: "",
        inlined: Vec::new(),
    };
    printer.module();
    printer.out
}

/// Text under construction.
pub(crate) struct Printer<'a> {
    pub module: &'a Module,
    /// The function whose body is being printed.
    current: Option<(&'a Function, &'a Body)>,
    pub out: String,
    /// Where the instruction begins that is being written, and what stands before its next operand.
    pub start: usize,
    pub pending: &'static str,
    /// Names of inlined functions, in the order of first mention.
    inlined: Vec<&'a str>,
}

impl<'a> Printer<'a> {
    pub fn body(&self) -> &'a Body {
        self.current.expect("instructions are printed inside a function").1
    }

    pub fn function(&self) -> &'a Function {
        self.current.expect("instructions are printed inside a function").0
    }

    fn module(&mut self) {
        let module = self.module;
        let (major, minor) = module.version;
        let _ = writeln!(self.out, ".version {major}.{minor}");
        let _ = write!(self.out, ".target sm_{}", module.target.sm);
        if let Some(suffix) = module.target.suffix {
            self.out.push(suffix);
        }
        for option in &module.target.options {
            let _ = write!(self.out, ", {option}");
        }
        let _ = writeln!(self.out, "\n.address_size {}", module.address_bits);
        for file in &module.files {
            let _ = write!(self.out, ".file {} \"{}\"", file.index, file.path);
            if let Some((time, size)) = file.stamp {
                let _ = write!(self.out, ", {time}, {size}");
            }
            self.out.push('\n');
        }
        for pragma in &module.pragmas {
            let _ = writeln!(self.out, ".pragma \"{pragma}\";");
        }
        self.declarations();
        for variable in &module.variables {
            self.linkage(variable.linkage);
            self.variable(variable);
        }
        for function in &module.functions {
            if function.body.is_some() {
                self.definition(function);
            }
        }
        for function in &module.functions {
            if let Some(target) = function.alias_of {
                let target = &module.functions[target.index()].name;
                let _ = writeln!(self.out, ".alias {}, {target};", function.name);
            }
        }
        self.debug_strings();
    }

    /// Declares all functions, in the order of their table, and the variables if one's address is used before it
    /// is defined.
    fn declarations(&mut self) {
        let module = self.module;
        for function in &module.functions {
            self.header(function);
            function.limits.write_call(&mut self.out);
            self.out.push_str(";\n");
        }
        let forward = module.variables.iter().enumerate().any(|(index, variable)| {
            let init = variable.init.iter().flat_map(|init| &init.relocations);
            let mut symbols = init.map(|relocation| relocation.symbol);
            symbols.any(|symbol| matches!(symbol, Symbol::Global(id) if id.index() > index))
        });
        for variable in module.variables.iter().filter(|_| forward) {
            let declaration = Variable { init: None, linkage: Linkage::Extern, ..variable.clone() };
            self.linkage(Linkage::Extern);
            self.variable(&declaration);
        }
    }

    fn linkage(&mut self, linkage: Linkage) {
        if linkage != Linkage::Internal {
            let _ = write!(self.out, ".{linkage} ");
        }
    }

    /// From the state space to the semicolon.
    fn variable(&mut self, variable: &Variable) {
        let _ = write!(self.out, ".{}", variable.space);
        if variable.managed {
            self.out.push_str(" .attribute(.managed)");
        }
        self.unified(variable.unified);
        let _ = write!(self.out, " .align {}", variable.align_bytes);
        if variable.vector_len > 1 {
            let _ = write!(self.out, " .v{}", variable.vector_len);
        }
        let _ = write!(self.out, " .{} {}", variable.ty, variable.name);
        for (position, dim) in variable.dims.iter().enumerate() {
            let _ = match (position, dim) {
                (0, 0) => write!(self.out, "[]"),
                _ => write!(self.out, "[{dim}]"),
            };
        }
        if let Some(init) = &variable.init {
            self.out.push_str(" = ");
            self.initializer(variable, init);
        }
        self.out.push_str(";\n");
    }

    fn unified(&mut self, unified: Option<(u64, u64)>) {
        if let Some((high, low)) = unified {
            let _ = write!(self.out, " .attribute(.unified({high}, {low}))");
        }
    }

    fn initializer(&mut self, variable: &Variable, init: &Initializer) {
        let last = init.relocations.last().map_or(0, |last| last.offset_bytes + 1);
        // The elements of a vector are all given.
        let vector_bytes = u64::from(variable.ty.bytes() * variable.vector_len);
        let end = last.max(init.bytes.len() as u64).max(1).next_multiple_of(vector_bytes);
        self.init_level(variable.ty, &variable.levels(), 0, end, init);
    }

    /// The rows of one dimension that begin before `end`, which is not 0; the rest is zero and is left out.
    fn init_level(
        &mut self,
        ty: ScalarType,
        dims: &[u64],
        start: u64,
        end: u64,
        init: &Initializer,
    ) {
        let [rows, inner @ ..] = dims else { return self.init_value(ty, start, init) };
        let row_bytes = inner.iter().product::<u64>() * u64::from(ty.bytes());
        self.out.push('{');
        for row in 0..*rows {
            let offset = start + row * row_bytes;
            if offset >= end {
                break;
            }
            self.out.push_str(if row > 0 { ", " } else { "" });
            self.init_level(ty, inner, offset, end, init);
        }
        self.out.push('}');
    }

    fn init_value(&mut self, ty: ScalarType, offset: u64, init: &Initializer) {
        let found = init.relocations.binary_search_by_key(&offset, |found| found.offset_bytes);
        let Some(relocation) = found.ok().map(|at| &init.relocations[at]) else {
            let mut bits = 0u64;
            for byte in 0..u64::from(ty.bytes()).min(8) {
                let value = init.bytes.get((offset + byte) as usize).copied().unwrap_or(0);
                bits |= u64::from(value) << (8 * byte);
            }
            return self.immediate(bits, ty);
        };
        let mut text = self.name(relocation.symbol).to_string();
        if relocation.generic {
            text = format!("generic({text})");
        }
        if relocation.addend != 0 {
            // Assemblers know no binary minus here.
            text += &format!("+{}", relocation.addend);
        }
        if relocation.size_bytes == 1 {
            text = format!("{:#X}({text})", 0xffu64 << relocation.shift_bits);
        }
        self.out += &text;
    }

    // Functions.

    fn header(&mut self, function: &Function) {
        self.linkage(function.linkage);
        let _ = write!(self.out, ".{}", function.kind);
        self.unified(function.limits.unified);
        self.out.push(' ');
        self.signature(&function.returns, &function.name, &function.params);
    }

    /// `(returns) name(params)`
    fn signature(&mut self, returns: &[Param], name: &str, params: &[Param]) {
        if !returns.is_empty() {
            self.params(returns);
            self.out.push(' ');
        }
        self.out.push_str(name);
        self.params(params);
    }

    fn params(&mut self, params: &[Param]) {
        self.out.push('(');
        self.commas(params, |printer, param| printer.param(param));
        self.out.push(')');
    }

    fn param(&mut self, param: &Param) {
        if matches!(param.storage, ParamStorage::Register(_)) {
            let _ = write!(self.out, ".reg .{} {}", param.ty, param.name);
            return;
        }
        self.out.push_str(".param ");
        if let Some(pointer) = param.pointer {
            let _ = write!(self.out, ".{} .ptr", param.ty);
            if pointer.space != Space::Generic {
                let _ = write!(self.out, " .{}", pointer.space);
            }
            let _ = write!(self.out, " .align {}", pointer.align_bytes);
        } else {
            if param.align_bytes != param.ty.bytes() {
                let _ = write!(self.out, ".align {} ", param.align_bytes);
            }
            let _ = write!(self.out, ".{}", param.ty);
        }
        let _ = write!(self.out, " {}", param.name);
        match param.array_len {
            None => {}
            Some(0) => self.out.push_str("[]"),
            Some(len) => self.out += &format!("[{len}]"),
        }
    }

    fn definition(&mut self, function: &'a Function) {
        let Some(body) = &function.body else { return };
        self.current = Some((function, body));
        self.header(function);
        function.limits.write_launch(&mut self.out);
        function.limits.write_call(&mut self.out);
        self.out.push_str("\n{\n");
        for pragma in &function.limits.pragmas {
            let _ = writeln!(self.out, "\t.pragma \"{pragma}\";");
        }
        self.registers(function, body);
        for variable in &body.variables {
            self.out.push('\t');
            self.variable(variable);
        }
        self.tables(body);
        let mut labels = body.labels.iter().peekable();
        // Every `.loc` of the table is printed, since later ones may say that they are inlined there.
        let mut located = 0;
        let instructions = body.instructions.iter().map(Some).chain([None]);
        for (position, instruction) in instructions.enumerate() {
            while let Some(label) = labels.next_if(|label| label.position as usize <= position) {
                let _ = writeln!(self.out, "{}:", label.name);
            }
            let at =
                instruction.map(|instruction| instruction.location.map_or(0, |id| id.index() + 1));
            let wanted = at.unwrap_or(body.locations.len());
            for location in &body.locations[located.min(wanted)..wanted] {
                self.location(location);
            }
            located = located.max(wanted);
            instruction.into_iter().for_each(|instruction| self.instruction(instruction));
        }
        self.out.push_str("}\n");
        self.current = None;
    }

    /// The registers that are not parameters.
    fn registers(&mut self, function: &Function, body: &Body) {
        let params = function.params.iter().chain(&function.returns);
        let own: HashSet<ParamStorage> = params.map(|param| param.storage).collect();
        for (index, register) in body.registers.iter().enumerate() {
            if !own.contains(&ParamStorage::Register(Some(Reg(index as u32)))) {
                let _ = writeln!(self.out, "\t.reg .{} {};", register.ty, register.name);
            }
        }
    }

    fn tables(&mut self, body: &'a Body) {
        for prototype in &body.prototypes {
            let _ = write!(self.out, "{}: .callprototype ", prototype.name);
            self.signature(&prototype.returns, "_ ", &prototype.params);
            prototype.limits.write_call(&mut self.out);
            self.out.push_str(";\n");
        }
        for table in &body.branch_tables {
            self.table(table, "branchtargets", |id| &body.labels[id.index()].name);
        }
        for table in &body.call_tables {
            let functions = &self.module.functions;
            self.table(table, "calltargets", |id| &functions[id.index()].name);
        }
    }

    fn table<T>(&mut self, table: &Table<T>, word: &str, name: impl Fn(&T) -> &'a String) {
        let _ = write!(self.out, "{}: .{word} ", table.name);
        self.commas(&table.targets, |printer, target| printer.out += name(target));
        self.out.push_str(";\n");
    }

    fn location(&mut self, location: &'a Location) {
        let Location { file, line, column, .. } = location;
        let _ = write!(self.out, "\t.loc {file} {line} {column}");
        if let Some(inlined) = &location.inlined_at {
            let name = inlined.function.as_deref().unwrap_or("");
            let position = self.inlined.iter().position(|known| *known == name);
            let position = position.unwrap_or_else(|| {
                self.inlined.push(name);
                self.inlined.len() - 1
            });
            let InlinedAt { file, line, column, .. } = &**inlined;
            let place = format!("inlined_at {file} {line} {column}");
            let _ = write!(self.out, ", function_name $L__inlined{position}, {place}");
        }
        self.out.push('\n');
    }

    /// The strings that `.loc` refers to.
    fn debug_strings(&mut self) {
        if self.inlined.is_empty() {
            return;
        }
        self.out.push_str(".section .debug_str\n{\n");
        for (position, name) in self.inlined.iter().enumerate() {
            let _ = write!(self.out, "$L__inlined{position}:\n.b8 ");
            for byte in name.bytes() {
                let _ = write!(self.out, "{byte}, ");
            }
            self.out.push_str("0\n");
        }
        self.out.push_str("}\n");
    }
}
