//! Clusters of blocks by the PTX manual's definitions: who is where, whose shared memory an address is in,
//! the barrier of the cluster; under several schedules, with and without the race checker. What an H200
//! makes of the same instructions is compared in `tests/cases/cuda/clusters.cu`.

mod common;

use cdp_emulator::{CheckAction, Checks, Config, Error, Launch, ReportKind, StreamId};
use common::{Bench, config, load_with};

const HEADER: &str = ".version 8.1\n.target sm_90\n.address_size 64\n";

/// Each block's thread 0 stores its rank; every block reads that of the next one, in both kinds of
/// addresses, adds to the counter of block 0, and writes what it saw.
const RING: &str = "
.visible .entry ring(.param .u64 data) .reqnctapercluster 2, 2, 1 {
  .reg .pred %p<3>; .reg .b32 %r<24>; .reg .b64 %rd<12>;
  .shared .align 8 .b32 mine; .shared .align 8 .b32 counter;
  mov.u32 %r1, %cluster_ctarank;
  mov.u32 %r2, %cluster_nctarank;
  mov.u32 %r3, %tid.x;
  setp.ne.u32 %p1, %r3, 0;
  @%p1 bra READY;
  add.u32 %r4, %r1, 100;
  st.shared.u32 [mine], %r4;
  st.shared.u32 [counter], 0;
READY:
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
  add.u32 %r5, %r1, 1;
  rem.u32 %r5, %r5, %r2;
  mapa.shared::cluster.u32 %r6, mine, %r5;
  ld.shared::cluster.u32 %r7, [%r6];
  cvta.shared.u64 %rd1, mine;
  mapa.u64 %rd2, %rd1, %r5;
  ld.u32 %r8, [%rd2];
  mapa.shared::cluster.u32 %r9, counter, 0;
  atom.relaxed.cluster.shared::cluster.add.u32 %r10, [%r9], 1;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  ld.shared::cluster.u32 %r11, [%r9];
  getctarank.shared::cluster.u32 %r12, %r6;
  getctarank.u64 %r13, %rd2;
  mov.u32 %r14, %clusterid.x;
  mov.u32 %r15, %clusterid.y;
  mov.u32 %r16, %cluster_ctaid.x;
  mov.u32 %r17, %cluster_ctaid.y;
  ld.param.u64 %rd3, [data];
  mov.u32 %r18, %ctaid.x;
  mov.u32 %r19, %ctaid.y;
  mov.u32 %r20, %nctaid.x;
  mad.lo.u32 %r18, %r19, %r20, %r18;
  mad.wide.u32 %rd3, %r18, 40, %rd3;
  @%p1 bra DONE;
  st.global.u32 [%rd3], %r1;
  st.global.u32 [%rd3+4], %r7;
  st.global.u32 [%rd3+8], %r8;
  st.global.u32 [%rd3+12], %r11;
  st.global.u32 [%rd3+16], %r12;
  st.global.u32 [%rd3+20], %r13;
  st.global.u32 [%rd3+24], %r14;
  st.global.u32 [%rd3+28], %r15;
  st.global.u32 [%rd3+32], %r16;
  st.global.u32 [%rd3+36], %r17;
DONE:
  barrier.cluster.arrive.relaxed;
  barrier.cluster.wait;
  ret;
}";

fn bench(kernels: &str, seed: Option<u64>, races: bool) -> Bench {
    // What was written depends on the schedule where there are races.
    let uninitialized_shared = if races { CheckAction::Off } else { CheckAction::Stop };
    let checks = Checks { races, uninitialized_shared, ..Checks::default() };
    let config = Config { schedule_seed: seed, checks, ..config() };
    load_with(&[("clusters.ptx", &format!("{HEADER}{kernels}"))], config).unwrap()
}

fn launch(
    bench: &mut Bench,
    kernel: &str,
    grid: [u32; 3],
    cluster: Option<[u32; 3]>,
    params: &[u8],
) -> Result<(), Error> {
    let kernel = bench.device.kernel(bench.module, kernel).unwrap();
    bench.device.launch(&Launch {
        kernel,
        grid,
        block: [64, 1, 1],
        shared_bytes: 0,
        stream: StreamId::NULL,
        params,
        cooperative: false,
        programmatic: false,
        cluster,
    })
}

#[test]
fn blocks_reach_each_other() {
    for seed in [None, Some(1), Some(2), Some(3)] {
        for races in [false, true] {
            let mut bench = bench(RING, seed, races);
            let data = bench.device.alloc(8 * 40).unwrap();
            launch(&mut bench, "ring", [4, 2, 1], None, &data.to_le_bytes()).unwrap();
            bench.finish().unwrap();
            assert!(bench.device.take_findings().is_empty());
            let found = bench.read_u32(data, 80);
            for (block, row) in found.chunks(10).enumerate() {
                let (x, y) = (block as u32 % 4, block as u32 / 4);
                let rank = x % 2 + 2 * (y % 2);
                let next = (rank + 1) % 4;
                let adds = 4 * 64;
                let wanted =
                    [rank, 100 + next, 100 + next, adds, next, next, x / 2, y / 2, x % 2, y % 2];
                assert_eq!(row, wanted, "block {block}, seed {seed:?}");
            }
        }
    }
}

