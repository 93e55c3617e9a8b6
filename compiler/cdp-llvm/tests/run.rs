//! What the code does, on the CPU device: results, not text.

mod common;

use cdp_emulator::{Completion, Config, Emulator, Launch as Start, Source, StreamId};
use cdp_ir::*;
use cdp_launch::LaunchAbi;
use cdp_llvm::OptLevel;
use common::*;

/// Runs kernel `k(void *out, ...)` with one thread and gives back the bytes at `out`. `rest` are the
/// bytes of its other parameters.
fn run(ir: &Verified<Module>, abi: LaunchAbi, level: OptLevel, rest: &[u8], out: &[u8]) -> Vec<u8> {
    let mut options = options("sm_90", abi);
    options.opt_level = level;
    let text = ptx(ir, &options, 64);
    let mut device = Emulator::new(Config::default()).unwrap();
    let source = Source { name: "test.ptx", text: &text };
    let module = device.load(&[source]).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let kernel = device.kernel(module, "k").unwrap();
    let address = device.alloc(out.len() as u64).unwrap();
    let stream = StreamId::NULL;
    let done = |completion: Completion| match completion {
        Completion::Done => {}
        other => panic!("{other:?}\n{text}"),
    };
    done(device.copy_to_device(address, out, stream).unwrap());
    let mut params = address.to_le_bytes().to_vec();
    params.extend_from_slice(rest);
    let (grid, block) = ([1, 1, 1], [1, 1, 1]);
    device
        .launch(&Start {
            kernel,
            grid,
            block,
            shared_bytes: 0,
            stream,
            params: &params,
            cooperative: false,
            programmatic: false,
            cluster: None,
        })
        .unwrap();
    let mut result = vec![0; out.len()];
    done(device.copy_from_device(&mut result, address, stream).unwrap());
    result
}

const LEVELS: [OptLevel; 2] = [OptLevel::O0, OptLevel::O3];

#[test]
fn floats_from_wide_integers_round_once() {
    let values: Vec<i128> = vec![
        0,
        1,
        -1,
        1 << 24 | 1,
        (1 << 53) + 1,
        (1 << 54) + 2,
        (1 << 70) + (1 << 17) + 1,
        i128::from(u64::MAX),
        i128::MAX,
        i128::MIN,
        0x0123_4567_89ab_cdef_0123_4567_89ab_cdef,
        -0x0123_4567_89ab_cdef_0000_0000_0000_0001,
    ];
    for signed in [true, false] {
        let mut b = Build::device();
        let wide = b.module.types.int(128, signed);
        let (f32, f64) = (b.f32, b.f64);
        let both = b.record("Both", &[f64, f32], 0);
        let out = b.ptr(both);
        let mut body = Vec::new();
        for (field, ty) in [(0, f64), (1, f32)] {
            let base = b.get(0, out);
            let target = b.field(base, field, ty);
            let value = b.get(1, wide);
            let value = b.cast(CastKind::IntToFloat, value, ty);
            body.push(b.store(target, value));
        }
        b.kernel("k", &[out, wide], Some(body));
        let ir = b.verified();
        for value in &values {
            let rest = [&[0; 8], &value.to_le_bytes()[..]].concat();
            let result = run(&ir, LaunchAbi::Cdp2V2, OptLevel::O3, &rest, &[0; 16]);
            let double = f64::from_le_bytes(result[..8].try_into().unwrap());
            let single = f32::from_le_bytes(result[8..12].try_into().unwrap());
            if signed {
                assert_eq!((double, single), (*value as f64, *value as f32), "{value}");
            } else {
                let value = *value as u128;
                assert_eq!((double, single), (value as f64, value as f32), "{value}");
            }
        }
    }
}

#[test]
fn wide_integers_from_floats_saturate() {
    let values = [
        0.0,
        -0.5,
        1.75,
        -3.9,
        1.8446744073709552e19,
        -1.2345678901234567e30,
        1.7014118346046923e38,
        1.7014118346046925e38,
        3.5e38,
        -1.7014118346046923e38,
        -4e38,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        5e-324,
    ];
    for signed in [true, false] {
        let mut b = Build::device();
        let wide = b.module.types.int(128, signed);
        let (f64, out) = (b.f64, b.ptr(wide));
        let source = b.get(1, f64);
        let value = b.cast(CastKind::FloatToInt, source, wide);
        let target = b.get(0, out);
        let body = vec![b.store(target, value)];
        b.kernel("k", &[out, f64], Some(body));
        let ir = b.verified();
        for value in values {
            let result = run(&ir, LaunchAbi::Cdp2V2, OptLevel::O3, &value.to_le_bytes(), &[0; 16]);
            let result = i128::from_le_bytes(result.try_into().unwrap());
            // Rust's casts saturate the same way.
            let wanted = if signed { value as i128 } else { value as u128 as i128 };
            assert_eq!(result, wanted, "{value}");
        }
    }
}

