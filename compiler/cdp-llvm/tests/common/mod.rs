//! Helpers of this crate's tests: a small vocabulary for building IR by hand, and the real tools that
//! judge the PTX. Tools are looked for in `<repository>/.toolchain` (or `$CDP_TOOLCHAIN`); without
//! them a test judges what it can without.

#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::process::Command;

use cdp_ir::*;
use cdp_launch::LaunchAbi;
use cdp_llvm::{LlvmModule, LowerOptions, lower};

/// A module under construction.
pub struct Build {
    pub module: Module,
    pub void: TypeId,
    pub bool: TypeId,
    pub i8: TypeId,
    pub i32: TypeId,
    pub u32: TypeId,
    pub i64: TypeId,
    pub u64: TypeId,
    pub f32: TypeId,
    pub f64: TypeId,
    pub void_ptr: TypeId,
    pub i32_ptr: TypeId,
}

impl Build {
    pub fn new(target: Target, pointer_bytes: u64) -> Self {
        let mut module = Module::new("test.cdp", target, pointer_bytes);
        module.files.push(SourceFile { path: "test.cdp".into() });
        let t = &mut module.types;
        let (void, bool, i8) = (t.void(), t.bool(), t.int(8, true));
        let (i32, u32, i64, u64) =
            (t.int(32, true), t.int(32, false), t.int(64, true), t.int(64, false));
        let (f32, f64) = (t.float(FloatKind::F32), t.float(FloatKind::F64));
        let (void_ptr, i32_ptr) = (t.pointer_to(void), t.pointer_to(i32));
        Build { module, void, bool, i8, i32, u32, i64, u64, f32, f64, void_ptr, i32_ptr }
    }

    /// A new module with the same types as another, so that their ids mean the same.
    pub fn device_like(other: &Build) -> Self {
        let mut build = Build::device();
        build.module.types = other.module.types.clone();
        build
    }

    pub fn device() -> Self {
        Build::new(Target::Device { cdp: CdpVersion::Cdp2 }, 8)
    }

    pub fn ptr(&mut self, ty: TypeId) -> TypeId {
        self.module.types.pointer_to(ty)
    }

    pub fn record(&mut self, name: &str, fields: &[TypeId], align: u64) -> TypeId {
        let t = &mut self.module.types;
        let id = t.declare_record(name, RecordKind::Struct);
        let specs: Vec<_> = fields
            .iter()
            .enumerate()
            .map(|(i, ty)| FieldSpec {
                name: format!("f{i}"),
                ty: *ty,
                align: 0,
                bits: None,
                packed: false,
            })
            .collect();
        t.complete_record(id, &specs, cdp_ir::Packing { min_align: align, ..Default::default() });
        t.record_type(id)
    }

    pub fn local(&self, name: &str, ty: TypeId) -> Local {
        Local {
            name: name.into(),
            ty,
            align: self.module.types.layout(ty).align,
            param: ParamAttrs::default(),
            loc: Loc::default(),
        }
    }

    /// Adds a function; `body` of `None` declares it.
    pub fn function(
        &mut self,
        kind: FunctionKind,
        name: &str,
        ret: TypeId,
        params: &[TypeId],
        locals: &[TypeId],
        body: Option<Vec<Stmt>>,
    ) -> FuncId {
        let all = params.iter().chain(locals).enumerate();
        let locals = all.map(|(i, ty)| self.local(&format!("v{i}"), *ty)).collect();
        self.module.add_function(Function {
            name: name.into(),
            symbol: name.into(),
            kind,
            linkage: Linkage::External,
            ret,
            param_count: params.len() as u32,
            variadic: false,
            locals,
            attrs: FnAttrs::default(),
            body: body.map(|stmts| Block { stmts }),
            loc: Loc { file: 0, line: 1, column: 1 },
            end: Loc { file: 0, line: 1, column: 1 },
        })
    }

    pub fn kernel(&mut self, name: &str, params: &[TypeId], body: Option<Vec<Stmt>>) -> FuncId {
        self.function(FunctionKind::Kernel, name, self.void, params, &[], body)
    }

    pub fn e(&self, kind: ExprKind, ty: TypeId) -> Expr {
        Expr::new(kind, ty, Loc { file: 0, line: 2, column: 3 })
    }

