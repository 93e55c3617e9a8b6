//! Children that are too large for the lanes of one warp, and too small for a launch, are run by all warps of the parent's
//! grid: a warp that comes to its end puts them into a pool in memory that the module brings along, and takes parts of any of
//! them, until there is nothing left. What a launch costs is not paid: a grid of its own, and the end of a grid that launched.
//!
//! A slot of the pool belongs to one grid, by its `%gridid`, as long as a warp of it is there. A warp takes so many threads of
//! a record by one atomic addition; one that came too far takes nothing. Nobody waits: a warp that finds nothing to take
//! leaves, and what it put there itself is done by then, or in the hands of warps that are still there. Without room, and
//! where so much is there that a launch would be done sooner, all is as without a pool. Who has come by then can be few: where
//! a warp that put something there needed longer than a launch takes, the next grids do without for a hundred times as long.
//!
//! Legality. Children are run at the end of their parent ([`super::late`]), where nobody's launches are ordered with others
//! ([`super::queue`]), by threads of the grid that launched: it is complete when they are. What the launching thread wrote is
//! seen: it passes a fence before the record counts, and whoever takes of it one behind that.
//!
//! What is absent: how many threads a lane of its own runs, and the loop over them ([`super::rounds`]).

use super::argument::Argument;
use super::child::{Child, DIMS, uses_dim};
use super::emit::Text;
use super::parent::Said;
use super::records::{Records, record};
use super::tuning::Tuning;

/// The functions that a warp calls, which are made beforehand ([`super::code`]).
pub(super) const DEFINITIONS: &str = "declare ptr @__cdp_pool_enter(ptr addrspace(1), i64, i1) nounwind\n\
declare void @__cdp_pool_leave(ptr addrspace(1), ptr, i64) nounwind\n";
/// The one of them that every site calls that has a pool.
pub(super) const ENTER: &str = "@__cdp_pool_enter";
/// Slots, as `pool.ll` has them.
const SLOTS: u64 = 16;
/// Bytes of a slot before its records.
const HEAD: u64 = 64;
/// Bytes of a record before its arguments: how many of its threads are taken, and how many there are, in one word, so that
/// who takes some knows whether they are there; the grid's and the block's dimensions.
const RECORD: u64 = 32;
/// Where these dimensions are.
const PLACES: usize = 8;
/// Records of a slot.
const RECORDS: u64 = 256;

/// The pool of a site's children.
pub(super) struct Pool {
    memory: String,
    /// Bytes of a record.
    bytes: u64,
    /// Steps of a warp for each warp of the grid, up to which children are put there.
    most: u32,
    /// Steps of a warp above which a child is.
    least: u32,
    /// Threads that a warp takes at a time.
    part: u32,
}

impl Pool {
    /// The pool of site `name`, where its children may be run so.
    pub fn new(
        name: &str,
        child: &Child<'_>,
        arguments: &[Argument],
        tuning: &Tuning,
        said: &Said,
    ) -> Option<Pool> {
        let hinted = said.threshold.is_some() || said.aggregate.is_some() || said.coarsen.is_some();
        // How long a thread with a loop takes nobody knows; of one that did it many need not run.
        let may = !hinted && tuning.threshold.is_none() && !child.loops && !child.once;
        (may && tuning.pool > 0).then(|| Pool {
            memory: format!("@__cdp_pool_{name}"),
            bytes: (RECORD + record(false, arguments).bytes).next_multiple_of(16),
            most: tuning.pool,
            // Smaller ones are dealt to the lanes of a warp.
            least: tuning.pool_steps.max(tuning.dealt_steps),
            // A thread that takes the turns of others is as long as these.
            part: if child.strides { 32 } else { tuning.pool_part.max(1) },
        })
    }

    fn stride(&self) -> u64 {
        HEAD + RECORDS * self.bytes
    }

    pub fn declarations(&self) -> String {
        format!(
            "{} = internal addrspace(1) global [{} x i8] zeroinitializer, align 16\n",
            self.memory,
            HEAD + SLOTS * self.stride()
        )
    }

    /// The variables of a warp: where its slot is, when it put something there, how many records it has looked at, from which one on, and which
    /// it took of last.
    pub fn room(&self, text: &mut Text) {
        let all = [
            ("slot", "i64", "0"),
            ("began", "i64", "0"),
            ("base", "i32", "0"),
            ("last", "i32", "-1"),
        ];
        for (name, ty, first) in all.into_iter().chain([("first", "i32", "-1")]) {
            text.line(&format!("%p.{name} = alloca {ty}"));
            text.line(&format!("store {ty} {first}, ptr %p.{name}"));
        }
    }

