//! The host pass: an object linked with a small runtime that prints what it is told.

mod common;

use std::process::Command;

use cdp_ir::*;
use cdp_launch::LaunchAbi;
use cdp_llvm::{DeviceImage, LowerError, OptLevel, emit_image_object};
use common::*;

/// A runtime that shows what the object asks of it.
const RUNTIME: &str = r#"
#include <stdint.h>
#include <stdio.h>
struct kernel { void *handle; const char *symbol; uint32_t params, pad; uint32_t *offsets, *sizes; };
struct variable { void *shadow; const char *symbol; uint64_t bytes; uint32_t flags, pad; };
struct unit { uint32_t version, kernels; struct kernel *k; uint32_t variables, pad; struct variable *v; };
struct image { uint32_t version, units; const char *code; int **wrappers; };
int __fatbinwrap_theirs = 7;
static struct image *image;
static struct unit *unit;
static int managed = 40;
void __cdp_register_unit(struct unit *u) {
  unit = u;
  printf("unit %u\n", u->version);
  for (uint32_t i = 0; i < u->kernels; i++) {
    printf("kernel %s", u->k[i].symbol);
    for (uint32_t j = 0; j < u->k[i].params; j++) printf(" %u+%u", u->k[i].offsets[j], u->k[i].sizes[j]);
    printf("\n");
  }
  for (uint32_t i = 0; i < u->variables; i++)
    printf("variable %s %lu %u\n", u->v[i].symbol, (unsigned long)u->v[i].bytes, u->v[i].flags);
}
void __cdp_register_image(struct image *x) {
  image = x;
  printf("image %u units %u of %d at %d: %s\n", x->version, x->units, *x->wrappers[0], (int)((uint64_t)x->code % 32), x->code);
}
void __cudaRegisterLinkedBinary_theirs(void (*)(void **), void *, void *, void (*)(void *));
static void callback(void **handle) { printf("registered with %d\n", *(int *)handle); }
__attribute__((constructor)) static void start(void) {
  __cudaRegisterLinkedBinary_theirs(callback, &__fatbinwrap_theirs, 0, 0);
}
void __cdp_register_linked(struct image *x, void (*callback)(void **)) {
  static int handle = 9;
  if (x == image) callback((void **)&handle);
}
void *__cdp_managed_address(void *shadow) { return shadow == unit->v[1].shadow ? &managed : 0; }
int __cdp_launch(void *handle, uint32_t *g, uint32_t *b, uint64_t shared, void *stream, void **args) {
  for (uint32_t i = 0; i < unit->kernels; i++)
    if (unit->k[i].handle == handle)
      printf("%s<<<%u %u %u, %u %u %u, %lu, %lu>>> %d\n", unit->k[i].symbol, g[0], g[1], g[2], b[0], b[1],
             b[2], (unsigned long)shared, (unsigned long)stream, *(int *)args[0]);
  return 0;
}
"#;

fn program() -> Verified<Module> {
    let mut b = Build::new(Target::Host, 8);
    let i32 = b.i32;
    let s = b.record("S", &[b.i8, b.f64, i32], 0);
    let k = b.kernel("k", &[i32, s], None);
    b.kernel("other", &[], None);
    for (name, space, managed) in
        [("c", AddressSpace::Constant, false), ("m", AddressSpace::Global, true)]
    {
        let id = b.global(name, i32, space, None);
        let global = &mut b.module.globals[id.0 as usize];
        (global.managed, global.device_shadow) = (managed, true);
    }
    // S make(S s, int n) { s.f2 = n; return s; }
    let base = b.addr(0, s);
    let field = b.field(base, 2, i32);
    let n = b.get(1, i32);
    let body = vec![b.store(field, n), stmt(StmtKind::Return(Some(b.get(0, s))))];
    let make = b.function(FunctionKind::Host, "make", s, &[s, i32], &[], Some(body));
    // int main() { m = m + 2; k<<<...>>>(m, make(s, 5)); return make(s, 5).f2; }
    let ptr = b.i32_ptr;
    let m = b.e(ExprKind::GlobalAddr(GlobalId(1)), ptr);
    let old = b.load(m.clone());
    let two = b.int(2, i32);
    let sum = b.binary(BinaryOp::Add, old, two);
    let local = b.get(0, s);
    let made = b.call(make, vec![local, b.int(5, i32)]);
    let launch = b.launch(k, 3, 64, 0, vec![b.load(m.clone()), made.clone()]);
    let kind = ExprKind::Extract { record: Box::new(made), field: 2 };
    let result = b.e(kind, i32);
    let body = vec![b.store(m, sum), launch, stmt(StmtKind::Return(Some(result)))];
    b.function(FunctionKind::Host, "main", i32, &[], &[s], Some(body));
    b.verified()
}

#[test]
fn a_host_program_runs() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    std::fs::write(path("runtime.c"), RUNTIME).unwrap();
    let image = emit_image_object(DeviceImage {
        code: b"device code\0",
        align_bytes: 32,
        section: None,
        units: &["_theirs".into()],
    })
    .unwrap();
    std::fs::write(path("image.o"), image).unwrap();
    for (level, quick) in [(OptLevel::O0, false), (OptLevel::O3, false), (OptLevel::O3, true)] {
        let mut options = options("sm_90", LaunchAbi::Cdp2V2);
        (options.opt_level, options.quick_host) = (level, quick);
        let object = lowered(&program(), &options).emit_object().unwrap();
        std::fs::write(path("main.o"), object).unwrap();
        let status = Command::new("cc")
            .current_dir(dir.path())
            .args(["runtime.c", "main.o", "image.o", "-o", "main"])
            .status();
        // Without a C compiler there is nothing to run it with.
        let Ok(status) = status else { return };
        assert!(status.success());
        let output = Command::new(path("main")).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let mut lines: Vec<_> = text.lines().collect();
        lines.sort_unstable();
        let wanted = [
            "image 3 units 1 of 7 at 0: device code",
            "k<<<3 1 1, 64 1 1, 0, 0>>> 42",
            "kernel k 0+4 8+24",
            "kernel other",
            "registered with 9",
            "unit 1",
            "variable c 4 1",
            "variable m 4 2",
        ];
        assert_eq!(lines, wanted);
        assert_eq!(output.status.code(), Some(5));
    }
}

#[test]
fn a_function_has_a_limit_of_statements() {
    let mut options = options("sm_90", LaunchAbi::Cdp2V2);
    options.max_statements = 3;
    assert!(cdp_llvm::lower(&program(), &options).is_ok());
    options.max_statements = 2;
    let Err(LowerError::Unsupported { function, message, .. }) =
        cdp_llvm::lower(&program(), &options)
    else {
        panic!("no error")
    };
    assert_eq!(function, "main");
    assert!(message.contains("more than 2 statements") && message.contains("help:"), "{message}");
    // Two fit, the third does not.
    options.max_statements = 3;
    options.memory_bytes = Some(3 * cdp_llvm::BYTES_PER_STATEMENT - 1);
    let Err(LowerError::Unsupported { message, .. }) = cdp_llvm::lower(&program(), &options) else {
        panic!("no error")
    };
    assert!(message.contains("2 statements") && message.contains("memory"), "{message}");
    options.memory_bytes = Some(3 * cdp_llvm::BYTES_PER_STATEMENT);
    assert!(cdp_llvm::lower(&program(), &options).is_ok());
}
