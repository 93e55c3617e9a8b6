//! Distributes children over the launching warp: what is small enough is run where it would be launched, by
//! the lanes that are there, without any launch. The rest is launched.
//!
//! Each site becomes a call of a small function that is always inlined, written here as LLVM IR. Its
//! parts, in order: is the configuration one that a launch would accept, and how many threads have work
//! ([`Site::head`]); the children, lane by lane, each by all lanes that are there ([`super::rounds`]); the
//! launch of what was too large.
//!
//! Legality. A child may start at any time after its launch, so running it there is one of its schedules,
//! given that it waits for nobody (`child.rs`). What remains is the order of a block's NULL stream:
//!
//! - [`Mode::InOrder`]: one child of the block at a time, under a lock in shared memory, and none after
//!   one that was really launched, since that one may still be running: then all others are launched
//!   too. Children of one thread run in its order because each is complete when its site is left.
//! - [`Mode::Independent`]: children of different threads may overlap; one thread's run in its order, which a
//!   flag of the thread sees to in the same way.
//!
//! What the launching lane wrote is seen by the lanes that work for it, and theirs by it and by what it
//! launches later: they meet at warp barriers before and after.

use cdp_launch::limits::{MAX_BLOCK_THREADS, MAX_BLOCK_Z, MAX_GRID_X, MAX_GRID_YZ};

use super::child::{Child, is_flat};
use super::door;
use super::emit::{FLAG, Text, launch, lock, product, quoted, unlock, within};
use super::gather;
use super::limit::parents;
use super::once;
use super::ranges::up_to;
use super::rounds::{Round, summed};
use super::sequence;
use super::site::{Mode, Site};

/// Makes it ready, at the beginning of a kernel.
pub(super) const ORDER_BEGIN: &str = "__cdp_order_begin";

/// The parameter of a site's function behind those of the launch, where it wants to know whether the thread launched.
pub(super) const LAUNCHED: &str = "ptr %launched";

/// Most blocks of a grid that is looked at.
const MOST_BLOCKS: u32 = 1 << 20;
/// What a device takes at most of each dimension.
const MOST: [(&str, u32); 6] = [
    ("gx", MAX_GRID_X as u32),
    ("gy", MAX_GRID_YZ as u32),
    ("gz", MAX_GRID_YZ as u32),
    ("bx", MAX_BLOCK_THREADS as u32),
    ("by", MAX_BLOCK_THREADS as u32),
    ("bz", MAX_BLOCK_Z as u32),
];
/// Shared memory that every device gives without being asked, in bytes.
pub(super) const MOST_SHARED: u32 = 48 << 10;

/// The module that the sites' functions are linked from, up to them. LLVM declares its intrinsics by itself.
pub(super) fn prologue(definitions: &str, declarations: &str) -> String {
    format!(
        "declare i32 @cdp.launch(...)\ndeclare void @__cdp_sums_done(i32)\n{}{declarations}\n{definitions}\n",
        once::DECLARATIONS
    )
}

/// What sites share: the block's lock with what else it knows (`sequence.ll` says what), and what makes it ready where
/// no launches are recorded.
pub(super) const DEFINITIONS: &str = "\
@__cdp_order = internal addrspace(3) global [12 x i32] poison, align 8
define internal void @__cdp_order_begin() alwaysinline nounwind {
entry:
  ; The block may have done another's work before.
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %y = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %z = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %xy = or i32 %x, %y
  %xyz = or i32 %xy, %z
  %first = icmp eq i32 %xyz, 0
  br i1 %first, label %clear, label %done
clear:
  store volatile i32 0, ptr addrspace(3) @__cdp_order, align 4
  store volatile i32 0, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @__cdp_order, i64 4), align 4
  store volatile i64 0, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @__cdp_order, i64 8), align 8
  store volatile i64 0, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @__cdp_order, i64 16), align 8
  store volatile i64 0, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @__cdp_order, i64 24), align 8
  br label %done
done:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  ret void
}";

