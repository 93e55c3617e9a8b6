//! The tables of `forms.rs`: what is accepted. `{a|b|}` stands for each alternative, `<a, b>` for a vector.

pub mod frame;
mod matrices;
pub mod refused;

use matrices::{MATRICES, MULTIMEM};

/// Documented forms by family.
pub const ACCEPTED: &[(&str, &str)] = &[
    ("integer arithmetic", INTEGER),
    ("matrices", MATRICES),
    ("bulk copies", BULK),
    ("carry arithmetic", CARRY),
    ("floating arithmetic", FLOATING),
    ("half arithmetic", HALF),
    ("comparison", COMPARISON),
    ("logic and shifts", LOGIC),
    ("conversion", CONVERSION),
    ("moves", MOVES),
    ("memory", MEMORY),
    ("atomics", ATOMICS),
    ("memory of several devices", MULTIMEM),
    ("cache", CACHE),
    ("control flow", CONTROL),
    ("synchronisation", SYNCHRONISATION),
    ("clusters", CLUSTERS),
    ("warp", WARP),
    ("textures and surfaces", TEXTURES),
    ("video", VIDEO),
    ("miscellaneous", MISCELLANEOUS),
];

const INTEGER: &str = "
{add|sub}.{u16|s16} %h0, %h1, %h2;
{add|sub}.{u32|s32|sat.s32} %r0, %r1, {%r2|-5|0xFFFFFFFF};
{add|sub}.{u64|s64} %rd0, %rd1, {%rd2|-1|18446744073709551615};
add.{u16x2|s16x2} %r0, %r1, %r2;
mul.{lo|hi}.{u16|s16} %h0, %h1, %h2;
mul.{lo|hi}.{u32|s32} %r0, %r1, %r2;
mul.{lo|hi}.{u64|s64} %rd0, %rd1, %rd2;
mul.wide.{u16|s16} %r0, %h1, {%h2|-3};
mul.wide.{u32|s32} %rd0, %r1, {%r2|-3};
mad.{lo|hi}.{u16|s16} %h0, %h1, %h2, %h3;
mad.{lo|hi}.{u32|s32} %r0, %r1, %r2, %r3;
mad.{lo|hi}.{u64|s64} %rd0, %rd1, %rd2, %rd3;
mad.wide.{u16|s16} %r0, %h1, %h2, %r3;
mad.wide.{u32|s32} %rd0, %r1, %r2, {%rd3|-7};
mad.hi.sat.s32 %r0, %r1, %r2, %r3;
mul24.{lo|hi}.{u32|s32} %r0, %r1, %r2;
mad24.{lo|hi}.{u32|s32} %r0, %r1, %r2, %r3;
mad24.hi.sat.s32 %r0, %r1, %r2, %r3;
sad.{u16|s16} %h0, %h1, %h2, %h3;
sad.{u32|s32} %r0, %r1, %r2, %r3;
sad.{u64|s64} %rd0, %rd1, %rd2, %rd3;
{div|rem}.{u16|s16} %h0, %h1, %h2;
{div|rem}.{u32|s32} %r0, %r1, %r2;
{div|rem}.{u64|s64} %rd0, %rd1, %rd2;
{abs|neg}.s16 %h0, %h1;
{abs|neg}.s32 %r0, %r1;
{abs|neg}.s64 %rd0, %rd1;
{min|max}.{u16|s16} %h0, %h1, %h2;
{min|max}.{u32|s32|relu.s32} %r0, %r1, %r2;
{min|max}.{u64|s64} %rd0, %rd1, %rd2;
{min|max}.{u16x2|s16x2|relu.s16x2} %r0, %r1, %r2;
{popc|clz}.b32 %r0, %r1;
{popc|clz}.b64 %r0, %rd1;
bfind{.shiftamt|}.{u32|s32} %r0, %r1;
bfind{.shiftamt|}.{u64|s64} %r0, %rd1;
brev.b32 %r0, %r1;
brev.b64 %rd0, %rd1;
bfe.{u32|s32} %r0, %r1, {%r2|8}, {%r3|4};
bfe.{u64|s64} %rd0, %rd1, {%r2|8}, {%r3|4};
bfi.b32 %r0, %r1, %r2, {%r3|8}, {%r4|4};
bfi.b64 %rd0, %rd1, %rd2, {%r3|8}, {%r4|4};
bmsk.{clamp|wrap}.b32 %r0, %r1, %r2;
szext.{clamp|wrap}.{u32|s32} %r0, %r1, %r2;
fns.b32 %r0, %r1, %r2, {%r3|-1};
dp4a.{u32|s32}.{u32|s32} %r0, %r1, %r2, %r3;
dp2a.{lo|hi}.{u32|s32}.{u32|s32} %r0, %r1, %r2, %r3;
";

const CARRY: &str = "
{add.cc|addc|addc.cc|sub.cc|subc|subc.cc}.{u32|s32} %r0, %r1, %r2;
{add.cc|addc|addc.cc|sub.cc|subc|subc.cc}.{u64|s64} %rd0, %rd1, %rd2;
{mad.lo.cc|mad.hi.cc|madc.lo|madc.hi|madc.lo.cc|madc.hi.cc}.{u32|s32} %r0, %r1, %r2, %r3;
{mad.lo.cc|mad.hi.cc|madc.lo|madc.hi|madc.lo.cc|madc.hi.cc}.{u64|s64} %rd0, %rd1, %rd2, %rd3;
";

