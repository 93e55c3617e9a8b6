//! What the checks found, as reports: both accesses with names, what they touched, and what would
//! have ordered them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::Core;
use crate::check::Origin;
use crate::check::bounds::Stray;
use crate::check::findings::{Conflict, Finding, Home, Relation, Side, Unseen, Unwritten};
use crate::check::host::Trespass;
use crate::check::record::Strength;
use crate::code::Async;
use crate::exec::checks::RELEASE_HELP;
use crate::memory::{AllocKind, Record, SiteRef, place_text};
use crate::report::{Bytes, Related, Report, ReportKind, SourceLine};
use crate::services::Unset;

/// How the threads of two accesses are related.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kinship {
    Warp,
    Block,
    Grid,
    /// The access at hand is by a grid below the other's.
    Below,
    /// The access at hand is by a grid above the other's.
    Above,
    /// Two grids, copies or sets of which none launched the other.
    Apart,
    /// One of them is a copy of the host's.
    Host,
    /// One of them is an access of host code.
    HostCode,
}

impl Core {
    /// What the checks found since the last call: one report for each pair of source places.
    pub fn take_findings(&mut self) -> Vec<Arc<Report>> {
        let found = self.watch_mut().map(|watch| watch.findings.take()).unwrap_or_default();
        let mut reports: Vec<Report> = Vec::new();
        let mut by_places: HashMap<[String; 3], usize> = HashMap::new();
        for finding in found {
            let report = self.finding(&finding);
            let mut places =
                [self.place_text(&finding.conflict.now), self.place_text(&finding.conflict.before)];
            places.sort();
            let [a, b] = places;
            match by_places.get(&[report.kind.name().to_string(), a.clone(), b.clone()]) {
                Some(&at) => reports[at].count += report.count,
                None => {
                    by_places.insert([report.kind.name().to_string(), a, b], reports.len());
                    reports.push(report);
                }
            }
        }
        reports.extend(self.unwritten());
        reports.extend(self.divisions());
        reports.extend(self.lapses());
        reports.extend(self.absent());
        reports.extend(self.strays());
        reports.extend(self.trespasses());
        for report in &mut reports {
            if report.count > 1 {
                report.message.push_str(&format!(" ({} times)", report.count));
            }
        }
        reports.into_iter().map(Arc::new).collect()
    }

    /// A report without anything but a sentence and a place.
    pub(super) fn note(&self, kind: ReportKind, message: String, site: Option<SiteRef>) -> Report {
        Report {
            kind,
            message,
            said: String::new(),
            help: None,
            site: site.map(|site| self.site(&site)),
            host: None,
            grid_path: site.map_or_else(Vec::new, |site| self.grid_path(site.grid)),
            address: None,
            allocation: None,
            waiters: Vec::new(),
            related: Vec::new(),
            count: 1,
            warning: false,
        }
    }

    /// Reads of memory that was never written, as reports.
    fn unwritten(&mut self) -> Vec<Report> {
        let found = self.watch_mut().map(|w| w.findings.take_unwritten()).unwrap_or_default();
        let report = |read: &Unwritten| {
            let record = match read.home {
                Home::Global => self.machine.memory.record_at(read.address),
                Home::Shared | Home::Local | Home::Register(_) => None,
            };
            let (place, cure) = self.unwritten_place(read, record.as_deref());
            let message = match read.home {
                Home::Register(_) => place,
                _ => format!("load of {} at {place}, {}", Bytes(read.bytes), missing_text(read)),
            };
            Report {
                help: Some(cure.into()),
                address: (read.home == Home::Global).then_some(read.address),
                allocation: record.map(|record| self.allocation(&record)),
                count: read.count,
                ..self.note(ReportKind::Uninitialized, message, Some(read.site))
            }
        };
        // One report a source place: loops that were unrolled are one line.
        let mut reports: Vec<Report> = Vec::new();
        for read in &found {
            let new = report(read);
            let place = |report: &Report| report.site.as_ref().and_then(|site| site.source.clone());
            match reports
                .iter_mut()
                .find(|known| place(known).is_some() && place(known) == place(&new))
            {
                Some(known) => known.count += new.count,
                None => reports.push(new),
            }
        }
        reports
    }