impl Site<'_, '_> {
    /// The function that the site's call becomes.
    pub fn function(&self) -> String {
        let mut text = Text::default();
        let moved = self.arguments.iter().enumerate().filter(|(_, argument)| !argument.uniform);
        text.room_for_copies(moved);
        if let Some((_, sequence)) = self.sequence {
            sequence.room(&mut text);
        }
        if let Some(pool) = &self.pool {
            pool.room(&mut text);
        }
        if self.flat {
            let [y, z] = ["y", "z"].map(|axis| {
                let size = text.set(&format!("call i32 @llvm.nvvm.read.ptx.sreg.ntid.{axis}()"));
                text.set(&format!("icmp eq i32 {size}, 1"))
            });
            text.line(&format!("%flat = and i1 {y}, {z}"));
            if self.relaxed {
                let forget = forget();
                text.line(&format!("%to = select i1 %flat, {forget}, ptr %stream"));
            }
        }
        if self.late && self.child.is_none() {
            text.line("br i1 %wanted, label %here, label %elsewhere");
            text.label("elsewhere");
            text.line("ret i32 0");
            text.label("here");
        }
        if self.sequence.is_some() && !self.lone {
            sequence::unless_written(&mut text);
        }
        if self.listens && self.child.is_some() {
            // A launch passes on what its thread knows. What runs here must look behind its own cache.
            text.line("fence syncscope(\"device\") acq_rel");
        }
        match (self.child, self.mode) {
            (Some(child), Mode::InOrder) if self.sequence.is_some() => {
                self.run_recorded(child, &mut text);
            }
            (Some(child), Mode::InOrder) => self.in_order(child, &mut text),
            (Some(child), _) => self.independent(child, &mut text),
            (None, Mode::InOrder) if self.sequence.is_some() => text.line("br label %launch"),
            (None, Mode::InOrder) => {
                text.line("%mask = call i32 @llvm.nvvm.activemask()");
                lock(&mut text);
                unlock(&mut text, "true");
                text.line("br label %launch");
            }
            (None, Mode::Independent { .. }) if self.gather.is_some() => {
                if self.unasked {
                    let fails = fails(&mut text);
                    text.line(&format!("br i1 {fails}, label %nothing, label %something"));
                    text.label("nothing");
                    text.line("ret i32 0");
                    text.label("something");
                }
                self.valid(None, &mut text);
                if !self.single {
                    text.line("%mask = call i32 @llvm.nvvm.activemask()");
                }
                self.gathered("%valid", &mut text);
            }
            (None, _) => text.line("br label %launch"),
        }
        if !self.inside {
            self.launch_as_one(&mut text);
        }
        let mut params: Vec<String> = ["gx", "gy", "gz", "bx", "by", "bz", "shared"]
            .iter()
            .map(|name| format!("i32 %{name}"))
            .collect();
        params.push("ptr %stream".into());
        if text.out.contains("%launched") {
            params.push(LAUNCHED.into());
        }
        let arguments = self.arguments.iter().enumerate();
        params.extend(arguments.map(|(index, argument)| format!("{} %a{index}", argument.ty)));
        if self.late {
            params.push("i1 %wanted".into());
        }
        let inlined = if self.apart { "noinline convergent" } else { "alwaysinline" };
        format!(
            "define internal i32 {}({}) {inlined} nounwind {{\nentry:\n{}}}\n",
            quoted(&self.name),
            params.join(", "),
            text.out
        )
    }

    /// The launch of what is not run, and the function's end.
    fn launch_as_one(&self, text: &mut Text) {
        text.label("launch");
        self.note_launch(text);
        let result = match self.sequence {
            // Nobody asks for its error.
            Some((gather, sequence)) => {
                sequence.site(gather, &self.arguments, self.lone, text);
                "0".into()
            }
            None if self.parted || self.gather.is_some() && !self.single => {
                door::together(text, |text| self.launch(text))
            }
            None => self.launch(text),
        };
        text.line(&format!("ret i32 {result}"));
    }

    fn stream(&self) -> String {
        match (self.relaxed, self.flat) {
            (true, true) => "ptr %to".into(),
            (true, false) => forget(),
            (false, _) => "ptr %stream".into(),
        }
    }

    /// That the thread launched.
    fn note_launch(&self, text: &mut Text) {
        if self.mode == (Mode::Independent { tracked: true }) {
            text.line("store i1 true, ptr %launched");
        }
        self.tell("true", text);
    }

    fn launch(&self, text: &mut Text) -> String {
        let words = ["%gx", "%gy", "%gz", "%bx", "%by", "%bz", "%shared"];
        let own: Vec<String> = (0..self.arguments.len()).map(|i| format!("%a{i}")).collect();
        launch(&self.kernel, words, &self.stream(), &self.arguments, &own, text)
    }

