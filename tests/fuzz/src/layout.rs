//! Parameter buffers: any sizes and alignments, and records of any fields in a source.

use cdp::{Arch, CompileOptions, Pass, SourceInput, analyse};
use cdp_launch::{ParamSize, buffer_layout};

use crate::unless_refused;

/// C's types with their sizes, which are their alignments.
const SCALARS: [(&str, u64); 9] = [
    ("char", 1),
    ("short", 2),
    ("int", 4),
    ("long long", 8),
    ("float", 4),
    ("double", 8),
    ("void *", 8),
    ("unsigned char", 1),
    ("bool", 1),
];
/// CUDA's vectors with size and alignment.
const VECTORS: [(&str, u64, u64); 5] =
    [("float2", 8, 8), ("float3", 12, 4), ("int4", 16, 16), ("double2", 16, 16), ("char4", 4, 4)];

/// Lays parameters out twice.
pub fn layout(data: &[u8]) {
    sizes(data);
    records(data);
}

/// Parameters of any size: each in the first place behind the one before that its alignment allows.
fn sizes(data: &[u8]) {
    let params: Vec<ParamSize> = data
        .chunks_exact(3)
        .map(|bytes| ParamSize {
            size_bytes: u64::from(u16::from_le_bytes([bytes[0], bytes[1]])) << (bytes[2] >> 4 << 2),
            align_bytes: if bytes[2] & 15 == 15 { 3 } else { 1 << (bytes[2] & 15) },
        })
        .collect();
    let Ok(layout) = buffer_layout(&params) else { return };
    let mut end = 0;
    for (slot, param) in layout.slots.iter().zip(&params) {
        let align = param.align_bytes.min(16);
        assert_eq!(slot.offset_bytes, up(end, align), "{params:?}");
        assert_eq!((slot.size_bytes, slot.align_bytes), (param.size_bytes, align));
        end = slot.offset_bytes + slot.size_bytes;
    }
    assert_eq!((layout.slots.len(), layout.size_bytes), (params.len(), end), "{params:?}");
}

/// A type as C has it: how it is declared, size, alignment.
type Type = (String, u64, u64);

/// A kernel with a record and scalars as parameters: size, alignment and offset of each as C's rules say.
fn records(data: &[u8]) {
    let mut bytes = data.iter().copied().take(60);
    let (mut text, mut params) = (String::new(), Vec::new());
    while let Some(kind) = bytes.next() {
        let name = format!("p{}", params.len());
        let (ty, size, align) = match kind % 3 {
            0 => scalar(bytes.next().unwrap_or(0)),
            _ => record(&mut text, &name, kind, &mut bytes),
        };
        params.push((name, ty, size, align));
    }
    let list: Vec<_> = params.iter().map(|(name, ty, ..)| format!("{ty} {name}")).collect();
    text += &format!("__global__ void k({}) {{}}\n", list.join(", "));
    let source = SourceInput::text("fuzz.cdp", text.clone());
    let options = CompileOptions::default();
    let analysis = unless_refused(analyse(&source, Pass::Device(Arch::SM_90), &options));
    let Some(module) = analysis.and_then(|analysis| analysis.module) else { return };
    let kernel = cdp::describe_kernels(&module).pop().expect("a kernel");
    assert_eq!(kernel.params.len(), params.len(), "{text}");
    let mut end: u64 = 0;
    for (found, (name, _, size, align)) in kernel.params.iter().zip(&params) {
        end = up(end, (*align).min(16));
        assert_eq!(
            (found.offset, found.size, found.declared_align),
            (end, *size, *align),
            "{name}\n{text}"
        );
        end += size;
    }
    assert_eq!(kernel.buffer_bytes, end, "{text}");
}

fn up(at: u64, align: u64) -> u64 {
    at.div_ceil(align) * align
}

fn scalar(byte: u8) -> Type {
    match SCALARS.get(usize::from(byte % 16)) {
        Some(&(ty, size)) => (ty.into(), size, size),
        None => {
            let (ty, size, align) = VECTORS[usize::from(byte % 16 - 9) % VECTORS.len()];
            (ty.into(), size, align)
        }
    }
}

/// Declares a struct or union of the next bytes' fields, some of them arrays.
fn record(text: &mut String, name: &str, kind: u8, bytes: &mut impl Iterator<Item = u8>) -> Type {
    let is_union = kind % 3 == 2;
    let (word, raised) = (if is_union { "union" } else { "struct" }, 1 << (kind >> 6 << 1));
    let (mut fields, mut end, mut align) = (String::new(), 0, 1);
    for index in 0..=kind >> 2 & 7 {
        let (ty, size, field_align) = scalar(bytes.next().unwrap_or(0));
        let count = u64::from(bytes.next().unwrap_or(0) % 5).max(1);
        fields += &format!("    {ty} f{index}[{count}];\n");
        let at = if is_union { 0 } else { up(end, field_align) };
        end = end.max(at + size * count);
        align = field_align.max(align);
    }
    let asked = if raised > align { format!("alignas({raised}) ") } else { String::new() };
    align = raised.max(align);
    *text += &format!("{word} {asked}T{name} {{\n{fields}}};\n");
    (format!("T{name}"), up(end, align), align)
}
