//! Functions of the device runtime: the rows of `cdp_ir`'s table, with C++'s overloads, and the few that
//! are PTX or `extern` symbols of their own.

use cdp_ir::RuntimeFn;
use cdp_ir::runtime::{Availability, RUNTIME_TABLE, RuntimeRow};

use super::{BuiltinFn, Lower, device, ptx};

const HOST_GRAPH: Lower = Lower::Refuse("graphs are outside the host API of `.cdp`");

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
    super::row(row.name, signature, Lower::Runtime(row.func), host, row.summary)
}

pub(super) const ROWS: &[BuiltinFn] = &[
    device(
        "cudaGraphLaunch",
        "cudaError_t(cudaGraphExec_t,cudaStream_t)",
        Lower::Extern("cudaGraphLaunch"),
        "Launches a device graph into a fire-and-forget, tail or sibling stream.",
    )
    .hosted(HOST_GRAPH),
    device(
        "cudaGetCurrentGraphExec",
        "cudaGraphExec_t()",
        Lower::Inline("{ return (cudaGraphExec_t)__cdp_current_graph(); }"),
        "The running device graph; null outside of one.",
    ),
    device(
        "__cdp_current_graph",
        "unsigned long long()",
        ptx!(effect "mov.u64 $0, %current_graph_exec;", "l", ""),
        "`%current_graph_exec`.",
    ),
    device(
        "cudaGraphSetConditional",
        "void(cudaGraphConditionalHandle,unsigned)",
        Lower::Extern("cudaGraphSetConditional"),
        "Sets the value that a conditional node tests.",
    ),
    device(
        "cudaGraphKernelNodeSetParam",
        "cudaError_t(cudaGraphDeviceNode_t,size_t,const void*,size_t)",
        Lower::Extern("cudaGraphKernelNodeSetParam"),
        "Overwrites bytes of a node's parameters: offset, source, size in bytes.",
    ),
    device(
        "cudaGraphKernelNodeSetEnabled",
        "cudaError_t(cudaGraphDeviceNode_t,bool)",
        Lower::Extern("cudaGraphKernelNodeSetEnabled"),
        "Enables or disables a kernel node.",
    ),
    device(
        "cudaGraphKernelNodeSetGridDim",
        "cudaError_t(cudaGraphDeviceNode_t,dim3)",
        Lower::Extern("cudaGraphKernelNodeSetGridDim"),
        "Sets a kernel node's grid dimensions.",
    ),
    device(
        "cudaTriggerProgrammaticLaunchCompletion",
        "void()",
        ptx!(effect "griddepcontrol.launch_dependents;", "", ""),
        "Lets dependent grids start before this one ends.",
    )
    .since(90),
    device(
        "cudaGridDependencySynchronize",
        "void()",
        ptx!(memory "griddepcontrol.wait;", "", ""),
        "Waits until the grids that this one depends on have completed.",
    )
    .since(90),
];
