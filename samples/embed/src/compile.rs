//! Text to LLVM IR in one pass: each function reads one production of the grammar, which stands above
//! it, and emits its code. What is absent: everything about launches but `Calc::spawn`.

use std::collections::HashMap;

use cdp::llvm::inkwell::basic_block::BasicBlock;
use cdp::llvm::inkwell::builder::{Builder, BuilderError};
use cdp::llvm::inkwell::context::Context;
use cdp::llvm::inkwell::module::Module;
use cdp::llvm::inkwell::types::BasicMetadataTypeEnum;
use cdp::llvm::inkwell::values::{
    BasicValueEnum, FloatValue, FunctionValue, IntValue, PointerValue,
};
use cdp::llvm::inkwell::{AddressSpace, FloatPredicate, IntPredicate};
use cdp::llvm::{LaunchCall, LaunchStream, PTX_KERNEL};

/// Threads of a block.
const BLOCK: u32 = 128;

/// What is wrong with the program, and where.
pub struct Wrong(pub String);

impl From<BuilderError> for Wrong {
    fn from(error: BuilderError) -> Wrong {
        Wrong(error.to_string())
    }
}

type Result<T> = std::result::Result<T, Wrong>;

/// Compiles a program to a module that asks for its launches with `@cdp.launch`.
///
/// # Errors
/// The first line that is wrong, and what is wrong there.
pub fn compile<'ctx>(context: &'ctx Context, text: &str) -> Result<Module<'ctx>> {
    let module = context.create_module("calc");
    let (builder, tokens) = (context.create_builder(), tokens(text));
    let mut calc = Calc { context, module, builder, tokens, at: 0, names: HashMap::new() };
    // All heads first: a kernel may spawn those below it.
    while calc.at < calc.tokens.len() {
        let (name, params) = calc.head()?;
        calc.declare(&name, &params)?;
        while calc.at < calc.tokens.len() && calc.peek() != "kernel" {
            calc.at += 1;
        }
    }
    calc.at = 0;
    while calc.at < calc.tokens.len() {
        calc.kernel()?;
    }
    Ok(calc.module)
}

/// Names, numbers and signs, with their lines; a comment goes from `#` to the end of its line.
fn tokens(text: &str) -> Vec<(usize, String)> {
    let mut tokens = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let mut rest = line.split('#').next().unwrap_or_default().trim_start();
        while let Some(first) = rest.chars().next() {
            let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.'));
            let length = end.unwrap_or(rest.len()).max(first.len_utf8());
            tokens.push((index + 1, rest[..length].to_string()));
            rest = rest[length..].trim_start();
        }
    }
    tokens
}

struct Calc<'ctx> {
    context: &'ctx Context,
    module: Module<'ctx>,
    builder: Builder<'ctx>,
    tokens: Vec<(usize, String)>,
    at: usize,
    /// Numbers and arrays that can be named at this point.
    names: HashMap<String, BasicValueEnum<'ctx>>,
}

impl<'ctx> Calc<'ctx> {
    fn peek(&self) -> &str {
        self.tokens.get(self.at).map_or("the end", |(_, text)| text)
    }

    fn wrong<T>(&self, message: impl AsRef<str>) -> Result<T> {
        let token = self.tokens.get(self.at).or(self.tokens.last());
        Err(Wrong(format!("line {}: {}", token.map_or(1, |(line, _)| *line), message.as_ref())))
    }

    fn accept(&mut self, text: &str) -> bool {
        let found = self.peek() == text;
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, text: &str) -> Result<()> {
        match self.accept(text) {
            true => Ok(()),
            false => self.wrong(format!("`{text}` is expected, not `{}`", self.peek())),
        }
    }

    fn name(&mut self) -> Result<String> {
        let name = self.peek().to_string();
        if name.contains([' ', '.']) || !name.starts_with(char::is_alphabetic) {
            return self.wrong(format!("a name is expected, not `{name}`"));
        }
        self.at += 1;
        Ok(name)
    }