    /// One lane brings the warp into its grid's slot, from a block of its own on to `label`.
    fn enter(&self, wants: bool, label: &str, text: &mut Text) {
        text.line(&format!("%{label}.leads = icmp eq i32 %rank, 0"));
        text.line(&format!("br i1 %{label}.leads, label %{label}.ask, label %{label}.asked"));
        text.label(&format!("{label}.ask"));
        let slot = text.set(&format!(
            "call ptr {ENTER}(ptr addrspace(1) {}, i64 {}, i1 {wants})",
            self.memory,
            self.stride()
        ));
        let slot = text.set(&format!("ptrtoint ptr {slot} to i64"));
        text.line(&format!("br label %{label}.asked"));
        text.label(&format!("{label}.asked"));
        let own = format!("%{label}.own");
        text.line(&format!("{own} = phi i64 [ 0, %{label}.before ], [ {slot}, %{label}.ask ]"));
        let leader = text.leader();
        let slot = text.shuffle_wide("%mask", &own, &leader);
        text.line(&format!("store i64 {slot}, ptr %p.slot"));
        text.line("call void @llvm.nvvm.bar.warp.sync(i32 %mask)");
        text.line(&format!("%{label} = icmp ne i64 {slot}, 0"));
    }

    fn slot(&self, text: &mut Text) -> String {
        let slot = text.set("load i64, ptr %p.slot");
        let slot = text.set(&format!("inttoptr i64 {slot} to ptr addrspace(1)"));
        text.generic(&slot)
    }

    fn records(
        &self,
        record_at: &str,
        arguments: &[Argument],
        text: &mut Text,
    ) -> (Records, String) {
        let own = text.behind(record_at, RECORD);
        let layout = record(false, arguments);
        (Records { ends: String::new(), down: false, records: String::new(), layout }, own)
    }

    /// A number that few warps of a grid have in common.
    fn number(&self, text: &mut Text) -> String {
        let block = text.set("call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()");
        let thread = text.set("call i32 @llvm.nvvm.read.ptx.sreg.tid.x()");
        let warp = text.set(&format!("lshr i32 {thread}, 5"));
        let block = text.set(&format!("mul i32 {block}, 41"));
        let warp = text.set(&format!("mul i32 {warp}, 5"));
        text.set(&format!("add i32 {block}, {warp}"))
    }

    fn record(&self, slot: &str, index: &str, text: &mut Text) -> String {
        let index = text.set(&format!("zext i32 {index} to i64"));
        let at = text.set(&format!("mul i64 {index}, {}", self.bytes));
        let at = text.set(&format!("add i64 {at}, {HEAD}"));
        text.behind(slot, at)
    }

    /// Puts the children of the lanes where `wants` holds and that are large enough into the pool (`%pooled`). Begins where the
    /// block does, and goes on in another.
    pub fn put(&self, wants: &str, arguments: &[Argument], text: &mut Text) {
        let least = text.set(&format!("mul i32 %lanes, {}", self.least));
        let large = text.set(&format!("icmp ugt i32 %work, {least}"));
        let most = text.set(&format!("mul i64 %parents, {}", self.most));
        let work = text.set("zext i32 %work to i64");
        let some = text.set(&format!("icmp ule i64 {work}, {most}"));
        let wants = text.all(&[wants.to_string(), large, some]);
        let votes = text.ballot(&wants);
        let any = text.set(&format!("icmp ne i32 {votes}, 0"));
        text.line("br label %p.none");
        text.label("p.none");
        text.line(&format!("br i1 {any}, label %p.open.before, label %p.pushed"));
        text.label("p.open.before");
        let began = text.set("call i64 @llvm.nvvm.read.ptx.sreg.globaltimer()");
        text.line(&format!("store i64 {began}, ptr %p.began"));
        self.enter(true, "p.open", text);
        let pushes = text.set(&format!("and i1 %p.open, {wants}"));
        text.line(&format!("br i1 {pushes}, label %p.push, label %p.pushed"));
        text.label("p.push");
        let slot = self.slot(text);
        let sum = text.behind(&slot, 24);
        let before = text.set(&format!(
            "atomicrmw add ptr {sum}, i64 {work} syncscope(\"device\") monotonic, align 8"
        ));
        let sum = text.set(&format!("add i64 {before}, {work}"));
        let fits = text.set(&format!("icmp ule i64 {sum}, {most}"));
        text.line(&format!("br i1 {fits}, label %p.place, label %p.pushed"));
        text.label("p.place");
        let count = text.behind(&slot, 16);
        let index = text.set(&format!(
            "atomicrmw add ptr {count}, i32 1 syncscope(\"device\") monotonic, align 4"
        ));
        let fits = text.set(&format!("icmp ult i32 {index}, {RECORDS}"));
        text.line(&format!("br i1 {fits}, label %p.fill, label %p.pushed"));
        text.label("p.fill");
        let own = self.record(&slot, &index, text);
        for (index, name) in DIMS.iter().enumerate() {
            let place = text.behind(&own, PLACES + 4 * index);
            text.line(&format!("store i32 %{name}, ptr {place}, align 4"));
        }
        let (records, values) = self.records(&own, arguments, text);
        records.put(arguments, &values, text);
        let all = text.set(&format!("shl i64 {work}, 32"));
        text.line("fence syncscope(\"device\") acq_rel");
        text.line(&format!(
            "store atomic i64 {all}, ptr {own} syncscope(\"device\") monotonic, align 8"
        ));
        text.line("br label %p.pushed");
        text.label("p.pushed");
        text.line(
            "%pooled = phi i1 [ false, %p.none ], [ false, %p.open.asked ], [ false, %p.push ], \
             [ false, %p.place ], [ true, %p.fill ]",
        );
        text.line("call void @llvm.nvvm.bar.warp.sync(i32 %mask)");
    }

