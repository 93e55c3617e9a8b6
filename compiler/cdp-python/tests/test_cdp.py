"""The package as its users see it. Runs with and without NumPy; on a GPU with CuPy if there is one."""

import array
import struct
import unittest

import cdp

try:
    import numpy
except ImportError:
    numpy = None
try:
    import cupy

    cupy.cuda.runtime.getDeviceCount()
except Exception:
    cupy = None

SOURCE = """
struct Pair { int a; float b; };
__device__ int total;
extern "C" __global__ void square(int *out) { out[threadIdx.x] *= out[threadIdx.x]; }
extern "C" __global__ void parent(int *out, int n) { square<<<1, n>>>(out); }
extern "C" __global__ void scale(float *out, double by, Pair add, bool negate)
{
    float x = (float)(out[threadIdx.x] * by) + add.a + add.b;
    out[threadIdx.x] = negate ? -x : x;
}
extern "C" __global__ void spin() { while (true) atomicAdd(&total, 1); }
extern "C" __global__ void beyond(int *out) { out[1 << 20] = 1; }
"""


class Compile(unittest.TestCase):
    def test_what_was_made(self):
        m = cdp.compile(SOURCE, arch="sm_90")
        self.assertIn(".visible .entry parent", m.ptx)
        self.assertIn("define", m.llvm_ir)
        launch = m.graph[0]
        self.assertEqual((launch.parent, launch.child, launch.block), ("parent", "square", "n"))
        self.assertTrue(launch.from_device)
        params = m.kernels["scale"].params
        self.assertEqual([p.offset for p in params], [0, 8, 16, 24])
        self.assertEqual([p.name for p in params], ["out", "by", "add", "negate"])
        self.assertEqual(m.warnings, ())

    def test_cubin(self):
        try:
            cubin = cdp.compile(SOURCE, arch="sm_90").cubin
        except cdp.ToolError as error:
            self.skipTest(str(error))
        self.assertEqual(cubin[:4], b"\x7fELF")

    def test_errors_are_findings(self):
        with self.assertRaises(cdp.CompileError) as caught:
            cdp.compile("__global__ int k() { return missing; }", name="wrong.cdp")
        findings = caught.exception.findings
        self.assertIn("E0412", [finding.code for finding in findings])
        self.assertTrue(all(finding.file == "wrong.cdp" and finding.line == 1 for finding in findings))

    def test_options_and_headers(self):
        text = '#include "n.h"\nextern "C" __global__ void k(int *o) { *o = N + M; }'
        m = cdp.compile(text, headers={"n.h": "#define N 3"}, define=["M=4"], opt_level=1)
        out = array.array("i", [0])
        m.load("cpu")["k"][1, 1](out)
        self.assertEqual(out[0], 7)
        self.assertIn("arch", cdp.options())
        for wrong in ({"arhc": "sm_90"}, {"arch": "sm_1"}):
            with self.assertRaises(cdp.CdpError):
                cdp.compile(SOURCE, **wrong)

    def test_llvm_ir(self):
        ir = "define ptx_kernel void @fill(ptr %out, i32 %x) { store i32 %x, ptr %out ret void }"
        out = array.array("i", [0])
        cdp.compile('target triple = "nvptx64-nvidia-cuda"\n' + ir, kind="llvm").load("cpu")["fill"][1, 1](
            out, 9
        )
        self.assertEqual(out[0], 9)


class Run(unittest.TestCase):
    def setUp(self):
        self.program = cdp.compile(SOURCE).load("cpu", timeout_ms=20_000)
        self.addCleanup(self.program.close)

    def test_launch_with_an_array(self):
        numbers = array.array("i", range(8))
        self.program["parent"][1, 1](numbers, 8)
        self.assertEqual(list(numbers), [n * n for n in range(8)])

    @unittest.skipIf(numpy is None, "no NumPy")
    def test_numpy(self):
        numbers = numpy.arange(8, dtype=numpy.int32)
        self.program["parent"][1, 1](numbers, numpy.int32(8))
        self.assertEqual(numbers.tolist(), [n * n for n in range(8)])
        pair = numpy.array([(3, 0.5)], dtype=[("a", "i4"), ("b", "f4")])
        floats = numpy.ones(4, dtype=numpy.float32)
        self.program["scale"][1, 4](floats, numpy.float64(2), pair, numpy.bool_(True))
        self.assertEqual(floats.tolist(), [-5.5] * 4)

    def test_scalars_and_structs(self):
        floats = array.array("f", [1, 2])
        self.program["scale"][(1, 1, 1), (2,)](floats, 2.0, struct.pack("<if", 3, 0.5), False)
        self.assertEqual(list(floats), [5.5, 7.5])

    def test_buffers_stay(self):
        buffer = self.program.buffer(array.array("i", [2, 3]))
        for _ in range(2):
            self.program["square"][1, 2](buffer)
        self.assertEqual(struct.unpack("<2i", buffer.read()), (16, 81))
        address, size = self.program.variable("total")
        self.assertEqual(size, 4)
        self.assertNotEqual(address, 0)

    def test_wrong_arguments(self):
        for arguments in ((array.array("i", [1]),), (array.array("i", [1]), "x"), (1.5, 2)):
            with self.assertRaises(cdp.CdpError):
                self.program["parent"][1, 1](*arguments)
        with self.assertRaises(cdp.CdpError):
            self.program["parent"][1, 1](array.array("i", [1]), 1 << 40)
        with self.assertRaises(cdp.CdpError):
            self.program["nobody"]
        with self.assertRaises(cdp.CdpError):
            self.program["parent"][1]

    def test_kernels_that_misbehave(self):
        with self.assertRaises(cdp.DeviceError) as caught:
            self.program["beyond"][1, 1](array.array("i", [0]))
        self.assertIn("beyond", str(caught.exception))

    def test_endless_kernels_end(self):
        with cdp.compile(SOURCE).load("cpu", timeout_ms=200) as program:
            program["spin"][1, 1]()
            with self.assertRaises(cdp.DeviceError):
                program.synchronize()


@unittest.skipIf(cupy is None, "no GPU with CuPy")
class OnGpu(unittest.TestCase):
    def test_cupy(self):
        program = cdp.compile(SOURCE, arch="sm_90").load("gpu")
        self.assertTrue(program.is_on_gpu)
        numbers = cupy.arange(8, dtype=cupy.int32)
        cupy.cuda.runtime.deviceSynchronize()
        program["parent"][1, 1](numbers, 8)
        program.synchronize()
        self.assertEqual(numbers.get().tolist(), [n * n for n in range(8)])


if __name__ == "__main__":
    unittest.main()
