"""Sources, LLVM IR or PTX to a `Module`."""

import ctypes
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

from . import _library as lib
from .errors import CdpError, Finding, check, failed
from .run import Program

_KINDS = {
    "detect": lib.KIND_DETECT,
    "source": lib.KIND_SOURCE,
    "llvm": lib.KIND_LLVM,
    "ptx": lib.KIND_PTX,
    "object": lib.KIND_OBJECT,
}


@dataclass(frozen=True)
class Param:
    """A kernel's parameter: where it lies in the parameter buffer, in bytes."""

    name: str
    type_name: str
    offset: int
    size: int
    align: int


@dataclass(frozen=True)
class Kernel:
    """A kernel of the module. `registers` and `shared_bytes` are None before the link."""

    name: str
    symbol: str
    params: tuple
    buffer_bytes: int
    registers: int | None
    shared_bytes: int | None


@dataclass(frozen=True)
class Launch:
    """A launch in the sources: who launches whom, where, and the configuration's text."""

    parent: str
    child: str
    from_device: bool
    grid: str
    block: str
    shared: str
    stream: str
    file: str
    line: int


def options():
    """The names of all options with what values they take, in words."""
    found, index = {}, 0
    while (name := lib.option_name(index)) is not None:
        found[name.decode().replace("-", "_")] = lib.option_values(index).decode()
        index += 1
    return found


def compile(source, *, name="module.cdp", kind="detect", headers=None, **options):
    """Compiles a text (or the bytes of LLVM bitcode) and returns a `Module`.

    `name` stands in messages. `headers` are texts by name, for `#include`. Options are those of
    `cdp.options()`, with underscores: `arch="sm_90"`, `opt_level=2`, `define=["N=4", "FAST"]`.

    Raises `CompileError` for a program with errors, `ToolError` for a missing tool, `CdpError` for an
    option that there is not.
    """
    if kind not in _KINDS:
        raise CdpError(f"kind {kind!r}: there are {', '.join(_KINDS)}")
    data = source if isinstance(source, bytes) else source.encode()
    module = Module(name, _KINDS[kind], data, dict(headers or {}), options)
    module._ptx_result  # so that errors come now
    return module


@contextmanager
def _compiler(options):
    handle = lib.compiler_new()
    try:
        check(lib.compiler_find_tools(handle, None))
        for name, value in options.items():
            for one in value if isinstance(value, (list, tuple)) else [value]:
                text = str(one).lower() if isinstance(one, bool) else str(one)
                check(lib.compiler_set(handle, name.replace("_", "-").encode(), text.encode()))
        yield handle
    finally:
        lib.compiler_free(handle)


@dataclass(frozen=True)
class _Result:
    data: bytes
    findings: tuple
    kernels: tuple
    launches: tuple


def _text(value):
    return (value or b"").decode()


def _each(function, result):
    index = 0
    while found := function(result, index):
        yield found.contents
        index += 1


def _finding(m):
    return Finding(
        _text(m.code), m.is_error, _text(m.text), _text(m.file), m.line, m.column, m.end_line,
        m.end_column, _text(m.rendered),
    )


def _kernel(k):
    params = tuple(
        Param(_text(p.name), _text(p.type_name), p.offset, p.size, p.align)
        for p in k.params[: k.param_count]
    )
    known = lambda number: None if number < 0 else number
    return Kernel(
        _text(k.name), _text(k.symbol), params, k.buffer_bytes, known(k.registers),
        known(k.shared_bytes),
    )


def _launch(l):
    return Launch(
        _text(l.parent), _text(l.child), l.from_device, _text(l.grid), _text(l.block),
        _text(l.shared), _text(l.stream), _text(l.file), l.line,
    )


def _read(result):
    if not result:
        check(lib.ERROR_REQUEST)
    try:
        findings = tuple(map(_finding, _each(lib.result_message, result)))
        status = lib.result_status(result)
        if status != lib.OK:
            raise failed(status, _text(lib.result_error(result)), findings)
        size = ctypes.c_size_t()
        data = lib.result_bytes(result, ctypes.byref(size))
        return _Result(
            ctypes.string_at(data, size.value),
            findings,
            tuple(map(_kernel, _each(lib.result_kernel, result))),
            tuple(map(_launch, _each(lib.result_launch, result))),
        )
    finally:
        lib.result_free(result)


class Module:
    """A compiled program: `ptx`, `cubin`, `kernels`, `graph`, `warnings`, and kernels to launch.

    `module.run()` (or the first launch through `module["name"]`) loads it on the GPU if there is one and a
    cubin can be made, else on the CPU device.
    """

    def __init__(self, name, kind, data, headers, options):
        self.name = name
        self._kind, self._data, self._headers, self._options = kind, data, headers, options

    def _build(self, goal):
        inputs = lib.inputs_new()
        try:
            for name, text in self._headers.items():
                data = text.encode()
                check(lib.inputs_add_header(inputs, name.encode(), data, len(data)))
            check(lib.inputs_add(inputs, self._kind, self.name.encode(), self._data, len(self._data)))
            with _compiler(self._options) as compiler:
                return _read(lib.build(compiler, inputs, goal))
        finally:
            lib.inputs_free(inputs)

    @cached_property
    def _ptx_result(self):
        return self._build(lib.GOAL_PTX)

    @cached_property
    def _cubin_result(self):
        return self._build(lib.GOAL_CUBIN)

    @property
    def ptx(self):
        """PTX text; needs no CUDA tool."""
        return self._ptx_result.data.decode()

    @property
    def cubin(self):
        """The linked cubin, as bytes; needs ptxas and nvlink."""
        return self._cubin_result.data

    @property
    def llvm_ir(self):
        """LLVM IR text, for people."""
        return self._build(lib.GOAL_LLVM_IR).data.decode()

    @property
    def kernels(self):
        """The kernels by name in the source, each a `Kernel`."""
        return {kernel.name: kernel for kernel in self._ptx_result.kernels}

    @property
    def graph(self):
        """Every launch in the sources, in order."""
        return self._ptx_result.launches

    @property
    def warnings(self):
        """Findings that are no errors."""
        return self._ptx_result.findings

    def load(self, device="auto", timeout_ms=None):
        """Loads the module on a device ("auto", "cpu" or "gpu") and returns a `Program`.

        `timeout_ms` ends kernels on the CPU device that run longer.
        """
        return Program(self, device, timeout_ms)

    @cached_property
    def _program(self):
        return self.load()

    def __getitem__(self, kernel):
        return self._program[kernel]

    def __repr__(self):
        return f"<cdp.Module {self.name!r}: {', '.join(self.kernels) or 'no kernels'}>"