    /// `( item, ... )`
    fn list<T>(&mut self, item: impl Fn(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        self.expect("(")?;
        let mut items = Vec::new();
        while !self.accept(")") {
            if !items.is_empty() {
                self.expect(",")?;
            }
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// `head = "kernel" name "(" (name "[]"?),* ")"`; the name, and for each parameter whether it is an
    /// array.
    fn head(&mut self) -> Result<(String, Vec<(String, bool)>)> {
        self.expect("kernel")?;
        let name = self.name()?;
        let params = self.list(|calc| {
            let name = calc.name()?;
            let is_array = calc.accept("[");
            if is_array {
                calc.expect("]")?;
            }
            Ok((name, is_array))
        })?;
        Ok((name, params))
    }

    /// The first parameter is the number of threads spawned, since a grid is made of whole blocks.
    fn declare(&mut self, name: &str, params: &[(String, bool)]) -> Result<()> {
        let mut types: Vec<BasicMetadataTypeEnum> = vec![self.context.i32_type().into()];
        types.extend(params.iter().map(|(_, is_array)| match is_array {
            true => BasicMetadataTypeEnum::from(self.context.ptr_type(AddressSpace::default())),
            false => self.context.f64_type().into(),
        }));
        if self.module.get_function(name).is_some() {
            return self.wrong(format!("kernel `{name}` is there already"));
        }
        let ty = self.context.void_type().fn_type(&types, false);
        self.module.add_function(name, ty, None).set_call_conventions(PTX_KERNEL);
        Ok(())
    }

    fn declared(&self, name: &str) -> Result<FunctionValue<'ctx>> {
        let kernel = self.module.get_function(name);
        kernel
            .filter(|kernel| kernel.get_call_conventions() == PTX_KERNEL)
            .map_or_else(|| self.wrong(format!("there is no kernel `{name}`")), Ok)
    }

    /// `kernel = head block`
    fn kernel(&mut self) -> Result<()> {
        let (name, params) = self.head()?;
        let kernel = self.declared(&name)?;
        let [entry, body, done] =
            ["entry", "body", "done"].map(|name| self.context.append_basic_block(kernel, name));
        self.builder.position_at_end(entry);
        let index = self.thread_index()?;
        let values = kernel.get_params();
        self.names = params.into_iter().map(|(name, _)| name).zip(values[1..].to_vec()).collect();
        let number =
            self.builder.build_unsigned_int_to_float(index, self.context.f64_type(), "")?;
        self.names.insert("index".into(), number.into());
        let count = values[0].into_int_value();
        let inside = self.builder.build_int_compare(IntPredicate::ULT, index, count, "")?;
        self.builder.build_conditional_branch(inside, body, done)?;
        self.builder.position_at_end(body);
        self.block(done)?;
        self.builder.position_at_end(done);
        self.builder.build_return(None)?;
        Ok(())
    }

    /// `block = "{" stmt* "}"`; control goes on at `next`.
    fn block(&mut self, next: BasicBlock<'ctx>) -> Result<()> {
        let outer = self.names.clone();
        self.expect("{")?;
        while !self.accept("}") {
            self.stmt()?;
        }
        self.names = outer;
        self.builder.build_unconditional_branch(next)?;
        Ok(())
    }

    /// `stmt = "if" expr block | ("let" name "=" expr | spawn | name "[" expr "]" "=" expr) ";"`
    fn stmt(&mut self) -> Result<()> {
        if self.accept("if") {
            let value = self.number()?;
            let zero = self.context.f64_type().const_zero();
            let holds = self.builder.build_float_compare(FloatPredicate::UNE, value, zero, "")?;
            let Some(here) = self.builder.get_insert_block() else { return self.wrong("no code") };
            let after = self.context.insert_basic_block_after(here, "after");
            let then = self.context.insert_basic_block_after(here, "then");
            self.builder.build_conditional_branch(holds, then, after)?;
            self.builder.position_at_end(then);
            self.block(after)?;
            self.builder.position_at_end(after);
            return Ok(());
        }
        if self.accept("let") {
            let name = self.name()?;
            self.expect("=")?;
            let value = self.number()?;
            self.names.insert(name, value.into());
        } else if self.accept("spawn") {
            self.spawn(LaunchStream::Null)?;
        } else if self.accept("finally") {
            self.spawn(LaunchStream::TailLaunch)?;
        } else {
            let name = self.name()?;
            let element = self.element(&name)?;
            self.expect("=")?;
            let value = self.number()?;
            self.builder.build_store(element, value)?;
        }
        self.expect(";")
    }

    /// `spawn = ("spawn" | "finally") name "[" expr "]" "(" expr,* ")"`: the device launch. This is all
    /// that a compiler has to know about it.
    fn spawn(&mut self, stream: LaunchStream<'ctx>) -> Result<()> {
        let name = self.name()?;
        let child = self.declared(&name)?;
        self.expect("[")?;
        let threads = self.number()?;
        self.expect("]")?;
        let word = self.context.i32_type();
        let threads = self.builder.build_float_to_signed_int(threads, word, "threads")?;
        let mut args = vec![threads.into()];
        args.extend(self.list(Calc::expr)?);
        let types = |values: &[BasicValueEnum<'ctx>]| -> Vec<_> {
            values.iter().map(|value| value.is_pointer_value()).collect()
        };
        if types(&args) != types(&child.get_params()) {
            return self.wrong(format!("these are not the parameters of `{name}`"));
        }
        let up = word.const_int(u64::from(BLOCK) - 1, false);
        let up = self.builder.build_int_add(threads, up, "")?;
        let size = word.const_int(u64::from(BLOCK), false);
        let blocks = self.builder.build_int_signed_div(up, size, "blocks")?;
        let launch = LaunchCall::new(child).grid(blocks).block(BLOCK).stream(stream);
        launch.build(&self.builder, &self.module, &args)?;
        Ok(())
    }

    fn number(&mut self) -> Result<FloatValue<'ctx>> {
        match self.expr()? {
            BasicValueEnum::FloatValue(number) => Ok(number),
            _ => self.wrong("a number is expected before this, not an array"),
        }
    }

    /// `expr = sum (("<" | ">") sum)*`, `sum = product (("+" | "-") product)*`,
    /// `product = primary (("*" | "/") primary)*`
    fn expr(&mut self) -> Result<BasicValueEnum<'ctx>> {
        self.binary(&[["<", ">"], ["+", "-"], ["*", "/"]])
    }

