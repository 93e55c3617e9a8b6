"""Compiles a program from memory and runs it: with cuda-python (package cuda-bindings) if it is there and
sees a GPU, else through libcdp, on the CPU device.

    cargo build -p cdp-capi
    LIBCDP=../../target/debug/libcdp.so python3 spawn.py
"""

import ctypes

import cdp

try:
    from cuda.bindings import driver
except ImportError:
    driver = None

SOURCE = """
extern "C" __global__ void square(int *out) { out[threadIdx.x] = threadIdx.x * threadIdx.x; }
extern "C" __global__ void parent(int *out, int n) { square<<<1, n>>>(out); }
"""


def call(function, *arguments):
    """A call of the driver: its results without the status, which must be good."""
    status, *results = function(*arguments)
    if status != driver.CUresult.CUDA_SUCCESS:
        raise RuntimeError(f"{function.__name__}: {status.name}")
    return results[0] if len(results) == 1 else results


def sees_gpu():
    if driver is None:
        return False
    try:
        call(driver.cuInit, 0)
        return call(driver.cuDeviceGetCount) > 0
    except RuntimeError:
        return False


def with_cuda_python(count):
    device = call(driver.cuDeviceGet, 0)
    kind = driver.CUdevice_attribute
    major = call(driver.cuDeviceGetAttribute, kind.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device)
    minor = call(driver.cuDeviceGetAttribute, kind.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device)
    cubin = cdp.Compiler(arch=f"sm_{major}{minor}").compile(SOURCE, cdp.TO_CUBIN)
    call(driver.cuCtxSetCurrent, call(driver.cuDevicePrimaryCtxRetain, device))
    parent = call(driver.cuModuleGetFunction, call(driver.cuModuleLoadData, cubin), b"parent")
    numbers = (ctypes.c_int * count)()
    out = call(driver.cuMemAlloc, ctypes.sizeof(numbers))
    arguments = ((int(out), count), (ctypes.c_void_p, ctypes.c_int))
    call(driver.cuLaunchKernel, parent, 1, 1, 1, 1, 1, 1, 0, 0, arguments, 0)
    call(driver.cuCtxSynchronize)
    call(driver.cuMemcpyDtoH, ctypes.addressof(numbers), out, ctypes.sizeof(numbers))
    return list(numbers)


def with_libcdp(count):
    program = cdp.Program(ptx=cdp.Compiler().compile(SOURCE), device=cdp.CPU)
    out = program.allocate(4 * count)
    program.launch("parent", (1,), (1,), out, ctypes.c_int(count))
    return list(program.read((ctypes.c_int * count)(), out))


if sees_gpu():
    print("GPU:", with_cuda_python(8))
else:
    print("CPU device:", with_libcdp(8))
