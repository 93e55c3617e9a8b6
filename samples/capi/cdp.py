"""libcdp for Python by ctypes: what spawn.py needs of it, and the pattern for the rest of cdp.h."""

import ctypes
import os
from ctypes import POINTER, byref, c_char_p, c_size_t, c_uint32, c_uint64, c_void_p

SOURCE, LLVM, PTX, OBJECT = 1, 2, 3, 4
TO_PTX, TO_CUBIN = 0, 3
AUTO, CPU, GPU = 0, 1, 2

lib = ctypes.CDLL(os.environ.get("LIBCDP", "libcdp.so"))


def declare(name, result, *parameters):
    function = getattr(lib, name)
    function.restype, function.argtypes = result, parameters
    return function


last_error = declare("cdp_last_error", c_char_p)
compiler_new = declare("cdp_compiler_new", c_void_p)
compiler_free = declare("cdp_compiler_free", None, c_void_p)
compiler_set = declare("cdp_compiler_set", c_uint32, c_void_p, c_char_p, c_char_p)
find_tools = declare("cdp_compiler_find_tools", c_uint32, c_void_p, c_char_p)
compile_ = declare("cdp_compile", c_void_p, c_void_p, c_uint32, c_char_p, c_char_p, c_size_t, c_uint32)
result_status = declare("cdp_result_status", c_uint32, c_void_p)
result_error = declare("cdp_result_error", c_char_p, c_void_p)
result_bytes = declare("cdp_result_bytes", c_void_p, c_void_p, POINTER(c_size_t))
result_free = declare("cdp_result_free", None, c_void_p)
program_open = declare(
    "cdp_program_open", c_void_p, c_uint32, c_char_p, c_size_t, c_char_p, c_size_t
)
program_close = declare("cdp_program_close", None, c_void_p)
allocate = declare("cdp_program_allocate", c_uint32, c_void_p, c_size_t, POINTER(c_uint64))
read = declare("cdp_program_read", c_uint32, c_void_p, c_void_p, c_uint64, c_size_t)
launch = declare(
    "cdp_program_launch", c_uint32, c_void_p, c_char_p, POINTER(c_uint32), POINTER(c_uint32),
    c_uint64, POINTER(c_void_p), c_size_t,
)


class Error(Exception):
    pass


def check(ok):
    if not ok:
        raise Error(last_error().decode())


class Compiler:
    def __init__(self, **options):
        self.handle = compiler_new()
        check(find_tools(self.handle, None) == 0)
        for name, value in options.items():
            check(compiler_set(self.handle, name.replace("_", "-").encode(), str(value).encode()) == 0)

    def __del__(self):
        compiler_free(self.handle)

    def compile(self, text, goal=TO_PTX, kind=SOURCE, name="program"):
        """The bytes that are made of a text; Error with the program's errors."""
        data = text if isinstance(text, bytes) else text.encode()
        made = compile_(self.handle, kind, name.encode(), data, len(data), goal)
        try:
            if result_status(made) != 0:
                raise Error(result_error(made).decode())
            size = c_size_t()
            data = result_bytes(made, byref(size))
            return ctypes.string_at(data, size.value)
        finally:
            result_free(made)


class Program:
    def __init__(self, ptx=b"", cubin=b"", device=AUTO):
        self.handle = program_open(device, ptx, len(ptx), cubin, len(cubin))
        check(self.handle)

    def __del__(self):
        program_close(self.handle)

    def allocate(self, size):
        """Device memory, as an argument for `launch`."""
        address = c_uint64()
        check(allocate(self.handle, size, byref(address)) == 0)
        return address

    def launch(self, kernel, grid, block, *arguments, shared_bytes=0):
        """Launches a kernel with ctypes values as arguments."""
        three = lambda n: (c_uint32 * 3)(*n, *[1] * (3 - len(n)))
        pointers = (c_void_p * len(arguments))(*[ctypes.addressof(value) for value in arguments])
        check(
            launch(self.handle, kernel.encode(), three(grid), three(block), shared_bytes, pointers,
                   len(arguments)) == 0
        )

    def read(self, into, address):
        """Waits for the kernels and copies device memory into a ctypes array."""
        check(read(self.handle, byref(into), address.value, ctypes.sizeof(into)) == 0)
        return into