const FLOATING: &str = "
{add|sub|mul}{.rn|.rz|.rm|.rp|}{.ftz|}{.sat|}.f32 %f0, %f1, {%f2|0f3F800000|1.5};
{add|sub|mul}{.rn|.rz|.rm|.rp|}.f64 %d0, %d1, {%d2|0d3FF0000000000000|1.5e-3};
{add|sub|mul}{.rn|.rz|.rm|.rp|}{.ftz|}.f32x2 %rd0, %rd1, %rd2;
{fma|mad}.{rn|rz|rm|rp}{.ftz|}{.sat|}.f32 %f0, %f1, %f2, %f3;
{fma|mad}.{rn|rz|rm|rp}.f64 %d0, %d1, %d2, %d3;
fma.{rn|rz|rm|rp}{.ftz|}.f32x2 %rd0, %rd1, %rd2, %rd3;
{add|sub}{.rn|.rz|.rm|.rp|}{.sat|}.f32.{f16|bf16} %f0, %h1, %f2;
fma.{rn|rz|rm|rp}{.sat|}.f32.{f16|bf16} %f0, %h1, %h2, %f3;
div.{approx|full|rn|rz|rm|rp}{.ftz|}.f32 %f0, %f1, %f2;
div.{rn|rz|rm|rp}.f64 %d0, %d1, %d2;
{abs|neg}{.ftz|}.f32 %f0, %f1;
{abs|neg}.f64 %d0, %d1;
{min|max}{.ftz|}{.NaN|}{.xorsign.abs|}.f32 %f0, %f1, %f2;
{min|max}{.ftz|}{.NaN|}{.abs|}.f32 %f0, %f1, %f2, %f3;
{min|max}.f64 %d0, %d1, %d2;
{rcp|sqrt}.{approx|rn|rz|rm|rp}{.ftz|}.f32 %f0, %f1;
{rcp|sqrt}.{rn|rz|rm|rp}.f64 %d0, %d1;
rcp.approx.ftz.f64 %d0, %d1;
rsqrt.approx{.ftz|}.f32 %f0, %f1;
rsqrt.approx{.ftz|}.f64 %d0, %d1;
{sin|cos|lg2|ex2}.approx{.ftz|}.f32 %f0, %f1;
tanh.approx.f32 %f0, %f1;
copysign.f32 %f0, %f1, %f2;
copysign.f64 %d0, %d1, %d2;
testp.{finite|infinite|number|notanumber|normal|subnormal}.f32 %p0, %f1;
testp.{finite|infinite|number|notanumber|normal|subnormal}.f64 %p0, %d1;
";

const HALF: &str = "
{add|sub|mul}{.rn|}{.ftz|}{.sat|}.f16 %h0, %h1, %h2;
{add|sub|mul}{.rn|}{.ftz|}{.sat|}.f16x2 %r0, %r1, %r2;
{add|sub|mul}{.rn|}.bf16 %h0, %h1, %h2;
{add|sub|mul}{.rn|}.bf16x2 %r0, %r1, %r2;
fma.rn{.ftz|}{.sat|}.f16 %h0, %h1, %h2, %h3;
fma.rn{.ftz|}{.sat|}.f16x2 %r0, %r1, %r2, %r3;
fma.rn{.ftz|}.relu.f16 %h0, %h1, %h2, %h3;
fma.rn{.ftz|}.relu.f16x2 %r0, %r1, %r2, %r3;
fma.rn{.relu|}.bf16 %h0, %h1, %h2, %h3;
fma.rn{.relu|}.bf16x2 %r0, %r1, %r2, %r3;
{abs|neg}{.ftz|}.f16 %h0, %h1;
{abs|neg}{.ftz|}.f16x2 %r0, %r1;
{abs|neg}.bf16 %h0, %h1;
{abs|neg}.bf16x2 %r0, %r1;
{min|max}{.ftz|}{.NaN|}{.xorsign.abs|}.f16 %h0, %h1, %h2;
{min|max}{.ftz|}{.NaN|}{.xorsign.abs|}.f16x2 %r0, %r1, %r2;
{min|max}{.NaN|}{.xorsign.abs|}.bf16 %h0, %h1, %h2;
{min|max}{.NaN|}{.xorsign.abs|}.bf16x2 %r0, %r1, %r2;
{tanh|ex2}.approx.f16 %h0, %h1;
{tanh|ex2}.approx.f16x2 %r0, %r1;
tanh.approx.bf16 %h0, %h1;
ex2.approx.ftz.bf16 %h0, %h1;
ex2.approx.ftz.bf16x2 %r0, %r1;
tanh.approx.bf16x2 %r0, %r1;
";