    /// Where a read was of what nobody has written, and the cure.
    fn unwritten_place(&self, read: &Unwritten, record: Option<&Record>) -> (String, &'static str) {
        match read.home {
            Home::Global => {
                let offset = |record: &Record| {
                    format!(", offset {} of an allocation", read.address - record.base)
                };
                let within = record.map_or_else(String::new, offset);
                let cure = "memory of cudaMalloc and malloc has no contents until it is written";
                (format!("{:#x}{within}", read.address), cure)
            }
            Home::Shared => (
                self.machine.shared_text(read.site.kernel, read.address),
                "shared memory has no initial contents; write all of it that is read",
            ),
            Home::Local => (
                format!("offset {} of the thread's local memory", read.address),
                "local variables have no contents until they are written",
            ),
            Home::Register(unset) => {
                let what = match unset {
                    Unset::Decides => "what is done here depends on",
                    Unset::Address => "an address is used here that comes from",
                    Unset::Stored => "a value is stored here that was computed from",
                };
                (
                    format!("{what} a variable that nobody has set"),
                    "local variables have no contents until they are written, on every way that leads to a use",
                )
            }
        }
    }

    /// Accesses between variables, as reports.
    fn strays(&mut self) -> Vec<Report> {
        let found = self.watch_mut().map(|w| w.findings.take_strays()).unwrap_or_default();
        let report = |stray: Stray| {
            let verb = if stray.writes { "store" } else { "load" };
            let message = format!("{verb} of {}, {}", Bytes(stray.bytes), stray.place);
            Report {
                help: Some(
                    "without this check other variables may lie there, whose contents such an access \
                     reads or overwrites"
                        .into(),
                ),
                count: stray.count,
                ..self.note(ReportKind::OutOfBounds, message, Some(stray.site))
            }
        };
        found.into_iter().map(report).collect()
    }

    /// Divisions by zero, as reports.
    fn divisions(&mut self) -> Vec<Report> {
        let found = self.watch_mut().map(|w| w.findings.take_divisions()).unwrap_or_default();
        let report = |(site, count): (SiteRef, u64)| Report {
            help: Some("a device gives some number and goes on: test the divisor first".into()),
            count,
            ..self.note(
                ReportKind::DivisionByZero,
                "division of an integer by zero".to_string(),
                Some(site),
            )
        };
        found.into_iter().map(report).collect()
    }

    /// Accesses of host code to what is not its, as reports.
    fn trespasses(&mut self) -> Vec<Report> {
        let found = self.watch_mut().map(|w| w.findings.take_trespasses()).unwrap_or_default();
        let report = |found: Trespass| Report {
            help: Some(found.help.into()),
            host: self.host_line(found.place),
            address: Some(found.address),
            allocation: self.machine.memory.record_at(found.address).map(|r| self.allocation(&r)),
            count: found.count,
            ..self.note(found.kind, found.message, None)
        };
        found.into_iter().map(report).collect()
    }

    /// The line of a place in host code.
    fn host_line(&self, place: u32) -> Option<SourceLine> {
        self.machine.host.as_ref()?.line(place)
    }

    fn host_line_of(&self, side: &Side) -> Option<SourceLine> {
        (side.origin.function == Origin::HOST_CODE)
            .then(|| self.host_line(side.origin.instruction))?
    }

    /// What is still allocated.
    pub fn leaks(&self) -> Vec<Arc<Report>> {
        if !self.config.checks.leaks {
            return Vec::new();
        }
        // By the instruction that asked for it; the host's as one.
        let mut places: BTreeMap<Option<(u32, u32)>, (Option<SiteRef>, u64, u64)> = BTreeMap::new();
        for record in self.machine.memory.live() {
            let site = match record.kind {
                AllocKind::DeviceHeap => record.allocated_at,
                AllocKind::Host | AllocKind::Managed => None,
                _ => continue,
            };
            let place = site.map(|site| (site.function, site.instruction));
            let entry = places.entry(place).or_insert((site, 0, 0));
            entry.1 += 1;
            entry.2 += record.size_bytes;
        }
        let report = |(site, count, bytes): (Option<SiteRef>, u64, u64)| {
            let (who, cure) = match site {
                Some(_) => ("device code", "free() or cudaFree() what malloc() or new gave"),
                None => ("the host", "cudaFree(), cudaFreeHost()"),
            };
            let plural = if count == 1 { "allocation" } else { "allocations" };
            let message = format!("{count} {plural} of {who}, {}, never released", Bytes(bytes));
            let note = self.note(ReportKind::Leak, message, site);
            Arc::new(Report { help: Some(cure.to_string()), count, ..note })
        };
        places.into_values().map(report).collect()
    }

