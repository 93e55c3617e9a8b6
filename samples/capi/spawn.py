"""Compiles a program from memory and runs it: with CuPy if it is there and sees a GPU, else through libcdp,
on the CPU device.

    cargo build -p cdp-capi
    LIBCDP=../../target/debug/libcdp.so python3 spawn.py
"""

import ctypes
import tempfile

import cdp

SOURCE = """
extern "C" __global__ void square(int *out) { out[threadIdx.x] = threadIdx.x * threadIdx.x; }
extern "C" __global__ void parent(int *out, int n) { square<<<1, n>>>(out); }
"""


def with_cupy(cupy, count):
    major, minor = cupy.cuda.Device().compute_capability
    cubin = cdp.Compiler(arch=f"sm_{major}{minor}").compile(SOURCE, cdp.TO_CUBIN)
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        parent = cupy.RawModule(path=file.name).get_function("parent")
    out = cupy.zeros(count, cupy.int32)
    parent((1,), (1,), (out, cupy.int32(count)))
    return out.get().tolist()


def with_libcdp(count):
    program = cdp.Program(ptx=cdp.Compiler().compile(SOURCE), device=cdp.CPU)
    out = program.allocate(4 * count)
    program.launch("parent", (1,), (1,), out, ctypes.c_int(count))
    return list(program.read((ctypes.c_int * count)(), out))


try:
    import cupy

    cupy.cuda.runtime.getDeviceCount()
    print("CuPy:", with_cupy(cupy, 8))
except ImportError:
    print("CPU device:", with_libcdp(8))
except cupy.cuda.runtime.CUDARuntimeError:
    print("CPU device:", with_libcdp(8))