    /// The launches of the lanes of `%mask` where `wants` holds: as one where that saves some, otherwise from
    /// label `launch` on.
    fn gathered(&self, wants: &str, text: &mut Text) {
        let Some((gather, calls)) = self.gather else {
            text.line("br label %launch");
            return;
        };
        if self.single {
            text.line(&format!("br i1 {wants}, label %gather, label %launch"));
            text.label("gather");
            self.note_launch(text);
            let queue = self.queue.as_ref();
            gather::site_alone(gather, &self.arguments, &self.stream(), queue, text);
            return;
        }
        let wanting = text.ballot(wants);
        text.line(&format!("%wants = or i32 {wanting}, 0"));
        let count = text.set("call i32 @llvm.ctpop.i32(i32 %wants)");
        // In a queue a launch meets those of other warps.
        let least = if self.queue.is_some() { 1 } else { self.tuning.gather.max(1) };
        let many = text.set(&format!("icmp uge i32 {count}, {least}"));
        let join = text.all(&[wants.to_string(), many]);
        text.line(&format!("br i1 {join}, label %gather, label %alone"));
        text.label("gather");
        self.note_launch(text);
        let queue = self.queue.as_ref();
        let least = self.tuning.gather;
        gather::site(gather, &self.arguments, calls, &self.stream(), queue, least, text);
        text.label("alone");
        // A lane that does not launch has nothing left to do.
        match self.child {
            Some(_) => text.line("br i1 %run, label %out, label %launch"),
            None => text.line("br label %launch"),
        }
    }

    /// Would the launch succeed, of a grid that is not too large to look at (`%valid`)? Yields the number of
    /// threads.
    pub(super) fn valid(&self, child: Option<&Child<'_>>, text: &mut Text) -> String {
        let flat = child.is_some_and(is_flat);
        let gather = self.gather.filter(|_| child.is_none()).map(|(gather, _)| gather);
        let shallow = flat || gather.is_some_and(|gather| !gather.deep);
        let most_threads = match (child, gather) {
            (Some(child), _) => child.most_threads,
            (None, gather) => gather.map_or(MAX_BLOCK_THREADS as u32, |gather| gather.most_threads),
        };
        let mut fits = Vec::new();
        for (name, most) in MOST {
            let one = match name {
                "gy" | "gz" => shallow,
                "by" | "bz" => flat,
                _ => false,
            };
            let most = if name == "gx" && !self.inside { MOST_BLOCKS } else { most };
            fits.push(within(text, name, if one { 1 } else { most }));
        }
        fits.push(text.set(&format!("icmp ule i32 %shared, {MOST_SHARED}")));
        let blocks = product(text, ["gx", "gy", "gz"]);
        let threads = product(text, ["bx", "by", "bz"]);
        if !self.inside {
            fits.push(text.set(&format!("icmp ule i64 {blocks}, {MOST_BLOCKS}")));
        }
        fits.push(text.set(&format!("icmp ule i64 {threads}, {most_threads}")));
        if self.flat {
            fits.push("%flat".into());
        }
        let fits = text.all(&fits);
        text.line(&format!("%valid = or i1 {fits}, false"));
        text.set(&format!("mul i64 {blocks}, {threads}"))
    }

    /// Is the launch one that would succeed, how many threads are there (`%total`), how many have work
    /// (`%work`, and with their turns `%turns`), is that little enough to do here (`%small`)?
    fn head(&self, child: &Child<'_>, text: &mut Text) {
        let mut fits = vec!["%valid".to_string()];
        let threads = self.valid(Some(child), text);
        if self.late {
            fits.push("%wanted".into());
        }
        let timed = self.is_timed(child);
        let looks = self.mode == (Mode::Independent { tracked: true })
            || (timed && self.mode != Mode::InOrder);
        if looks && !self.inside {
            let launched = text.set("load i1, ptr %launched");
            fits.push(text.set(&format!("xor i1 {launched}, true")));
        }
        let fits = text.all(&fits);
        self.work(child, &threads, &fits, text);
        text.line("%mask = call i32 @llvm.nvvm.activemask()");
        text.line("%lanes = call i32 @llvm.ctpop.i32(i32 %mask)");
        text.rank("%rank", "%mask");
        if timed || self.tuning.threshold.is_none() {
            parents(text);
        }
        let limit = self.limit(child, text);
        let little = text.set(&format!("icmp ule i32 %turns, {limit}"));
        let small = text.set(&format!("and i1 {fits}, {little}"));
        if self.inside {
            let large = text.set(&format!("xor i1 {little}, true"));
            text.line(&format!("%large = and i1 {fits}, {large}"));
        }
        // A lane without a launch has a child of no threads.
        let mut launches = if self.late { "%wanted".into() } else { "true".to_string() };
        if self.unasked && self.mode != Mode::InOrder {
            let fails = fails(text);
            let does = text.set(&format!("xor i1 {fails}, true"));
            launches = text.all(&[launches, does]);
        }
        // Where nothing is launched, one that is not run fails.
        let small = if self.inside { "true".into() } else { small };
        text.line(&format!("%small = select i1 {launches}, i1 {small}, i1 true"));
        if timed && self.mode != Mode::InOrder {
            text.line("%began = call i64 @llvm.nvvm.read.ptx.sreg.clock64()");
        }
    }