    /// Where an access was, for telling places apart.
    fn place_text(&self, side: &Side) -> String {
        if side.origin.function == Origin::RUNTIME {
            return format!("{:?}", side.origin);
        }
        if side.origin.function == Origin::HOST_CODE {
            let line = self.host_line_of(side).map(|line| line.to_string());
            return format!("host code {}", line.unwrap_or_default());
        }
        let site = self.site(&side.site);
        match site.source {
            Some(source) => source.to_string(),
            None => format!("{}:{}", site.ptx_file, site.ptx_line),
        }
    }

    fn finding(&self, finding: &Finding) -> Report {
        let conflict = &finding.conflict;
        let kinship = self.kinship(conflict);
        let what = self.object_text(conflict);
        let message = format!(
            "{what} is {} here and {} by {}, and {}",
            verb(&conflict.now),
            verb(&conflict.before),
            whom(kinship, conflict),
            match conflict.kind {
                Relation::Race if conflict.unseen == Some(Unseen::OwnGrid) => {
                    "textures and read-only loads (__ldg) need not see what their own kernel writes"
                }
                Relation::Race => "nothing orders the two",
                Relation::Siblings => "only the order of their stream keeps the two apart",
            }
        );
        let is_thread = |side: &Side| side.site.grid != 0;
        let path = |side: &Side| self.path_of(side);
        let allocation = (!conflict.shared)
            .then(|| self.machine.memory.record_at(conflict.address))
            .flatten()
            .map(|record| self.allocation(&record));
        let other = format!("{} {}", "the other access,", noun(&conflict.before));
        Report {
            kind: match conflict.kind {
                Relation::Race => ReportKind::Race,
                Relation::Siblings => ReportKind::SiblingConflict,
            },
            message,
            said: String::new(),
            help: Some(cure(conflict, kinship)),
            site: is_thread(&conflict.now).then(|| self.site(&conflict.now.site)),
            host: self.host_line_of(&conflict.now),
            grid_path: path(&conflict.now),
            address: (!conflict.shared).then_some(conflict.address),
            allocation,
            waiters: Vec::new(),
            related: vec![Related {
                what: other,
                site: is_thread(&conflict.before).then(|| self.site(&conflict.before.site)),
                host: self.host_line_of(&conflict.before),
                grid_path: path(&conflict.before),
            }],
            count: finding.count,
            warning: false,
        }
    }

    /// From the host to the grid, or to the grid that queued the copy.
    fn path_of(&self, side: &Side) -> Vec<crate::report::GridStep> {
        self.grid_path(side.site.grid)
    }

    fn kinship(&self, conflict: &Conflict) -> Kinship {
        let (now, before) = (&conflict.now, &conflict.before);
        if now.origin == Origin::HOST || before.origin == Origin::HOST {
            return Kinship::Host;
        }
        if [now, before].iter().any(|side| side.origin.function == Origin::HOST_CODE) {
            return Kinship::HostCode;
        }
        if conflict.same_block {
            let warp = now.site.thread / 32 == before.site.thread / 32;
            return if warp { Kinship::Warp } else { Kinship::Block };
        }
        if now.grid == before.grid {
            return Kinship::Grid;
        }
        let above = |below: &Side, above: &Side| {
            let queued = below.origin.function == Origin::RUNTIME;
            if queued && below.site.grid == above.site.grid && above.site.grid != 0 {
                return true;
            }
            let mut at = self.lineage.get(&below.site.grid);
            while let Some(lineage) = at {
                if lineage.parent == above.site.grid && above.site.grid != 0 {
                    return true;
                }
                at = self.lineage.get(&lineage.parent);
            }
            false
        };
        if above(now, before) {
            Kinship::Below
        } else if above(before, now) {
            Kinship::Above
        } else {
            Kinship::Apart
        }
    }

    /// The memory, as people know it.
    fn object_text(&self, conflict: &Conflict) -> String {
        if conflict.shared {
            return self.machine.shared_text(conflict.now.site.kernel, conflict.address);
        }
        place_text(&self.machine.memory, conflict.address)
    }
}