    /// From label `pool` on, where the grid is large enough for a pool (`%p.large`): takes a part of a child, and goes to
    /// `round` from `p.go` with what it yields, or to `done`.
    pub fn take(&self, child: &Child<'_>, site: &Taker<'_>, text: &mut Text) -> Taken {
        text.label("pool");
        let slot = text.set("load i64, ptr %p.slot");
        let here = text.set(&format!("icmp ne i64 {slot}, 0"));
        text.line(&format!("br i1 {here}, label %p.scan, label %p.join.may"));
        text.label("p.join.may");
        // A smaller grid has none, and its warps are spared the look.
        text.line("br i1 %p.large, label %p.join.before, label %done");
        text.label("p.join.before");
        self.enter(false, "p.join", text);
        text.line("br i1 %p.join, label %p.scan, label %done");

        text.label("p.scan");
        let slot = self.slot(text);
        let count = text.behind(&slot, 16);
        let count = text
            .set(&format!("load atomic i32, ptr {count} syncscope(\"device\") monotonic, align 4"));
        let count = text.set(&format!("call i32 @llvm.umin.i32(i32 {count}, i32 {RECORDS})"));
        // One lane's, by which all go on: lanes that come here one after another load different ones.
        let leader = text.leader();
        let count = text.shuffle("%mask", &count, &leader);
        // Warps begin with different ones. As the number grows, what lies before the first moves away from where it is
        // looked for, so that none is missed.
        let some = text.set(&format!("call i32 @llvm.umax.i32(i32 {count}, i32 1)"));
        let own = self.number(text);
        text.line(&format!("%p.new.first = urem i32 {own}, {some}"));
        let known = text.set("load i32, ptr %p.first");
        let unknown = text.set(&format!("icmp slt i32 {known}, 0"));
        let first = text.set(&format!("select i1 {unknown}, i32 %p.new.first, i32 {known}"));
        text.line(&format!("store i32 {first}, ptr %p.first"));
        let base = text.set("load i32, ptr %p.base");
        let nth = text.set(&format!("add i32 {base}, %rank"));
        let inside = text.set(&format!("icmp ult i32 {nth}, {count}"));
        let index = text.set(&format!("add i32 {nth}, {first}"));
        let over = text.set(&format!("icmp uge i32 {index}, {count}"));
        let round = text.set(&format!("sub i32 {index}, {count}"));
        let index = text.set(&format!("select i1 {over}, i32 {round}, i32 {index}"));
        let index = text.set(&format!("select i1 {inside}, i32 {index}, i32 0"));
        let at = self.record(&slot, &index, text);
        let word = text
            .set(&format!("load atomic i64, ptr {at} syncscope(\"device\") monotonic, align 8"));
        let some = has_more(&word, text);
        let open = text.all(&[inside, some]);
        let open = text.ballot(&open);
        let any = text.set(&format!("icmp ne i32 {open}, 0"));
        text.line(&format!("br i1 {any}, label %p.pick, label %p.step"));
        text.label("p.step");
        let next = text.set(&format!("add i32 {base}, %lanes"));
        text.line(&format!("store i32 {next}, ptr %p.base"));
        let more = text.set(&format!("icmp ult i32 {next}, {count}"));
        text.line(&format!("br i1 {more}, label %p.scan, label %done"));

        text.label("p.pick");
        let turn = text.set(&format!("and i32 {own}, 31"));
        let turned =
            text.set(&format!("call i32 @llvm.fshr.i32(i32 {open}, i32 {open}, i32 {turn})"));
        let lane = text.set(&format!("call i32 @llvm.cttz.i32(i32 {turned}, i1 true)"));
        let lane = text.set(&format!("add i32 {lane}, {turn}"));
        let lane = text.set(&format!("and i32 {lane}, 31"));
        let index = text.shuffle("%mask", &index, &lane);
        let own = self.record(&slot, &index, text);
        let leads = text.set("icmp eq i32 %rank, 0");
        text.line(&format!("br i1 {leads}, label %p.take, label %p.took"));
        text.label("p.take");
        let before = text.set(&format!(
            "atomicrmw add ptr {own}, i64 {} syncscope(\"device\") monotonic, align 8",
            self.part
        ));
        text.line("br label %p.took");
        text.label("p.took");
        text.line(&format!("%p.before = phi i64 [ 0, %p.pick ], [ {before}, %p.take ]"));
        let leader = text.leader();
        let word = text.shuffle_wide("%mask", "%p.before", &leader);
        let got = has_more(&word, text);
        text.line(&format!("br i1 {got}, label %p.have, label %p.scan"));
        text.label("p.have");
        let before = text.set(&format!("trunc i64 {word} to i32"));
        let work = text.set(&format!("lshr i64 {word}, 32"));
        let work = text.set(&format!("trunc i64 {work} to i32"));
        let last = text.set("load i32, ptr %p.last");
        let same = text.set(&format!("icmp eq i32 {last}, {index}"));
        text.line(&format!("br i1 {same}, label %p.go, label %p.new"));
        text.label("p.new");
        text.line(&format!("store i32 {index}, ptr %p.last"));
        text.line("fence syncscope(\"device\") acq_rel");
        text.line("br label %p.go");
        text.label("p.go");
        text.line("call void @llvm.nvvm.bar.warp.sync(i32 %mask)");
        let first = text.set(&format!("add i32 {before}, %rank"));
        let end = text.set(&format!("add i32 {before}, {}", self.part));
        let end = text.set(&format!("call i32 @llvm.umin.i32(i32 {end}, i32 {work})"));
        let dims = DIMS.iter().enumerate().map(|(index, name)| {
            match uses_dim(child, index) && !site.uniform[index] {
                true => {
                    let place = text.behind(&own, PLACES + 4 * index);
                    text.set(&format!("load i32, ptr {place}, align 4"))
                }
                false => format!("%{name}"),
            }
        });
        let dims = dims.collect();
        let (records, values) = self.records(&own, site.arguments, text);
        let values = records.load(site.arguments, &values, text);
        let values = values.into_iter().zip(site.arguments).enumerate();
        let values = values.map(|(index, (value, argument))| match argument.uniform {
            true => format!("%a{index}"),
            false => value,
        });
        let values = values.collect();
        text.line("br label %round");
        Taken { first, end, dims, values }
    }

