//! Modules and host calls: linking of several texts, variables, streams and events of the host,
//! memory, textures, and instructions that compilers emit rarely.

mod common;

use cdp_emulator::{
    AddressMode, ChannelKind, Completion, Error, Launch, ReportKind, StreamId, TextureDescriptor,
};
use common::{Bench, HEADER, config, load, load_with};

fn text(body: &str) -> String {
    format!("{HEADER}{body}")
}

fn pointer(bench: &mut Bench, size: u64) -> u64 {
    bench.device.alloc(size).unwrap()
}

#[test]
fn several_texts_link() {
    let one = text(
        ".extern .func (.param .b32 r) add(.param .b32 a, .param .b32 b);
.extern .global .align 4 .u32 shared_total;
.weak .func (.param .b32 r) pick() { .reg .b32 %x; mov.u32 %x, 1; st.param.b32 [r], %x; ret; }
.visible .entry k()
{
    .reg .b32 %r<4>;
    .reg .b64 %rd;
    {
        .param .b32 a; .param .b32 b; .param .b32 r;
        st.param.b32 [a], 40;
        st.param.b32 [b], 2;
        call.uni (r), add, (a, b);
        ld.param.b32 %r1, [r];
    }
    {
        .param .b32 r;
        call.uni (r), pick, ();
        ld.param.b32 %r2, [r];
    }
    mad.lo.u32 %r1, %r2, 1000, %r1;
    mov.u64 %rd, shared_total;
    st.global.u32 [%rd], %r1;
    ret;
}",
    );
    let two = text(
        ".visible .global .align 4 .u32 shared_total = 5;
.visible .global .align 8 .u64 table[2] = { shared_total, generic(shared_total)+4 };
.visible .func (.param .b32 r) add(.param .b32 a, .param .b32 b)
{
    .reg .b32 %x, %y;
    ld.param.b32 %x, [a];
    ld.param.b32 %y, [b];
    add.u32 %x, %x, %y;
    st.param.b32 [r], %x;
    ret;
}
.visible .func (.param .b32 r) pick() { .reg .b32 %x; mov.u32 %x, 7; st.param.b32 [r], %x; ret; }",
    );
    let mut bench = load_with(&[("one.ptx", &one), ("two.ptx", &two)], config()).unwrap();
    let total = bench.device.variable(bench.module, "shared_total").unwrap();
    assert_eq!((total.size_bytes, total.constant), (4, false));
    assert_eq!(bench.read_u32(total.address, 1), [5]);
    bench.run("k", 1, 1).unwrap();
    // The strong definition of `pick` wins.
    assert_eq!(bench.read_u32(total.address, 1), [7042]);
    let table = bench.device.variable(bench.module, "table").unwrap();
    let words = bench.read(table.address, 16);
    assert_eq!(u64::from_le_bytes(words[..8].try_into().unwrap()), total.address);
    assert_eq!(u64::from_le_bytes(words[8..].try_into().unwrap()), total.address + 4);
    let module = bench.module;
    bench.device.unload(module).unwrap();
    assert!(bench.device.pointer_info(total.address).is_none());
    assert!(matches!(bench.device.kernel(module, "k"), Err(Error::InvalidHandle { .. })));
}

#[test]
fn declarations_that_disagree_are_refused() {
    let one = text(
        ".extern .func f(.param .b64 a);\n.visible .entry k() { .param .b64 a; call f, (a); ret; }",
    );
    let two = text(".visible .func f(.param .b32 a) { ret; }");
    let result = load_with(&[("one.ptx", &one), ("two.ptx", &two)], config());
    assert!(matches!(result.err(), Some(Error::SymbolMismatch { .. })));
    let wrong = text(
        ".extern .func (.param .b32 r) cudaGetLastError(.param .b32 x);\n.visible .entry k() { ret; }",
    );
    assert!(matches!(load(&wrong).err(), Some(Error::SymbolMismatch { .. })));
}

const COPY: &str = "
.visible .entry add_one(.param .u64 p)
{
    .reg .b64 %p;
    .reg .b32 %v;
    ld.param.u64 %p, [p];
    ld.global.u32 %v, [%p];
    add.u32 %v, %v, 1;
    st.global.u32 [%p], %v;
    ret;
}";

