//! Variables: one definition of each name, its place in memory or among the shared variables, and its
//! first contents.

use std::collections::HashMap;

use cdp_ptx as ptx;
use cdp_ptx::{Linkage, Space, Symbol};

use super::{Loader, SharedVariable, place};
use crate::api::Variable;
use crate::decode::Target;
use crate::error::Error;
use crate::memory::AllocKind;
use crate::memory::space::function_address;
use crate::symbol::{is_literal, source_name};

/// A name with the text and variable that define it.
type Definition = (String, (usize, usize));

impl Loader<'_> {
    pub(super) fn resolve_variables(&mut self) -> Result<(), Error> {
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
    pub(super) fn place_function_statics(&mut self) -> Result<(), Error> {
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

    pub(super) fn write_initializers(&mut self) -> Result<(), Error> {
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
}