/// Which bytes of a read nobody has written.
fn missing_text(read: &Unwritten) -> String {
    let count = u64::from(read.missing.count_ones());
    let (first, last) = (read.missing.trailing_zeros(), 63 - read.missing.leading_zeros());
    match count {
        _ if count == read.bytes => "which nobody has written".to_string(),
        1 => format!("of which nobody has written byte {first}"),
        _ if u64::from(last - first) + 1 == count => {
            format!("of which nobody has written bytes {first} to {last}")
        }
        _ => format!("of which nobody has written {count} bytes, the first of them byte {first}"),
    }
}

fn verb(side: &Side) -> &'static str {
    match (side.updates, side.writes, side.strength) {
        _ if side.origin == Origin::ALLOCATION => "allocated (cudaMallocAsync)",
        _ if side.releases || side.origin == Origin::RELEASE => "released",
        (true, ..) => "updated atomically",
        (_, true, Strength::Weak) => "written",
        (_, true, _) => "written (volatile or atomic)",
        (_, false, Strength::Weak) => "read",
        (_, false, _) => "read (volatile or atomic)",
    }
}

fn noun(side: &Side) -> &'static str {
    match (side.origin, side.updates, side.writes) {
        _ if side.later == Some(Async::Products) => "a product of matrices (wgmma), which reads",
        _ if side.later.is_some() && side.writes => "an asynchronous copy, which writes",
        _ if side.later.is_some() => "an asynchronous copy, which reads",
        (Origin::RELEASE, ..) => "a release (cudaFreeAsync)",
        (Origin::ALLOCATION, ..) => "its allocation (cudaMallocAsync)",
        (Origin::COPY, _, true) => "a copy within the device, which writes",
        (Origin::COPY, _, false) => "a copy within the device, which reads",
        (Origin::SET, ..) => "a set (cudaMemset)",
        (Origin::HOST, _, true) => "a copy from the host",
        (Origin::HOST, _, false) => "a copy to the host",
        (Origin::GRAPH, _, true) => "a copy from the host, by a graph",
        (Origin::GRAPH, _, false) => "a copy to the host, by a graph",
        (Origin { function: Origin::HOST_CODE, .. }, true, _) => "an atomic update by host code",
        (Origin { function: Origin::HOST_CODE, .. }, _, true) => "a store by host code",
        (Origin { function: Origin::HOST_CODE, .. }, ..) => "a load by host code",
        (_, true, _) => "an atomic update",
        (_, _, true) => "a store",
        _ => "a load",
    }
}

fn whom(kinship: Kinship, Conflict { now, before, .. }: &Conflict) -> &'static str {
    match kinship {
        _ if [Origin::ALLOCATION, Origin::RELEASE].contains(&before.origin) => "a stream",
        _ if before.origin.function == Origin::RUNTIME => "a copy or set",
        _ if before.origin.function == Origin::HOST_CODE => "host code",
        _ if before.later == Some(Async::Products) => "a product of matrices (wgmma)",
        _ if before.later.is_some() => "an asynchronous copy",
        Kinship::Warp if now.site.thread == before.site.thread => "the same thread",
        Kinship::Warp => "another lane of the warp",
        Kinship::Block => "another thread of the block",
        Kinship::Grid => "a thread of another block",
        Kinship::Below => "a thread of a grid above it",
        Kinship::Above => "a thread of a grid below it",
        Kinship::Apart => "a thread of another grid",
        Kinship::Host | Kinship::HostCode => "a thread",
    }
}