/// A call of a memset function as the value of `*out`'s first four bytes.
fn memset(b: &mut Build, func: RuntimeFn, args: Vec<Expr>) -> Stmt {
    let call = b.e(ExprKind::RuntimeCall { func, args }, b.i32);
    let out = b.get(0, b.i32_ptr);
    b.store(out, call)
}

fn bytes_at(b: &mut Build, offset: i128) -> Expr {
    let char_ptr = b.ptr(b.i8);
    let out = b.get(0, b.i32_ptr);
    let bytes = b.cast(CastKind::PointerToPointer, out, char_ptr);
    let index = b.int(offset, b.i64);
    let at = b.index(bytes, index);
    b.cast(CastKind::PointerToPointer, at, b.void_ptr)
}

#[test]
fn memset_sets_the_value() {
    for abi in LaunchAbi::ALL {
        for (offset, count) in [(16usize, 37usize), (17, 5), (32, 0), (33, 200)] {
            let mut b = Build::device();
            let args = vec![
                bytes_at(&mut b, offset as i128),
                b.int(0x1a5, b.i32),
                b.int(count as i128, b.u64),
                b.zero(b.void_ptr),
            ];
            let stmt = memset(&mut b, RuntimeFn::MemsetAsync, args);
            b.kernel("k", &[b.i32_ptr], Some(vec![stmt]));
            let ir = b.verified();
            let mut wanted = vec![1; 256];
            wanted[..4].fill(0);
            wanted[offset..offset + count].fill(0xa5);
            for level in LEVELS {
                assert_eq!(run(&ir, abi, level, &[], &[1; 256]), wanted, "{abi} {offset} {count}");
            }
        }
    }
}

#[test]
fn memset_of_rows_and_boxes() {
    let mut b = Build::device();
    let number = |b: &Build, n| b.int(n, b.u64);
    // 3 rows of 5 bytes, 20 apart, from byte 8 on.
    let args = vec![
        bytes_at(&mut b, 8),
        number(&b, 20),
        b.int(7, b.i32),
        number(&b, 5),
        number(&b, 3),
        b.zero(b.void_ptr),
    ];
    let stmt = memset(&mut b, RuntimeFn::Memset2DAsync, args);
    b.kernel("k", &[b.i32_ptr], Some(vec![stmt]));
    let mut wanted = vec![1; 256];
    wanted[..4].fill(0);
    for row in 0..3 {
        wanted[8 + 20 * row..13 + 20 * row].fill(7);
    }
    assert_eq!(run(&b.verified(), LaunchAbi::Cdp2V2, OptLevel::O3, &[], &[1; 256]), wanted);

    // A box of 3 x 2 x 2 in a pitched array of 4 rows of 16 bytes a slice.
    let mut b = Build::device();
    let pitched = b.record("cudaPitchedPtr", &[b.void_ptr, b.u64, b.u64, b.u64], 0);
    let extent = b.record("cudaExtent", &[b.u64, b.u64, b.u64], 0);
    let base = bytes_at(&mut b, 64);
    let record = |b: &Build, fields: Vec<Expr>, ty| {
        let fields = fields.into_iter().enumerate().map(|(i, e)| (i as u32, e)).collect();
        b.e(ExprKind::MakeRecord(fields), ty)
    };
    let fields = vec![base, number(&b, 16), number(&b, 16), number(&b, 4)];
    let pitched = record(&b, fields, pitched);
    let fields = vec![number(&b, 3), number(&b, 2), number(&b, 2)];
    let extent = record(&b, fields, extent);
    let args = vec![pitched, b.int(9, b.i32), extent, b.zero(b.void_ptr)];
    let stmt = memset(&mut b, RuntimeFn::Memset3DAsync, args);
    b.kernel("k", &[b.i32_ptr], Some(vec![stmt]));
    let mut wanted = vec![1; 256];
    wanted[..4].fill(0);
    for (slice, row) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let at = 64 + 64 * slice + 16 * row;
        wanted[at..at + 3].fill(9);
    }
    assert_eq!(run(&b.verified(), LaunchAbi::Cdp2V2, OptLevel::O3, &[], &[1; 256]), wanted);
}

