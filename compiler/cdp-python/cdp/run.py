"""Loaded modules: memory, launches, and what they raise.

Knows nothing of NumPy or CuPy: arrays are whatever has Python's buffer protocol (NumPy, array.array,
bytearray), and on a GPU whatever has `__cuda_array_interface__` (CuPy, PyTorch, Numba).
"""

import ctypes
import struct

from . import _library as lib
from .errors import CdpError, ToolError, check

_DEVICES = {"auto": lib.DEVICE_AUTO, "cpu": lib.DEVICE_CPU, "gpu": lib.DEVICE_GPU}
# By a parameter's type: struct's letter. Addresses and types of other front ends go by size.
_LETTERS = {
    "bool": "?", "i8": "b", "u8": "B", "i16": "h", "u16": "H", "i32": "i", "u32": "I", "i64": "q",
    "u64": "Q", "f32": "f", "f64": "d", "f16": "e", "float": "f", "double": "d", "half": "e",
}
_BY_SIZE = {1: "B", 2: "H", 4: "I", 8: "Q"}


class Buffer:
    """Device memory of a `Program`, freed with it or by `free`."""

    def __init__(self, program, size):
        address = ctypes.c_uint64()
        check(lib.program_allocate(program._handle, size, ctypes.byref(address)))
        self.address, self.size, self._program = address.value, size, program

    def write(self, data):
        """Copies bytes of an array into the buffer's beginning."""
        view = _bytes_of(data)
        self._fits(len(view))
        check(lib.program_write(self._program._handle, self.address, bytes(view), len(view)))
        return self

    def read(self, into=None):
        """Waits for kernels and copies into a writable array, or returns bytes."""
        target = bytearray(self.size) if into is None else into
        view = _bytes_of(target)
        self._fits(len(view))
        block = (ctypes.c_char * len(view)).from_buffer(view)
        check(lib.program_read(self._program._handle, block, self.address, len(view)))
        return bytes(target) if into is None else into

    def free(self):
        """Gives the memory back."""
        check(lib.program_release(self._program._handle, self.address))
        self.address = 0

    def _fits(self, size):
        if size > self.size:
            raise CdpError(f"{size} bytes for a buffer of {self.size}")


class Program:
    """A module on a device. `program["kernel"][grid, block](arguments)` launches."""

    def __init__(self, module, device, timeout_ms):
        if device not in _DEVICES:
            raise CdpError(f"device {device!r}: there are {', '.join(_DEVICES)}")
        self.module = module
        ptx, cubin = module.ptx.encode(), b""
        if device != "cpu":
            try:
                cubin = module.cubin
            except ToolError:
                if device == "gpu":
                    raise
        self._handle = lib.program_open(
            _DEVICES[device], ptx, len(ptx), cubin or None, len(cubin)
        )
        if not self._handle:
            check(lib.ERROR_DEVICE)
        if timeout_ms is not None:
            check(lib.program_set_timeout(self._handle, timeout_ms))

    @property
    def is_on_gpu(self):
        """Whether a GPU runs it."""
        return lib.program_is_on_gpu(self._handle)

    def buffer(self, size_or_data):
        """Device memory of so many bytes, or with the contents of an array."""
        if isinstance(size_or_data, int):
            return Buffer(self, size_or_data)
        view = _bytes_of(size_or_data)
        return Buffer(self, len(view)).write(view)

    def variable(self, symbol):
        """The address and size of a `__device__` or `__constant__` variable."""
        address, size = ctypes.c_uint64(), ctypes.c_uint64()
        check(lib.program_variable(
            self._handle, symbol.encode(), ctypes.byref(address), ctypes.byref(size)
        ))
        return address.value, size.value

    def synchronize(self):
        """Waits for all kernels; raises `DeviceError` when one failed."""
        check(lib.program_synchronize(self._handle))

    def __getitem__(self, name):
        known = self.module.kernels
        found = known.get(name) or next((k for k in known.values() if k.symbol == name), None)
        if found is None:
            raise CdpError(f"no kernel {name!r}; there are {', '.join(known) or 'none'}")
        return BoundKernel(self, found)

    def close(self):
        """Unloads the module; the program cannot be used afterwards."""
        handle, self._handle = getattr(self, "_handle", None), None
        if handle:
            lib.program_close(handle)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        self.close()