/// What would have ordered the two.
fn cure(conflict: &Conflict, kinship: Kinship) -> String {
    let (now, before) = (&conflict.now, &conflict.before);
    let strong = |side: &Side| side.strength != Strength::Weak;
    if conflict.kind == Relation::Siblings {
        return "the two grids may not be reordered or merged; the stream's order is what the program \
                leans on"
            .to_string();
    }
    let volatile = |side: &Side| side.strength == Strength::Volatile;
    let first = match kinship {
        _ if volatile(now) && volatile(before) => {
            "volatile accesses come in no order: __syncwarp() between the two would order lanes of a warp \
             (which run in any order since compute capability 7.0), __syncthreads() threads of a block"
        }
        _ if strong(now) && strong(before) => {
            "both are atomic, but one of them for its own block alone: use the form for the whole \
             device (without _block, or thread_scope_device)"
        }
        _ if [now, before].iter().any(|side| side.origin == Origin::ALLOCATION) => {
            "memory of cudaMallocAsync() is there for what follows in its stream: another stream would have to wait \
             for that one first (cudaEventRecord() behind the allocation, cudaStreamWaitEvent), or the host \
             (cudaStreamSynchronize)"
        }
        _ if now.releases && conflict.shared => {
            "the shared memory of a block ends with it: no block may end before the others of its cluster are done \
             with its memory (a last cluster.sync())"
        }
        _ if [now, before].iter().any(|side| side.origin == Origin::RELEASE) => {
            "cudaFreeAsync() belongs into a stream that has waited for all who use the memory: the one that \
             they run in, or one behind an event of theirs (cudaStreamWaitEvent)"
        }
        _ if now.releases => RELEASE_HELP,
        Kinship::Grid if conflict.shared => {
            "blocks of a cluster run in any order: cluster.sync() between the two would order them; \
             __syncthreads() is for the threads of one block"
        }
        _ if conflict.same_block && (now.origin, before.origin) == (Origin::COPY, Origin::COPY) => {
            "what a copy reads and what it writes may not overlap: copy in pieces that do not, or by a kernel that meets \
             between reading and writing"
        }
        _ if conflict.unseen == Some(Unseen::OwnGrid) => {
            "fetch in another kernel than the one that writes: one that is launched behind it, or by it after the \
             write; or read through a surface, or a pointer without __ldg and const __restrict__, behind a barrier"
        }
        _ if conflict.unseen == Some(Unseen::Unfenced) => {
            "bulk copies and wgmma go by another proxy than loads and stores, and see what was stored only \
             behind a fence.proxy.async (cuda::ptx::fence_proxy_async) of the thread that stored or of the \
             one that issues them, which comes between the two"
        }
        Kinship::Warp | Kinship::Block
            if [now, before].iter().any(|side| side.later == Some(Async::Products)) =>
        {
            "wgmma reads shared memory until its warp has waited for its group (wgmma.wait_group), and \
             other warps need a barrier behind that wait"
        }
        Kinship::Warp | Kinship::Block if now.later.is_some() || before.later.is_some() => {
            "asynchronous copies are done some time before their thread has waited for their group \
             (cp.async.wait_group, __pipeline_wait_prior) or for their barrier object, and other \
             threads need a barrier behind that wait"
        }
        Kinship::Warp => {
            "__syncwarp() between the two would order them; lanes of a warp run in any order since \
             compute capability 7.0, and shuffles and votes order no memory"
        }
        Kinship::Block => "__syncthreads() between the two would order them",
        Kinship::Grid => {
            "blocks of a grid run in any order: an atomic operation, a second kernel, or a release \
             and acquire through an atomic flag with __threadfence() on both sides would order them"
        }
        Kinship::Below if before.writes || now.writes => {
            "a launched grid sees what its launching thread did before the launch, and what barriers \
             ordered before that: the access of the upper grid would have to come before the launch, \
             by the same thread or behind a __syncthreads()"
        }
        Kinship::Below | Kinship::Above => {
            "a grid sees what its children did once they are complete: do this in a kernel launched \
             into cudaStreamTailLaunch (or after cudaDeviceSynchronize() where the device has it)"
        }
        Kinship::Apart => {
            "grids of different streams, of different blocks, or of cudaStreamFireAndForget run in any \
             order, and so do nodes of a graph without an edge: one stream, an event (cudaStreamWaitEvent), such \
             an edge, or a tail launch would order them"
        }
        Kinship::Host => {
            "the host would have to wait for the stream that the grid is in (cudaStreamSynchronize), or \
             copy in that stream"
        }
        Kinship::HostCode => {
            "a launch and an asynchronous copy do not wait: the host would have to wait for them before it touches \
             memory that they use (cudaDeviceSynchronize, cudaStreamSynchronize, cudaEventSynchronize), or to follow an \
             atomic flag (cuda::atomic_ref of thread_scope_system) that is released behind the access"
        }
    };
    if strong(now) != strong(before)
        && matches!(kinship, Kinship::Warp | Kinship::Block | Kinship::Grid)
    {
        return format!("{first}; or make both accesses atomic");
    }
    first.to_string()
}