#[test]
fn host_streams_and_events() {
    let mut bench = load(&text(COPY)).unwrap();
    let cell = pointer(&mut bench, 4);
    let (a, b) = (bench.device.create_stream(true), bench.device.create_stream(true));
    let (start, end) = (bench.device.create_event(), bench.device.create_event());
    let kernel = bench.device.kernel(bench.module, "add_one").unwrap();
    let launch = |bench: &mut Bench, stream| {
        let params = cell.to_le_bytes();
        bench
            .device
            .launch(&Launch {
                kernel,
                grid: [1; 3],
                block: [1; 3],
                shared_bytes: 0,
                stream,
                params: &params,
                cooperative: false,
                programmatic: false,
                cluster: None,
            })
            .unwrap();
    };
    bench.device.record_event(start, a).unwrap();
    launch(&mut bench, a);
    bench.device.record_event(end, a).unwrap();
    bench.device.wait_event(b, end).unwrap();
    launch(&mut bench, b);
    // Nothing runs before somebody waits.
    assert_eq!(bench.device.progress().grids_started, 0);
    assert!(matches!(bench.device.synchronize_stream(b).unwrap(), Completion::Done));
    assert_eq!(bench.read_u32(cell, 1), [2]);
    assert!(bench.device.elapsed_ms(start, end).unwrap() > 0.0);
    assert!(bench.device.elapsed_ms(end, start).unwrap() < 0.0);
    assert!(matches!(bench.device.query_event(end).unwrap(), Completion::Done));
    bench.device.destroy_stream(a).unwrap();
    assert_eq!(bench.device.destroy_stream(a), Err(Error::InvalidHandle { what: "stream" }));
    // The legacy stream waits for streams that block.
    let blocking = bench.device.create_stream(false);
    launch(&mut bench, blocking);
    launch(&mut bench, StreamId::NULL);
    assert!(matches!(bench.device.synchronize_stream(StreamId::NULL).unwrap(), Completion::Done));
    assert_eq!(bench.read_u32(cell, 1), [4]);
}

#[test]
fn host_memory_calls_check_their_ranges() {
    let mut bench = load(&text(COPY)).unwrap();
    let a = pointer(&mut bench, 100);
    bench.device.set_memory(a, 0, &[1, 2, 3, 4], 100, 1, StreamId::NULL).unwrap();
    let b = pointer(&mut bench, 100);
    bench.device.copy_in_device(b, 10, a, 20, 5, 5, StreamId::NULL).unwrap();
    assert_eq!(bench.read(b, 16), [1, 2, 3, 4, 1, 0, 0, 0, 0, 0, 1, 2, 3, 4, 1, 0]);
    let past = bench.device.copy_to_device(a + 90, &[0; 11], StreamId::NULL);
    assert!(matches!(past, Err(Error::InvalidAddress { .. })));
    assert!(matches!(
        bench.device.set_memory(a, 0, &[0], 101, 1, StreamId::NULL),
        Err(Error::InvalidAddress { .. })
    ));
    bench.device.free(a).unwrap();
    assert!(matches!(bench.device.free(a), Err(Error::InvalidAddress { .. })));
    assert!(bench.device.alloc(1 << 60).is_err());
    assert_eq!(bench.device.alloc(0), Ok(0));
    // Managed memory is reached through the same address by the host.
    let managed = bench.device.alloc_managed(4).unwrap();
    // SAFETY: the device owns four bytes there, and nothing runs.
    unsafe { *(managed as *mut u32) = 41 };
    bench.run_with("add_one", 1, 1, &managed.to_le_bytes()).unwrap();
    // SAFETY: as above.
    assert_eq!(unsafe { *(managed as *const u32) }, 42);
}