    pub fn int(&self, value: i128, ty: TypeId) -> Expr {
        self.e(ExprKind::Const(Const::Int(value)), ty)
    }

    pub fn zero(&self, ty: TypeId) -> Expr {
        self.e(ExprKind::Const(Const::Zero), ty)
    }

    pub fn addr(&mut self, local: u32, ty: TypeId) -> Expr {
        let ptr = self.ptr(ty);
        self.e(ExprKind::LocalAddr(LocalId(local)), ptr)
    }

    pub fn load(&self, addr: Expr) -> Expr {
        let ty = self.module.types.pointee(addr.ty).unwrap();
        self.e(ExprKind::Load { addr: Box::new(addr), volatile: false }, ty)
    }

    /// The value of a local.
    pub fn get(&mut self, local: u32, ty: TypeId) -> Expr {
        let addr = self.addr(local, ty);
        self.load(addr)
    }

    pub fn store(&self, addr: Expr, value: Expr) -> Stmt {
        let (addr, value) = (Box::new(addr), Box::new(value));
        let store = ExprKind::Store { addr, value, volatile: false };
        stmt(StmtKind::Expr(self.e(store, self.void)))
    }

    pub fn field(&mut self, base: Expr, field: u32, ty: TypeId) -> Expr {
        let ptr = self.ptr(ty);
        self.e(ExprKind::FieldAddr { base: Box::new(base), field }, ptr)
    }

    /// `base[index]` as an address.
    pub fn index(&self, base: Expr, index: Expr) -> Expr {
        let ty = base.ty;
        let kind = ExprKind::IndexAddr { base: Box::new(base), index: Box::new(index) };
        self.e(kind, ty)
    }

    pub fn binary(&self, op: BinaryOp, lhs: Expr, rhs: Expr) -> Expr {
        let ty = lhs.ty;
        self.e(ExprKind::Binary { op, lhs: Box::new(lhs), rhs: Box::new(rhs) }, ty)
    }

    pub fn compare(&self, op: CompareOp, lhs: Expr, rhs: Expr) -> Expr {
        let kind = ExprKind::Compare { op, lhs: Box::new(lhs), rhs: Box::new(rhs) };
        self.e(kind, self.bool)
    }

    pub fn cast(&self, kind: CastKind, operand: Expr, ty: TypeId) -> Expr {
        self.e(ExprKind::Cast { kind, operand: Box::new(operand) }, ty)
    }

    pub fn intrinsic(&self, op: Intrinsic, args: Vec<Expr>, ty: TypeId) -> Expr {
        self.e(ExprKind::Intrinsic { op, args }, ty)
    }

    pub fn call(&self, callee: FuncId, args: Vec<Expr>) -> Expr {
        let ret = self.module.function(callee).ret;
        self.e(ExprKind::Call { callee: Callee::Direct(callee), args }, ret)
    }

    pub fn tid(&self) -> Expr {
        let var = BuiltinVar::ThreadIdx(Axis::X);
        self.intrinsic(Intrinsic::Builtin(var), vec![], self.u32)
    }

    pub fn launch(
        &self,
        kernel: FuncId,
        grid: u32,
        block: u32,
        stream: i128,
        args: Vec<Expr>,
    ) -> Stmt {
        let n = |v: u32| self.int(i128::from(v), self.u32);
        let launch = Launch {
            kernel: Callee::Direct(kernel),
            params: self.module.function(kernel).params().iter().map(|p| p.ty).collect(),
            grid: Dim::Xyz(Box::new([n(grid), n(1), n(1)])),
            block: Dim::Xyz(Box::new([n(block), n(1), n(1)])),
            shared_bytes: n(0),
            stream: self.int(stream, self.void_ptr),
            args,
            hints: cdp_ir::LaunchHints::default(),
        };
        self.effect(ExprKind::Launch(Box::new(launch)))
    }

    pub fn effect(&self, kind: ExprKind) -> Stmt {
        stmt(StmtKind::Expr(self.e(kind, self.void)))
    }

    pub fn global(
        &mut self,
        symbol: &str,
        ty: TypeId,
        space: AddressSpace,
        init: Option<Const>,
    ) -> GlobalId {
        let align = self.module.types.layout(ty).align;
        self.module.add_global(Global {
            name: symbol.into(),
            symbol: symbol.into(),
            ty,
            space,
            align,
            linkage: Linkage::External,
            defined: true,
            init,
            managed: false,
            constant: false,
            device_shadow: false,
            function: None,
            loc: Loc::default(),
        })
    }

