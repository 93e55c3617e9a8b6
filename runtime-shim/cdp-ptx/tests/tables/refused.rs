//! The tables of `forms.rs`: what ptxas refuses, and so does the reader.

/// Forms that the manual excludes, and instructions outside what is supported.
pub const REFUSED: &[(&str, &str)] = &[
    (
        "types",
        "
add.{b32|u8|pred|tf32} %r0, %r1, %r2;
add.sat.{u32|s64} %r0, %r1, %r2;
add.ftz.f64 %d0, %d1, %d2;
add.rn.s32 %r0, %r1, %r2;
mul.s32 %r0, %r1, %r2;
mul.wide.s64 %rd0, %rd1, %rd2;
mad.f32 %f0, %f1, %f2, %f3;
fma.f32 %f0, %f1, %f2, %f3;
fma.rz.f16 %h0, %h1, %h2, %h3;
div.f32 %f0, %f1, %f2;
div.approx.f64 %d0, %d1, %d2;
sin.f32 %f0, %f1;
sqrt.approx.f64 %d0, %d1;
and.u32 %r0, %r1, %r2;
shl.s32 %r0, %r1, %r2;
popc.u32 %r0, %r1;
setp.lt.b32 %p0, %r1, %r2;
setp.lo.s32 %p0, %r1, %r2;
setp.ltu.s32 %p0, %r1, %r2;
setp.lt.f16 %p0|%p1, %h1, %h2;
selp.f16 %h0, %h1, %h2, %p0;
",
    ),
    (
        "modifiers",
        "
add.u32.foo %r0, %r1, %r2;
add.u32.u32 %r0, %r1, %r2;
add %r0, %r1, %r2;
ld.global.nc.foo.u32 %r0, [%rd1];
ld.shared.nc.u32 %r0, [%rd1];
ld.relaxed.u32 %r0, [%rd1];
ld.mmio.u32 %r0, [%rd1];
ld.global.cg.L1::evict_last.u32 %r0, [%rd1];
ld.global.v3.u32 <%r0, %r1, %r2>, [%rd1];
ld.global.v4.b128 <%q0, %q1, %q2, %q3>, [%rd1];
st.const.u32 [cv], %r0;
st.local.release.gpu.u32 [lv], %r0;
atom.local.add.u32 %r0, [%rd1], %r2;
atom.add.f16 %h0, [%rd1], %h2;
atom.global.cas.u32 %r0, [%rd1], %r2, %r3;
red.global.exch.b32 [%rd1], %r2;
red.acquire.global.add.u32 [%rd1], %r2;
cvt.s32.f32 %r0, %f1;
cvt.f32.s32 %f0, %r1;
cvt.rn.f64.f32 %d0, %f1;
cvt.rn.s32.s64 %r0, %rd1;
cvt.sat.s64.s32 %rd0, %r1;
cvt.rn.e4m3x2.f32 %h0, %f1, %f2;
cvt.rz.satfinite.e5m2x2.f32 %h0, %f1, %f2;
cvt.rn.satfinite.f16x2.e4m3x2 %r0, %h1;
cvt.rn.satfinite.e4m3x2.bf16x2 %h0, %r1;
cvt.rn.ue8m0x2.f32 %h0, %f1, %f2;
cvt.rz.relu.ue8m0x2.f32 %h0, %f1, %f2;
cvt.rn.satfinite.e2m1x2.f32 %h0, %f1, %f2;
vote.sync.ballot.pred %p0, %p1, -1;
shfl.sync.up.b64 %rd0, %rd1, 1, 0, -1;
redux.sync.add.f32 %f0, %f1, -1;
bar.arrive 0;
bar.aligned.sync 0;
mbarrier.expect_tx.acquire.cta.shared.b64 [sv], 16;
createpolicy.fractional.global.L2::evict_last.b64 %rd0;
membar.gpu;
fence.gl;
",
    ),
    (
        "operands",
        "
add.u32 %r0, %r1;
add.u32 %r0, %r1, %r2, %r3;
add.u32 %r0, %rd1, %r2;
add.u32 %r0, %f1, %r2;
add.u32 %h0, %h1, %h2;
add.f32 %f0, %r1, 1;
add.f32 %f0, %f1, 1;
add.u32 5, %r1, %r2;
add.u32 %r0, %nosuch, %r2;
add.u32 %r99, %r1, %r2;
add.u32 %r0, %r1, 99999999999999999999;
mov.u32 %tid.x, %r0;
mov.f32 %f0, %tid.x;
mov.u64 %rd0, %tid.x;
mov.u32 %r0, %clock64;
mov.u32 %r0, %tid;
add.u32 %r0, %tid.x, 1;
st.shared.u32 [sv], %tid.x;
cvt.rn.f32.u32 %f0, %tid.x;
cvt.rzi.s8.bf16 %h0, %h1;
cvt.rn.bf16.u8 %h0, %h1;
setp.eq.u32 %p0, %tid.x, 0;
mov.v2.u32 <%r0, %r1>, <%r2, %r3, %r4>;
mov.v4.u32 <%r0, %r1>, %tid;
vote.all.pred %p0, %p1;
vote.ballot.b32 %r0, %p1;
shfl.up.b32 %r0, %r1, %r2, 0x1f;
tex.grad.2d.v4.f32.f32 <%f0, %f1, %f2, %f3>, [%rd0, <%f4, %f5>], <%f6, %f7, %f8, %f9>, <%f6, %f7, %f8, %f9>;
tex.grad.1d.v4.f32.f32 <%f0, %f1, %f2, %f3>, [%rd0, <%f4>], %f6, %f7;
mov.u32 %r0, nosuch;
mov.b64 %rd0, <%r0, %r1, %r2>;
mov.u16 %h0, gv;
mov.u32 %r0, (1+2;
mov.u32 %r0, 1/0;
ld.global.u32 %r0, %rd1;
ld.global.u32 %r0, gv;
ld.global.u32 %r0, [%h1];
ld.global.u32 %r0, [cv];
ld.global.u32 %h0, [gv];
ld.global.u32 %r0, [fun];
cvta.shared.u64 %rd0, gv;
ld.global.u32 %r0, [gv[3]];
vmad.s32.s32.s32 %r0, -%r1, %r2, -%r3;
tex.2dms.v4.f32.f32 <%f0, %f1, %f2, %f3>, [%rd0, <%f4, %f5, %f6, %f7>];
ld.global.v2.u32 %r0, [gv];
lop3.b32 %r0, %r1, %r2, %r3, 256;
lop3.b32 %r0|%p0, %r1, %r2, %r3, 128;
cvt.pack.sat.u8.s32.b32 %r0, %f1, %r2, %r3;
cp.async.ca.shared.global [sv], [gv], 5;
cp.async.cg.shared.global [sv], [gv], 4;
call nosuch;
call fun;
call (r0), fun, (lv);
call (r0), fun, (a0, a0);
call (r0), %rd0, (a0);
call (r0), %rd0, (a0), L1;
bra nosuch;
brx.idx %r0, proto;
@%r0 bra L1;
vadd4.u32.u32.u32 %r0.b02, %r1, %r2, %r3;
vadd4.u32.u32.u32 %r0, %r1.b8888, %r2, %r3;
tex.2d.v4.f32.f32 <%f0, %f1, %f2, %f3>, [%rd0, <%f4>];
pmevent 16;
mma.sync.aligned.m16n8k16.col.row.f32.f16.f16.f32 <%f0, %f1, %f2, %f3>, <%r2, %r3, %r4, %r5>, <%r6, %r7>, <%f5, %f6, %f7, %f8>;
mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 <%f0, %f1, %f2, %f3>, <%r2, %r3, %r4, %r5>, <%r6, %r7>, <%f5, %f6, %f7, %f8>;
mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 <%f0, %f1, %f2, %f3>, <%r2, %r3, %r4>, <%r6, %r7>, <%f5, %f6, %f7, %f8>;
mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32 <%f0, %f1, %f2, %f3>, <%r2, %r3, %r4, %r5>, <%r6, %r7>, <%f5, %f6, %f7, %f8>;
mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32 <%r0, %r1, %r2, %r3>, <%r4, %r5>, <%r6>, <%r7, %r8, %r9, %r10>;
mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 <%f0, %f1, %f2, %f3>, <%r0, %r1>, <%r2, %r3>, <%f4, %f5, %f6, %f7>, %r4, 4;
mma.sync.aligned.m16n8k16.row.col{.rn.f32.f16.f16.f32|.f32.f16.f16.f32.rz} <%f0, %f1, %f2, %f3>, <%r2, %r3, %r4, %r5>, <%r6, %r7>, <%f5, %f6, %f7, %f8>;
mma.sync.aligned.m8n8k4.row.col{.rn.f64.f64.f64.f64.rn|.rna.f64.f64.f64.f64|.satfinite.rn.f64.f64.f64.f64} <%d0, %d1>, <%d2>, <%d3>, <%d4, %d5>;
wmma.mma.sync.aligned.row.col.m8n32k16.s32.s8.s8.s32.rn <%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7>, %r8, <%r9, %r10, %r11, %r12>, <%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7>;
wmma.load.a.sync.aligned.row.m16n16k8.global.f16 <%r0, %r1, %r2, %r3>, [%rd0];
wmma.load.c.sync.aligned.row.m16n16k16.const.f16 <%r0, %r1, %r2, %r3>, [cv];
ldmatrix.sync.aligned.m8n8.x2.shared.b16 <%r0>, [%r4];
ldmatrix.sync.aligned.m8n8.x1.global.b16 <%r0>, [%rd0];
movmatrix.sync.aligned.m8n8.b16 %r0, %r1;
cp.async.bulk.global.global.bulk_group [%rd0], [gv], 16;
cp.async.bulk.shared::cluster.global.bulk_group [sv], [gv], 16;
cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f16 [%rd0], [sv], %r0;
cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [sv], [%rd0, <%r1>], [sv];
cp.async.bulk.tensor.1d.shared::cta.global.mbarrier::complete_tx::bytes.multicast::cluster [sv], [%rd0, <%r1>], [sv], %h0;
cp.async.bulk.tensor.1d.global.shared::cta.mbarrier::complete_tx::bytes [%rd0, <%r1>], [sv], [sv];
cp.reduce.async.bulk.tensor.1d.global.shared::cta.exch.bulk_group [%rd0, <%r1>], [sv];
mbarrier.expect_tx.shared.b64 [sv];
mbarrier.try_wait.shared::cluster.b64 %p0, [sv], %rd0;
fence.mbarrier_init.acquire.cluster;
barrier.cluster.arrive.acquire;
barrier.cluster.wait.release;
mapa.shared.u32 %r0, %r1, 0;
getctarank.global.u64 %r0, %rd1;
st.async.shared::cluster.mbarrier::complete_tx::bytes.v8.b32 [%r0], <%r1, %r1, %r1, %r1, %r1, %r1, %r1, %r1>, [%r2];
st.async.shared::cluster.u32 [%r0], %r1, [%r2];
red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.exch.b32 [%r0], 7, [%r1];
setmaxnreg.inc.sync.aligned.u32 20;
wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16 <%f0, %f1, %f2, %f3>, %rd0, %rd1, %p0, 1, 1, 0, 0;
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.bf16 <%f0, %f1, %f2, %f3>, %rd0, %rd1, %p0, 1, 1, 0, 0;
wgmma.mma_async.sync.aligned.m64n8k16.f16.bf16.bf16 <%r0, %r1>, %rd0, %rd1, %p0, 1, 1, 0, 0;
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 <%f0, %f1>, %rd0, %rd1, %p0, 1, 1, 0, 0;
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 <%f0, %f1, %f2, %f3>, %rd0, %rd1, %p0, 1, 2, 0, 0;
wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 <%f0, %f1, %f2, %f3>, %rd0, %rd1, %p0, 1, 1, 0, 0;
wgmma.mma_async.sp.sync.aligned.m64n8k16.f32.f16.f16 <%f0, %f1, %f2, %f3>, %rd0, %rd1, %r0, 0, %p0, 1, 1, 0, 0;
wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 <%f0, %f1, %f2, %f3>, %rd0, %rd1, %r0, 2, %p0, 1, 1, 0, 0;
wgmma.mma_async.sp.sync.aligned.m64n8k64.f32.e4m3.e4m3 <%f0, %f1, %f2, %f3>, %rd0, %rd1, %r0, 1, %p0, 1, 1;
cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [sv], [%rd0, <%r1, %r2, %r3, %r4>], [sv]{|, <%h0>};
cp.async.bulk.tensor.2d.global.shared::cta.im2col_no_offs.bulk_group [%rd0, <%r1, %r2>], [sv];
multimem.ld_reduce.global.{add.b32|and.u32|inc.u32|add.s64|min.f32|add.f16|min.b64} %r1, [%rd0];
multimem.ld_reduce.{release.sys|acquire|gpu}.global.add.u32 %r1, [%rd0];
multimem.ld_reduce.global.{add.v2.u32|add.v8.f16x2|min.acc::f32.v2.f16x2} <%r1, %r2>, [%rd0];
multimem.st.{acquire.sys|shared}.global.b32 [%rd0], %r1;
multimem.red.{weak|acquire.sys}.global.add.u32 [%rd0], %r1;
multimem.red.global.min.f16x2 [%rd0], %r1;
",
    ),
    (
        "unsupported",
        "
mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e3m2.e2m3.f32 <%f0, %f1, %f2, %f3>, <%r2, %r3, %r4, %r5>, <%r6, %r7>, <%f5, %f6, %f7, %f8>;
ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 <%r0, %r1>, [%r4];
tcgen05.mma.cta_group::1.kind::f16 [%r0], %rd0, %rd1, %r1, %p0;
cp.async.bulk.tensor.3d.shared::cluster.global.im2col::w.mbarrier::complete_tx::bytes [sv], [%rd0, <%r1, %r2, %r3>], [sv], <%h0, %h1>;
multimem.ld_reduce.add.acc::f16.e4m3x4 %r0, [%rd0];
st.async.mmio.release.sys.global.u32 [%rd0], %r1;
cvt.rs.f16x2.f32 %r0, %f1, %f2, %r3;
cvt.rs.satfinite.e4m3x4.f32 %r0, <%f1, %f2, %f3, %f4>, %r5;
nosuch.u32 %r0;
",
    ),
];
