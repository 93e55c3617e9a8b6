"""CUDA dynamic parallelism from Python: compile kernels that launch kernels, and run them on a GPU or on the
CPU device, which needs neither a GPU nor CUDA.

    import cdp

    m = cdp.compile('''
        extern "C" __global__ void square(int *out) { out[threadIdx.x] *= out[threadIdx.x]; }
        extern "C" __global__ void parent(int *out, int n) { square<<<1, n>>>(out); }
    ''')
    numbers = numpy.arange(8, dtype="int32")
    m["parent"][1, 1](numbers, 8)        # numbers are squares now
    m.ptx, m.cubin, m.graph, m.kernels   # what was made of it
"""

from . import _library
from .compiler import Kernel, Launch, Module, Param, compile, options
from .errors import CdpError, CompileError, DeviceError, Finding, ToolError
from .run import BoundKernel, Buffer, Program

__version__ = _library.version().decode()
__all__ = [
    "BoundKernel", "Buffer", "CdpError", "CompileError", "DeviceError", "Finding", "Kernel", "Launch",
    "Module", "Param", "Program", "ToolError", "compile", "options",
]