#[test]
fn memset_refuses_local_memory() {
    let mut b = Build::device();
    let array = b.module.types.array_of(b.i8, 64);
    let local = b.addr(1, array);
    let local = b.cast(CastKind::PointerToPointer, local, b.void_ptr);
    let args = vec![local, b.int(1, b.i32), b.int(64, b.u64), b.zero(b.void_ptr)];
    let stmt = memset(&mut b, RuntimeFn::MemsetAsync, args);
    b.function(FunctionKind::Kernel, "k", b.void, &[b.i32_ptr], &[array], Some(vec![stmt]));
    let ir = b.verified();
    for level in LEVELS {
        assert_eq!(run(&ir, LaunchAbi::Cdp2V2, level, &[], &[5; 4]), 1i32.to_le_bytes());
    }
}

#[test]
fn launched_children_get_their_arguments() {
    for abi in LaunchAbi::ALL {
        let mut b = Build::device();
        let i32 = b.i32;
        let s = b.record("S", &[b.i8, b.f64, i32], 64);
        let out = b.i32_ptr;
        let base = b.addr(1, s);
        let field = b.field(base, 2, i32);
        let (third, flag, last) = (b.load(field), b.get(2, b.bool), b.get(3, i32));
        let flag = b.cast(CastKind::IntToInt, flag, i32);
        let sum = b.binary(BinaryOp::Add, third, flag);
        let sum = b.binary(BinaryOp::Add, sum, last);
        let target = b.get(0, out);
        let body = vec![b.store(target, sum)];
        let child = b.kernel("child", &[out, s, b.bool, i32], Some(body));
        let fields = vec![(0, b.int(1, b.i8)), (2, b.int(40, i32))];
        let record = b.e(ExprKind::MakeRecord(fields), s);
        let args = vec![b.get(0, out), record, b.int(1, b.bool), b.int(1, i32)];
        let body = vec![b.launch(child, 1, 1, 0, args)];
        b.kernel("k", &[out], Some(body));
        let ir = b.verified();
        for level in LEVELS {
            assert_eq!(run(&ir, abi, level, &[], &[0; 4]), 42i32.to_le_bytes(), "{abi}");
        }
    }
}

#[test]
fn bit_fields_keep_their_neighbours() {
    let mut b = Build::device();
    let t = &mut b.module.types;
    let (i, u, c) = (t.int(32, true), t.int(32, false), t.int(8, true));
    let id = t.declare_record("B", RecordKind::Struct);
    let spec =
        |name: &str, ty, bits| FieldSpec { name: name.into(), ty, align: 0, bits, packed: false };
    let fields =
        [spec("a", i, Some(5)), spec("b", u, Some(17)), spec("c", c, None), spec("d", i, Some(9))];
    t.complete_record(id, &fields, cdp_ir::Packing::default());
    let bits = t.record_type(id);
    let pair = b.record("Pair", &[bits, i], 0);
    let out = b.ptr(pair);
    // out->f1 = (out->f0.a = 21) + out->f0.d: -11 + -1
    let base = b.get(0, out);
    let record = b.field(base, 0, bits);
    let write = ExprKind::StoreBits {
        base: Box::new(record.clone()),
        field: 0,
        value: Box::new(b.int(21, i)),
        volatile: false,
    };
    let read = ExprKind::LoadBits { base: Box::new(record), field: 3, volatile: false };
    let sum = b.binary(BinaryOp::Add, b.e(write, i), b.e(read, i));
    let base = b.get(0, out);
    let target = b.field(base, 1, i);
    let body = vec![b.store(target, sum)];
    b.kernel("k", &[out], Some(body));
    let ir = b.verified();
    let mut wanted = vec![0xff; 12];
    wanted[0] = 0xf5;
    wanted[8..].copy_from_slice(&(-12i32).to_le_bytes());
    for level in LEVELS {
        let mut start = [0xff; 12];
        start[8..].fill(0);
        let result = run(&ir, LaunchAbi::Cdp2V2, level, &[], &start);
        assert_eq!(result, wanted, "{level:?}");
    }
}
