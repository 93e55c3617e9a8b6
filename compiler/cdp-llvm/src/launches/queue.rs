//! Aggregates the launches of a whole grid: warps put their records into a bucket in memory that the module
//! brings along, and whoever opened the bucket launches all of it at once.
//!
//! A bucket belongs to one grid, by its `%gridid`, and holds records of blocks of one size. The warp that
//! finds none open claims a free one, waits while others keep adding, and launches the kernel that runs all
//! records, whose first blocks' threads have read them gives the bucket back. Nobody else waits: a warp whose
//! records are written goes on, and one that finds no bucket launches by itself ([`super::gather`]), so nothing
//! is lost however small the memory is. Records get their places by one atomic addition, which also says where
//! their blocks begin. What one bucket has no room for goes to one of two large ones, so that a grid that
//! launches much makes few launches, while many small buckets are there for many grids. Between looking and
//! adding a bucket may have become another grid's: whose it is can be told afterwards, as it stays so until all
//! records in it are written; then the records are void, and their blocks end at once.
//!
//! Legality. The launching thread is one of the same grid, so whatever waits for that grid and its children,
//! its tail launches too, waits for all. It is another thread, of another block perhaps, so only launches
//! that no stream orders ([`super::relax`], or fire-and-forget ones) may go this way. What a thread wrote
//! before its launch is seen by the child: it passes a fence before its record counts, and the launching
//! thread one behind that. When the device has no room for the launch, each record is launched by itself, as
//! written.

use cdp_ir::Aggregate;

use super::argument::Argument;
use super::emit::{Text, quoted};
use super::gather::{Gather, Lanes, Place, end, run_at};
use super::parent::Said;
use super::records::{Record, Records, record};
use super::tuning::Tuning;
use super::turns::{Held, turn};

/// The functions that stand in a program, and those that are made beforehand ([`super::code`]): what is done once for a warp,
/// and goes to memory again and again.
pub(super) const DEFINITIONS: &str = concat!(
    "declare { i32, i64 } @__cdp_queue_reserve(ptr addrspace(1), i32, i32, i64, i64, i64, i64, i64, i64, i64, i64, \
     i32, i32) nounwind\n\
     declare void @__cdp_queue_launch(ptr addrspace(1), i64, i32, i32, ptr, ptr, i64, i32, i32, i32, i32, i32, i32, \
     ptr, i32, i32) nounwind\n",
    include_str!("queue.ll")
);
/// Blocks of a parent with one launch each, up to which these are made as they come.
const FEW_BLOCKS: u64 = 8;
/// Bytes of a bucket before its records.
const HEAD: u64 = 48;
/// Large buckets.
const LARGE: u64 = 2;

/// The queue of a kernel's launches.
pub(super) struct Queue {
    /// Its memory.
    memory: String,
    /// The kernel that runs a bucket.
    pub kernel: String,
    buckets: u64,
    small: Size,
    /// What a small bucket has no room for goes there, where there are such.
    large: Option<Size>,
    /// Bytes of a record.
    bytes: u64,
    quiet: u32,
    patience: u32,
    /// Blocks of a launch, as many times as fit on the device, above which they do the work of several; 0 for
    /// never.
    waves: u32,
    /// Blocks whose work one block does, when the site says so.
    coarsen: Option<u32>,
    /// Whether a launch of any site may have blocks that do the work of several.
    pub shares: bool,
    /// Threads of a block of a launch in which small blocks stand beside each other; 0 where none do.
    pack: u32,
    /// Whether a bucket is for the launches of one block.
    by_block: bool,
    /// Whether each block of the parent has one launch at most.
    single: bool,
}

/// Buckets of one size.
struct Size {
    /// Records of each.
    most: u64,
    /// Where the first is, in bytes from the memory's beginning, and how far it is from each to the next.
    first: u64,
    stride: u64,
}

impl Size {
    /// Those that lie behind `begin`; the ends of a bucket's records lie before it.
    fn new(most: u64, begin: u64, bytes: u64) -> Size {
        let ends = (4 * most).next_multiple_of(16);
        let stride = (ends + HEAD + most * bytes).next_multiple_of(16);
        Size { most, first: begin + ends, stride }
    }
}

