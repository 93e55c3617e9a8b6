"""libcdp by ctypes: the part of cdp.h that this package uses, and nothing else.

The header says what each function wants. Strings go in and come out as bytes.
"""

import ctypes
import os
from ctypes import POINTER, Structure, c_bool, c_char_p, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from pathlib import Path

API_VERSION = 1
OK, ERROR_PROGRAM, ERROR_REQUEST, ERROR_TOOL, ERROR_INPUT, ERROR_DEVICE, ERROR_BUG = range(7)
KIND_DETECT, KIND_SOURCE, KIND_LLVM, KIND_PTX, KIND_OBJECT = range(5)
GOAL_PTX, GOAL_LLVM_IR, GOAL_OBJECT, GOAL_CUBIN = range(4)
DEVICE_AUTO, DEVICE_CPU, DEVICE_GPU = range(3)


class Message(Structure):
    _fields_ = [
        ("code", c_char_p), ("is_error", c_bool), ("text", c_char_p), ("file", c_char_p),
        ("line", c_uint32), ("column", c_uint32), ("end_line", c_uint32), ("end_column", c_uint32),
        ("rendered", c_char_p),
    ]


class Param(Structure):
    _fields_ = [
        ("name", c_char_p), ("type_name", c_char_p),
        ("offset", c_uint64), ("size", c_uint64), ("align", c_uint64),
    ]


class Kernel(Structure):
    _fields_ = [
        ("name", c_char_p), ("symbol", c_char_p), ("params", POINTER(Param)), ("param_count", c_size_t),
        ("buffer_bytes", c_uint64), ("registers", c_int64), ("shared_bytes", c_int64),
    ]


class Launch(Structure):
    _fields_ = [
        ("parent", c_char_p), ("child", c_char_p), ("from_device", c_bool), ("grid", c_char_p),
        ("block", c_char_p), ("shared", c_char_p), ("stream", c_char_p), ("file", c_char_p),
        ("line", c_uint32),
    ]


def _open():
    """$LIBCDP, the library inside this package, or the system's."""
    beside = Path(__file__).with_name("libcdp.so")
    path = os.environ.get("LIBCDP") or (str(beside) if beside.is_file() else "libcdp.so")
    library = ctypes.CDLL(path)
    library.cdp_api_version.restype = c_uint32
    found = library.cdp_api_version()
    if found != API_VERSION:
        raise ImportError(f"{path} has interface {found}, this package wants {API_VERSION}")
    return library


_lib = _open()


def _declare(name, result, *parameters):
    function = getattr(_lib, name)
    function.restype, function.argtypes = result, parameters
    return function


version = _declare("cdp_version", c_char_p)
last_error = _declare("cdp_last_error", c_char_p)
compiler_new = _declare("cdp_compiler_new", c_void_p)
compiler_free = _declare("cdp_compiler_free", None, c_void_p)
compiler_find_tools = _declare("cdp_compiler_find_tools", c_uint32, c_void_p, c_char_p)
compiler_set = _declare("cdp_compiler_set", c_uint32, c_void_p, c_char_p, c_char_p)
option_name = _declare("cdp_option_name", c_char_p, c_size_t)
option_values = _declare("cdp_option_values", c_char_p, c_size_t)
inputs_new = _declare("cdp_inputs_new", c_void_p)
inputs_free = _declare("cdp_inputs_free", None, c_void_p)
inputs_add = _declare("cdp_inputs_add", c_uint32, c_void_p, c_uint32, c_char_p, c_char_p, c_size_t)
inputs_add_header = _declare("cdp_inputs_add_header", c_uint32, c_void_p, c_char_p, c_char_p, c_size_t)
build = _declare("cdp_build", c_void_p, c_void_p, c_void_p, c_uint32)
result_free = _declare("cdp_result_free", None, c_void_p)
result_status = _declare("cdp_result_status", c_uint32, c_void_p)
result_bytes = _declare("cdp_result_bytes", c_void_p, c_void_p, POINTER(c_size_t))
result_error = _declare("cdp_result_error", c_char_p, c_void_p)
result_message = _declare("cdp_result_message", POINTER(Message), c_void_p, c_size_t)
result_kernel = _declare("cdp_result_kernel", POINTER(Kernel), c_void_p, c_size_t)
result_launch = _declare("cdp_result_launch", POINTER(Launch), c_void_p, c_size_t)
program_open = _declare(
    "cdp_program_open", c_void_p, c_uint32, c_char_p, c_size_t, c_char_p, c_size_t
)
program_close = _declare("cdp_program_close", None, c_void_p)
program_is_on_gpu = _declare("cdp_program_is_on_gpu", c_bool, c_void_p)
program_set_timeout = _declare("cdp_program_set_timeout", c_uint32, c_void_p, c_uint64)
program_allocate = _declare("cdp_program_allocate", c_uint32, c_void_p, c_size_t, POINTER(c_uint64))
program_release = _declare("cdp_program_release", c_uint32, c_void_p, c_uint64)
program_variable = _declare(
    "cdp_program_variable", c_uint32, c_void_p, c_char_p, POINTER(c_uint64), POINTER(c_uint64)
)
program_write = _declare("cdp_program_write", c_uint32, c_void_p, c_uint64, c_void_p, c_size_t)
program_read = _declare("cdp_program_read", c_uint32, c_void_p, c_void_p, c_uint64, c_size_t)
program_launch = _declare(
    "cdp_program_launch", c_uint32, c_void_p, c_char_p, POINTER(c_uint32), POINTER(c_uint32), c_uint64,
    POINTER(c_void_p), c_size_t,
)
program_synchronize = _declare("cdp_program_synchronize", c_uint32, c_void_p)