    /// How many of so many threads have work, or none unless `fits` (`%work`), and how much work that is (`%turns`).
    pub(super) fn work(&self, child: &Child<'_>, threads: &str, fits: &str, text: &mut Text) {
        let all = text.set(&format!("select i1 {fits}, i64 {threads}, i64 0"));
        let [work, turns] = match &child.guard {
            Some(guard) if is_flat(child) => self.guarded(guard, &all, text),
            _ => [all.clone(), all],
        };
        text.line(&format!("%work = trunc i64 {work} to i32"));
        match child.strides {
            // None, where there is no work.
            true => {
                let turns = text.set(&format!("trunc i64 {turns} to i32"));
                let some = text.set("icmp ne i32 %work, 0");
                let turns = text.set(&format!("call i32 @llvm.umax.i32(i32 {turns}, i32 %work)"));
                text.line(&format!("%turns = select i1 {some}, i32 {turns}, i32 0"));
            }
            false => text.line("%turns = add i32 %work, 0"),
        }
    }

    /// Children of different lanes at the same time where they are tiny, then the others one by one.
    fn independent(&self, child: &Child<'_>, text: &mut Text) {
        self.head(child, text);
        match self.one {
            true => self.of_one(child, text),
            false => self.of_several(child, text),
        }
        text.label("done");
        summed(child, text);
        text.line("call void @llvm.nvvm.bar.warp.sync(i32 %mask)");
        if let Some(pool) = &self.pool {
            pool.leave(text);
        }
        if self.inside {
            self.told_inside(child, text);
            return;
        }
        if self.is_timed(child) {
            let slow = self.slow(text);
            let launched = text.set("load i1, ptr %launched");
            let launched = text.set(&format!("or i1 {launched}, {slow}"));
            text.line(&format!("store i1 {launched}, ptr %launched"));
        }
        match self.gather {
            None => text.line("br i1 %run, label %out, label %launch"),
            Some(_) => {
                let large = text.set("xor i1 %run, true");
                let wants = text.set(&format!("and i1 {large}, %valid"));
                self.gathered(&wants, text);
            }
        }
        text.label("out");
        text.line("ret i32 0");
    }

    /// The rounds of a child that no other lane has one beside: all lanes run it together.
    fn of_one(&self, child: &Child<'_>, text: &mut Text) {
        let some = text.set("icmp ne i32 %work, 0");
        text.line("%run = or i1 %small, false");
        let waits = text.set(&format!("and i1 %run, {some}"));
        let waiting = text.ballot(&waits);
        text.line(&format!("%waiting = or i32 {waiting}, 0"));
        self.check(text);
        self.rounds(child, None, text);
    }

    /// To the rounds, where lanes wait for them.
    fn check(&self, text: &mut Text) {
        text.line("br label %check");
        text.label("check");
        text.line("%ready = icmp ne i32 %waiting, 0");
        text.line("br i1 %ready, label %next, label %done");
    }

