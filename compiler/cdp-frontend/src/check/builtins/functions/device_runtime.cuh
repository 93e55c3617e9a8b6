// Functions of device code's runtime that are not in `cdp_ir`'s table: PTX, or `extern` symbols of their own.

/// Launches a device graph into a fire-and-forget, tail or sibling stream.
cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t) = extern
    host refuse "graphs are outside the host API of `.cdp`";
/// The running device graph; null outside of one.
cudaGraphExec_t cudaGetCurrentGraphExec() { return (cudaGraphExec_t)__cdp_current_graph(); }
/// `%current_graph_exec`.
unsigned long long __cdp_current_graph() = ptx effect "mov.u64 $0, %current_graph_exec;";
/// Sets the value that a conditional node tests.
void cudaGraphSetConditional(cudaGraphConditionalHandle, unsigned) = extern;
/// Overwrites bytes of a node's parameters: offset, source, size in bytes.
cudaError_t cudaGraphKernelNodeSetParam(cudaGraphDeviceNode_t, size_t, const void*, size_t) = extern;
/// Enables or disables a kernel node.
cudaError_t cudaGraphKernelNodeSetEnabled(cudaGraphDeviceNode_t, bool) = extern;
/// Sets a kernel node's grid dimensions.
cudaError_t cudaGraphKernelNodeSetGridDim(cudaGraphDeviceNode_t, dim3) = extern;
/// Lets dependent grids start before this one ends.
[sm_90] void cudaTriggerProgrammaticLaunchCompletion() = ptx effect "griddepcontrol.launch_dependents;";
/// Waits until the grids that this one depends on have completed.
[sm_90] void cudaGridDependencySynchronize() = ptx memory "griddepcontrol.wait;";