#[test]
fn clusters_that_do_not_fit_are_refused() {
    let plain = ".visible .entry plain() { ret; }
        .visible .entry must() .explicitcluster { ret; }
        .visible .entry few() .maxclusterrank 2 { ret; }";
    let mut bench = bench(&format!("{RING}{plain}"), None, false);
    let zero = 0u64.to_le_bytes();
    for (kernel, grid, cluster, part) in [
        ("ring", [3, 2, 1], None, "no whole number of clusters"),
        ("ring", [4, 2, 1], Some([4, 1, 1]), "needs (2,2,1)"),
        ("plain", [16, 1, 1], Some([16, 1, 1]), "can have 8"),
        ("plain", [4, 1, 1], Some([0, 1, 1]), "no dimension may be 0"),
        ("must", [4, 1, 1], None, "must be launched in clusters"),
        ("few", [4, 1, 1], Some([4, 1, 1]), "can have 2"),
    ] {
        let params: &[u8] = if kernel == "ring" { &zero } else { &[] };
        match launch(&mut bench, kernel, grid, cluster, params) {
            Err(Error::InvalidCluster { message }) => {
                assert!(message.contains(part), "{message}");
            }
            other => panic!("{kernel} {grid:?} {cluster:?}: {other:?}"),
        }
    }
    let kernel = bench.device.kernel(bench.module, "plain").unwrap();
    bench.device.allow_large_clusters(kernel, true).unwrap();
    launch(&mut bench, "plain", [16, 1, 1], Some([16, 1, 1]), &[]).unwrap();
    bench.finish().unwrap();
}

/// A kernel of two blocks a cluster with this code.
fn pair(code: &str) -> String {
    format!(
        ".visible .entry k() .reqnctapercluster 2, 1, 1 {{
  .reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %rd<8>;
  .shared .align 16 .b32 v[8]; .shared .align 8 .b64 bar;
  mov.u32 %r1, %cluster_ctarank;
  xor.b32 %r2, %r1, 1;
  mov.u32 %r3, %tid.x;
  setp.eq.u32 %p1, %r1, 0;
  mapa.shared::cluster.u32 %r4, v, %r2;
  {code}
  ret;
}}"
    )
}

const MEET: &str = "barrier.cluster.arrive; barrier.cluster.wait;";

#[test]
fn misuse_is_reported() {
    use ReportKind as K;
    let ended = format!("{MEET} @!%p1 exit; bar.sync 0; st.shared::cluster.u32 [%r4], 1;");
    let other = "mapa.shared::cluster.u32 %r5, bar, %r1; mbarrier.init.shared.b64 [bar], 1; \
        st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r4], 1, [%r5];";
    for (code, kind, part) in [
        (ended.as_str(), K::ForeignAddress, "which has ended"),
        ("barrier.cluster.wait;", K::InvalidInstruction, "has not arrived"),
        (
            "barrier.cluster.arrive; barrier.cluster.arrive;",
            K::InvalidInstruction,
            "a second arrival",
        ),
        ("mapa.shared::cluster.u32 %r5, v, 2;", K::InvalidInstruction, "block 2 of a cluster of 2"),
        ("ld.shared.u32 %r5, [%r4];", K::OutOfBounds, "of shared memory"),
        ("ld.shared::cluster.u32 %r5, [%r4+64];", K::OutOfBounds, "offset 64"),
        ("ld.shared::cluster.u64 %rd5, [%r4+4];", K::Misaligned, "multiple of 8"),
        (other, K::InvalidInstruction, "not in the shared memory of the block that"),
        // One block waits for the other, which waits for itself.
        (
            "@%p1 bra FIRST; bar.sync 1, 128; bra DONE; FIRST: barrier.cluster.arrive; \
             barrier.cluster.wait; DONE:",
            K::Deadlock,
            "threads of the cluster wait",
        ),
    ] {
        let mut bench = bench(&pair(code), None, false);
        launch(&mut bench, "k", [2, 1, 1], None, &[]).unwrap();
        let report = bench.finish().unwrap_err();
        assert_eq!(report.kind, kind, "{code}: {}", report.message);
        assert!(report.message.contains(part), "{code}: {}", report.message);
    }
}

/// Reports of the race checker, in the words of their messages.
fn races(code: &str, seed: u64) -> Vec<String> {
    let mut bench = bench(&pair(code), Some(seed), true);
    launch(&mut bench, "k", [2, 1, 1], None, &[]).unwrap();
    bench.finish().unwrap();
    bench.device.take_findings().iter().map(|report| report.message.clone()).collect()
}

#[test]
fn the_barrier_of_the_cluster_orders_and_nothing_else_does() {
    let first = "setp.ne.u32 %p2, %r3, 0; @%p2 bra SKIP; st.shared::cluster.u32 [%r4], 7; SKIP:";
    let last = "ld.shared.u32 %r6, [v]; barrier.cluster.arrive; barrier.cluster.wait;";
    // Blocks must know that the other has begun.
    let relaxed = MEET.replace("arrive", "arrive.relaxed");
    let first = format!("{relaxed} {first}");
    for seed in 1..6 {
        let ordered = format!("{first} {MEET} {last}");
        assert_eq!(races(&ordered, seed), [""; 0]);
        // Both arrive, but the arrival does not release.
        let found = races(&format!("{first} {relaxed} {last}"), seed);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("`v` in shared memory"), "{found:?}");
        assert!(found[0].contains("a thread of another block"), "{found:?}");
        // A barrier of the block does not order what another block does.
        let found =
            races(&format!("{MEET} {first} bar.sync 0; ld.shared.u32 %r6, [v]; {MEET}"), seed);
        assert!(!found.is_empty());
    }
}
