//! Loading: several PTX texts become one module with every name resolved, variables placed in
//! memory, functions decoded and kernels measured.
//!
//! Follows the rules of a device linker: `.visible` and `.weak` names are shared by the texts of
//! one module, others are private; a strong definition wins over weak ones; `.common` variables are
//! merged. Names that nothing defines are errors only if code uses them, and names of the device
//! runtime are provided by the device.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use cdp_ptx as ptx;
use cdp_ptx::{FunctionKind, Linkage, Space, Symbol};

use crate::api::{KernelInfo, ModuleId, ParamInfo, Source, Variable};
use crate::code::{Function, NONE};
use crate::decode::{self, Target, UnitLinks};
use crate::error::{Error, PtxPlace};
use crate::exec::{Machine, SharedPlace};
use crate::memory::AllocKind;
use crate::memory::space::function_address;
use crate::sched::DEFAULT_SHARED_BYTES;
use crate::services::Service;

/// A kernel, ready to launch.
#[derive(Debug)]
pub struct Kernel {
    /// What callers may know.
    pub info: KernelInfo,
    /// Number of its function.
    pub function: u32,
    /// Offset of each shared variable of its module ([`NONE`] if not reachable).
    pub shared_offsets: Arc<[u32]>,
    /// Its shared variables by place, for reports.
    pub shared_places: Arc<[SharedPlace]>,
    /// Its blocks cannot see each other's progress.
    pub independent: bool,
    /// It launches grids.
    pub launches: bool,
    /// Nor can any grid that it might launch, so that they may run on any host thread.
    pub apart: bool,
    /// The system's part of shared memory, if its code looks at it.
    pub reserved_shared: std::ops::Range<u32>,
    /// Bytes between its shared variables that belong to nobody, for the check of bounds.
    pub shared_gaps: u32,
    /// The first instruction that it could come to and that the device does not run.
    pub refusal: Option<Error>,
    /// Bytes of stack that its calls need, each function counted once on a way down.
    pub stack_need: u64,
    /// `.maxclusterrank`
    pub most_cluster_blocks: Option<u32>,
    /// `cudaFuncAttributeNonPortableClusterSizeAllowed`
    pub large_clusters: bool,
    /// `cudaFuncAttributeMaxDynamicSharedMemorySize`, if the host set it.
    pub max_dynamic_bytes: Option<u32>,
}

impl Kernel {
    /// Most bytes of dynamic shared memory that a launch may ask for.
    pub fn most_dynamic_bytes(&self) -> u64 {
        match self.max_dynamic_bytes {
            Some(bytes) => u64::from(bytes),
            None => {
                let reserved = u64::from(self.reserved_shared.end - self.reserved_shared.start);
                DEFAULT_SHARED_BYTES.saturating_sub(self.info.shared_bytes - reserved)
            }
        }
    }
}

/// A loaded module.
#[derive(Debug, Default)]
pub struct Module {
    /// Kernels by number of the device.
    pub kernels: Vec<u32>,
    /// Variables by name.
    pub variables: Vec<(String, Variable)>,
    /// Addresses to release when the module goes.
    pub allocations: Vec<u64>,
    /// Bytes of constant memory.
    pub const_bytes: u64,
}

/// Everything loaded so far.
#[derive(Debug, Default)]
pub struct Program {
    /// Names of the PTX texts.
    pub units: Vec<String>,
    /// Kernels by [`crate::KernelId`].
    pub kernels: Vec<Kernel>,
    /// Kernel number by function number.
    pub kernel_of_function: HashMap<u32, u32>,
    /// Functions whose address some code or variable has.
    pub named: HashSet<u32>,
    /// Modules by [`ModuleId`]; `None` once unloaded.
    pub modules: Vec<Option<Module>>,
}

/// A shared variable of a module.
struct SharedVariable {
    name: String,
    size_bytes: u64,
    align_bytes: u64,
    unsized_tail: bool,
}

/// A text with its parse.
struct Unit {
    name: String,
    module: ptx::Module,
    links: UnitLinks,
}

/// A name with the text and variable that define it.
type Definition = (String, (usize, usize));

/// State of one load.
struct Linker<'a> {
    machine: &'a mut Machine,
    program: &'a mut Program,
    units: Vec<Unit>,
    shared: Vec<SharedVariable>,
    module: Module,
    /// Functions defined here, in order: unit, function, number.
    defined: Vec<(usize, ptx::FunctionId, u32)>,
    /// Place of every initialiser: unit, variable, address.
    initialized: Vec<(usize, ptx::Variable, u64)>,
}