const COMPARISON: &str = "
setp.{eq|ne|lt|le|gt|ge|lo|ls|hi|hs}.u16 %p0, %h1, %h2;
setp.{eq|ne|lt|le|gt|ge}.s16 %p0, %h1, %h2;
setp.{eq|ne|lt|le|gt|ge|lo|ls|hi|hs}.u32 %p0|%p1, %r1, %r2;
setp.{eq|ne|lt|le|gt|ge}.s32 %p0, %r1, {%r2|-1};
setp.{eq|ne|lt|le|gt|ge|lo|ls|hi|hs}.u64 %p0, %rd1, %rd2;
setp.{eq|ne|lt|le|gt|ge}.s64 %p0, %rd1, %rd2;
setp.{eq|ne}.b16 %p0, %h1, %h2;
setp.{eq|ne}.b32 %p0, %r1, %r2;
setp.{eq|ne}.b64 %p0, %rd1, %rd2;
setp.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}{.ftz|}.f32 %p0, %f1, %f2;
setp.{eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan}.f64 %p0, %d1, %d2;
setp.{eq|lt|ltu|num|nan}{.ftz|}.f16 %p0, %h1, %h2;
setp.{eq|lt|ltu|num|nan}{.ftz|}.f16x2 %p0|%p1, %r1, %r2;
setp.{eq|lt|ltu|num|nan}.bf16 %p0, %h1, %h2;
setp.{eq|lt|ltu|num|nan}.bf16x2 %p0|%p1, %r1, %r2;
setp.lt.{and|or|xor}.s32 {%p0|_}, %r1, %r2, {%p2|!%p2};
setp.lt.{and|or|xor}.f64 %p0|{%p1|_}, %d1, %d2, {%p2|!%p2};
set.{eq|ne|lt|le|gt|ge}.{u32|s32}.{s32|u32} %r0, %r1, %r2;
set.{eq|ne|lt|le|gt|ge}.{and|or|xor}.{u32|s32}.{s32|u32} %r0, %r1, %r2, {%p0|!%p0};
set.{lt|geu|num}.{u32|s32}.f32 %r0, %f1, %f2;
set.lt{.ftz|}.f32.f32 %f0, %f1, %f2;
set.gt.f32.{u64|s64} %f0, %rd1, %rd2;
set.lt.{u32|s32}.f64 %r0, %d1, %d2;
set.lt{.ftz|}.{u16|s16|f16}.f16 %h0, %h1, %h2;
set.lt{.ftz|}.{u32|s32|f16x2}.f16x2 %r0, %r1, %r2;
set.lt.{u16|s16|bf16}.bf16 %h0, %h1, %h2;
set.lt.{u32|s32|bf16x2}.bf16x2 %r0, %r1, %r2;
set.lt.f16.s32 %h0, %r1, %r2;
selp.{b16|u16|s16} %h0, %h1, {%h2|3}, %p0;
selp.{b32|u32|s32} %r0, {%r1|-1}, {%r2|3}, %p0;
selp.{b64|u64|s64} %rd0, %rd1, %rd2, %p0;
selp.f32 %f0, %f1, 0f00000000, {%p0|!%p0};
selp.f64 %d0, %d1, %d2, %p0;
slct.{b32|u32|s32}.s32 %r0, %r1, %r2, %r3;
slct{.ftz|}.{b32|u32|s32}.f32 %r0, %r1, %r2, %f3;
slct.{b16|u16|s16}.s32 %h0, %h1, %h2, %r3;
slct.{b64|u64|s64}.s32 %rd0, %rd1, %rd2, %r3;
slct.f32.s32 %f0, %f1, %f2, %r3;
slct{.ftz|}.f64.f32 %d0, %d1, %d2, %f3;
";

const LOGIC: &str = "
{and|or|xor}.pred %p0, %p1, {%p2|1};
{and|or|xor}.b16 %h0, %h1, {%h2|-1};
{and|or|xor}.b32 %r0, %r1, {%r2|0xF0F0F0F0|-16};
{and|or|xor}.b64 %rd0, %rd1, {%rd2|0xFFFFFFFF00000000};
not.pred %p0, %p1;
{not|cnot}.b16 %h0, %h1;
{not|cnot}.b32 %r0, %r1;
{not|cnot}.b64 %rd0, %rd1;
lop3.b32 %r0, %r1, %r2, %r3, {0|0x80|150|255};
lop3.{and|or}.b32 {%r0|_}|%p0, %r1, %r2, %r3, 0xE8, {%p1|!%p1};
{shl.b16|shr.b16|shr.u16|shr.s16} %h0, %h1, {%r2|3};
{shl.b32|shr.b32|shr.u32|shr.s32} %r0, %r1, {%r2|33};
{shl.b64|shr.b64|shr.u64|shr.s64} %rd0, %rd1, {%r2|63};
shf.{l|r}.{clamp|wrap}.b32 %r0, %r1, %r2, {%r3|5};
prmt.b32{.f4e|.b4e|.rc8|.ecl|.ecr|.rc16|} %r0, %r1, {%r2|0}, {%r3|0x3210};
";

const CONVERSION: &str = "
cvt.{u16|s16}.{u8|s8|u16|s16} %h0, %h1;
cvt.{u32|s32}.{u8|s8|u16|s16} %r0, %h1;
cvt.{u64|s64}.{u8|s8|u16|s16} %rd0, %h1;
cvt.{u64|s64}.{u8|s8|u16|s16|u32|s32} %rd0, %r1;
cvt.{u8|s8|u16|s16}.{u32|s32} %h0, %r1;
cvt.{u8|s8|u16|s16|u32|s32}.{u64|s64} %r0, %rd1;
cvt.sat.{u8|s8|u16|s16}.{u32|s32} %h0, %r1;
cvt.sat.u32.s32 %r0, %r1;
cvt.sat.s32.{u32|u64|s64} %r0, %rd1;
cvt.{rn|rz|rm|rp}{.ftz|}{.sat|}.f32.{u32|s32} %f0, %r1;
cvt.{rn|rz|rm|rp}.f32.{u8|s8|u16|s16} %f0, %h1;
cvt.{rn|rz|rm|rp}{.sat|}.f64.{u64|s64} %d0, %rd1;
cvt.{rni|rzi|rmi|rpi}{.ftz|}{.sat|}.{u32|s32}.f32 %r0, %f1;
cvt.{rni|rzi|rmi|rpi}{.sat|}.{u64|s64}.f64 %rd0, %d1;
cvt.{rni|rzi|rmi|rpi}.{u8|s8|u16|s16}.f64 %h0, %d1;
cvt.{rni|rzi|rmi|rpi}{.ftz|}{.sat|}.f32.f32 %f0, %f1;
cvt{.ftz|}{.sat|}.f32.f32 %f0, %f1;
cvt{.rni|.rzi|.rmi|.rpi|}{.sat|}.f64.f64 %d0, %d1;
cvt{.ftz|}.f64.f32 %d0, %f1;
cvt.{rn|rz|rm|rp}{.ftz|}{.sat|}.f32.f64 %f0, %d1;
cvt.{rn|rz|rm|rp}{.sat|}.f16.f32 %h0, %f1;
cvt.{rn|rz|rm|rp}{.sat|}.f16.{s32|u32} %h0, %r1;
cvt{.ftz|}.f32.f16 %f0, %h1;
cvt.f64.{f16|bf16} %d0, %h1;
cvt.{rn|rz|rm|rp}.{f16|bf16}.f64 %h0, %d1;
cvt{.rni|.rzi|.rmi|.rpi|}.f16.f16 %h0, %h1;
cvt.{rn|rz}{.relu|.satfinite|.satfinite.relu|}.{f16|bf16}.f32 %h0, %f1;
cvt.{rn|rz}{.relu|.satfinite|.satfinite.relu|}.{f16x2|bf16x2}.f32 %r0, %f1, %f2;
cvt{.ftz|}.f32.bf16 %f0, %h1;
cvt.rn.satfinite{.relu|}.{e4m3x2|e5m2x2|e2m3x2|e3m2x2}.f32 %h0, %f1, {%f2|0f3F800000};
cvt.rn.satfinite{.relu|}.{e4m3x2|e5m2x2}.f16x2 %h0, %r1;
cvt.rn{.relu|}.f16x2.{e4m3x2|e5m2x2|e2m3x2|e3m2x2} %r0, %h1;
cvt.{rz|rp}{.satfinite|}.ue8m0x2.f32 %h0, %f1, %f2;
cvt.{rz|rp}{.satfinite|}.ue8m0x2.bf16x2 %h0, %r1;
cvt.rn.bf16x2.ue8m0x2 %r0, %h1;
< .reg .b8 tiny; cvt.rn.satfinite{.relu|}.e2m1x2.f32 tiny, %f1, %f2; >
< .reg .b8 tiny; cvt.rn{.relu|}.f16x2.e2m1x2 %r0, tiny; >
cvt.{rni|rzi|rmi|rpi}.{u32|s32}.bf16 %r0, %h1;
< .reg .b8 byte; cvt.{rni|rzi|rmi|rpi}.{u8|s8}.bf16 byte, %h1; >
< .reg .b8 byte; cvt.{rn|rz}.bf16.{u8|s8} %h0, byte; >
cvt.{rn|rz|rm|rp}.bf16.{u32|s32} %h0, %r1;
cvt.{rn|rz|rm|rp}.bf16.f16 %h0, %h1;
cvt.{rna|rn|rz|rn.relu|rz.relu|rna.satfinite}.tf32.f32 %r0, %f1;
cvt.pack.sat.{u16|s16}.s32 %r0, %r1, %r2;
cvt.pack.sat.{u8|s8|u4|s4|u2|s2}.s32.b32 %r0, %r1, %r2, %r3;
";