    pub fn verified(self) -> Verified<Module> {
        verify(self.module).unwrap_or_else(|errors| panic!("{errors:#?}"))
    }
}

pub fn stmt(kind: StmtKind) -> Stmt {
    Stmt { kind, loc: Loc { file: 0, line: 2, column: 3 } }
}

pub fn expr_stmt(expr: Expr) -> Stmt {
    stmt(StmtKind::Expr(expr))
}

pub fn block(stmts: Vec<Stmt>) -> Block {
    Block { stmts }
}

pub fn options(arch: &str, abi: LaunchAbi) -> LowerOptions {
    LowerOptions::new(arch, isa_for(arch), abi)
}

/// The newest PTX ISA of the toolkit that serves an architecture.
pub fn isa_for(arch: &str) -> u32 {
    if needs_12(arch) { 88 } else { 90 }
}

fn needs_12(arch: &str) -> bool {
    let number: u32 = arch.trim_start_matches("sm_").trim_end_matches(['a', 'f']).parse().unwrap();
    number < 75
}

pub fn lowered(ir: &Verified<Module>, options: &LowerOptions) -> LlvmModule {
    let module = lower(ir, options).unwrap_or_else(|error| panic!("{error}"));
    module.optimize().unwrap_or_else(|error| panic!("{error}\n{}", module.emit_llvm_ir()));
    module
}

/// PTX of a module, judged by ptxas.
pub fn ptx(ir: &Verified<Module>, options: &LowerOptions, bits: u32) -> String {
    let text = lowered(ir, options).emit_ptx().unwrap();
    assemble(&text, &options.arch, bits);
    text
}

pub fn toolchain() -> Option<PathBuf> {
    let root = match std::env::var_os("CDP_TOOLCHAIN") {
        Some(root) => PathBuf::from(root),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.toolchain"),
    };
    root.join("cuda-13.0/bin/ptxas").exists().then_some(root)
}

pub fn libdevice() -> Option<std::sync::Arc<[u8]>> {
    let path = toolchain()?.join("cuda-13.0/nvvm/libdevice/libdevice.10.bc");
    Some(std::fs::read(path).unwrap().into())
}

/// Assembles PTX with the real ptxas; the relocatable object, or `None` without tools.
pub fn assemble(ptx: &str, arch: &str, bits: u32) -> Option<Vec<u8>> {
    let root = toolchain()?;
    let version = match (bits, needs_12(arch)) {
        (32, _) => "cuda-11.8",
        (_, true) => "cuda-12.9",
        _ => "cuda-13.0",
    };
    let dir = tempfile::tempdir().unwrap();
    let (input, output) = (dir.path().join("a.ptx"), dir.path().join("a.o"));
    std::fs::write(&input, ptx).unwrap();
    let mut command = Command::new(root.join(version).join("bin/ptxas"));
    command.arg(format!("-arch={arch}")).arg("-c").arg(&input).arg("-o").arg(&output);
    if bits == 32 {
        command.arg("-m32");
    }
    let result = command.output().unwrap();
    let message = String::from_utf8_lossy(&result.stderr).into_owned();
    assert!(result.status.success(), "ptxas -arch={arch}: {message}\n{ptx}");
    Some(std::fs::read(output).unwrap())
}

/// Links objects with libcudadevrt; the cubin, or `None` without tools.
pub fn link(objects: &[Vec<u8>], arch: &str) -> Option<Vec<u8>> {
    let root = toolchain()?.join("cuda-13.0");
    let dir = tempfile::tempdir().unwrap();
    let output = dir.path().join("a.cubin");
    let mut command = Command::new(root.join("bin/nvlink"));
    command.arg(format!("-arch={arch}")).arg("-L").arg(root.join("lib")).arg("-lcudadevrt");
    for (index, object) in objects.iter().enumerate() {
        let path = dir.path().join(format!("{index}.o"));
        std::fs::write(&path, object).unwrap();
        command.arg(path);
    }
    let result = command.arg("-o").arg(&output).output().unwrap();
    let message = String::from_utf8_lossy(&result.stderr).into_owned();
    assert!(result.status.success(), "nvlink -arch={arch}: {message}");
    Some(std::fs::read(output).unwrap())
}