#[test]
fn launches_are_checked() {
    let mut bench = load(&text(COPY)).unwrap();
    let cell = pointer(&mut bench, 4).to_le_bytes();
    let kernel = bench.device.kernel(bench.module, "add_one").unwrap();
    let mut launch = |grid, block, shared_bytes, params: &[u8]| {
        bench.device.launch(&Launch {
            kernel,
            grid,
            block,
            shared_bytes,
            stream: StreamId::NULL,
            params,
            cooperative: false,
            programmatic: false,
            cluster: None,
        })
    };
    for (grid, block, shared) in [
        ([0, 1, 1], [1; 3], 0),
        ([1, 65_536, 1], [1; 3], 0),
        ([1; 3], [1025, 1, 1], 0),
        ([1; 3], [64, 32, 1], 0),
        ([1; 3], [1, 1, 65], 0),
        ([1; 3], [1; 3], 50_000),
    ] {
        let result = launch(grid, block, shared, &cell);
        assert!(
            matches!(result, Err(Error::InvalidConfiguration { .. })),
            "{grid:?} {block:?} {shared}"
        );
    }
    assert!(matches!(launch([1; 3], [1; 3], 0, &cell[..4]), Err(Error::InvalidValue { .. })));
    assert_eq!(launch([1; 3], [1024, 1, 1], 48 << 10, &cell), Ok(()));
    bench.device.set_max_dynamic_shared(kernel, 100_000).unwrap();
    let params = &cell;
    let large = Launch {
        kernel,
        grid: [1; 3],
        block: [1; 3],
        shared_bytes: 100_000,
        stream: StreamId::NULL,
        params,
        cooperative: false,
        programmatic: false,
        cluster: None,
    };
    assert_eq!(bench.device.launch(&large), Ok(()));
}

#[test]
fn textures_and_surfaces() {
    let body = "
.visible .entry k(.param .u64 tex, .param .u64 surf, .param .u64 out)
{
    .reg .b64 %t, %s, %o;
    .reg .f32 %f<8>;
    .reg .b32 %r<8>;
    ld.param.u64 %t, [tex];
    ld.param.u64 %s, [surf];
    ld.param.u64 %o, [out];
    mov.f32 %f5, 0f40000000;
    mov.f32 %f6, 0f3F800000;
    tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%t, {%f5, %f6}];
    st.global.f32 [%o], %f1;
    mov.u32 %r1, 3;
    mov.u32 %r2, 1;
    tex.2d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%t, {%r1, %r2}];
    st.global.f32 [%o+4], %f1;
    mov.u32 %r3, 8;
    mov.u32 %r4, 77;
    sust.b.2d.b32.trap [%s, {%r3, %r2}], %r4;
    suld.b.2d.b32.trap %r5, [%s, {%r3, %r2}];
    st.global.u32 [%o+8], %r5;
    txq.width.b32 %r6, [%t];
    st.global.u32 [%o+12], %r6;
    mov.u32 %r3, 16;
    suld.b.2d.b32.zero %r5, [%s, {%r3, %r2}];
    st.global.u32 [%o+16], %r5;
    ret;
}";
    let mut bench = load(&text(body)).unwrap();
    let texels = pointer(&mut bench, 32);
    let ramp: Vec<u8> = (0..8).flat_map(|i| (i as f32).to_le_bytes()).collect();
    bench.write(texels, &ramp);
    let descriptor = TextureDescriptor {
        layers: 0,
        address: texels,
        size: [4, 2, 0],
        pitch_bytes: 16,
        channels: 1,
        channel_bits: 32,
        channel_kind: ChannelKind::Float,
        address_mode: [AddressMode::Clamp; 3],
        linear: true,
        normalized_coords: false,
        normalized_float: false,
        srgb: false,
        border: [0; 4],
        mipmap: None,
    };
    let texture = bench.device.create_texture(descriptor.clone()).unwrap();
    let surface = bench.device.create_texture(descriptor.clone()).unwrap();
    let out = pointer(&mut bench, 64);
    let params: Vec<u8> = [texture, surface, out].iter().flat_map(|v| v.to_le_bytes()).collect();
    bench.run_with("k", 1, 1, &params).unwrap();
    let words = bench.read_u32(out, 5);
    // Between texels 1, 2 of row 0 and 5, 6 of row 1.
    assert_eq!(f32::from_bits(words[0]), 3.5);
    assert_eq!(f32::from_bits(words[1]), 7.0);
    assert_eq!(words[2..], [77, 4, 0]);
    assert_eq!(bench.read_u32(texels + 24, 1), [77]);
    bench.device.destroy_texture(texture).unwrap();
    let report = bench.run_with("k", 1, 1, &params).unwrap_err();
    assert_eq!(report.kind, ReportKind::InvalidTexture);
}

