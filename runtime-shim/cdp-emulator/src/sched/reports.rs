//! Faults of the interpreter turned into reports with names and places.

use std::sync::Arc;

use super::Core;
use crate::config::CheckAction;
use crate::exec::fault::Fault;
use crate::memory::{AllocKind, Record, SiteRef};
use crate::report::{AllocationInfo, GridStep, Report, ReportKind, Site, SourceLine, Waiter};

impl Core {
    /// Ends the program with a report.
    pub(super) fn fail(&mut self, mut fault: Box<Fault>) {
        if fault.kind == ReportKind::NullAccess && self.heap_refusals > 0 && fault.help.is_none() {
            fault.help = Some(format!(
                "device allocations returned null ({} so far): the heap of {} bytes is used up; raise \
                 cudaLimitMallocHeapSize with cudaDeviceSetLimit, or look whether malloc() returned null",
                self.heap_refusals, self.limits.malloc_heap_bytes
            ));
        }
        if self.level > 0 {
            self.keep_report(*fault, true);
        } else {
            let report = Arc::new(self.report(&fault, false));
            self.reports.push(report.clone());
            self.fault = Some(report);
        }
        self.ready_grids.clear();
        self.ready_blocks.clear();
        self.ready_nodes.clear();
    }

    /// Notes a report that does not end the program, once for each instruction; for each function where threads part at
    /// barriers, of which a loop that is unrolled has many.
    pub(super) fn warn(&mut self, fault: &Fault) {
        let is_at_barriers = fault.kind == ReportKind::BarrierDivergence;
        let instruction = |at: u32| if is_at_barriers { 0 } else { at };
        let place =
            fault.site.map(|site| (fault.kind, site.function, instruction(site.instruction)));
        if place.is_some_and(|place| !self.warned.insert(place)) {
            return;
        }
        if self.level > 0 {
            self.keep_report(fault.clone(), false);
            return;
        }
        let action = crate::exec::action(&self.machine.checks, fault.kind);
        let report = Arc::new(self.report(fault, action != CheckAction::Tell));
        self.reports.push(report);
    }

    fn report(&self, fault: &Fault, warning: bool) -> Report {
        let allocation = fault.address.and_then(|address| {
            self.machine.memory.record_at(address).or_else(|| self.machine.memory.nearest(address))
        });
        // An address far from every allocation says nothing about the nearest one.
        let near = allocation.filter(|record| {
            let address = fault.address.unwrap_or(0);
            let end = record.base + record.size_bytes;
            address >> 60 == 0
                && address > 1 << 16
                && address.abs_diff(record.base).min(address.abs_diff(end)) < 1 << 30
        });
        Report {
            kind: fault.kind,
            message: fault.message.clone(),
            said: fault.said.clone(),
            help: fault.help.clone(),
            site: fault.site.map(|site| self.site(&site)),
            host: None,
            grid_path: fault.site.map_or_else(Vec::new, |site| self.grid_path(site.grid)),
            address: fault.address,
            allocation: near.map(|record| self.allocation(&record)),
            waiters: fault
                .waiters
                .iter()
                .map(|w| Waiter { site: self.site(&w.site), lanes: w.lanes, what: w.what.clone() })
                .collect(),
            related: Vec::new(),
            count: 1,
            warning,
        }
    }

    pub(super) fn kernel_name(&self, kernel: u32) -> String {
        self.program.kernels.get(kernel as usize).map_or_else(String::new, |k| k.info.name.clone())
    }

    /// Source line of an instruction.
    fn source_line(&self, site: &SiteRef) -> (String, String, u32, Option<SourceLine>) {
        let Some(function) = self.machine.functions.get(site.function as usize) else {
            return (String::new(), String::new(), 0, None);
        };
        let inst = function.code.get(site.instruction as usize);
        let origin = inst.map_or(0, |inst| inst.origin as usize);
        let (line, location) = function.lines.get(origin).copied().unwrap_or((0, 0));
        let source = location
            .checked_sub(1)
            .and_then(|n| function.locations.get(n as usize))
            .map(|lines| lines.written.clone());
        let unit = self.program.units.get(function.unit as usize).cloned().unwrap_or_default();
        (function.name.clone(), unit, line, source)
    }

    /// Source line of a launch: the `<<<>>>` and not the helper it was inlined from.
    pub(super) fn launch_line(&self, site: &SiteRef) -> Option<SourceLine> {
        let function = self.machine.functions.get(site.function as usize)?;
        let origin = function.code.get(site.instruction as usize)?.origin as usize;
        let number = function.lines.get(origin)?.1.checked_sub(1)?;
        function.locations.get(number as usize).map(|lines| lines.outermost.clone())
    }

    /// A place with names.
    pub(super) fn site(&self, site: &SiteRef) -> Site {
        let (function, ptx_file, ptx_line, source) = self.source_line(site);
        let (block, thread) = match self.lineage.get(&site.grid) {
            Some(lineage) => lineage.indices(site),
            None => ([site.block as u32, 0, 0], [site.thread, 0, 0]),
        };
        Site {
            kernel: self.kernel_name(site.kernel),
            grid: site.grid,
            block,
            thread,
            function,
            ptx_file,
            ptx_line,
            source,
        }
    }

    /// From the host to this grid.
    pub(super) fn grid_path(&self, serial: u64) -> Vec<GridStep> {
        let mut steps = Vec::new();
        let mut at = serial;
        while let Some(lineage) = self.lineage.get(&at) {
            let launcher = lineage.launched_at.map(|site| self.site(&site));
            steps.push(GridStep {
                kernel: self.kernel_name(lineage.kernel),
                grid: at,
                launched_by: launcher.as_ref().map(|site| (site.block, site.thread)),
                launched_at: lineage.launched_at.and_then(|site| self.launch_line(&site)),
            });
            if lineage.parent == 0 {
                break;
            }
            at = lineage.parent;
        }
        steps.reverse();
        steps
    }

    pub(super) fn allocation(&self, record: &Record) -> AllocationInfo {
        let what = match &record.kind {
            AllocKind::Host => "cudaMalloc of the host".to_string(),
            AllocKind::Managed => "managed or pinned memory of the host".to_string(),
            AllocKind::DeviceHeap => "device malloc".to_string(),
            AllocKind::ParameterBuffer => "parameter buffer of a device launch".to_string(),
            AllocKind::Symbol(name) => format!("variable `{name}`"),
            AllocKind::RuntimeText => "text of the device runtime".to_string(),
        };
        AllocationInfo {
            base: record.base,
            size_bytes: record.size_bytes,
            what,
            allocated_at: record.allocated_at.map(|site| self.site(&site)),
            freed: !record.live,
            freed_at: record.freed_at.map(|site| self.site(&site)),
        }
    }
}
