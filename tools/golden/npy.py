"""Writes the files of tests/golden/npy that the .npy and .npz tests read."""
import io
import pathlib
import zipfile

import ml_dtypes
import numpy as np
from numpy.lib import format as npy_format

target = pathlib.Path(__file__).parents[2] / "tests/golden/npy"
target.mkdir(exist_ok=True)
values = np.array([[0, 1, 2], [100, 99, 98]])


def write(name, array, version=None):
    with open(target / f"{name}.npy", "wb") as file:
        npy_format.write_array(file, array, version=version)


numbers = "i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16".split()
for name in numbers:
    for order, word in (("<", "little"), (">", "big")):
        array = values.astype(order + name)
        if name[0] == "c":
            array = (array + 1j * array[::-1]).astype(order + name)
        write(f"{name}_{word}", array)
write("b1", values % 2 == 1)
write("bfloat16", values.astype(ml_dtypes.bfloat16))
write("fortran", np.asfortranarray(np.arange(24, dtype=np.float32).reshape(2, 3, 4)))
write("fortran_big", np.asfortranarray(np.arange(6, dtype=">c16").reshape(2, 3)))
write("scalar", np.array(2.5))
write("empty", np.zeros((0, 3), np.int16))
write("version2", values.astype("<f4"), (2, 0))
write("version3", values.astype("<f4"), (3, 0))
words = np.array([["plain", "é"], ["日本", "😀"]])
write("unicode_little", words)
write("unicode_big", words.astype(">U5"))
write("unicode_fortran", np.asfortranarray(words))
write("bytes", np.array([b"a", b"\xff\x00b", b""]))
write("object", np.array([None, 1]))
write("date", np.array(["2024-02-29"], "datetime64[D]"))
write("record", np.array([(1, 2.0)], [("a", "i4"), ("b", "f4")]))
write("longdouble", np.array([1], np.longdouble))
arrays = {"x": values.astype(np.float32), "labels": np.array([3, 1], np.int64), "sub/name": np.array(True)}
np.savez(target / "stored.npz", **arrays)
np.savez_compressed(target / "deflated.npz", zeros=np.zeros((100, 50), np.float32), **arrays)
np.savez(target / "none.npz")
content = io.BytesIO()
npy_format.write_array(content, np.arange(3))
with zipfile.ZipFile(target / "bzip2.npz", "w", zipfile.ZIP_BZIP2) as archive:
    archive.writestr("x.npy", content.getvalue())
with zipfile.ZipFile(target / "text.npz", "w") as archive:
    archive.writestr("readme.txt", "no array")
with zipfile.ZipFile(target / "comment.npz", "w") as archive:
    archive.comment = b"a comment at the end"
    archive.writestr("x.npy", content.getvalue())