impl Queue {
    /// `single`: each block of the parent has one launch at most.
    pub fn new(
        gather: &Gather<'_>,
        arguments: &[Argument],
        tuning: &Tuning,
        said: &Said,
        single: bool,
    ) -> Queue {
        let name = gather.kernel.get_name().to_string_lossy().into_owned();
        let most = |records: u32| u64::from(records.clamp(32, 1 << 16));
        let bytes = record(gather.deep, arguments).bytes;
        let buckets = u64::from(tuning.queue.clamp(1, 1 << 10)).next_power_of_two();
        let small = Size::new(most(tuning.queue_records), 0, bytes);
        let large = (tuning.queue_large > 0)
            .then(|| Size::new(most(tuning.queue_large), buckets * small.stride, bytes));
        // Of a recursion the next level waits for each block's last record.
        let waves = match gather.launches {
            true => tuning.waves,
            false => tuning.waves.max(tuning.waves_of_leaves),
        };
        let waves = if gather.repeatable { waves } else { 0 };
        Queue {
            memory: format!("__cdp_queue_memory_{name}"),
            kernel: format!("__cdp_queue_of_{name}"),
            buckets,
            small,
            large,
            bytes,
            quiet: tuning.quiet,
            patience: tuning.patience,
            waves,
            coarsen: said.coarsen.filter(|_| gather.repeatable),
            shares: gather.repeatable && (waves > 0 || said.coarsen.is_some()),
            pack: if gather.packs { tuning.pack.min(1024) } else { 0 },
            by_block: said.aggregate == Some(Aggregate::Block),
            single,
        }
    }

    /// The memory, and the kernel as sites know it.
    pub fn declarations(&self) -> String {
        format!(
            "@{} = internal addrspace(1) global [{} x i8] zeroinitializer, align 16\n\
             declare ptx_kernel void @{}(ptr, i32, i32)\n",
            &quoted(&self.memory)[1..],
            self.buckets * self.small.stride
                + self.large.as_ref().map_or(0, |large| LARGE * large.stride),
            &quoted(&self.kernel)[1..],
        )
    }

    fn place(
        &self,
        bucket: &str,
        gather: &Gather<'_>,
        arguments: &[Argument],
        text: &mut Text,
    ) -> Records {
        Records {
            ends: bucket.to_string(),
            down: true,
            records: text.behind(bucket, HEAD),
            layout: record(gather.deep, arguments),
        }
    }

    /// The launches of these lanes; without room, control goes to `g.single`.
    pub fn site(
        &self,
        gather: &Gather<'_>,
        arguments: &[Argument],
        stream: &str,
        lanes: &Lanes,
        text: &mut Text,
    ) {
        // A grid of one warp has nobody to wait for, and what few blocks launch is launched sooner than waited for.
        let several = match self.single {
            true => several_blocks(text),
            false => several_warps(text),
        };
        text.line(&format!("br i1 {several}, label %q.ask, label %g.single"));
        text.label("q.ask");
        let [index, place] = self.reserve(lanes, text);
        let none = text.set(&format!("icmp slt i32 {index}, 0"));
        text.line(&format!("br i1 {none}, label %g.single, label %q.fill"));

        text.label("q.fill");
        // What the leader knows of the bucket's former use, the lanes that write into it know now.
        lanes.meet(text);
        let memory = self.memory(text);
        let bucket = text.set(&format!(
            "call ptr @__cdp_queue_bucket(ptr {memory}, i32 {index}, i32 {}, {})",
            self.buckets,
            self.places()
        ));
        let most = match &self.large {
            None => self.small.most.to_string(),
            Some(large) => {
                let is_large = text.set(&format!("icmp uge i32 {index}, {}", self.buckets));
                text.set(&format!(
                    "select i1 {is_large}, i64 {}, i64 {}",
                    large.most, self.small.most
                ))
            }
        };
        let records = self.place(&bucket, gather, arguments, text);
        let (first, base) = split(&place, text);
        let own = text.set(&format!("add i32 {first}, {}", lanes.rank));
        let end = text.set(&format!("add i32 {}, %g.blocks", lanes.before));
        let end = text.set(&format!("add i32 {base}, {end}"));
        records.fill(gather.deep, arguments, &own, &end, text);
        lanes.meet(text);
        lanes.leads("q.publish", "q.out", text);
        text.label("q.publish");
        // Passes on what the lanes wrote, here and before.
        text.line("fence syncscope(\"device\") acq_rel");
        let written = text.behind(&bucket, 32);
        text.line(&format!(
            "%q.written = atomicrmw add ptr {written}, i32 {} syncscope(\"device\") monotonic, align 8",
            lanes.count
        ));
        let opened = text.set(&format!("icmp slt i64 {place}, 0"));
        text.line(&format!("br i1 {opened}, label %q.close, label %q.out"));
        text.label("q.close");
        self.launch(&records, &most, gather, stream, lanes, text);
        text.line("br label %q.out");
        text.label("q.out");
        text.line("ret i32 0");
    }

