//! The names of functions: which definition each declaration means, or which function of the device
//! runtime.

use std::collections::HashMap;

use cdp_ptx as ptx;
use cdp_ptx::{FunctionKind, Linkage};

use super::{Loader, place};
use crate::decode::Target;
use crate::error::Error;
use crate::services::Service;

/// Follows `.alias` to the function that is really called.
pub(crate) fn resolve_alias(module: &ptx::Module, mut id: ptx::FunctionId) -> ptx::FunctionId {
    // An alias names a defined function, so a chain is at most as long as the table.
    for _ in 0..module.functions.len() {
        match module.functions[id.index()].alias_of {
            Some(next) => id = next,
            None => break,
        }
    }
    id
}

impl Loader<'_> {
    pub(super) fn resolve_functions(&mut self) -> Result<(), Error> {
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
                let id = resolve_alias(module, ptx::FunctionId(f as u32));
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

    /// Every function that code names must be defined, or one of the device runtime.
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
}