const MOVES: &str = "
mov.pred %p0, {%p1|0|1|-1};
mov.{b16|u16|s16} %h0, {%h1|7|-7|0x3C00};
mov.v2.{b32|u32|s32} <%r0, _>, <%r1, {%r2|7}>;
mov.v4.f32 <%f0, %f1, %f2, %f3>, <%f3, %f2, %f1, %f0>;
mov.v4.b32 {vec|<%r0, %r1, _, _>}, {vec|%tid|%nctaid};
mov.u16 %h0, %tid.x;
mov.u32 %r0, %gridid;
mov.{b32|u32|s32} %r0, {%r1|7|-7|0xFFFFFFFF|%tid.x|WARP_SZ|(1+2)*3|7/2-1|1?2:3};
mov.{b64|u64|s64} %rd0, {%rd1|-7|gv|gv+4|gv+-4|kp|kp+8|lv|fun|k|%clock64};
mov.f32 %f0, {%f1|0f7FC00000|-1.5|1.0};
mov.f64 %d0, {%d1|0dFFF0000000000000|1.0E+10};
mov.b32 %r0, 0f3F800000;
mov.b64 %rd0, 0d3FF0000000000000;
mov.b128 %q0, %q1;
mov.b32 %r0, <%h0, %h1>;
mov.b64 %rd0, <%r0, {%r1|0}>;
mov.b64 %rd0, <%h0, %h1, %h2, %h3>;
mov.b128 %q0, <%rd0, %rd1>;
mov.b32 <%h0, {%h1|_}>, %r0;
mov.b64 <{%r0|_}, %r1>, %rd0;
mov.b64 <%h0, %h1, %h2, %h3>, %rd0;
mov.b128 <%rd0, %rd1>, %q0;
mov.b32 vec.{x|y|z|w|r|g|b|a}, %r1;
cvta.{global|shared|shared::cta|shared::cluster|local|const|param}.u64 %rd0, %rd1;
cvta.global.u64 %rd0, gv{|+4};
cvta.shared.u64 %rd0, sv;
cvta.local.u64 %rd0, lv+8;
cvta.const.u64 %rd0, cv;
cvta.to.{global|shared|shared::cta|shared::cluster|local|const|param}.u64 %rd0, %rd1;
isspacep.{global|shared|shared::cta|shared::cluster|local|const|param|param::entry} %p0, %rd1;
istypep.{texref|samplerref|surfref} %p0, %rd1;
";

