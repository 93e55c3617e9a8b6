#!/usr/bin/env -S python3 -I -S -B
"""The device linker of CUDA 12.9, with nvlink's command line.

nvlink 13.0 no longer links sm_50 to sm_72, and no wheel holds an older nvlink, but the linker itself is
in the library libnvJitLink. This program gives that library the command line and the messages of nvlink,
as far as device links of objects and libraries need them; anything else is refused.
"""

import ctypes
import os
import sys
import tempfile

VERSION = "nvlink: NVIDIA (R) Cuda linker, through libnvJitLink\nCuda compilation tools, release 12.9, V12.9.86"
CUDA_MACHINE = 190
# nvJitLinkInputType of the library's interface.
CUBIN, FATBIN, HOST_OBJECT, LIBRARY = 1, 4, 5, 6
# Host code calls this name's versioned form; the unversioned names are macros.
SUFFIX = "_12_9"


def fail(message):
    sys.stderr.write("nvlink fatal   : %s\n" % message)
    sys.exit(1)


def parse(args):
    """Returns (arch, options for the library, input paths, output path)."""
    arch, output, options, inputs = None, "a.out", [], []
    rest = iter(args)
    for arg in rest:
        if arg in ("-V", "--version"):
            print(VERSION)
            sys.exit(0)
        elif arg.startswith(("-arch=", "--arch=")):
            arch = arg.split("=", 1)[1]
        elif arg in ("-arch", "--arch"):
            arch = next(rest, None)
        elif arg in ("-o", "--output-file"):
            output = next(rest, None) or fail("Option '-o' needs a file")
        elif arg in ("-g", "--debug"):
            options.append("-g")
        elif arg in ("-v", "--verbose"):
            options.append("-verbose")
        elif arg in ("-m64", "-m=64", "--machine=64"):
            pass
        elif arg.startswith("-"):
            fail("Unknown option '%s'" % arg)
        else:
            inputs.append(arg)
    if arch is None:
        fail("Option '-arch' is needed")
    if not inputs:
        fail("No input files specified")
    return arch, options, inputs, output


def kind_of(path, data, arch):
    """The library's input type; ends with nvlink's message for what cannot be linked for `arch`."""
    if data.startswith(b"!<arch>\n"):
        return LIBRARY
    if data.startswith(b"\x50\xed\x55\xba"):
        return FATBIN
    if not data.startswith(b"\x7fELF") or len(data) < 52:
        fail("Input file '%s' is neither an object nor a library" % path)
    if int.from_bytes(data[18:20], "little") != CUDA_MACHINE:
        return HOST_OBJECT
    if data[4] == 1:
        fail("Input file '%s' size does not match target '-m64'" % path)
    flags = int.from_bytes(data[48:52], "little")
    number = (flags >> 8) & 0xFFFF if data[8] >= 8 else flags & 0xFF
    if str(number) != arch.rstrip("af").replace("sm_", ""):
        fail("Input file '%s' arch does not match target '%s'" % (path, arch))
    return CUBIN


class Linker:
    def __init__(self, library, options):
        self.library = library
        self.handle = ctypes.c_void_p()
        texts = [option.encode() for option in options]
        array = (ctypes.c_char_p * len(texts))(*texts)
        if self.call("Create", ctypes.byref(self.handle), ctypes.c_uint32(len(texts)), array, handle=False) != 0:
            fail("the options '%s' are not accepted" % " ".join(options))

    def call(self, name, *args, handle=True):
        function = getattr(self.library, "__nvJitLink%s%s" % (name, SUFFIX))
        return function(*((self.handle,) if handle else ()), *args)

    def text(self, name):
        """A log of the library, `ErrorLog` or `InfoLog`."""
        size = ctypes.c_size_t()
        if self.call("Get%sSize" % name, ctypes.byref(size)) != 0 or size.value == 0:
            return ""
        buffer = ctypes.create_string_buffer(size.value + 1)
        self.call("Get%s" % name, buffer)
        return buffer.value.decode(errors="replace")

    def add(self, kind, path, data):
        name = os.fsencode(path)
        return self.call("AddData", ctypes.c_int(kind), data, ctypes.c_size_t(len(data)), name)

    def cubin(self):
        size = ctypes.c_size_t()
        if self.call("GetLinkedCubinSize", ctypes.byref(size)) != 0:
            return b""
        buffer = ctypes.create_string_buffer(size.value)
        return buffer.raw if self.call("GetLinkedCubin", buffer) == 0 else b""


class Messages:
    """Catches what the library prints, since some errors are neither in its log nor in its results."""

    def __enter__(self):
        self.text = ""
        self.file = tempfile.TemporaryFile()
        self.saved = [os.dup(number) for number in (1, 2)]
        for number in (1, 2):
            os.dup2(self.file.fileno(), number)
        return self

    def __exit__(self, *_):
        ctypes.CDLL(None).fflush(None)
        for number, saved in zip((1, 2), self.saved):
            os.dup2(saved, number)
            os.close(saved)
        self.file.seek(0)
        self.text = self.file.read().decode(errors="replace")


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        fail("Could not open input file '%s' (%s)" % (path, error.strerror))


def main():
    arch, options, inputs, output = parse(sys.argv[1:])
    root = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    try:
        library = ctypes.CDLL(os.path.join(root, "lib", "libnvJitLink.so.12"))
    except OSError as error:
        fail(str(error))
    files = [(path, read(path)) for path in inputs]
    kinds = [kind_of(path, data, arch) for path, data in files]
    linker = Linker(library, ["-arch=" + arch] + options)
    with Messages() as messages:
        results = [linker.add(kind, path, data) for kind, (path, data) in zip(kinds, files)]
        results.append(linker.call("Complete"))
    log = linker.text("ErrorLog") + "\n" + messages.text
    for line in log.splitlines():
        # The library prints `error   : ...` where nvlink prints `nvlink error   : ...`.
        if line.strip():
            sys.stderr.write("nvlink %s\n" % line.strip())
    if any(results) or "error" in log.lower():
        sys.exit(1)
    if "-verbose" in options:
        sys.stderr.write(linker.text("InfoLog"))
    cubin = linker.cubin()
    if not cubin:
        fail("no output was made")
    with open(output, "wb") as file:
        file.write(cubin)


main()