    fn memory(&self, text: &mut Text) -> String {
        text.set(&format!("addrspacecast ptr addrspace(1) {} to ptr", quoted(&self.memory)))
    }

    /// Where buckets are, as operands.
    fn places(&self) -> String {
        let Size { first, stride, .. } = self.small;
        let large = self.large.as_ref().unwrap_or(&self.small);
        format!("i64 {first}, i64 {stride}, i64 {}, i64 {}", large.first, large.stride)
    }

    /// A bucket's index and where the lanes' records and blocks begin in it, as `__cdp_queue_reserve` tells them.
    fn reserve(&self, lanes: &Lanes, text: &mut Text) -> [String; 2] {
        if lanes.several {
            text.line("br i1 %g.leads, label %q.reserve, label %q.reserved");
            text.label("q.reserve");
        }
        let memory = quoted(&self.memory);
        let shape = shape(self.by_block, text);
        let place = text.set(&format!(
            "call {{ i32, i64 }} @__cdp_queue_reserve(ptr addrspace(1) {memory}, i32 {}, i32 {}, {}, i64 {}, i64 {}, \
             i64 {}, i64 {shape}, i32 {}, i32 {})",
            self.buckets,
            self.buckets + self.large.as_ref().map_or(0, |_| LARGE),
            self.places(),
            self.small.most,
            self.large.as_ref().unwrap_or(&self.small).most,
            self.bytes,
            lanes.count,
            lanes.total
        ));
        let index = text.set(&format!("extractvalue {{ i32, i64 }} {place}, 0"));
        let place = text.set(&format!("extractvalue {{ i32, i64 }} {place}, 1"));
        if !lanes.several {
            return [index, place];
        }
        text.line("br label %q.reserved");
        text.label("q.reserved");
        text.line(&format!("%q.index.own = phi i32 [ 0, %q.ask ], [ {index}, %q.reserve ]"));
        text.line(&format!("%q.place.own = phi i64 [ 0, %q.ask ], [ {place}, %q.reserve ]"));
        let index = text.shuffle("%same", "%q.index.own", "%g.leader");
        [index, text.shuffle_wide("%same", "%q.place.own", "%g.leader")]
    }

    /// Launches a bucket; each of its records by itself when that cannot be done.
    fn launch(
        &self,
        records: &Records,
        most: &str,
        gather: &Gather<'_>,
        stream: &str,
        lanes: &Lanes,
        text: &mut Text,
    ) {
        let own = text.set(&format!("addrspacecast ptr {} to ptr addrspace(1)", records.ends));
        let kernel = gather.kernel.get_name().to_string_lossy().into_owned();
        let Record { first, size, bytes, .. } = records.layout;
        let layout = bytes | first << 16 | size << 32 | u64::from(gather.deep) << 48;
        text.line(&format!(
            "call void @__cdp_queue_launch(ptr addrspace(1) {own}, i64 {most}, i32 {}, i32 {}, ptr {}, ptr {}, \
             i64 {layout}, i32 %bx, i32 %by, i32 %bz, i32 %shared, i32 {}, i32 {}, {stream}, i32 {}, i32 {})",
            self.quiet,
            self.patience,
            quoted(&self.kernel),
            quoted(&kernel),
            self.waves,
            self.coarsen.map_or(0, |each| each.min(1 << 20)),
            u32::from(lanes.several),
            self.pack
        ));
    }