    /// The rounds of the children that are run, of which each lane may have one.
    fn of_several(&self, child: &Child<'_>, text: &mut Text) {
        let own = self.tuning.own;
        let tiny = text.set(&format!("icmp ule i32 %turns, {own}"));
        let tiny = text.set(&format!("and i1 %small, {tiny}"));
        let mut other = text.set(&format!("xor i1 {tiny}, true"));
        if let Some(pool) = &self.pool {
            let many = self.fills_device(text);
            text.line(&format!("%p.large = or i1 {many}, false"));
            let wants = text.all(&["%valid".into(), other.clone(), many]);
            pool.put(&wants, &self.arguments, text);
            self.tell_of_pooled(text);
            let stays = text.set("xor i1 %pooled, true");
            other = text.set(&format!("and i1 {other}, {stays}"));
        }
        let other = text.set(&format!("and i1 %small, {other}"));
        let waiting = text.ballot(&other);
        if self.queue.is_some() {
            let few = self.few(child, &other, text);
            text.line(&format!("%others = select i1 {few}, i32 {waiting}, i32 0"));
            let here = text.set(&format!("or i1 {tiny}, {few}"));
            let run = text.set(&format!("and i1 %small, {here}"));
            let pooled = if self.pool.is_some() { "%pooled" } else { "false" };
            text.line(&format!("%run = or i1 {run}, {pooled}"));
        } else {
            if self.inside {
                let few = self.few(child, &other, text);
                text.line(&format!("%few = or i1 {few}, false"));
            }
            text.line(&format!("%others = or i32 {waiting}, 0"));
            text.line("%run = or i1 %small, false");
        }
        let dealt = self.dealt(&tiny, text);
        let first = self.runs_first(child);
        if let Some(first) = first {
            self.own_first(first, text);
        }
        text.line("br label %round");
        let first = Round {
            from: "scanned",
            index: "0",
            step: "1",
            end: if first.is_some() { "%own.first" } else { "%own" },
            waiting: "%waiting",
            own_first: first.is_some(),
            dealt: dealt.each_ref().map(String::as_str),
        };
        self.rounds(child, Some(&first), text);
    }

    /// Which of the children that are run each lane runs by itself (`%own` threads), which all lanes together, one after the
    /// other (`%waiting`), and which are dealt to them ([`Round::dealt`]), so that a lane with few threads helps one with
    /// many. Goes on in the block `scanned`.
    fn dealt(&self, tiny: &str, text: &mut Text) -> [String; 3] {
        // Lanes find each other's by their numbers.
        let next = text.set("add i32 %mask, 1");
        let beyond = text.set(&format!("and i32 %mask, {next}"));
        let first = text.set(&format!("icmp eq i32 {beyond}, 0"));
        let most = text.set(&format!("mul i32 %lanes, {}", self.tuning.dealt_steps));
        let little = text.set(&format!("icmp ule i32 %work, {most}"));
        let many = text.set(&format!("icmp ugt i32 %work, {}", self.tuning.dealt));
        let dealt = text.all(&["%run".into(), first, little, many]);
        let all = text.ballot(&dealt);
        text.line(&format!("%deal.own = select i1 {dealt}, i32 %work, i32 0"));
        let some = text.set(&format!("icmp ne i32 {all}, 0"));
        text.line("br label %unscanned");
        text.label("unscanned");
        text.line(&format!("br i1 {some}, label %scan, label %scanned"));
        text.label("scan");
        let sum = up_to("%deal.own", "%rank", 32, text);
        let last = text.set("sub i32 %lanes, 1");
        let total = text.shuffle("%mask", &sum, &last);
        let worth = self.worth_dealing(tiny, &total, text);
        text.line("br label %scanned");
        text.label("scanned");
        let end = text.set(&format!("phi i32 [ 0, %unscanned ], [ {sum}, %scan ]"));
        let total = text.set(&format!("phi i32 [ 0, %unscanned ], [ {total}, %scan ]"));
        let deals = text.set(&format!("phi i1 [ false, %unscanned ], [ {worth}, %scan ]"));
        let begin = text.set(&format!("sub i32 {end}, %deal.own"));
        let total = text.set(&format!("select i1 {deals}, i32 {total}, i32 0"));
        let others = text.set(&format!("xor i32 {all}, -1"));
        let others = text.set(&format!("select i1 {deals}, i32 {others}, i32 -1"));
        text.line(&format!("%waiting = and i32 %others, {others}"));
        let dealt = text.set(&format!("and i1 {dealt}, {deals}"));
        let alone = text.set(&format!("xor i1 {dealt}, true"));
        let own = text.set(&format!("and i1 {tiny}, {alone}"));
        text.line(&format!("%own = select i1 {own}, i32 %work, i32 0"));
        [begin, end, total]
    }