const MEMORY: &str = "
ld{|.global|.shared|.shared::cta|.shared::cluster|.local|.const}.{u8|s8|b8|u16|s16|b16} %h0, [%rd1];
ld{|.global|.shared|.local|.const|.weak.global|.volatile|.volatile.shared}.{u8|s8|u16|s16|u32|s32|b32} %r0, [%rd1+4];
ld.param.{u8|s8|u16|u32|b32} %r0, [kp{|+8}];
ld.param{|::entry|::func}.b64 %rd0, [%rd1];
ld.{global|local|shared|const}.{u64|s64|b64} %rd0, [%rd1+-8];
ld.{global|shared}.f32 %f0, [%rd1];
ld.{global|shared}.f64 %d0, [%rd1];
ld.global.b128 %q0, [%rd1];
ld{|.global|.shared|.const}.v2.{u8|u16|b16} <%h0, %h1>, [%rd1];
ld{|.global|.shared|.const}.v4.{u32|b32} <%r0, %r1, _, %r3>, [%rd1];
ld{|.global|.shared|.const}.v4.u32 vec, [%rd1];
ld.global.v2.f64 <%d0, %d1>, [%rd1];
ld.global.v8.b32 <%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7>, [%rd1];
ld.global.v4.b64 <%rd0, %rd1, %rd2, %rd3>, [%rd4];
ld.{relaxed|acquire}.{cta|cluster|gpu|sys}{|.global|.shared}.u32 %r0, [%rd1];
ld.mmio.relaxed.sys.global.u32 %r0, [%rd1];
ld.global.{ca|cg|cs|lu|cv}.u32 %r0, [%rd1];
ld.global{|.ca|.cg|.cs}.nc.u32 %r0, [%rd1];
ld.global.nc{|.L1::evict_last|.L1::no_allocate}{|.L2::128B}.v4.f32 <%f0, %f1, %f2, %f3>, [%rd1];
ld.global.L1::{evict_normal|evict_unchanged|evict_first|evict_last|no_allocate}.u32 %r0, [%rd1];
ld.global.L2::{64B|128B|256B}.u32 %r0, [%rd1];
ld.global.L2::cache_hint.u32 %r0, [%rd1], %rd2;
ld.global.L1::evict_last.L2::evict_first.v8.b32 <%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7>, [%rd1];
ldu{|.global}.u32 %r0, [%rd1];
ldu.global.v4.u32 vec, [%rd1];
ld.global.u32 %r0, [gv{|+4|+-4}];
ld.const.u32 %r0, [cv];
ld.global.u32 %r0, gv[12];
st.global.u32 gv[8], %r0;
mov.u64 %rd0, gv[8];
ld.shared.u32 %r0, [sv+8];
ld.local.u32 %r0, [lv+8];
ld.shared.u32 %r0, [%r1];
ld.local.u32 %r0, [16];
st{|.global|.shared|.shared::cta|.shared::cluster|.local|.weak|.volatile.global}.{u8|u16|u32|b32} [%rd1], {%r0|5};
st.param.b32 [a0], {%r0|5};
st.{global|shared|local}.f32 [%rd1], {%f0|0f3F800000};
st.global.b128 [%rd1], %q0;
st.global.v2.b64 [%rd1], <%rd2, 5>;
st.shared.v4.b32 [sv], <%r0, %r1, %r2, 0>;
st.shared.v4.b32 [sv], vec;
st.global.v8.f32 [%rd1], <%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7>;
st.{relaxed|release}.{cta|cluster|gpu|sys}{|.global|.shared}.u32 [%rd1], %r0;
st.mmio.relaxed.sys.global.u32 [%rd1], %r0;
st.global.{wb|cg|cs|wt}.u32 [%rd1], %r0;
st.global.L1::{evict_last|no_allocate}.u32 [%rd1], %r0;
st.global.L2::cache_hint.u32 [%rd1], %r0, %rd2;
cp.async.ca.shared{|::cta}.global{|.L2::128B} [%rd0], [%rd1], {4|8|16}{|, 2|, %r2|, %p0|, !%p0};
cp.async.cg.shared.global{|.L2::256B} [sv], [gv], 16{|, %r2};
cp.async.cg.shared.global.L2::cache_hint [sv], [gv], 16{|, %r2}, %rd3;
cp.async.commit_group;
cp.async.wait_group 3;
cp.async.wait_all;
alloca.u64 %rd0, {%rd1|64}{|, 16};
stacksave.u64 %rd0;
stackrestore.u64 %rd0;
";

const ATOMICS: &str = "
atom{|.relaxed|.acquire|.release|.acq_rel}{|.cta|.cluster|.gpu|.sys}{|.global|.shared|.shared::cta|.shared::cluster}.add.u32 {%r0|_}, [%rd1], %r2;
red{|.relaxed|.release}{|.cta|.cluster|.gpu|.sys}{|.global|.shared|.shared::cta|.shared::cluster}.add.u32 [%rd1], %r2;
atom.global.{and|or|xor|exch}.b32 %r0, [%rd1], {%r2|-1};
atom.global.{and|or|xor|exch}.b64 %rd0, [%rd1], %rd2;
atom.global.exch.b128 %q0, [%rd1], %q1;
atom.global.cas.b16 %h0, [%rd1], %h2, %h3;
atom.global.cas.b32 %r0, [gv], %r2, {%r3|1};
atom.shared.cas.b64 %rd0, [sv], %rd2, %rd3;
atom.global.cas.b128 %q0, [%rd1], %q1, %q2;
atom.global.{inc|dec}.u32 %r0, [%rd1], %r2;
atom.global.{add.u32|add.s32|min.u32|min.s32|max.u32|max.s32} %r0, [%rd1], %r2;
atom.global.{add.u64|min.u64|min.s64|max.u64|max.s64} %rd0, [%rd1], %rd2;
atom.global.add.f32 %f0, [%rd1], %f2;
atom.global.add.f64 %d0, [%rd1], %d2;
atom.global.add.noftz.{f16|bf16} %h0, [%rd1], %h2;
atom.global.add.noftz.{f16x2|bf16x2} %r0, [%rd1], %r2;
atom.global.add.L2::cache_hint.u32 %r0, [%rd1], %r2, %rd3;
atom.global.v2.f32.add <%f0, %f1>, [%rd1], <%f2, %f3>;
atom.global.add.v4.f32 <%f0, %f1, %f2, %f3>, [%rd1], <%f4, %f5, %f6, %f7>;
atom.global.{add|min|max}.noftz.v2.{f16|bf16} <%h0, %h1>, [%rd1], <%h2, %h3>;
atom.global.{add|min|max}.noftz.v4.{f16x2|bf16x2} <%r0, %r1, %r2, %r3>, [%rd1], <%r4, %r5, %r6, %r7>;
red.global.{and|or|xor}.b32 [%rd1], %r2;
red.global.{inc|dec|add|min|max}.u32 [%rd1], %r2;
red.global.add.f32 [%rd1], %f2;
red.global.add.f64 [%rd1], %d2;
red.global.add.noftz.{f16x2|bf16x2} [%rd1], %r2;
red.relaxed.gpu.global.add.v2.f32 [%rd1], <%f2, %f3>;
red.global.{add|min|max}.noftz.v8.{f16|bf16} [%rd1], <%h0, %h1, %h2, %h3, %h4, %h5, %h6, %h7>;
";

