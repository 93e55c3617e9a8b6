//! Control-flow graphs: known shapes, and random graphs against a definition by brute force.

use std::time::{Duration, Instant};

use cdp_emulator::cfg::{BlockId, Cfg};
use cdp_ptx::{Module, parse};

fn module(body: &str) -> Module {
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.func die() .noreturn;\n.func f() {{\n\
         .reg .pred %p<2>; .reg .b32 %r<2>;\n{body}\n}}\n"
    );
    parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn graph(body: &str) -> Cfg {
    let module = module(body);
    Cfg::new(&module, module.functions[1].body.as_ref().expect("defined"))
}

fn ids(list: &[u32]) -> Vec<BlockId> {
    list.iter().map(|id| BlockId(*id)).collect()
}

#[test]
fn if_then_else() {
    let cfg = graph(
        "@%p0 bra A;
         mov.b32 %r0, 1;
         bra END;
      A: mov.b32 %r0, 2;
    END: ret;",
    );
    assert_eq!(cfg.blocks.len(), 4);
    assert_eq!(cfg.blocks[0].successors, ids(&[2, 1]), "the target comes before the next");
    assert_eq!(cfg.blocks[3].predecessors, ids(&[1, 2]));
    assert_eq!(cfg.reconvergence(0), Some(4));
    assert_eq!(cfg.blocks[0].post_dominator, Some(BlockId(3)));
    assert!(cfg.blocks[3].exits && cfg.blocks[3].post_dominator.is_none());
}

#[test]
fn loop_with_break() {
    let cfg = graph(
        "TOP: @%p0 bra OUT;
         mov.b32 %r0, 1;
         @%p1 bra TOP;
    OUT: ret;",
    );
    assert_eq!(cfg.blocks.len(), 3);
    assert_eq!(cfg.reconvergence(0), Some(3));
    assert_eq!(cfg.reconvergence(2), Some(3));
}

#[test]
fn exits_part_for_good() {
    let cfg = graph("@%p0 exit; mov.b32 %r0, 1; @%p1 bra A; ret; A: trap;");
    // A guarded exit: those who stay go on, and meet the others nowhere.
    assert!(cfg.blocks[0].exits);
    assert_eq!(cfg.blocks[0].successors, ids(&[1]));
    assert_eq!(cfg.reconvergence(0), None);
    assert_eq!(cfg.reconvergence(2), None);
}

#[test]
fn calls_that_do_not_return() {
    let cfg = graph("@%p0 bra A; call die; A: ret;");
    assert_eq!(cfg.blocks.len(), 3);
    assert!(cfg.blocks[1].exits && cfg.blocks[1].successors.is_empty());
    let cfg = graph("@%p0 call die; ret;");
    assert!(cfg.blocks[0].exits);
    assert_eq!(cfg.blocks[0].successors, ids(&[1]));
}

#[test]
fn jump_tables_and_falling_off_the_end() {
    let cfg = graph(
        "T: .branchtargets A, B, A, B, A, C;
         brx.idx %r0, T;
      A: mov.b32 %r0, 1;
         bra END;
      B: mov.b32 %r0, 2;
      C: mov.b32 %r0, 3;
    END:",
    );
    assert_eq!(cfg.blocks[0].successors, ids(&[1, 2, 3]));
    assert!(cfg.blocks[1].exits, "the label at the end is the way out");
    assert!(cfg.blocks[3].exits, "so is falling off");
    assert_eq!(cfg.blocks[2].post_dominator, Some(BlockId(3)));
    assert_eq!(cfg.reconvergence(0), None);
}

#[test]
fn empty_function() {
    let cfg = graph("");
    assert!(cfg.blocks.is_empty());
}

#[test]
fn endless_loop() {
    let cfg = graph("@%p0 bra L; ret; L: mov.b32 %r0, 1; bra L;");
    assert_eq!(cfg.blocks.len(), 3);
    assert_eq!(cfg.blocks[2].successors, ids(&[2]));
    assert_eq!(cfg.reconvergence(0), None);
}

/// Post-dominators by definition: `d` post-dominates `b` if without `d` no way leads from `b` out.
fn brute_force(cfg: &Cfg) -> Vec<Option<BlockId>> {
    let count = cfg.blocks.len();
    let escapes = |from: usize, without: Option<usize>| -> bool {
        let mut seen = vec![false; count];
        let mut stack = vec![from];
        while let Some(block) = stack.pop() {
            if Some(block) == without || std::mem::replace(&mut seen[block], true) {
                continue;
            }
            if cfg.blocks[block].exits {
                return true;
            }
            stack.extend(cfg.blocks[block].successors.iter().map(|id| id.index()));
        }
        false
    };
    let dominates = |d: usize, b: usize| d != b && !escapes(b, Some(d));
    (0..count)
        .map(|block| {
            let all: Vec<usize> = (0..count).filter(|d| dominates(*d, block)).collect();
            // The immediate one is post-dominated by all the others.
            let first = all.iter().find(|d| all.iter().all(|e| e == *d || dominates(*e, **d)));
            first.map(|d| BlockId(*d as u32))
        })
        .collect()
}

#[test]
fn random_graphs() {
    let mut state = 12345u64;
    let mut random = |limit: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % limit
    };
    let mut compared = 0;
    for _ in 0..400 {
        let labels = 2 + random(12);
        let mut body = String::new();
        for label in 0..labels {
            body.push_str(&format!("L{label}: mov.b32 %r0, {label};\n"));
            match random(5) {
                0 => body.push_str(&format!("bra L{};\n", random(labels))),
                1 | 2 => body.push_str(&format!("@%p0 bra L{};\n", random(labels))),
                3 if random(3) == 0 => body.push_str("@%p0 ret;\n"),
                _ => {}
            }
        }
        body.push_str("ret;\n");
        let cfg = graph(&body);
        // The definition says nothing about blocks that never get out.
        let mut leaving = vec![false; cfg.blocks.len()];
        for _ in 0..cfg.blocks.len() {
            for index in 0..cfg.blocks.len() {
                let block = &cfg.blocks[index];
                let next = block.successors.iter().any(|id| leaving[id.index()]);
                leaving[index] |= block.exits || next;
            }
        }
        if leaving.contains(&false) {
            continue;
        }
        let expected = brute_force(&cfg);
        let found: Vec<_> = cfg.blocks.iter().map(|block| block.post_dominator).collect();
        assert_eq!(found, expected, "{body}");
        compared += 1;
    }
    assert!(compared > 100, "only {compared} graphs were compared");
}

#[test]
fn many_labels_stay_linear() {
    let branch = |index: usize| format!("@%p1 bra L{}; L{index}: ", (index * 7919) % 60_000);
    let module = module(&(0..60_000).map(branch).collect::<String>());
    let start = Instant::now();
    let cfg = Cfg::new(&module, module.functions[1].body.as_ref().expect("defined"));
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    assert_eq!(cfg.blocks.len(), 60_000);
}