    /// The kernel that runs a bucket, by the records' `body`.
    pub fn kernel(&self, gather: &Gather<'_>, body: &str, arguments: &[Argument]) -> String {
        let mut text = Text::default();
        text.room_for_copies(arguments.iter().enumerate());
        text.line("%own = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()");
        let beside = (self.pack > 0).then(|| Beside::new(gather, &mut text));
        match (&beside, self.shares) {
            (Some(_), _) => {}
            (None, false) => {
                text.line("%block = add i32 %own, 0");
                text.line("%stop = add i32 %own, 1");
            }
            (None, true) => share(&mut text),
        }
        let records = self.place("%bucket", gather, arguments, &mut text);
        records.search(&mut text);
        let first = if beside.is_some() { "%beside.block" } else { "%block" };
        let held = turn(gather, arguments, &records, first, &mut text);
        text.line(match beside {
            Some(_) => "%t.last = or i1 true, true",
            None => "%t.last = icmp eq i32 %t.block.next, %stop",
        });
        text.line("br i1 %t.last, label %last, label %left");
        leave(&mut text);
        text.label("left");
        let mut real = text.set(&format!("icmp ne i32 {}, 0", held.grid[0]));
        if beside.is_some() {
            real = text.set(&format!("and i1 {real}, %beside.there"));
        }
        text.line(&format!("br i1 {real}, label %real, label %next"));
        text.label("real");
        let Held { values, grid, place } = &held;
        let threads = beside.map(|beside| beside.threads(&mut text));
        let at = Place { grid, block: place, threads };
        run_at(gather, body, arguments, values, &at, &mut text);
        text.line("br label %next");
        text.label("next");
        text.line("br i1 %t.last, label %out, label %again");
        text.label("again");
        if !gather.loose {
            // The next one's shared memory is this one's.
            text.line(BARRIER);
        }
        text.line("br label %turn");
        text.label("out");
        end(gather, &mut text);
        format!(
            "define ptx_kernel void {}(ptr %bucket, i32 %count, i32 %all) nounwind {{\nentry:\n{}}}\n",
            quoted(&self.kernel),
            text.out
        )
    }
}

const BARRIER: &str = "call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)";

/// The blocks that block `%own` does the work of, from `%block` up to `%stop`.
fn share(text: &mut Text) {
    text.line("%grid = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()");
    let wide = ["%own", "%grid", "%all"].map(|name| text.set(&format!("zext i32 {name} to i64")));
    let [own, grid, all] = &wide;
    let after = text.set(&format!("add i64 {own}, 1"));
    for (name, from) in [("%block", own), ("%stop", &after)] {
        let part = text.set(&format!("mul i64 {from}, {all}"));
        let part = text.set(&format!("udiv i64 {part}, {grid}"));
        text.line(&format!("{name} = trunc i64 {part} to i32"));
    }
}

/// Blocks of less than a warp beside each other in one: what each thread knows of its own, by the size of these.
struct Beside {
    size: [String; 3],
}

impl Beside {
    /// The warp's first block (`%block`), from which on each thread looks for its own (`%beside.block`), whether there is
    /// that (`%beside.there`), and where those of the block that is running end (`%stop`); in the block `entry`.
    fn new(gather: &Gather<'_>, text: &mut Text) -> Beside {
        // As `shape` packs them.
        let word = text.behind("%bucket", 16);
        let word = text.set(&format!("load i64, ptr {word}, align 8"));
        let mut at = 0;
        let size = [11, 11, 7].map(|bits| {
            let shifted = text.set(&format!("lshr i64 {word}, {at}"));
            at += bits;
            let dim = text.set(&format!("trunc i64 {shifted} to i32"));
            text.set(&format!("and i32 {dim}, {}", (1 << bits) - 1))
        });
        let size = [0, 1, 2].map(|axis| match gather.block[axis] {
            Some(dim) => dim.to_string(),
            None => size[axis].clone(),
        });
        let plane = text.set(&format!("mul i32 {}, {}", size[0], size[1]));
        let threads = text.set(&format!("mul i32 {plane}, {}", size[2]));
        let row = register("ntid.x", text);
        let id = register("tid.x", text);
        let each = text.set(&format!("udiv i32 {row}, {threads}"));
        let begin = text.set(&format!("mul i32 %own, {each}"));
        let end = text.set(&format!("add i32 {begin}, {each}"));
        let last = text.set("sub i32 %all, 1");
        let warp = text.set(&format!("and i32 {id}, -32"));
        let mut block_of = |id: &str| {
            let nth = text.set(&format!("udiv i32 {id}, {threads}"));
            let block = text.set(&format!("add i32 {begin}, {nth}"));
            let known = text.set(&format!("call i32 @llvm.umin.i32(i32 {block}, i32 {last})"));
            (nth, block, known)
        };
        let (_, _, first) = block_of(&warp);
        let (nth, block, own) = block_of(&id);
        text.line(&format!("%block = add i32 {first}, 0"));
        text.line(&format!("%beside.block = add i32 {own}, 0"));
        text.line(&format!("%beside.there = icmp ult i32 {block}, %all"));
        text.line(&format!("%stop = call i32 @llvm.umin.i32(i32 {end}, i32 %all)"));
        let before = text.set(&format!("mul i32 {nth}, {threads}"));
        text.line(&format!("%beside.thread = sub i32 {id}, {before}"));
        Beside { size }
    }

