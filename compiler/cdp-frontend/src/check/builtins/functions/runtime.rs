//! Functions of the device runtime: the rows of `cdp_ir`'s table, with C++'s overloads.

use cdp_ir::RuntimeFn;
use cdp_ir::runtime::{Availability, RUNTIME_TABLE, RuntimeRow};

use super::{BuiltinFn, Flags, Header, Lower};

/// The rows of `cdp_ir`'s table.
pub(super) const TABLE: &[BuiltinFn] = &of_table();

const fn of_table() -> [BuiltinFn; RUNTIME_TABLE.len()] {
    let mut functions = [of_row(&RUNTIME_TABLE[0]); RUNTIME_TABLE.len()];
    let mut index = 1;
    while index < functions.len() {
        functions[index] = of_row(&RUNTIME_TABLE[index]);
        index += 1;
    }
    functions
}

const fn of_row(row: &'static RuntimeRow) -> BuiltinFn {
    use RuntimeFn::*;
    // C++'s headers have templates for these, which C's `void` pointers stand for.
    let signature = match row.func {
        Malloc => "cudaError_t(any**,size_t)",
        FuncGetAttributes => "cudaError_t(cudaFuncAttributes*,kernel)",
        OccupancyMaxActiveBlocksPerMultiprocessor => "cudaError_t(int*,kernel,int,size_t)",
        OccupancyMaxActiveBlocksPerMultiprocessorWithFlags => {
            "cudaError_t(int*,kernel,int,size_t,unsigned int)"
        }
        _ => row.prototype,
    };
    let host = match (row.availability, row.func) {
        (Availability::Plain, _)
        | (_, GetParameterBuffer | GetParameterBufferV2 | LaunchDevice | LaunchDeviceV2) => {
            Lower::Refuse("")
        }
        _ => Lower::Extern(row.name),
    };
    BuiltinFn {
        name: row.name,
        signature,
        types: &[],
        header: Header::None,
        min_sm: 0,
        device: Lower::Runtime(row.func),
        host,
        flags: Flags::NONE,
        summary: row.summary,
    }
}