    /// Behind all: the warp leaves the slot.
    pub fn leave(&self, text: &mut Text) {
        let slot = text.set("load i64, ptr %p.slot");
        let here = text.set(&format!("icmp ne i64 {slot}, 0"));
        let leads = text.set("icmp eq i32 %rank, 0");
        let leaves = text.set(&format!("and i1 {here}, {leads}"));
        text.line(&format!("br i1 {leaves}, label %p.leave, label %p.left"));
        text.label("p.leave");
        let slot = self.slot(text);
        let began = text.set("load i64, ptr %p.began");
        text.line(&format!(
            "call void @__cdp_pool_leave(ptr addrspace(1) {}, ptr {slot}, i64 {began})",
            self.memory
        ));
        text.line("br label %p.left");
        text.label("p.left");
    }
}

/// Whether a record's word has threads that nobody took.
fn has_more(word: &str, text: &mut Text) -> String {
    let taken = text.set(&format!("trunc i64 {word} to i32"));
    let all = text.set(&format!("lshr i64 {word}, 32"));
    let all = text.set(&format!("trunc i64 {all} to i32"));
    text.set(&format!("icmp ult i32 {taken}, {all}"))
}

/// What is known of a site whose warps take.
pub(super) struct Taker<'a> {
    pub arguments: &'a [Argument],
    /// Which of the grid's and the block's dimensions are the same in every lane.
    pub uniform: [bool; 6],
}

/// A part of a child that a warp took: this lane's first thread, the end, and what the child was launched with.
pub(super) struct Taken {
    pub first: String,
    pub end: String,
    pub dims: Vec<String>,
    pub values: Vec<String>,
}