const CACHE: &str = "
prefetch{|.global|.local}.{L1|L2} [%rd0];
prefetch.global.L2::{evict_last|evict_normal} [%rd0+128];
prefetchu.L1 [%rd0];
applypriority{|.global}.L2::evict_normal [%rd0], 128;
discard{|.global}.L2 [%rd0], 128;
createpolicy.fractional.L2::{evict_last|evict_normal|evict_first|evict_unchanged}.b64 %rd0{|, 1.0|, %f0};
createpolicy.fractional.L2::evict_last.L2::{evict_first|evict_unchanged}.b64 %rd0, 0f3F000000;
createpolicy.range{|.global}.L2::evict_last{|.L2::evict_first}.b64 %rd0, [%rd1], {%r0|65536}, %r1;
createpolicy.cvt.L2.b64 %rd0, %rd1;
";

const CONTROL: &str = "
{@%p0|@!%p0|} bra{|.uni} L1;
@%p0 brx.idx{|.uni} %r0, targets;
call{|.uni} (r0), fun, (a0);
call (_), fun, (a0);
call (r0), %rd0, (a0), {proto|callees};
call (%r0), regfun, (%r1, {%f1|1.5});
call{|.uni} plain;
{@%p0|} ret{|.uni};
{@!%p1|} exit;
{@%p0|} trap;
brkpt;
< bra inner; inner: bra L2; >
";

const SYNCHRONISATION: &str = "
{bar|bar.cta|barrier|barrier.cta}.sync {0|%r0}{|, 64|, %r1};
{bar|bar.cta|barrier|barrier.cta}.arrive {0|%r0}, {64|%r1};
{bar|bar.cta|barrier|barrier.cta}.red.popc.u32 %r5, 1{|, 64|, %r1}, {%p0|!%p0};
{bar|bar.cta|barrier|barrier.cta}.red.{and|or}.pred %p1, 1{|, 64}, {%p0|!%p0};
barrier{|.cta}.sync.aligned 0{|, 64};
barrier{|.cta}.arrive.aligned 0, 64;
barrier{|.cta}.red.popc.aligned.u32 %r5, 1, %p0;
barrier{|.cta}.red.and.aligned.pred %p1, 1, %p0;
bar.warp.sync {%r0|0xFFFFFFFF|-1};
membar.{cta|gl|sys};
fence{|.sc|.acq_rel|.acquire|.release}.{cta|cluster|gpu|sys};
{fence|membar}.proxy.alias;
fence.mbarrier_init.release.cluster;
fence.proxy.async{|.global|.shared::cta|.shared::cluster};
griddepcontrol.{launch_dependents|wait};
mbarrier.init{|.shared|.shared::cta}.b64 [%rd0], {32|%r1};
mbarrier.inval{|.shared}.b64 [%rd0];
mbarrier.{arrive|arrive_drop}{|.release.cta|.relaxed.cluster}{|.shared}.b64 {%rd1|_}, [%rd0]{|, 2|, %r1};
mbarrier.{arrive|arrive_drop}.noComplete{|.release.cta}{|.shared}.b64 %rd1, [%rd0], {2|%r1};
mbarrier.test_wait{|.acquire.cta|.relaxed.cta}{|.shared}.b64 %p0, [%rd0], %rd1;
mbarrier.test_wait.parity{|.acquire.cluster}{|.shared}.b64 %p0, [%rd0], {1|%r1};
mbarrier.try_wait{|.acquire.cta}{|.shared}.b64 %p0, [%rd0], %rd1{|, 100|, %r1};
mbarrier.try_wait.parity{|.acquire.cta}{|.shared}.b64 %p0, [%rd0], 0{|, 100};
mbarrier.pending_count.b64 %r0, %rd1;
cp.async.mbarrier.arrive{|.noinc}{|.shared}.b64 [%rd0];
";

const CLUSTERS: &str = "
barrier.cluster.arrive{|.release|.relaxed}{|.aligned};
{|@%p0} barrier.cluster.wait{|.acquire}{|.aligned};
mapa{|.shared::cluster}.u64 %rd0, {%rd1|sv}, {%r0|1};
mapa{|.shared::cluster}.u32 %r0, {%r1|sv}, {%r2|1};
getctarank{|.shared::cluster}.u64 %r0, %rd1;
getctarank{|.shared::cluster}.u32 %r0, {%r1|sv};
st.async{|.weak}{|.shared::cluster}.mbarrier::complete_tx::bytes.{b32|u32|s32} [%r0+4], %r1, [%rd1];
st.async.shared::cluster.mbarrier::complete_tx::bytes.{b64|u64|s64} [%rd0], %rd1, [%rd2+8];
st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.{b32|u32} [%r0], <%r1, 5>, [%r2];
st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [sv], <%f1, %f2, %f3, %f4>, [sv+32];
st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.f64 [%rd0], <%d1, %d2>, [%rd2];
red.async.relaxed.cluster{|.shared::cluster}.mbarrier::complete_tx::bytes.{add|min|max}.{u32|s32} [%rd0], %r1, [%rd1];
red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.{inc.u32|dec.u32|and.b32|or.b32|xor.b32} [%r0], 7, [%r1];
red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u64 [%rd0], %rd1, [%rd2];
setmaxnreg.{inc|dec}.sync.aligned.u32 {24|232};
";