    /// The thread's indices in its own block, and that one's size.
    fn threads(self, text: &mut Text) -> [[String; 3]; 2] {
        let Beside { size } = self;
        let x = text.set(&format!("urem i32 %beside.thread, {}", size[0]));
        let above = text.set(&format!("udiv i32 %beside.thread, {}", size[0]));
        let y = text.set(&format!("urem i32 {above}, {}", size[1]));
        let z = text.set(&format!("udiv i32 {above}, {}", size[1]));
        [[x, y, z], size]
    }
}

/// From label `last` to `left`: all threads have read the last of their records, and the block leaves the bucket.
fn leave(text: &mut Text) {
    text.label("last");
    text.line(BARRIER);
    let ids = ["x", "y", "z"]
        .map(|axis| text.set(&format!("call i32 @llvm.nvvm.read.ptx.sreg.tid.{axis}()")));
    let id = text.set(&format!("or i32 {}, {}", ids[0], ids[1]));
    let id = text.set(&format!("or i32 {id}, {}", ids[2]));
    let first = text.set(&format!("icmp eq i32 {id}, 0"));
    text.line(&format!("br i1 {first}, label %leave, label %left"));
    text.label("leave");
    text.line("%done = sub i32 %stop, %block");
    text.line("call void @__cdp_queue_leave(ptr %bucket, i32 %done)");
    text.line("br label %left");
}

/// Number of records and of blocks in a bucket's word.
fn split(word: &str, text: &mut Text) -> (String, String) {
    let records = text.set(&format!("shl i64 {word}, 1"));
    let records = text.set(&format!("lshr i64 {records}, 41"));
    let records = text.set(&format!("trunc i64 {records} to i32"));
    let blocks = text.set(&format!("trunc i64 {word} to i32"));
    (records, blocks)
}

/// The size of blocks and their shared memory, in one word: 11 bits of x and of y, 7 of z, 16 for the memory, and
/// where a bucket is for one block, 18 bits of that one's number: two blocks that share a bucket do no harm.
fn shape(by_block: bool, text: &mut Text) -> String {
    let mut all = text.set("zext i32 %shared to i64");
    if by_block {
        let [x, y, z] = ["ctaid.x", "ctaid.y", "ctaid.z"].map(|name| register(name, text));
        let [across, down] = ["nctaid.x", "nctaid.y"].map(|name| register(name, text));
        let plane = text.set(&format!("mul i32 {z}, {down}"));
        let plane = text.set(&format!("add i32 {plane}, {y}"));
        let number = text.set(&format!("mul i32 {plane}, {across}"));
        let number = text.set(&format!("add i32 {number}, {x}"));
        let number = text.set(&format!("zext i32 {number} to i64"));
        let number = text.set(&format!("and i64 {number}, {}", (1 << 18) - 1));
        let number = text.set(&format!("shl i64 {number}, 16"));
        all = text.set(&format!("or i64 {all}, {number}"));
    }
    for (name, bits) in [("bz", 7), ("by", 11), ("bx", 11)] {
        let next = text.set(&format!("zext i32 %{name} to i64"));
        let shifted = text.set(&format!("shl i64 {all}, {bits}"));
        all = text.set(&format!("or i64 {shifted}, {next}"));
    }
    all
}

fn register(name: &str, text: &mut Text) -> String {
    text.set(&format!("call i32 @llvm.nvvm.read.ptx.sreg.{name}()"))
}

/// Whether the grid that is running has more than one warp.
fn several_warps(text: &mut Text) -> String {
    let blocks = product(["nctaid.x", "nctaid.y", "nctaid.z"], text);
    let threads = product(["ntid.x", "ntid.y", "ntid.z"], text);
    let several = text.set(&format!("icmp ugt i64 {blocks}, 1"));
    let large = text.set(&format!("icmp ugt i64 {threads}, 32"));
    text.set(&format!("or i1 {several}, {large}"))
}

/// Whether the grid has more than [`FEW_BLOCKS`].
fn several_blocks(text: &mut Text) -> String {
    let blocks = product(["nctaid.x", "nctaid.y", "nctaid.z"], text);
    text.set(&format!("icmp ugt i64 {blocks}, {FEW_BLOCKS}"))
}

/// The product of three special registers.
fn product(names: [&str; 3], text: &mut Text) -> String {
    names.iter().fold("1".to_string(), |all, name| {
        let dim = register(name, text);
        let dim = text.set(&format!("zext i32 {dim} to i64"));
        text.set(&format!("mul i64 {all}, {dim}"))
    })
}