    /// Whether as many steps as `total` threads take that are dealt, each of which finds its child first, are less than half
    /// of those that these children take otherwise: tiny ones at the same time, the others one after another.
    fn worth_dealing(&self, tiny: &str, total: &str, text: &mut Text) -> String {
        let own = text.set(&format!("select i1 {tiny}, i32 %deal.own, i32 0"));
        let long = text.set(&format!("icmp ugt i32 {own}, {}", self.tuning.own / 2));
        let long = text.ballot(&long);
        let long = text.set(&format!("icmp ne i32 {long}, 0"));
        let steps = [self.tuning.own, self.tuning.own / 2];
        let mut steps = text.set(&format!("select i1 {long}, i32 {}, i32 {}", steps[0], steps[1]));
        let other = text.set(&format!("sub i32 %deal.own, {own}"));
        for above in ["0", "%lanes"] {
            let takes = text.set(&format!("icmp ugt i32 {other}, {above}"));
            let takes = text.ballot(&takes);
            let takes = text.set(&format!("call i32 @llvm.ctpop.i32(i32 {takes})"));
            steps = text.set(&format!("add i32 {steps}, {takes}"));
        }
        let threads = text.set(&format!("mul i32 {steps}, %lanes"));
        let twice = text.set(&format!("mul i32 {total}, 2"));
        text.set(&format!("icmp ule i32 {twice}, {threads}"))
    }

    /// One child of the block after another.
    fn in_order(&self, child: &Child<'_>, text: &mut Text) {
        self.head(child, text);
        let some = text.set("icmp ne i32 %work, 0");
        let large = text.set("xor i1 %small, true");
        text.line(&format!("%child = and i1 %small, {some}"));
        text.line(&format!("%large = or i1 {large}, false"));
        let any = text.set("or i1 %child, %large");
        let launching = text.ballot(&any);
        let any = text.set(&format!("icmp ne i32 {launching}, 0"));
        text.line(&format!("br i1 {any}, label %enter, label %out"));
        text.label("enter");
        lock(text);
        if self.is_timed(child) {
            self.budget(&launching, text);
        }
        let flag = text.set(&format!("load volatile i32, {FLAG}, align 4"));
        text.line(&format!("%late = icmp ne i32 {flag}, 0"));
        let early = text.set("xor i1 %late, true");
        let run = text.set(&format!("and i1 %child, {early}"));
        let waiting = text.ballot(&run);
        text.line(&format!("%waiting = or i32 {waiting}, 0"));
        self.check(text);
        self.rounds(child, None, text);
        text.label("done");
        text.line("%unserved = phi i32 [ 0, %check ], [ %left, %turn ]");
        let large = text.ballot("%large");
        let mut launched = text.set(&format!("or i32 {large}, %unserved"));
        launched = text.set(&format!("icmp ne i32 {launched}, 0"));
        if self.is_timed(child) {
            let slow = self.exceeds("%budget", text);
            launched = text.set(&format!("or i1 {launched}, {slow}"));
        }
        unlock(text, &launched);
        let missed = text.set("and i1 %child, %late");
        let own = text.set("call i32 @llvm.nvvm.read.ptx.sreg.laneid()");
        let own = text.set(&format!("lshr i32 %unserved, {own}"));
        let own = text.set(&format!("trunc i32 {own} to i1"));
        let missed = text.set(&format!("or i1 {missed}, {own}"));
        let really = text.set(&format!("or i1 %large, {missed}"));
        text.line(&format!("br i1 {really}, label %launch, label %out"));
        text.label("out");
        text.line("ret i32 0");
    }
}

/// Whether a launch fails by its configuration, whatever is launched: lanes of a warp that are at such a launch while others
/// wait for a queue may never come back (`launch-optimiser-measured.md`).
fn fails(text: &mut Text) -> String {
    let mut fits: Vec<String> = MOST.iter().map(|(name, most)| within(text, name, *most)).collect();
    let threads = product(text, ["bx", "by", "bz"]);
    fits.push(text.set(&format!("icmp ule i64 {threads}, {MAX_BLOCK_THREADS}")));
    let fits = text.all(&fits);
    text.set(&format!("xor i1 {fits}, true"))
}

/// The fire-and-forget stream.
fn forget() -> String {
    let value = cdp_launch::StreamConst::FireAndForget.value();
    format!("ptr inttoptr (i64 {value} to ptr)")
}
