//! Loading: several PTX texts become one module with every name resolved, variables placed in
//! memory, functions decoded and kernels measured.
//!
//! Follows the rules of a device linker: `.visible` and `.weak` names are shared by the texts of
//! one module, others are private; a strong definition wins over weak ones; `.common` variables are
//! merged. Names that nothing defines are errors only if code uses them, and names of the device
//! runtime are provided by the device.

mod functions;
mod kernels;
mod program;
mod unset;
mod variables;

use std::sync::Arc;

use cdp_ptx as ptx;

pub(crate) use self::functions::resolve_alias;
pub(crate) use self::kernels::param_layout;
pub use self::program::{Kernel, Module, Program};
use crate::api::{ModuleId, Source};
use crate::decode::{self, UnitLinks};
use crate::error::{Error, PtxPlace};
use crate::exec::Machine;
use crate::services::Lack;

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

/// State of one load.
struct Loader<'a> {
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
    let mut loader = Loader {
        machine,
        program,
        units,
        shared: Vec::new(),
        module: Module::default(),
        defined: Vec::new(),
        initialized: Vec::new(),
    };
    let result = loader.load();
    match result {
        Ok(()) => {
            let module = std::mem::take(&mut loader.module);
            program.modules.push(Some(module));
            Ok(ModuleId(program.modules.len() as u32 - 1))
        }
        Err(error) => {
            for address in std::mem::take(&mut loader.module.allocations) {
                // Just allocated, so this cannot fail.
                let _ = machine.memory.free(address, None, |_| true);
            }
            machine.functions.truncate(functions_before);
            program.kernels.retain(|kernel| (kernel.function as usize) < functions_before);
            machine.shared.truncate(program.kernels.len());
            program
                .kernel_of_function
                .retain(|&function, _| (function as usize) < functions_before);
            Err(error)
        }
    }
}

impl Loader<'_> {
    fn load(&mut self) -> Result<(), Error> {
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
            unit.links.check_exchanges = self.machine.checks.exchanges;
        }
        self.shared.push(SharedVariable {
            name: "the system's part".to_string(),
            size_bytes: decode::RESERVED_SHARED_BYTES,
            align_bytes: 16,
            unsized_tail: false,
        });
    }

    fn decode_functions(&mut self, unit_base: u32) -> Result<(), Error> {
        for &(u, id, number) in &self.defined {
            let unit = &mut self.units[u];
            unit.links.given.clear();
            if unit.links.check_init {
                unset::watch(&mut unit.module, id, &mut unit.links, Lack::Variable);
            }
            // Last, because it names instructions by their number.
            if unit.links.check_exchanges {
                unset::watch(&mut unit.module, id, &mut unit.links, Lack::Lane);
            }
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
}