const WARP: &str = "
vote.sync.{all|any|uni}.pred %p0, {%p1|!%p1}, {%r0|-1};
vote.sync.ballot.b32 %r0, {%p1|!%p1}, {%r0|0xFFFFFFFF};
match.any.sync.b32 %r0, %r1, %r2;
match.any.sync.b64 %r0, %rd1, {%r2|-1};
match.all.sync.b32 %r0, %r1, %r2;
match.all.sync.b32 {%r0|_}|%p0, %r1, %r2;
match.all.sync.b64 %r0, %rd1, %r2;
activemask.b32 %r0;
redux.sync.{add|min|max}.{u32|s32} %r0, %r1, %r2;
redux.sync.{and|or|xor}.b32 %r0, %r1, -1;
redux.sync.{min|max}{|.abs}{|.NaN}.f32 %f0, %f1, %r2;
shfl.sync.{up|down|bfly|idx}.b32 %r0|{%p0|_}, %r1, 1, 31, -1;
shfl.sync.{up|down|bfly|idx}.b32 %r0, {%r1|5}, {%r2|1}, {%r3|31}, {%r4|-1};
shfl.sync.{up|down|bfly|idx}.b32 %f0, %f1, 1, 31, -1;
elect.sync {%r0|_}|%p0, {%r1|-1};
";

const TEXTURES: &str = "
tex.1d.v4.{f32|u32|s32}.s32 vec, [%rd0, <%r9>];
tex.1d.v4.{u32|s32}.f32 <%r0, %r1, %r2, %r3>, [%rd0, <%f9>];
tex.2d.v4.f32.f32 <%f0, %f1, %f2, %f3>, [%rd0{|, %rd1}, <%f4, %f5>]{|, <%r1, %r2>}{|, %f6};
tex.3d.v2.f16x2.f32 <%r0, %r1>, [%rd0, <%f4, %f5, %f6, %f7>];
tex.a1d.v4.f32.f32 <%f0, %f1, %f2, %f3>, [%rd0, <%r4, %f5>];
tex.a2d.v4.f32.f32 <%f0, %f1, %f2, %f3>, [%rd0, <%r4, %f5, %f6, %f7>];
tex.{cube|base.cube}.v4.f32.f32 <%f0, %f1, %f2, %f3>, [%rd0, <%f4, %f5, %f6, %f7>];
tex.acube.v4.f32.f32 <%f0, %f1, %f2, %f3>|%p0, [%rd0, <%r4, %f5, %f6, %f7>];
tex.base.2d.v4.f32.f32 <%f0, %f1, %f2, %f3>, [%rd0, <%f4, %f5>];
tex.level.2d.v4.f32.f32 <%f0, %f1, %f2, %f3>, [%rd0, <%f4, %f5>], {%f6|0f00000000};
tex.{2dms|a2dms|base.2dms}.v4.f32.s32 <%f0, %f1, %f2, %f3>, [%rd0, <%r4, %r5, %r6, %r7>];
tex.grad.1d.v4.f32.f32 <%f0, %f1, %f2, %f3>, [%rd0, <%f4>], <%f5>, <%f6>;
tex.grad.2d.v4.f32.f32 <%f0, %f1, %f2, %f3>, [%rd0, <%f4, %f5>], <%f6, %f7>, <%f8, %f9>;
tld4.{r|g|b|a}.2d.v4.f32.f32 <%f0, %f1, %f2, %f3>, [%rd0, <%f4, %f5>];
tld4.r.2d.v4.f32.f32 <%f0, %f1, %f2, %f3>|%p0, [%rd0, <%f4, %f5>], <%r1, -2>, %f6;
tld4.a.cube.v4.f32.f32 <%f0, %f1, %f2, %f3>, [%rd0, <%f4, %f5, %f6, %f7>];
tld4.g.acube.v4.u32.f32 <%r0, %r1, %r2, %r3>, [%rd0, <%r4, %f5, %f6, %f7>];
tld4.r.a2d.v4.s32.f32 <%r0, %r1, %r2, %r3>, [%rd0, <%r4, %f5, %f6, %f7>];
suld.b.1d{|.ca|.cg|.cs|.cv}.b8.{trap|clamp|zero} %h0, [%rd0, <%r1>];
suld.b.2d.v2.b32.trap <%r0, %r1>, [%rd0, <%r2, %r3>];
suld.b.3d.v4.b32.clamp vec, [%rd0, <%r2, %r3, %r4, %r5>];
suld.b.a2d.b64.zero %rd1, [%rd0, <%r2, %r3, %r4, %r5>];
sust.b.1d{|.wb|.cg|.cs|.wt}.b8.{trap|clamp|zero} [%rd0, <%r1>], %h0;
sust.b.a1d.v4.b16.trap [%rd0, <%r1, %r2>], <%h0, %h1, %h2, %h3>;
sust.p.2d.v4.b32.trap [%rd0, <%r1, %r2>], vec;
txq.{width|height|depth|channel_data_type|channel_order|array_size|num_mipmap_levels|num_samples|normalized_coords|filter_mode|addr_mode_0}.b32 %r0, [%rd0];
txq.level.{width|height|depth}.b32 %r0, [%rd0], {%r1|2};
suq.{width|height|depth|array_size|memory_layout|channel_order}.b32 %r0, [%rd0];
";

