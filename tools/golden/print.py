"""Writes tests/golden/print.txt: arrays and how NumPy's str() prints them.

A case is a line `case DTYPE DIMS DATA LINES`, then LINES lines of text. DIMS is `2,3`, or `-` for a scalar. DATA is the
elements' bytes in hex (little endian), `iota` for 0, 1, 2, ..., or for strings the hex of each, joined by commas.
"""
import pathlib
import sys

import numpy as np

random = np.random.default_rng(20240229)
cases = []


def add(array, data=None):
    array = np.asarray(array)
    name = {"object": "string"}.get(str(array.dtype), str(array.dtype))
    if data is None and name == "string":
        data = ",".join(("x" + s.encode().hex()) for s in array.ravel())
    elif data is None:
        data = "x" + array.astype(array.dtype.newbyteorder("<")).tobytes().hex()
    dims = ",".join(map(str, array.shape)) or "-"
    lines = str(array).split("\n")
    cases.append(f"case {name} {dims} {data} {len(lines)}\n" + "\n".join(lines))


def iota(shape, dtype):
    add(np.arange(np.prod(shape)).astype(dtype).reshape(shape), "iota")


floats = (np.float16, np.float32, np.float64)
for t in floats:
    tiny = np.finfo(t).tiny
    for v in (0.0, -0.0, 1, -1, 0.1, 1 / 3, 1e-4, 9.99e-5, 999, 1000, 99999, 1e6, 123456.78, 1e8, 1e15, 1e16, np.nan,
              np.inf, -np.inf, np.pi, tiny, np.finfo(t).max):
        with np.errstate(over="ignore"):
            add(t(v))
    add(np.array([6, 8], t))
    add(np.array([1, 2.5, -3.25], t))
    add(np.array([[1, 0.5], [-2, 1e-3]], t))
    add(np.array([1e-4, 0.01], t))
    add(np.array([9e-5, 0.01], t))
    add(np.array([1, 1000], t))
    add(np.array([1, 1001], t))
    add(np.array([999, 500.5], t))
    add(np.array([np.nan, np.inf, -np.inf], t))
    add(np.array([1, np.nan], t))
    add(np.array([1, np.inf], t))
    add(np.array([1, -np.inf, 2.5], t))
    add(np.array([1e-7, np.nan, -np.inf], t))
    add(np.array([-0.0, 0.0], t))
    add(np.array([0.1, 1 / 3, 2 / 3], t))
    add(np.array([0.99999999999, 0.5], t))
    add(np.array([tiny, np.finfo(t).max, np.finfo(t).smallest_subnormal], t))
    for shape in ((5,), (4, 3), (2, 3, 4), (1, 1, 1, 2)):
        add(random.normal(size=shape).astype(t))
    add((random.normal(size=(3, 4)) * 10.0 ** random.integers(-4, 4, (3, 4))).astype(t))
    add(np.round(random.normal(size=(30,)) * 100, 2).astype(t))
    add(random.integers(-5, 400, (6, 7)).astype(t))
for t in (np.float32, np.float64):
    add(np.array([1e8, 1], t))
    add(np.array([999999, 999998], t))
    add(np.array([1e5, 99999.5, 123456.7], t))
    add(np.array([67108868, 67108869], t))
    add(np.array([1e-300 if t == np.float64 else 1e-30, 1e20, 1e5], t))
    for seed in range(12):
        spread = random.integers(0, 8)
        shape = tuple(random.integers(1, 6, random.integers(1, 4)))
        add((random.normal(size=shape) * 10.0 ** random.uniform(-spread, spread, shape)).astype(t))
add(np.array([1e100, 1e-100, 1]))
add(np.array([1e100, 1e5, 2e99]))
add((2.0 ** np.arange(-24, 16)).astype(np.float16))
add((-(2.0 ** np.arange(-20, 20, 3))).astype(np.float32))

for t in (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64):
    info = np.iinfo(t)
    add(np.array(info.min, t))
    add(np.array([info.min, info.max, 0, 7], t))
    add(random.integers(info.min, info.max, (3, 4), t))
add(np.arange(40).reshape(2, 20) * 1000)
add(np.array(True))
add(np.array([True, False]))
add(np.array([[True], [False]]))
add(random.integers(0, 2, (2, 30)).astype(bool))

for t in (np.complex64, np.complex128):
    for v in (0, 1, 2j, -2j, 1 + 2j, 1.5 - 2e20j, complex(np.nan, -np.inf), complex(-0.0, 2), complex(0, -0.0), 1e-5,
              complex(1, np.nan), complex(0, np.inf)):
        add(t(v))
    add(np.array([1 + 2j, 3.5 - 1e-3j, complex(np.nan, np.inf)], t))
    add(np.array([1 + 2j, -3.25 - 4j], t))
    add(np.array([[0, 1j], [-1j, 1000.5]], t))
    add((random.normal(size=(3, 3)) + 1j * random.normal(size=(3, 3))).astype(t))
    add((random.normal(size=(7,)) * 1e4 + 1j * random.normal(size=(7,))).astype(t))

add(np.array("plain", object))
add(np.array(["plain", "it's", 'say "no"', "both ' and \"", "", "tab\there\nline", "back\\slash"], object))
add(np.array(["é", "日本語", "\x7f", "\xa0", "\u2028", "\x00", "😀"], object))
add(np.array([["a", "bb"], ["ccc", "d"]], object))
add(np.array(["word %d" % i for i in range(30)], object))
add(np.array(["日本語" * 5] * 8, object))

for t in (np.float32, np.int32, np.uint8):
    iota((1000,), t)
    iota((1001,), t)
    iota((3, 400), t)
    iota((400, 3), t)
    iota((40, 50), t)
    iota((7, 8, 20), t)
    iota((6, 6, 50), t)
    iota((2, 2, 2, 300), t)
iota((100, 100), np.float64)
iota((2000,), np.float16)
iota((1500,), np.complex64)
add(random.normal(size=(120,)).astype(np.float32))
add(np.zeros((0,), np.float32))

target = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2] / "tests/golden/print.txt")
target.write_text(f"NumPy {np.__version__}, tools/golden/print.py\n" + "\n".join(cases) + "\n")
print(len(cases), "cases")