#[test]
fn named_barriers_between_producers_and_consumers() {
    let body = "
.visible .entry k(.param .u64 out)
{
    .reg .b64 %o;
    .reg .b32 %t, %v, %s;
    .reg .pred %p;
    .shared .align 4 .u32 box;
    ld.param.u64 %o, [out];
    mov.u32 %t, %tid.x;
    setp.lt.u32 %p, %t, 32;
    @%p bra CONSUMER;
    setp.ne.u32 %p, %t, 32;
    @%p bra SKIP;
    mov.u32 %v, 123;
    st.shared.u32 [box], %v;
SKIP:
    bar.arrive 1, 64;
    bra DONE;
CONSUMER:
    bar.sync 1, 64;
    ld.shared.u32 %v, [box];
    mad.wide.u32 %o, %t, 4, %o;
    st.global.u32 [%o], %v;
DONE:
    ret;
}";
    let mut bench = load(&text(body)).unwrap();
    let out = pointer(&mut bench, 128);
    bench.run_with("k", 1, 64, &out.to_le_bytes()).unwrap();
    assert_eq!(bench.read_u32(out, 32), [123; 32]);
}

#[test]
fn stack_memory_taken_at_run_time() {
    let body = "
.visible .entry k(.param .u64 out, .param .u64 n)
{
    .reg .b64 %o, %n, %s, %a, %g;
    .reg .b32 %v;
    ld.param.u64 %o, [out];
    ld.param.u64 %n, [n];
    stacksave.u64 %s;
    alloca.u64 %a, %n, 16;
    cvta.local.u64 %g, %a;
    mov.u32 %v, 5;
    st.u32 [%g+12], %v;
    ld.local.u32 %v, [%a+12];
    st.global.u32 [%o], %v;
    stackrestore.u64 %s;
    ret;
}";
    let body = format!(".version 8.5\n.target sm_90\n.address_size 64\n{body}");
    let mut bench = load(&body).unwrap();
    let out = pointer(&mut bench, 4);
    let params = |n: u64| [out, n].iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    bench.run_with("k", 1, 32, &params(64)).unwrap();
    assert_eq!(bench.read_u32(out, 1), [5]);
    assert_eq!(
        bench.run_with("k", 1, 1, &params(1 << 20)).unwrap_err().kind,
        ReportKind::StackOverflow
    );
}

#[test]
fn asynchronous_copies_and_predicated_exchanges() {
    let body = "
.visible .entry k(.param .u64 p)
{
    .reg .b64 %p, %q;
    .reg .b32 %t, %s, %v, %w;
    .reg .pred %half;
    .shared .align 16 .b8 buffer[512];
    ld.param.u64 %p, [p];
    mov.u32 %t, %tid.x;
    mul.wide.u32 %q, %t, 4;
    add.u64 %q, %p, %q;
    mov.u32 %s, buffer;
    mad.lo.u32 %s, %t, 4, %s;
    cp.async.ca.shared.global [%s], [%q], 4;
    cp.async.commit_group;
    cp.async.wait_group 0;
    bar.sync 0;
    ld.shared.u32 %v, [%s];
    mov.u32 %w, 0;
    setp.lt.u32 %half, %t, 16;
    @%half shfl.sync.idx.b32 %w, %v, 3, 31, 0xffff;
    add.u32 %w, %w, %v;
    st.global.u32 [%q], %w;
    ret;
}";
    let mut bench = load(&text(body)).unwrap();
    let cells = pointer(&mut bench, 128);
    let values: Vec<u8> = (0..32u32).flat_map(|i| (i * 10).to_le_bytes()).collect();
    bench.write(cells, &values);
    bench.run_with("k", 1, 32, &cells.to_le_bytes()).unwrap();
    let expected: Vec<u32> = (0..32).map(|i| if i < 16 { i * 10 + 30 } else { i * 10 }).collect();
    assert_eq!(bench.read_u32(cells, 32), expected);
}