class BoundKernel:
    """A kernel of a loaded program; `kernel[grid, block]` or `kernel[grid, block, shared_bytes]` can be called.

    An array argument is copied to the device before the launch and back after it; a `Buffer`, an object
    with `__cuda_array_interface__`, or an address stays where it is.
    """

    def __init__(self, program, kernel):
        self.program, self.kernel = program, kernel

    def __getitem__(self, configuration):
        if not isinstance(configuration, tuple) or not 2 <= len(configuration) <= 3:
            raise CdpError("a configuration is [grid, block] or [grid, block, shared_bytes]")
        return lambda *arguments: self.launch(*configuration[:2], arguments, *configuration[2:])

    def launch(self, grid, block, arguments, shared_bytes=0):
        """Launches. With array arguments it waits, so that they hold the results."""
        params = self.kernel.params
        if len(arguments) != len(params):
            raise CdpError(
                f"{self.kernel.name} has {len(params)} parameters, not {len(arguments)}"
            )
        copied = []
        packed = [
            _pack(self.program, param, argument, copied)
            for param, argument in zip(params, arguments)
        ]
        blocks = [ctypes.create_string_buffer(data, len(data)) for data in packed]
        pointers = (ctypes.c_void_p * len(blocks))(*map(ctypes.addressof, blocks))
        try:
            check(lib.program_launch(
                self.program._handle, self.kernel.symbol.encode(), _three(grid), _three(block),
                shared_bytes, pointers, len(blocks),
            ))
            if copied:
                self.program.synchronize()
            for buffer, array in copied:
                if not memoryview(array).readonly:
                    buffer.read(array)
        finally:
            for buffer, _ in copied:
                # After a failed kernel this fails too; what is said is the kernel's failure.
                lib.program_release(self.program._handle, buffer.address)


def _bytes_of(data):
    try:
        return memoryview(data).cast("B")
    except (TypeError, ValueError):
        raise CdpError(f"{type(data).__name__} is no array in one piece") from None


def _three(dimension):
    numbers = (dimension,) if isinstance(dimension, int) else tuple(dimension)
    if not 1 <= len(numbers) <= 3:
        raise CdpError(f"a dimension has one to three numbers, not {len(numbers)}")
    return (ctypes.c_uint32 * 3)(*numbers, *[1] * (3 - len(numbers)))


def _pack(program, param, argument, copied):
    """An argument's bytes in the parameter buffer."""
    interface = getattr(argument, "__cuda_array_interface__", None)
    if isinstance(argument, Buffer):
        argument = argument.address
    elif interface is not None:
        if not program.is_on_gpu:
            raise CdpError(f"{param.name or param.type_name}: an array of a GPU, for the CPU device")
        argument = interface["data"][0]
    elif param.type_name.startswith("ptr") and not isinstance(argument, int) and argument is not None:
        buffer = program.buffer(argument)
        copied.append((buffer, argument))
        argument = buffer.address
    if param.type_name in _LETTERS or isinstance(argument, int) or argument is None:
        letter = _LETTERS.get(param.type_name) or _BY_SIZE.get(param.size)
        if letter is not None:
            try:
                return struct.pack(f"<{letter}", 0 if argument is None else argument)
            except (struct.error, TypeError, OverflowError):
                pass
            if isinstance(argument, int) or hasattr(argument, "__index__"):
                raise CdpError(f"{argument!r} does not fit {_shown(param)}")
    try:
        data = bytes(memoryview(argument).cast("B"))
    except (TypeError, ValueError):
        raise CdpError(f"{type(argument).__name__} for {_shown(param)}") from None
    if len(data) != param.size:
        raise CdpError(f"{len(data)} bytes for {_shown(param)} of {param.size} bytes")
    return data


def _shown(param):
    return f"parameter {param.name!r} ({param.type_name})" if param.name else param.type_name
