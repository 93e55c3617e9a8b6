"""What goes wrong, as exceptions: the program, the machine, or a kernel."""

from dataclasses import dataclass

from . import _library as lib


@dataclass(frozen=True)
class Finding:
    """A finding about the program. Lines and columns count from 1; 0 for a finding without a place."""

    code: str
    is_error: bool
    text: str
    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    rendered: str

    def __str__(self):
        return self.rendered or self.text


class CdpError(Exception):
    """Anything that cdp refuses."""


class CompileError(CdpError):
    """The program has errors; `findings` are all of them, warnings too."""

    def __init__(self, message, findings):
        super().__init__(message)
        self.findings = findings


class ToolError(CdpError):
    """A CUDA tool is missing or failed."""


class DeviceError(CdpError):
    """The device refused, or a kernel failed; on the CPU device the text says which thread did what."""


_CLASSES = {lib.ERROR_TOOL: ToolError, lib.ERROR_DEVICE: DeviceError}


def check(status):
    """Raises what the last call of this thread failed with."""
    if status != lib.OK:
        message = (lib.last_error() or b"unknown error").decode()
        raise _CLASSES.get(status, CdpError)(message)


def failed(status, message, findings):
    """The exception for a result that holds nothing."""
    if status == lib.ERROR_PROGRAM:
        return CompileError(message, findings)
    return _CLASSES.get(status, CdpError)(message)