#[test]
fn branch_tables_and_clocks() {
    let body = "
.visible .entry k(.param .u64 p)
{
    .reg .b64 %p, %a, %b;
    .reg .b32 %t, %v;
    ld.param.u64 %p, [p];
    mov.u64 %a, %clock64;
    mov.u32 %t, %tid.x;
    ts: .branchtargets L0, L1, L2;
    brx.idx %t, ts;
L0: mov.u32 %v, 10;
    bra END;
L1: mov.u32 %v, 20;
    bra END;
L2: mov.u32 %v, 30;
END:
    nanosleep.u32 1000;
    mov.u64 %b, %clock64;
    sub.u64 %b, %b, %a;
    cvt.u32.u64 %t, %b;
    setp_done:
    st.global.u32 [%p], %t;
    mov.u32 %t, %tid.x;
    mad.wide.u32 %p, %t, 4, %p;
    st.global.u32 [%p+4], %v;
    ret;
}";
    let mut bench = load(&text(body)).unwrap();
    let out = pointer(&mut bench, 32);
    bench.run_with("k", 1, 3, &out.to_le_bytes()).unwrap();
    let words = bench.read_u32(out, 4);
    assert!(words[0] >= 1000 && words[0] < 1100, "{}", words[0]);
    assert_eq!(words[1..], [10, 20, 30]);
    let mut bench = load(&text(body)).unwrap();
    let out = pointer(&mut bench, 64);
    let report = bench.run_with("k", 1, 4, &out.to_le_bytes()).unwrap_err();
    assert_eq!(report.kind, ReportKind::InvalidInstruction);
}

#[test]
fn values_of_128_bits() {
    let kernel = text(
        ".shared .align 16 .b8 here[32];
.visible .entry k(.param .u64 data)
{
    .reg .b64 %rd<6>;
    .reg .b128 %rq<6>;
    .reg .u32 %r<2>;
    ld.param.u64 %rd1, [data];
    ld.global.b128 %rq1, [%rd1];
    mov.b128 {%rd2, %rd3}, %rq1;
    mov.b128 %rq2, {%rd3, %rd2};
    st.global.b128 [%rd1+16], %rq2;
    atom.global.cas.b128 %rq3, [%rd1], %rq1, %rq2;
    atom.global.cas.b128 %rq3, [%rd1], %rq1, %rq1;
    st.global.b128 [%rd1+32], %rq3;
    mov.u32 %r1, here;
    st.shared.b128 [%r1], %rq1;
    atom.shared.exch.b128 %rq4, [%r1], %rq2;
    mov.b128 %rq5, %rq4;
    st.global.b128 [%rd1+48], %rq5;
    ld.shared.b128 %rq5, [%r1];
    st.global.b128 [%rd1+64], %rq5;
    ret;
}",
    );
    let mut bench = load(&kernel).unwrap();
    let data = pointer(&mut bench, 80);
    let (a, b) = (u128::from(7u64) << 64 | 5, u128::from(5u64) << 64 | 7);
    let _ = bench.device.copy_to_device(data, &a.to_le_bytes(), StreamId::NULL).unwrap();
    bench.run_with("k", 1, 1, &data.to_le_bytes()).unwrap();
    let mut bytes = [0; 80];
    let _ = bench.device.copy_from_device(&mut bytes, data, StreamId::NULL).unwrap();
    let values: Vec<u128> =
        bytes.chunks_exact(16).map(|c| u128::from_le_bytes(c.try_into().unwrap())).collect();
    // The first exchange takes place, the second does not and sees what the first has put there.
    assert_eq!(values, [b, b, b, a, b]);
    let report = bench.run_with("k", 1, 1, &(data + 8).to_le_bytes()).unwrap_err();
    assert_eq!(report.kind, ReportKind::Misaligned);
}

#[test]
fn aligned_device_memory() {
    let kernel = text(
        ".extern .func (.param .b64 r) __cuda_syscall_aligned_malloc(.param .b64 n, .param .b64 a);
.visible .entry k(.param .u64 data, .param .u64 align)
{
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [data];
    ld.param.u64 %rd2, [align];
    {
        .param .b64 n; .param .b64 a; .param .b64 r;
        st.param.b64 [n], 24;
        st.param.b64 [a], %rd2;
        call.uni (r), __cuda_syscall_aligned_malloc, (n, a);
        ld.param.b64 %rd3, [r];
    }
    st.global.u64 [%rd1], %rd3;
    ret;
}",
    );
    let mut bench = load(&kernel).unwrap();
    let data = pointer(&mut bench, 8);
    for align in [16u64, 64, 1024, 4096, 24] {
        let params = [data.to_le_bytes(), align.to_le_bytes()].concat();
        bench.run_with("k", 1, 1, &params).unwrap();
        let mut bytes = [0; 8];
        let _ = bench.device.copy_from_device(&mut bytes, data, StreamId::NULL).unwrap();
        let address = u64::from_le_bytes(bytes);
        assert_eq!(address != 0, align.is_power_of_two(), "{align}");
        assert!(address.is_multiple_of(align), "{address:#x} for {align}");
    }
}