/// The name in the source of a variable: `tile` for `_ZZ7reversePiE4tile`, the variable of a function
/// (Itanium C++ ABI, "Scope Encoding"); the symbol itself if it is not mangled so.
fn source_name(symbol: &str) -> String {
    let name = || {
        let scope = symbol.strip_prefix("_ZZ")?;
        let starts = scope.match_indices('E').map(|(at, _)| &scope[at + 1..]);
        let mut names = starts.filter_map(|rest| {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let length: usize = rest[..digits].parse().ok()?;
            let name = rest.get(digits..digits.checked_add(length)?)?;
            // What may follow tells variables of one name apart.
            let suffix = &rest[digits + length..];
            (length > 0 && (suffix.is_empty() || suffix.starts_with('_'))).then_some(name)
        });
        names.next()
    };
    name().unwrap_or(symbol).to_string()
}

fn place(unit: &str, line: u32) -> PtxPlace {
    PtxPlace { file: unit.to_string(), line, column: 0 }
}

/// Loads and links texts as one module.
pub fn load(
    machine: &mut Machine,
    program: &mut Program,
    sources: &[Source<'_>],
) -> Result<ModuleId, Error> {
    let mut units = Vec::with_capacity(sources.len());
    for source in sources {
        let module = ptx::parse_lenient(source.text).map_err(|error| Error::Parse {
            place: PtxPlace {
                file: source.name.to_string(),
                line: error.line,
                column: error.column,
            },
            message: error.message,
        })?;
        if module.address_bits != 64 {
            let message = "32-bit addresses; the CPU device, like today's CUDA drivers, runs 64-bit code only: \
                 compile with --address-size 64";
            return Err(Error::Incompatible {
                place: place(source.name, 1),
                message: message.to_string(),
            });
        }
        units.push(Unit { name: source.name.to_string(), module, links: UnitLinks::default() });
    }
    let functions_before = machine.functions.len();
    let mut linker = Linker {
        machine,
        program,
        units,
        shared: Vec::new(),
        module: Module::default(),
        defined: Vec::new(),
        initialized: Vec::new(),
    };
    let result = linker.link();
    match result {
        Ok(()) => {
            let module = std::mem::take(&mut linker.module);
            program.modules.push(Some(module));
            Ok(ModuleId(program.modules.len() as u32 - 1))
        }
        Err(error) => {
            for address in std::mem::take(&mut linker.module.allocations) {
                // Just allocated, so this cannot fail.
                let _ = machine.memory.free(address, None, |_| true);
            }
            machine.functions.truncate(functions_before);
            program.kernels.retain(|kernel| (kernel.function as usize) < functions_before);
            program
                .kernel_of_function
                .retain(|&function, _| (function as usize) < functions_before);
            Err(error)
        }
    }
}

impl Linker<'_> {
    fn link(&mut self) -> Result<(), Error> {
        self.resolve_functions()?;
        self.reserve_shared();
        self.resolve_variables()?;
        self.place_function_statics()?;
        self.write_initializers()?;
        let unit_base = self.program.units.len() as u32;
        self.program.units.extend(self.units.iter().map(|unit| unit.name.clone()));
        self.decode_functions(unit_base)?;
        self.make_kernels()?;
        self.find_apart();
        Ok(())
    }

    /// The system's part of shared memory, first of the shared variables.
    fn reserve_shared(&mut self) {
        for unit in &mut self.units {
            unit.links.reserved_shared = self.shared.len() as u32;
            unit.links.check_divisions = self.machine.checks.divisions;
            unit.links.check_bounds = self.machine.checks.bounds;
            unit.links.check_init = self.machine.checks.uninitialized;
        }
        self.shared.push(SharedVariable {
            name: "the system's part".to_string(),
            size_bytes: decode::RESERVED_SHARED_BYTES,
            align_bytes: 16,
            unsized_tail: false,
        });
    }

    // Functions.

    fn resolve_functions(&mut self) -> Result<(), Error> {
        let base = self.machine.functions.len() as u32;
        let mut global: HashMap<String, (usize, ptx::FunctionId, u32)> = HashMap::new();
        for (u, unit) in self.units.iter_mut().enumerate() {
            unit.links.functions = vec![None; unit.module.functions.len()];
            for (f, function) in unit.module.functions.iter().enumerate() {
                if function.body.is_none() {
                    continue;
                }
                let id = ptx::FunctionId(f as u32);
                let shared_name = function.linkage != Linkage::Internal;
                if function.linkage == Linkage::Weak
                    && let Some(&(_, _, number)) = global.get(&function.name)
                {
                    unit.links.functions[f] = Some(Target::Function(number));
                    continue;
                }
                let number = base + self.defined.len() as u32;
                unit.links.functions[f] = Some(Target::Function(number));
                self.defined.push((u, id, number));
                if shared_name {
                    global.entry(function.name.clone()).or_insert((u, id, number));
                }
            }
        }
        self.check_duplicates(&mut global)?;
        self.bind_declarations(&global)
    }

    /// Two strong definitions are an error; a strong one takes the place of a weak one.
    fn check_duplicates(
        &self,
        global: &mut HashMap<String, (usize, ptx::FunctionId, u32)>,
    ) -> Result<(), Error> {
        for &(u, id, number) in &self.defined {
            let function = &self.units[u].module.functions[id.index()];
            if matches!(function.linkage, Linkage::Internal | Linkage::Weak) {
                continue;
            }
            let Some(entry) = global.get_mut(&function.name) else { continue };
            if entry.2 == number {
                continue;
            }
            let other = &self.units[entry.0].module.functions[entry.1.index()];
            if other.linkage == Linkage::Weak {
                *entry = (u, id, number);
                continue;
            }
            return Err(Error::DuplicateSymbol {
                place: place(&self.units[u].name, function.line.0),
                name: function.name.clone(),
                other: place(&self.units[entry.0].name, other.line.0),
            });
        }
        Ok(())
    }

    fn bind_declarations(
        &mut self,
        global: &HashMap<String, (usize, ptx::FunctionId, u32)>,
    ) -> Result<(), Error> {
        for u in 0..self.units.len() {
            for f in 0..self.units[u].module.functions.len() {
                let module = &self.units[u].module;
                let id = module.resolve_alias(ptx::FunctionId(f as u32));
                let function = &module.functions[id.index()];
                if function.linkage == Linkage::Weak
                    && let Some(found) = global.get(&function.name)
                {
                    let target = Target::Function(found.2);
                    self.units[u].links.functions[f] = Some(target);
                    continue;
                }
                if let Some(target) = self.units[u].links.functions[id.index()] {
                    self.units[u].links.functions[f] = Some(target);
                    continue;
                }
                let target = match global.get(&function.name) {
                    Some(&(other, other_id, number)) => {
                        let definition = &self.units[other].module.functions[other_id.index()];
                        self.check_same_shape(u, function, definition)?;
                        Some(Target::Function(number))
                    }
                    None => match Service::from_name(&function.name) {
                        Some(service) => {
                            self.check_service(u, function, service)?;
                            Some(Target::Service(service))
                        }
                        None => None,
                    },
                };
                self.units[u].links.functions[f] = target;
            }
        }
        self.check_uses()
    }

    fn check_same_shape(
        &self,
        u: usize,
        declared: &ptx::Function,
        defined: &ptx::Function,
    ) -> Result<(), Error> {
        let sizes =
            |f: &ptx::Function| f.params.iter().map(ptx::Param::size_bytes).collect::<Vec<_>>();
        let message = if declared.kind != defined.kind {
            match defined.kind {
                FunctionKind::Kernel => "declared as a function, defined as a kernel".to_string(),
                FunctionKind::Func => "declared as a kernel, defined as a function".to_string(),
            }
        } else if sizes(declared) != sizes(defined) {
            format!(
                "declared with parameters of {:?} bytes, defined with {:?}",
                sizes(declared),
                sizes(defined)
            )
        } else {
            return Ok(());
        };
        let place = place(&self.units[u].name, declared.line.0);
        Err(Error::SymbolMismatch { place, name: declared.name.clone(), message })
    }

    fn check_service(
        &self,
        u: usize,
        declared: &ptx::Function,
        service: Service,
    ) -> Result<(), Error> {
        let sizes: Vec<u64> = declared.params.iter().map(ptx::Param::size_bytes).collect();
        let wanted: Vec<u64> = service.parameter_sizes().iter().map(|&n| u64::from(n)).collect();
        if sizes == wanted && declared.kind == FunctionKind::Func {
            return Ok(());
        }
        Err(Error::SymbolMismatch {
            place: place(&self.units[u].name, declared.line.0),
            name: declared.name.clone(),
            message: format!(
                "declared with parameters of {sizes:?} bytes; the device runtime's has {wanted:?}"
            ),
        })
    }

    /// Every function that code names must be defined.
    fn check_uses(&self) -> Result<(), Error> {
        for unit in &self.units {
            for function in &unit.module.functions {
                let Some(body) = &function.body else { continue };
                for instruction in &body.instructions {
                    if let ptx::Inst::Call { target: ptx::inst::CallTarget::Direct(id), .. } =
                        &instruction.inst
                        && unit.links.functions[id.index()].is_none()
                    {
                        return Err(Error::UndefinedSymbol {
                            place: place(&unit.name, instruction.line.0),
                            name: unit.module.functions[id.index()].name.clone(),
                        });
                    }
                }
            }
        }
        Ok(())
    }

    // Variables.

    fn resolve_variables(&mut self) -> Result<(), Error> {
        let mut global: HashMap<String, (usize, usize)> = HashMap::new();
        for (u, unit) in self.units.iter_mut().enumerate() {
            unit.links.variables = vec![None; unit.module.variables.len()];
            for (v, variable) in unit.module.variables.iter().enumerate() {
                let defines = !matches!(variable.linkage, Linkage::Internal | Linkage::Extern);
                if !defines {
                    continue;
                }
                match global.get(&variable.name) {
                    None => {
                        global.insert(variable.name.clone(), (u, v));
                    }
                    Some(_) if variable.linkage == Linkage::Weak => {}
                    Some(&(u2, v2)) if u2 != u || v2 != v => {
                        global.insert(format!("{}\0{u}", variable.name), (u, v));
                    }
                    Some(_) => {}
                }
            }
        }
        let winners = self.pick_definitions(&global)?;
        for (_, (u, v)) in &winners {
            let variable = self.units[*u].module.variables[*v].clone();
            let target = self.place_variable(*u, &variable)?;
            self.units[*u].links.variables[*v] = Some(target);
        }
        self.bind_variables(&winners)
    }

    /// One definition a name: the strong one, the largest `.common`, or the first weak one.
    fn pick_definitions(
        &self,
        global: &HashMap<String, (usize, usize)>,
    ) -> Result<Vec<Definition>, Error> {
        let mut winners: HashMap<String, (usize, usize)> = HashMap::new();
        let mut all: Vec<(usize, usize)> = global.values().copied().collect();
        all.sort_unstable();
        for (u, v) in all {
            let variable = &self.units[u].module.variables[v];
            let Some(&(u2, v2)) = winners.get(&variable.name) else {
                winners.insert(variable.name.clone(), (u, v));
                continue;
            };
            let other = &self.units[u2].module.variables[v2];
            match (variable.linkage, other.linkage) {
                (Linkage::Common, Linkage::Common) => {
                    if variable.size_bytes() > other.size_bytes() {
                        winners.insert(variable.name.clone(), (u, v));
                    }
                }
                (_, Linkage::Weak | Linkage::Common) => {
                    winners.insert(variable.name.clone(), (u, v));
                }
                (Linkage::Weak | Linkage::Common, _) => {}
                _ => {
                    return Err(Error::DuplicateSymbol {
                        place: place(&self.units[u].name, variable.line.0),
                        name: variable.name.clone(),
                        other: place(&self.units[u2].name, other.line.0),
                    });
                }
            }
        }
        let mut winners: Vec<_> = winners.into_iter().collect();
        winners.sort_by_key(|(_, at)| *at);
        Ok(winners)
    }

    fn bind_variables(&mut self, winners: &[Definition]) -> Result<(), Error> {
        let by_name: HashMap<&str, (usize, usize)> =
            winners.iter().map(|(n, at)| (n.as_str(), *at)).collect();
        let mut dynamic: HashMap<String, Target> = HashMap::new();
        for u in 0..self.units.len() {
            for v in 0..self.units[u].module.variables.len() {
                if self.units[u].links.variables[v].is_some() {
                    continue;
                }
                let variable = self.units[u].module.variables[v].clone();
                let target = match (variable.linkage, by_name.get(variable.name.as_str())) {
                    (Linkage::Internal, _) => self.place_variable(u, &variable)?,
                    (_, Some(&(u2, v2))) => match self.units[u2].links.variables[v2] {
                        Some(target) => target,
                        None => continue,
                    },
                    (_, None) if variable.space == Space::Shared => {
                        match dynamic.get(&variable.name) {
                            Some(&target) => target,
                            None => {
                                let target = self.place_variable(u, &variable)?;
                                dynamic.insert(variable.name.clone(), target);
                                target
                            }
                        }
                    }
                    (_, None) => {
                        return Err(Error::UndefinedSymbol {
                            place: place(&self.units[u].name, variable.line.0),
                            name: variable.name.clone(),
                        });
                    }
                };
                self.units[u].links.variables[v] = Some(target);
            }
        }
        Ok(())
    }

    fn place_variable(&mut self, u: usize, variable: &ptx::Variable) -> Result<Target, Error> {
        match variable.space {
            Space::Shared | Space::SharedCluster => {
                self.shared.push(SharedVariable {
                    name: source_name(&variable.name),
                    size_bytes: variable.size_bytes(),
                    align_bytes: u64::from(variable.align_bytes.max(1)),
                    unsized_tail: variable.is_unsized(),
                });
                Ok(Target::Shared(self.shared.len() as u32 - 1))
            }
            Space::Global | Space::Const | Space::Generic => self.place_in_memory(u, variable),
            Space::Local | Space::Param | Space::ParamEntry | Space::ParamFunc => {
                Err(Error::Unsupported {
                    place: place(&self.units[u].name, variable.line.0),
                    message: format!(
                        "variable `{}` of space .{} at module scope",
                        variable.name, variable.space
                    ),
                })
            }
        }
    }

    fn place_in_memory(&mut self, u: usize, variable: &ptx::Variable) -> Result<Target, Error> {
        let size_bytes = variable.size_bytes();
        let constant = variable.space == Space::Const;
        let writable = !constant && !is_literal(&variable.name);
        let kind = AllocKind::Symbol(variable.name.clone());
        // Managed variables get pages of their own, as memory that the host uses does.
        let align_bytes =
            if variable.managed { 4096 } else { u64::from(variable.align_bytes.max(16)) };
        let free_bytes = self.machine.memory.limit_bytes() - self.machine.memory.live_bytes();
        let address = self
            .machine
            .memory
            .allocate(size_bytes.max(1), align_bytes, kind, writable, None)
            .ok_or(Error::OutOfMemory { asked_bytes: size_bytes, free_bytes })?;
        self.module.allocations.push(address);
        if constant {
            self.module.const_bytes += size_bytes;
        }
        let entry = Variable { address, size_bytes, constant, managed: variable.managed };
        self.module.variables.push((variable.name.clone(), entry));
        if variable.init.is_some() {
            self.initialized.push((u, variable.clone(), address));
        }
        Ok(Target::Memory(address))
    }

    /// Variables declared inside functions that live as long as the module.
    fn place_function_statics(&mut self) -> Result<(), Error> {
        for u in 0..self.units.len() {
            for f in 0..self.units[u].module.functions.len() {
                let Some(body) = self.units[u].module.functions[f].body.as_ref() else { continue };
                let statics: Vec<(u32, ptx::Variable)> = body
                    .variables
                    .iter()
                    .enumerate()
                    .filter(|(_, v)| {
                        matches!(
                            v.space,
                            Space::Shared | Space::SharedCluster | Space::Global | Space::Const
                        )
                    })
                    .map(|(i, v)| (i as u32, v.clone()))
                    .collect();
                for (index, variable) in statics {
                    let target = self.place_variable(u, &variable)?;
                    self.units[u].links.locals.insert((f as u32, index), target);
                }
            }
        }
        Ok(())
    }

    fn write_initializers(&mut self) -> Result<(), Error> {
        for (u, variable, address) in std::mem::take(&mut self.initialized) {
            let Some(init) = &variable.init else { continue };
            let size = variable.size_bytes();
            let length = (init.bytes.len() as u64).min(size) as usize;
            // SAFETY: the variable was allocated with `size` bytes.
            unsafe { (address as *mut u8).copy_from_nonoverlapping(init.bytes.as_ptr(), length) };
            for relocation in &init.relocations {
                let links = &self.units[u].links;
                let target = match relocation.symbol {
                    Symbol::Function(id) => links.functions.get(id.index()).copied().flatten(),
                    Symbol::Global(id) => links.variables.get(id.index()).copied().flatten(),
                    Symbol::Local(_) | Symbol::Param(_) | Symbol::Return(_) => None,
                };
                let base = match target {
                    Some(Target::Memory(at)) => at,
                    Some(Target::Function(number)) => {
                        self.program.named.insert(number);
                        function_address(number)
                    }
                    Some(Target::Shared(_) | Target::Service(_)) | None => {
                        return Err(Error::Unsupported {
                            place: place(&self.units[u].name, variable.line.0),
                            message: format!(
                                "the initialiser of `{}` has an address that is not known when loading",
                                variable.name
                            ),
                        });
                    }
                };
                let value = base.wrapping_add(relocation.addend as u64) >> relocation.shift_bits;
                let bytes = value.to_le_bytes();
                let width = (relocation.size_bytes as usize).min(8);
                if relocation.offset_bytes + width as u64 <= size {
                    let at = (address + relocation.offset_bytes) as *mut u8;
                    // SAFETY: in the variable, as just checked.
                    unsafe { at.copy_from_nonoverlapping(bytes.as_ptr(), width) };
                }
            }
        }
        Ok(())
    }

    // Code.

    fn decode_functions(&mut self, unit_base: u32) -> Result<(), Error> {
        for &(u, id, number) in &self.defined {
            let unit = &self.units[u];
            let function = decode::decode(&unit.module, id, unit_base + u as u32, &unit.links)
                .map_err(|refusal| Error::Unsupported {
                    place: place(&unit.name, refusal.line),
                    message: refusal.message,
                })?;
            debug_assert_eq!(number as usize, self.machine.functions.len());
            self.machine.functions.push(Arc::new(function));
        }
        Ok(())
    }

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
    fn reachable(&self, from: u32) -> Vec<u32> {
        let mut order = vec![from];
        let mut seen = HashSet::from([from]);
        let mut next = 0;
        while next < order.len() {
            let callees = self.callees(order[next]);
            next += 1;
            order.extend(callees.into_iter().filter(|&callee| seen.insert(callee)));
        }
        order
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

    fn make_kernels(&mut self) -> Result<(), Error> {
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
            let info = self.kernel_info(u, id, number, module, shared_bytes);
            let reserved = offsets.first().copied().filter(|&at| at != NONE);
            let reserved_shared =
                reserved.map_or(0..0, |at| at..at + decode::RESERVED_SHARED_BYTES as u32);
            let limits = &self.units[u].module.functions[id.index()].limits;
            let kernel = self.program.kernels.len() as u32;
            self.program.kernel_of_function.insert(number, kernel);
            self.module.kernels.push(kernel);
            self.program.kernels.push(Kernel {
                most_cluster_blocks: limits.max_cluster_rank,
                large_clusters: false,
                info,
                function: number,
                shared_places: self.shared_places(&offsets),
                shared_offsets: offsets.into(),
                independent,
                launches,
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
    fn find_apart(&mut self) {
        let functions = &self.machine.functions;
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
        let mut order = vec![kernel];
        let mut seen = HashSet::from([kernel]);
        let mut next = 0;
        while let Some(&number) = order.get(next) {
            next += 1;
            let function = &self.machine.functions[number as usize];
            if let Some((line, message)) = &function.refusal {
                let place = place(&self.program.units[function.unit as usize], *line);
                return Some(Error::Unsupported { place, message: message.clone() });
            }
            order.extend(function.callees.iter().copied().filter(|&callee| seen.insert(callee)));
        }
        None
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

    fn shared_places(&self, offsets: &[u32]) -> Arc<[SharedPlace]> {
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
        let (layout, param_bytes) = source.param_layout();
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
        }
    }
}

/// A string literal, by the names that nvcc, clang and `cdpc` give them: nobody may write there.
pub fn is_literal(name: &str) -> bool {
    let rest = name.strip_prefix("$str").or_else(|| name.strip_prefix("_$_str"));
    rest.is_some_and(|rest| rest.bytes().all(|byte| matches!(byte, b'$' | b'_' | b'0'..=b'9')))
}

#[cfg(test)]
mod tests {
    use super::{is_literal, source_name};

    #[test]
    fn literals_are_known_by_their_names() {
        assert!(["$str", "$str$1", "$str0", "_$_str", "_$_str_$_1"].into_iter().all(is_literal));
        assert!(!["_$_strong", "$string", "str", "_str"].into_iter().any(is_literal));
    }

    #[test]
    fn names_of_shared_variables() {
        assert_eq!(source_name("_ZZ7reversePiE4tile"), "tile");
        assert_eq!(source_name("_ZZ7reversePiE4tile_0"), "tile");
        assert_eq!(source_name("_ZZN2ns1kEiE1s"), "s");
        for other in ["buffer", "_ZZ", "_ZZE", "_ZZ1kvE9x", "_ZZ1kvE99999999999999999999x"] {
            assert_eq!(source_name(other), other);
        }
    }
}