const VIDEO: &str = "
{vadd|vsub|vabsdiff|vmin|vmax}.{u32|s32}.{u32|s32}.{u32|s32}{|.sat} %r0, %r1{|.b0|.b3|.h0|.h1}, %r2;
{vadd|vsub|vabsdiff|vmin|vmax}.s32.u32.s32{|.sat}{.add|.min|.max} %r0, %r1.b2, {%r2.h1|7}, %r3;
{vadd|vsub|vabsdiff|vmin|vmax}.s32.u32.s32{|.sat} %r0.{b0|b1|b2|b3|h0|h1}, %r1, %r2, %r3;
{vshl|vshr}.{u32|s32}.u32.u32{|.sat}.{clamp|wrap} %r0, %r1.b1, %r2.h0;
{vshl|vshr}.u32.u32.u32.wrap{.add|.min} %r0, %r1, %r2, %r3;
vset.{u32|s32}.{u32|s32}.{eq|ne|lt|le|gt|ge} %r0, %r1, %r2;
vset.u32.u32.lt{.add|.min|.max} %r0, %r1.h0, %r2, %r3;
vset.u32.s32.ge %r0.h1, %r1, %r2, %r3;
vmad.{u32|s32}.{u32|s32}.{u32|s32}{|.sat}{|.shr7|.shr15} %r0, %r1.b0, %r2.h1, %r3;
vmad.s32.s32.s32 %r0, {%r1|-%r1}, {%r2|-%r2}, %r3;
vmad.s32.s32.s32 %r0, %r1, %r2, -%r3;
vmad.s32.s32.s32.po{|.sat}{|.shr7} %r0, %r1, %r2, %r3;
{vadd2|vsub2|vavrg2|vabsdiff2|vmin2|vmax2}.{u32|s32}.{u32|s32}.{u32|s32}{|.sat|.add} %r0, %r1, %r2, %r3;
vadd2.u32.u32.u32 %r0{.h0|.h1|.h10}, %r1{.h10|.h32|.h03}, %r2{|.h11}, %r3;
{vadd4|vsub4|vavrg4|vabsdiff4|vmin4|vmax4}.{u32|s32}.{u32|s32}.{u32|s32}{|.sat|.add} %r0, %r1, %r2, %r3;
vadd4.u32.u32.u32 %r0{.b0|.b20|.b3210}, %r1{.b3210|.b7654|.b0040}, %r2, %r3;
{vset2|vset4}.{u32|s32}.{u32|s32}.{eq|ne|lt|le|gt|ge}{|.add} %r0, %r1, %r2, %r3;
";

const MISCELLANEOUS: &str = "
nanosleep.u32 {%r0|100};
pmevent {0|15};
pmevent.mask 0xffff;
";

const BULK: &str = "
cp.async.bulk.{shared::cluster|shared::cta}.global.mbarrier::complete_tx::bytes [sv], [{gv|%rd0+16}], {16|%r0}, [sv+32];
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [sv], [gv], 16, [%r1], %rd3;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [sv], [gv], %r0, [%r1], %h0;
cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r0], [sv], 16, [%r2];
cp.async.bulk.global.shared::cta.bulk_group [%rd0], [sv], %r0;
cp.reduce.async.bulk.global.shared::cta.bulk_group.{add.u32|add.f32|add.f64|min.s64|and.b64|inc.u32|add.noftz.f16} [%rd0], [sv], %r0;
cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.{add.u64|max.s32|xor.b32} [%r0], [sv], 16, [%r2];
cp.async.bulk.commit_group;
cp.async.bulk.wait_group{|.read} 3;
cp.async.bulk.prefetch.L2.global [gv], 16;
cp.async.bulk.tensor.1d.{shared::cluster|shared::cta}.global{|.tile}.mbarrier::complete_tx::bytes [sv], [{%rd0|gv}, <%r1>], [sv+32];
cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%r0], [%rd0, <%r1, 7>], [%r2], %h0;
cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint [%r0], [%rd0, <%r1, %r2, %r3, %r4, -1>], [%r2], %rd3;
cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%rd0, <%r1, %r2, %r3>], [sv];
cp.async.bulk.tensor.3d.global.shared::cta.bulk_group.L2::cache_hint [%rd0, <%r1, %r2, %r3>], [sv], %rd3;
cp.reduce.async.bulk.tensor.4d.global.shared::cta.{add|min|max|inc|dec|and|or|xor}.tile.bulk_group [%rd0, <%r1, %r2, %r3, %r4>], [%r5];
cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%rd0, <%r1, %r2>];
cp.async.bulk.tensor.3d.{shared::cluster|shared::cta}.global.im2col.mbarrier::complete_tx::bytes [sv], [%rd0, <%r1, %r2, %r3>], [sv+32], <{%h0|2}>;
cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [%r0], [%rd0, <%r1, %r2, %r3, %r4, -1>], [%r2], <%h0, %h1, %h2>, %h3, %rd3;
cp.{async.bulk.tensor.4d.global.shared::cta|reduce.async.bulk.tensor.4d.global.shared::cta.add}.im2col_no_offs.bulk_group [%rd0, <%r1, %r2, %r3, %r4>], [sv];
cp.async.bulk.prefetch.tensor.4d.L2.global.im2col [%rd0, <%r1, %r2, %r3, %r4>], <%h0, %h1>;
prefetch{|.param|.const}.tensormap [%rd0];
mbarrier.arrive.expect_tx{|.release.cta|.relaxed.cluster}{|.shared|.shared::cta}.b64 {%rd0|_}, [sv], {16|%r0};
mbarrier.arrive{|_drop}.expect_tx.shared::cluster.b64 _, [sv], %r1;
mbarrier.expect_tx.relaxed.cta.shared.b64 [sv], 16;
mbarrier.complete_tx.relaxed.{cta|cluster}.{shared|shared::cluster}.b64 [%r0], %r1;
";

/// The predefined registers of the manual's chapter on them.
pub const SPECIAL_REGISTERS: &str = "
%tid.x %tid.y %tid.z %ntid.x %ntid.y %ntid.z %ctaid.x %ctaid.y %ctaid.z %nctaid.x %nctaid.y
%nctaid.z %laneid %warpid %nwarpid %smid %nsmid %gridid %is_explicit_cluster %clusterid.x
%nclusterid.y %cluster_ctaid.z %cluster_nctaid.x %cluster_ctarank %cluster_nctarank %lanemask_eq
%lanemask_le %lanemask_lt %lanemask_ge %lanemask_gt %clock %clock_hi %clock64 %pm0 %pm7 %pm0_64
%pm7_64 %envreg0 %envreg31 %globaltimer %globaltimer_lo %globaltimer_hi
%reserved_smem_offset_begin %reserved_smem_offset_end %reserved_smem_offset_cap
%reserved_smem_offset_0 %reserved_smem_offset_1 %total_smem_size %aggr_smem_size
%dynamic_smem_size %current_graph_exec
";
