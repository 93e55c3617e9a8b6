//! The child's side of the parameter buffer: ptxas must place `.param`s where the layout says. Read
//! back from the cubin, for structs of every size and alignment, in both address sizes' layouts.

mod common;

use cdp_ir::*;
use cdp_launch::{LaunchAbi, ParamSize, buffer_layout};
use common::*;
use object::{Object, ObjectSection};

/// Attribute of `.nv.info.<kernel>` with a parameter's ordinal, offset and size.
const EIATTR_KPARAM_INFO: u8 = 0x17;
/// Format of an attribute whose size follows.
const EIFMT_SVAL: u8 = 4;

/// (offset, size) of each parameter, by ordinal.
fn parameters(cubin: &[u8], kernel: &str) -> Vec<(u64, u64)> {
    let file = object::File::parse(cubin).unwrap();
    let section = file.section_by_name(&format!(".nv.info.{kernel}")).unwrap();
    let data = section.data().unwrap();
    let (mut at, mut found) = (0, Vec::new());
    while at + 4 <= data.len() {
        let (format, attribute) = (data[at], data[at + 1]);
        let size = usize::from(u16::from_le_bytes([data[at + 2], data[at + 3]]));
        if format == EIFMT_SVAL && attribute == EIATTR_KPARAM_INFO {
            let record = &data[at + 4..at + 4 + size];
            let half = |i: usize| u64::from(u16::from_le_bytes([record[i], record[i + 1]]));
            let word = u32::from_le_bytes(record[8..12].try_into().unwrap());
            found.push((half(4), half(6), u64::from(word >> 18)));
        }
        at += 4 + if format == EIFMT_SVAL { size } else { 0 };
    }
    found.sort_unstable();
    found.into_iter().map(|(_, offset, size)| (offset, size)).collect()
}

fn check(arch: &str, make: impl FnOnce(&mut Build) -> Vec<TypeId>) {
    let mut b = Build::device();
    let params = make(&mut b);
    let sizes: Vec<_> = params
        .iter()
        .map(|ty| {
            let layout = b.module.types.layout(*ty);
            ParamSize { size_bytes: layout.size, align_bytes: layout.align }
        })
        .collect();
    // The child must use its parameters, or ptxas forgets them; it copies each to memory.
    let out = b.void_ptr;
    let all: Vec<_> = params.iter().copied().chain([out]).collect();
    let mut body = Vec::new();
    for (index, ty) in params.iter().enumerate() {
        let ptr = b.ptr(*ty);
        let target = b.get(params.len() as u32, out);
        let target = b.cast(CastKind::PointerToPointer, target, ptr);
        let value = b.get(index as u32, *ty);
        body.push(b.store(target, value));
    }
    b.kernel("child", &all, Some(body));
    let sizes: Vec<_> =
        sizes.into_iter().chain([ParamSize { size_bytes: 8, align_bytes: 8 }]).collect();
    let layout = buffer_layout(&sizes).unwrap();
    let text = ptx(&b.verified(), &options(arch, LaunchAbi::Cdp2V2), 64);
    let Some(cubin) = assemble(&text, arch, 64) else { return };
    let wanted: Vec<_> =
        layout.slots.iter().map(|slot| (slot.offset_bytes, slot.size_bytes)).collect();
    assert_eq!(parameters(&cubin, "child"), wanted, "{text}");
}

#[test]
fn alignments_from_1_to_128() {
    for arch in ["sm_60", "sm_75", "sm_90", "sm_120"] {
        for align in [0, 2, 8, 16, 32, 64, 128] {
            check(arch, |b| {
                let (c, i, d) = (b.i8, b.i32, b.f64);
                let five = b.module.types.array_of(c, 5);
                let odd = b.record("Odd", &[five], 0);
                let wide = b.record("Wide", &[i, c], align.max(4));
                let nested = b.record("Nested", &[c, wide, odd, d], align);
                let half = b.module.types.float(FloatKind::F16);
                vec![c, odd, wide, i, half, nested, c, wide, b.bool, d, odd]
            });
        }
    }
}

#[test]
fn generated_signatures() {
    // A small linear congruential generator: the same signatures in every run.
    let mut state = 0x2545_f491u32;
    let mut random = move |below: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) % below
    };
    for _ in 0..40 {
        check("sm_90", |b| {
            let mut types = vec![b.i8, b.i32, b.u64, b.f32, b.f64, b.bool, b.void_ptr];
            types.push(b.module.types.int(16, true));
            for index in 0..6 {
                let count = 1 + random(4);
                let fields: Vec<_> =
                    (0..count).map(|_| types[random(types.len() as u32) as usize]).collect();
                let natural =
                    fields.iter().map(|ty| b.module.types.layout(*ty).align).max().unwrap();
                let align = (1u64 << random(8)).max(natural);
                let record = b.record(&format!("R{index}"), &fields, align);
                types.push(record);
            }
            let count = 1 + random(16);
            let mut total = 0;
            let mut params = Vec::new();
            for _ in 0..count {
                let ty = types[random(types.len() as u32) as usize];
                total += b.module.types.layout(ty).size + 16;
                if total < 3800 {
                    params.push(ty);
                }
            }
            params
        });
    }
}
