//! What is known of a kernel from its functions: whom it can reach, its stack and shared memory, what
//! keeps it from being launched.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use cdp_ptx as ptx;
use cdp_ptx::FunctionKind;

use super::{Kernel, Loader, place};
use crate::api::{KernelInfo, ModuleId, ParamInfo};
use crate::code::{Function, NONE};
use crate::decode;
use crate::error::Error;
use crate::exec::{SharedLayout, SharedPlace};

/// Offset and size in bytes of every parameter of a kernel in its parameter space, and the
/// total size: each parameter at the next multiple of its alignment.
pub(crate) fn param_layout(function: &ptx::Function) -> (Vec<(u64, u64)>, u64) {
    let mut end = 0u64;
    let layout = function.params.iter().map(|param| {
        let offset = end.next_multiple_of(u64::from(param.align_bytes.max(1)));
        end = offset + param.size_bytes();
        (offset, param.size_bytes())
    });
    (layout.collect(), end)
}

impl Loader<'_> {
    /// Functions that a function can call.
    fn callees(&self, from: u32) -> Vec<u32> {
        let function = &self.machine.functions[from as usize];
        let mut callees = function.callees.clone();
        if function.calls_indirect {
            // Any function of the module could be behind the pointer.
            callees.extend(self.defined.iter().map(|d| d.2));
        }
        callees.retain(|&callee| !self.machine.functions[callee as usize].is_kernel);
        callees
    }

    /// Functions that a kernel can reach, itself included.
    fn reachable(&self, kernel: u32) -> Vec<u32> {
        walk(kernel, |function| self.callees(function))
    }

    /// A kernel and the functions that it comes to by calls of their names.
    fn called_by_name(&self, kernel: u32) -> Vec<&Function> {
        let functions = &self.machine.functions;
        let order = walk(kernel, |function| functions[function as usize].callees.clone());
        order.iter().map(|&number| &*functions[number as usize]).collect()
    }

    /// Bytes of stack that the calls of a kernel need: those of the deepest way down the call graph.
    /// Without recursion that is all there can be, and the driver gives as much whatever
    /// `cudaLimitStackSize` says; a function that calls itself is counted once.
    fn stack_need(&self, kernel: u32) -> u64 {
        let own = |f: u32| {
            u64::from(
                self.machine.functions[f as usize].stack_bytes + crate::exec::calls::CALL_BYTES,
            )
        };
        // `None` while a function's callees are being looked at.
        let mut below: HashMap<u32, Option<u64>> = HashMap::from([(kernel, None)]);
        let mut way = vec![(kernel, self.callees(kernel), 0u64)];
        while let Some((function, callees, deepest)) = way.last_mut() {
            match callees.pop() {
                Some(callee) => match below.get(&callee) {
                    Some(known) => *deepest = (*deepest).max(own(callee) + known.unwrap_or(0)),
                    None => {
                        below.insert(callee, None);
                        way.push((callee, self.callees(callee), 0));
                    }
                },
                None => {
                    let (function, need) = (*function, *deepest);
                    below.insert(function, Some(need));
                    way.pop();
                    if let Some((_, _, deepest)) = way.last_mut() {
                        *deepest = (*deepest).max(own(function) + need);
                    }
                }
            }
        }
        below.get(&kernel).copied().flatten().unwrap_or(0)
    }

    pub(super) fn make_kernels(&mut self) -> Result<(), Error> {
        let module = ModuleId(self.program.modules.len() as u32);
        for (u, id, number) in self.defined.clone() {
            let source = &self.units[u].module.functions[id.index()];
            if source.kind != FunctionKind::Kernel {
                continue;
            }
            let reachable = self.reachable(number);
            let (offsets, shared_bytes, shared_gaps) = self.shared_layout(&reachable);
            self.fix_shared_constants(number, &offsets);
            let independent = reachable.iter().all(|&f| {
                self.machine.functions[f as usize].independent
                    && !self.machine.functions[f as usize].calls_indirect
            });
            let launches = reachable.iter().any(|&f| self.machine.functions[f as usize].launches);
            let uses_runtime =
                reachable.iter().any(|&f| self.machine.functions[f as usize].uses_runtime);
            let info = self.kernel_info(u, id, number, module, shared_bytes);
            let reserved = offsets.first().copied().filter(|&at| at != NONE);
            let reserved_shared =
                reserved.map_or(0..0, |at| at..at + decode::RESERVED_SHARED_BYTES as u32);
            let limits = &self.units[u].module.functions[id.index()].limits;
            let kernel = self.program.kernels.len() as u32;
            self.program.kernel_of_function.insert(number, kernel);
            self.module.kernels.push(kernel);
            let places = self.shared_places(&offsets);
            self.machine.shared.push(SharedLayout { offsets: offsets.into(), places });
            self.program.kernels.push(Kernel {
                most_cluster_blocks: limits.max_cluster_rank,
                large_clusters: false,
                info,
                function: number,
                independent,
                launches,
                uses_runtime,
                apart: false,
                stack_need: self.stack_need(number),
                reserved_shared,
                shared_gaps: shared_gaps as u32,
                refusal: self.refusal(number),
                max_dynamic_bytes: None,
            });
        }
        self.refuse_if_nothing_runs()
    }

    /// Finds out which kernels may run on any host thread with all that they launch. Which kernel a launch
    /// names is not followed: it may be any whose address some code or variable has.
    pub(super) fn find_apart(&mut self) {
        let functions = &self.machine.functions;
        self.program.looks |= functions.iter().any(|f| f.looks);
        self.program.named.extend(functions.iter().flat_map(|f| f.named.iter().copied()));
        let program = &mut *self.program;
        let is_independent = |number: &u32| match program.kernel_of_function.get(number) {
            Some(&kernel) => program.kernels[kernel as usize].independent,
            None => true,
        };
        let all = program.named.iter().all(is_independent);
        for kernel in &mut program.kernels {
            kernel.apart = kernel.independent && (all || !kernel.launches);
        }
    }

    /// What keeps a kernel from being launched: an instruction in it, or in a function that it calls
    /// by name, that the device does not run. Through pointers it is found when it is reached.
    fn refusal(&self, kernel: u32) -> Option<Error> {
        self.called_by_name(kernel).into_iter().find_map(|function| {
            let (line, message) = function.refusal.as_ref()?;
            let place = place(&self.program.units[function.unit as usize], *line);
            Some(Error::Unsupported { place, message: message.clone() })
        })
    }

    /// A module none of whose kernels can be launched is refused as a whole.
    fn refuse_if_nothing_runs(&self) -> Result<(), Error> {
        let kernels = self.module.kernels.iter().map(|&k| &self.program.kernels[k as usize]);
        let mut refusals = kernels.map(|kernel| kernel.refusal.clone());
        match refusals.next().flatten() {
            Some(first) if refusals.all(|refusal| refusal.is_some()) => Err(first),
            _ => Ok(()),
        }
    }

    /// Offsets of the shared variables that the functions use, their size in all, and the bytes of
    /// gaps in it. Variables without a size begin where the others end.
    fn shared_layout(&self, functions: &[u32]) -> (Vec<u32>, u64, u64) {
        let mut offsets = vec![NONE; self.shared.len()];
        let mut used: Vec<u32> = functions
            .iter()
            .flat_map(|&f| self.machine.functions[f as usize].shared_used.iter().copied())
            .collect();
        used.sort_unstable();
        used.dedup();
        // `dense`: where things would end without gaps, which is what programs are told.
        let (mut end, mut dense) = (0u64, 0u64);
        let mut tail_align = 1u64;
        for &index in &used {
            let variable = &self.shared[index as usize];
            if variable.unsized_tail {
                tail_align = tail_align.max(variable.align_bytes).max(16);
                continue;
            }
            let at = end.next_multiple_of(variable.align_bytes);
            offsets[index as usize] = at as u32;
            end = at + variable.size_bytes;
            dense = dense.next_multiple_of(variable.align_bytes) + variable.size_bytes;
            if self.machine.checks.bounds {
                end += crate::check::bounds::gap(variable.size_bytes);
            }
        }
        let tail = end.next_multiple_of(tail_align);
        let dense = if tail_align > 1 { dense.next_multiple_of(tail_align) } else { dense };
        for &index in &used {
            if self.shared[index as usize].unsized_tail {
                offsets[index as usize] = tail as u32;
            }
        }
        (offsets, dense, if tail_align > 1 { tail } else { end } - dense)
    }

    fn shared_places(&self, offsets: &[u32]) -> Box<[SharedPlace]> {
        let known = self.shared.iter().zip(offsets).filter(|(_, offset)| **offset != NONE);
        known
            .map(|(variable, &offset)| SharedPlace {
                name: variable.name.clone(),
                offset,
                size_bytes: if variable.unsized_tail { u64::MAX } else { variable.size_bytes },
            })
            .collect()
    }

    fn fix_shared_constants(&mut self, number: u32, offsets: &[u32]) {
        let function: &mut Function = Arc::make_mut(&mut self.machine.functions[number as usize]);
        for &(constant, variable, added) in &function.shared_consts {
            let base = i64::from(offsets[variable as usize]);
            let entry = &mut function.consts[constant as usize];
            entry.value = (base + added) as u64;
            if !entry.wide {
                entry.value &= 0xffff_ffff;
            }
        }
    }

    fn kernel_info(
        &self,
        u: usize,
        id: ptx::FunctionId,
        number: u32,
        module: ModuleId,
        shared_bytes: u64,
    ) -> KernelInfo {
        let unit = &self.units[u];
        let source = &unit.module.functions[id.index()];
        let (layout, param_bytes) = param_layout(source);
        let params =
            source.params.iter().zip(&layout).map(|(param, &(offset_bytes, size_bytes))| {
                ParamInfo {
                    name: param.name.clone(),
                    offset_bytes,
                    size_bytes,
                    align_bytes: u64::from(param.align_bytes.max(1)),
                    ty: param.ty,
                }
            });
        let registers = source
            .body
            .as_ref()
            .map_or(0, |body| body.registers.iter().map(|r| r.ty.bits().div_ceil(32)).sum());
        let threads = |dims: [u32; 3]| dims.iter().fold(1u32, |n, &d| n.saturating_mul(d.max(1)));
        let limit = source.limits.required_threads.or(source.limits.max_threads).map(threads);
        let (major, minor) = unit.module.version;
        KernelInfo {
            name: source.name.clone(),
            module,
            params: params.collect(),
            param_bytes,
            shared_bytes,
            local_bytes: u64::from(self.machine.functions[number as usize].stack_bytes),
            const_bytes: self.module.const_bytes,
            registers,
            max_threads: limit.unwrap_or(1024).min(1024),
            required_threads: source.limits.required_threads,
            cluster: source.limits.required_cluster_blocks.map(|c| c.map(|n| n.max(1))),
            cluster_must_be_set: source.limits.explicit_cluster,
            ptx_version: major * 10 + minor,
            target_sm: unit.module.target.sm,
            calls_runtime: self
                .called_by_name(number)
                .iter()
                .any(|function| function.calls_runtime),
        }
    }
}

/// What one function leads to, itself first, each once.
fn walk(from: u32, callees: impl Fn(u32) -> Vec<u32>) -> Vec<u32> {
    let mut order = vec![from];
    let mut seen = HashSet::from([from]);
    let mut next = 0;
    while next < order.len() {
        let callees = callees(order[next]);
        next += 1;
        order.extend(callees.into_iter().filter(|&callee| seen.insert(callee)));
    }
    order
}