    fn binary(&mut self, levels: &[[&str; 2]]) -> Result<BasicValueEnum<'ctx>> {
        let [operators, tighter @ ..] = levels else { return self.primary() };
        let mut left = self.binary(tighter)?;
        while let Some(operator) = operators.iter().find(|operator| self.peek() == **operator) {
            self.at += 1;
            let right = self.binary(tighter)?;
            let (BasicValueEnum::FloatValue(a), BasicValueEnum::FloatValue(b)) = (left, right)
            else {
                return self.wrong(format!("`{operator}` is for numbers, not for arrays"));
            };
            let builder = &self.builder;
            let truth = |predicate| -> Result<FloatValue<'ctx>> {
                let holds = builder.build_float_compare(predicate, a, b, "")?;
                Ok(builder.build_unsigned_int_to_float(holds, a.get_type(), "")?)
            };
            let value = match *operator {
                "<" => truth(FloatPredicate::OLT)?,
                ">" => truth(FloatPredicate::OGT)?,
                "+" => builder.build_float_add(a, b, "")?,
                "-" => builder.build_float_sub(a, b, "")?,
                "*" => builder.build_float_mul(a, b, "")?,
                _ => builder.build_float_div(a, b, "")?,
            };
            left = value.into();
        }
        Ok(left)
    }

    /// `primary = number | "(" expr ")" | name ("[" expr "]")?`
    fn primary(&mut self) -> Result<BasicValueEnum<'ctx>> {
        let f64 = self.context.f64_type();
        if self.accept("(") {
            let value = self.expr()?;
            self.expect(")")?;
            return Ok(value);
        }
        if let Some(value) = self.peek().parse().ok().filter(|_| self.at < self.tokens.len()) {
            self.at += 1;
            return Ok(f64.const_float(value).into());
        }
        let name = self.name()?;
        if self.peek() == "[" {
            let element = self.element(&name)?;
            return Ok(self.builder.build_load(f64, element, "")?);
        }
        match self.names.get(&name) {
            Some(value) => Ok(*value),
            None => self.wrong(format!("`{name}` is not defined")),
        }
    }

    /// The address of `array[expr]`, whose name has been read.
    fn element(&mut self, array: &str) -> Result<PointerValue<'ctx>> {
        let Some(BasicValueEnum::PointerValue(address)) = self.names.get(array).copied() else {
            return self.wrong(format!("`{array}` is no array"));
        };
        self.expect("[")?;
        let index = self.number()?;
        self.expect("]")?;
        let index =
            self.builder.build_float_to_signed_int(index, self.context.i64_type(), "index")?;
        // SAFETY: whether the index lies within the array is the program's affair.
        Ok(unsafe {
            self.builder.build_gep(self.context.f64_type(), address, &[index], "element")?
        })
    }

    /// `blockIdx.x * blockDim.x + threadIdx.x`
    fn thread_index(&self) -> Result<IntValue<'ctx>> {
        let ty = self.context.i32_type().fn_type(&[], false);
        let register = |name: &str| -> Result<IntValue<'ctx>> {
            let name = format!("llvm.nvvm.read.ptx.sreg.{name}");
            let function = self.module.get_function(&name);
            let function = function.unwrap_or_else(|| self.module.add_function(&name, ty, None));
            let call = self.builder.build_call(function, &[], "")?;
            call.try_as_basic_value()
                .basic()
                .map(BasicValueEnum::into_int_value)
                .map_or_else(|| self.wrong("a register without a value"), Ok)
        };
        let (block, size, thread) = (register("ctaid.x")?, register("ntid.x")?, register("tid.x")?);
        let first = self.builder.build_int_mul(block, size, "")?;
        Ok(self.builder.build_int_add(first, thread, "index")?)
    }
}
