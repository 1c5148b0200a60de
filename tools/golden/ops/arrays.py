"""Rows of joining, splitting, slicing, padding and reshaping; see ../rows.py."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import numpy as np
import tensorflow as tf
from rows import Family, f32

family = Family("arrays")
f64 = tf.float64
sample = family.sample


def i32(*values):
    return tf.constant(values, tf.int32)


def i64(*values):
    return tf.constant(values, tf.int64)


# ---- joining and splitting
for t in family.types("ConcatV2"):
    family.row("ConcatV2", [[sample(t, (2, 3)), sample(t, (2, 1), seed=1)], tf.constant(1)])
    family.row("Pack", [[sample(t, (2, 3)), sample(t, (2, 3), seed=1)]], axis=1)
    family.row("Unpack", [sample(t, (2, 3))], num=3, axis=1)
    family.row("Split", [tf.constant(1), sample(t, (2, 4))], num_split=2)
    family.row("SplitV", [sample(t, (2, 4)), i32(1, 3), tf.constant(1)], num_split=2)
for axis in (0, 1, 2, -1, -2, -3):
    shapes = [[2, 3, 4], [2, 3, 4], [2, 3, 4]]
    for i, size in enumerate((1, 3, 0)):
        shapes[i][axis] = size
    parts = [sample(f64, s, seed=i) for i, s in enumerate(shapes)]
    family.row("ConcatV2", [parts, tf.constant(axis)], name="axis")
    family.row("ConcatV2", [parts, tf.constant(axis, tf.int64)], name="axis64")
for n in (2, 5):
    for axis in (0, -1, 1):
        family.row("Pack", [[sample(f64, (2, 2), seed=i) for i in range(n)]], axis=axis)
        family.row("Pack", [[sample(f64, (2, 0), seed=i) for i in range(n)]], axis=axis)
family.row("ConcatV2", [[sample(f64, (0, 3)), sample(f64, (0, 3))], tf.constant(0)], name="empty")
family.row("ConcatV2", [[sample(f64, (1, 2, 1, 2, 2)), sample(f64, (1, 2, 3, 2, 2))], tf.constant(2)], name="rank5")
family.error("ConcatV2", [[f32(2, 3), f32(3, 3)], tf.constant(1)], "InvalidArgument", name="shapes")
family.error("ConcatV2", [[f32(2, 3), f32(2)], tf.constant(1)], "InvalidArgument", name="ranks")
family.error("ConcatV2", [[f32(2, 3), f32(2, 3)], tf.constant(2)], "InvalidArgument", name="axis")
family.error("ConcatV2", [[f32(2, 3), f32(2, 3)], tf.constant(-3)], "InvalidArgument", name="axis")
family.error("ConcatV2", [[f32(), f32()], tf.constant(0)], "InvalidArgument", name="scalars")
family.error("ConcatV2", [[f32(2), sample(f64, (2,))], tf.constant(0)], "TypeError", name="types")
family.row("Pack", [[sample(f64, ())]], axis=0)
family.row("Pack", [[sample(f64, ()), sample(f64, ())]], axis=-1)
family.error("Pack", [[f32(2), f32(3)]], "InvalidArgument", axis=0)
family.error("Pack", [[f32(2), f32(2)]], "InvalidArgument", axis=2)
family.error("Pack", [[f32(2), f32(2)]], "InvalidArgument", axis=-3)
family.row("ConcatOffset", [tf.constant(1), [i32(2, 3, 4), i32(2, 0, 4), i32(2, 5, 4)]])
family.row("ConcatOffset", [tf.constant(-1), [i32(2, 3), i32(2, 7)]])
family.row("ConcatOffset", [tf.constant(0), [i64(2, 3), i64(5, 3)]])
family.error("ConcatOffset", [tf.constant(1), [i32(2, 3), i32(3, 3)]], "InvalidArgument")
family.error("ConcatOffset", [tf.constant(2), [i32(2, 3), i32(2, 3)]], "InvalidArgument")
family.error("ConcatOffset", [tf.constant(0), [i32(2, 3), i32(2)]], "InvalidArgument")

for axis in (0, 1, -1, -2):
    family.row("Unpack", [sample(f64, (2, 3, 2))], num=(2, 3, 2)[axis], axis=axis)
family.row("Unpack", [sample(f64, (3,))], num=3, axis=0)
family.row("Unpack", [sample(f64, (2, 0))], num=2, axis=0, name="empty")
family.error("Unpack", [f32(2, 3)], "InvalidArgument", num=3, axis=0)
family.error("Unpack", [f32(2, 3)], "InvalidArgument", num=2, axis=2)
family.error("Unpack", [f32()], "InvalidArgument", num=1, axis=0)
for axis in (0, 1, 2, -1, -3):
    family.row("Split", [tf.constant(axis), sample(f64, (2, 4, 6))], num_split=2)
family.row("Split", [tf.constant(0), sample(f64, (3, 2))], num_split=1)
family.row("Split", [tf.constant(0), sample(f64, (0, 2))], num_split=3, name="empty")
family.error("Split", [tf.constant(0), f32(3, 2)], "InvalidArgument", num_split=2)
family.error("Split", [tf.constant(2), f32(3, 2)], "InvalidArgument", num_split=1)
family.error("Split", [i32(0, 0), f32(3, 2)], "InvalidArgument", num_split=1)
family.row("SplitV", [sample(f64, (5, 2)), i32(1, -1, 2), tf.constant(0)], num_split=3)
family.row("SplitV", [sample(f64, (5, 2)), i64(0, 5), tf.constant(-2)], num_split=2)
family.row("SplitV", [sample(f64, (2, 3)), i32(3), tf.constant(1)], num_split=1)
# int8 sizes end TensorFlow's process (a failed check), so they have no row.
family.error("SplitV", [f32(5), i32(1, 2), tf.constant(0)], "InvalidArgument", num_split=2)
family.error("SplitV", [f32(5), i32(4, 2), tf.constant(0)], "InvalidArgument", num_split=2)
family.error("SplitV", [f32(5), i32(-1, -1), tf.constant(0)], "InvalidArgument", num_split=2)
family.error("SplitV", [f32(5), i32(-2, 7), tf.constant(0)], "InvalidArgument", num_split=2)
family.error("SplitV", [f32(5), i32(5), tf.constant(0)], "InvalidArgument", num_split=2)
family.error("SplitV", [f32(5), i32(5), tf.constant(1)], "InvalidArgument", num_split=1)

# ---- shapes
for t in family.types("ExpandDims"):
    family.row("ExpandDims", [sample(t, (2, 3)), tf.constant(1)])
    family.row("Squeeze", [sample(t, (2, 1, 3))])
    family.row("Shape", [sample(t, (2, 1))])
    family.row("Size", [sample(t, (2, 3))])
    family.row("Rank", [sample(t, (2, 3))])
    family.row("ShapeN", [[sample(t, (2, 3)), sample(t, ())]])
for axis in (0, 2, -1, -3):
    family.row("ExpandDims", [sample(f64, (2, 3)), tf.constant(axis)])
family.row("ExpandDims", [sample(f64, ()), tf.constant(0)])
family.row("ExpandDims", [sample(f64, (2, 0)), i64(1)], name="vector")
family.error("ExpandDims", [f32(2, 3), tf.constant(3)], "InvalidArgument")
family.error("ExpandDims", [f32(2, 3), tf.constant(-4)], "InvalidArgument")
family.error("ExpandDims", [f32(2, 3), i32(0, 1)], "InvalidArgument")
for dims in ([], [0], [-1], [0, 2], [2, 4]):
    family.row("Squeeze", [sample(f64, (1, 3, 1, 2, 1))], squeeze_dims=dims)
family.row("Squeeze", [sample(f64, ())])
family.row("Squeeze", [sample(f64, (1, 0))])
family.error("Squeeze", [f32(1, 3)], "InvalidArgument", squeeze_dims=[1])
family.error("Squeeze", [f32(1, 3)], "InvalidArgument", squeeze_dims=[2])
for op in ("Shape", "Size"):
    family.row(op, [sample(f64, (2, 0, 3))], out_type=tf.int64)
    family.row(op, [sample(f64, ())], out_type=tf.int64)
family.row("ShapeN", [[sample(f64, (2, 0, 3)), sample(f64, (1,))]], out_type=tf.int64)
family.row("Rank", [sample(f64, ())])
for wanted in ([2, 3], [None, 3], None):
    family.row("EnsureShape", [sample(f64, (2, 3))], shape=tf.TensorShape(wanted))
family.error("EnsureShape", [f32(2, 3)], "InvalidArgument", shape=tf.TensorShape([2, 4]))
family.error("EnsureShape", [f32(2, 3)], "InvalidArgument", shape=tf.TensorShape([2]))

for t in family.types("Reshape"):
    for op in ("Identity", "StopGradient", "ZerosLike", "OnesLike"):
        if t in family.types(op):
            family.row(op, [sample(t, (2, 3))])
    family.row("Reshape", [sample(t, (2, 3)), i32(3, 2)])
    family.row("BroadcastTo", [sample(t, (2, 1)), i32(2, 3)])
    family.row("Fill", [i32(2, 2), sample(t, ())])
for op in ("Identity", "StopGradient", "ZerosLike", "OnesLike"):
    for shape in ((), (0, 2), (2, 1, 2, 1, 2)):
        family.row(op, [sample(f64, shape)])
for shape, target in (((2, 3), (-1,)), ((2, 3), (3, -1)), ((), (1, 1)), ((1, 1), ()), ((0, 3), (3, 0)), ((0, 3), (-1, 3)),
                      ((2, 3, 4), (4, 1, -1, 3, 1))):
    family.row("Reshape", [sample(f64, shape), tf.constant(target, tf.int64, shape=[len(target)])], name="shape")
family.error("Reshape", [f32(2, 3), i32(4, 2)], "InvalidArgument")
family.error("Reshape", [f32(2, 3), i32(-1, -1)], "InvalidArgument")
family.error("Reshape", [f32(2, 3), i32(-1, 4)], "InvalidArgument")
family.error("Reshape", [f32(2, 3), i32(-2, 3)], "InvalidArgument")
family.error("Reshape", [f32(2, 3), i64(2**40, 2**40)], "InvalidArgument")
for shape, target in (((2, 3), (2, 3)), ((3,), (2, 3)), ((), (2, 2)), ((1, 3), (0, 3)), ((2, 1, 2, 1), (3, 2, 3, 2, 2)),
                      ((1,), (4,))):
    family.row("BroadcastTo", [sample(f64, shape), tf.constant(target, tf.int64)], name="shape")
family.error("BroadcastTo", [f32(2, 3), i32(2, 4)], "InvalidArgument")
family.error("BroadcastTo", [f32(2, 3), i32(3)], "InvalidArgument")
family.error("BroadcastTo", [f32(3), i32(-1, 3)], "InvalidArgument")
for dims in ((), (0,), (2, 0, 3), (2, 1, 2, 1, 2)):
    family.row("Fill", [tf.constant(dims, tf.int64, shape=[len(dims)]), tf.constant(1.5, f64)])
family.row("Fill", [i32(2, 2), tf.constant([1.5], f64)], gradient=False, infer=False)
family.error("Fill", [i32(2, -2), tf.constant(1.0)], "InvalidArgument")
family.error("Fill", [i32(2, 2), f32(2)], "InvalidArgument")
family.error("Fill", [tf.constant([[2]]), tf.constant(1.0)], "InvalidArgument")
family.error("Fill", [i64(2**40, 2**40), tf.constant(1.0)], "InvalidArgument")

# ---- transpose
for t in family.types("Transpose"):
    family.row("Transpose", [sample(t, (2, 3)), i32(1, 0)])
for shape, perm in (((2, 3), (0, 1)), ((2, 3, 4), (2, 0, 1)), ((2, 3, 4), (0, 2, 1)), ((2, 3, 4), (1, 0, 2)),
                    ((2, 3, 4), (2, 1, 0)), ((2, 1, 3), (1, 2, 0)), ((2, 3, 1, 2, 2), (4, 1, 3, 0, 2)),
                    ((2, 3, 2, 2), (0, 3, 1, 2)), ((2, 0), (1, 0)), ((3,), (0,)), ((2, 3, 4), (-1, 0, 1)),
                    ((1, 2, 2, 1, 2, 2), (5, 4, 3, 2, 1, 0))):
    positive = min(perm, default=0) >= 0  # TensorFlow cannot invert the others for its gradient
    family.row("Transpose", [sample(f64, shape), i32(*perm)], name="perm", gradient=positive)
    family.row("Transpose", [sample(tf.complex64, shape), i64(*perm)], name="perm64", gradient=positive)
family.row("Transpose", [sample(f64, ()), tf.constant([], tf.int32)], name="scalar")
family.row("Transpose", [sample(tf.float32, (70, 45)), i32(1, 0)], name="tiles", infer=False, gradient=False)
family.row("Transpose", [sample(tf.float32, (3, 37, 40)), i32(2, 0, 1)], name="tiles", infer=False, gradient=False)
family.error("Transpose", [f32(2, 3), i32(0)], "InvalidArgument")
family.error("Transpose", [f32(2, 3), i32(0, 0)], "InvalidArgument")
family.error("Transpose", [f32(2, 3), i32(0, 2)], "InvalidArgument")
family.error("Transpose", [f32(2, 3), i32(0, -3)], "InvalidArgument")
family.error("Transpose", [f32(2, 3), tf.constant([[0], [1]])], "InvalidArgument")
family.row("InvertPermutation", [i32(2, 0, 1)])
family.row("InvertPermutation", [i64(2, 4, 3, 0, 1)])
family.row("InvertPermutation", [tf.constant([], tf.int32)])
family.error("InvertPermutation", [i32(0, 0)], "InvalidArgument")
family.error("InvertPermutation", [i32(0, 2)], "InvalidArgument")
family.error("InvertPermutation", [i32(0, -1)], "InvalidArgument")
family.error("InvertPermutation", [tf.constant([[0]])], "InvalidArgument")

# ---- padding and tiling
for t in family.types("Pad"):
    family.row("Pad", [sample(t, (2, 2)), tf.constant([[1, 0], [2, 1]])])
    family.row("PadV2", [sample(t, (2, 2)), tf.constant([[1, 0], [0, 1]]), sample(t, (), seed=5)])
    family.row("MirrorPad", [sample(t, (2, 3)), tf.constant([[1, 0], [2, 1]])], mode="REFLECT")
    family.row("Tile", [sample(t, (2, 2)), i32(2, 3)])
for t in family.types("MirrorPadGrad"):
    if not (t.is_floating or t.is_complex or t.is_integer):
        continue
    family.row("MirrorPadGrad", [sample(t, (3, 6)), tf.constant([[1, 0], [2, 1]])], mode="SYMMETRIC")
for shape, paddings in (((3,), [[2, 1]]), ((2, 3), [[0, 0], [1, 1]]), ((2, 3, 4), [[1, 1], [0, 2], [2, 0]]),
                        ((2, 2, 2, 2, 2), [[1, 0], [0, 1], [1, 1], [0, 0], [1, 0]]), ((2, 2), [[0, 0], [0, 0]])):
    p = tf.constant(paddings, tf.int64)
    family.row("Pad", [sample(f64, shape), p], name="shape")
    family.row("PadV2", [sample(f64, shape), p, tf.constant(1.5, f64)], name="shape")
    padded = tuple(int(s) + sum(q) for s, q in zip(shape, paddings))
    for mode in ("REFLECT", "SYMMETRIC"):
        if mode == "REFLECT" and any(max(q) >= s for s, q in zip(shape, paddings)):
            continue
        family.row("MirrorPad", [sample(f64, shape), p], mode=mode, name="shape")
        family.row("MirrorPadGrad", [sample(f64, padded), p], mode=mode, name="shape")
family.row("Pad", [sample(f64, ()), tf.zeros([0, 2], tf.int32)], name="scalar")
family.row("Pad", [sample(f64, (0, 2)), tf.constant([[1, 1], [0, 0]])], name="empty")
family.row("Pad", [sample(f64, (0, 2)), tf.constant([[0, 0], [0, 0]])], name="empty")
family.error("Pad", [f32(2, 2), tf.constant([[1, 0]])], "InvalidArgument")
family.error("Pad", [f32(2, 2), tf.constant([[1, 0], [-1, 0]])], "InvalidArgument")
family.error("Pad", [f32(2, 2), tf.constant([1, 0])], "InvalidArgument")
family.error("Pad", [f32(2), tf.constant([[2**63 - 1, 2**62]], tf.int64)], "InvalidArgument", name="overflow")
family.error("PadV2", [f32(2), tf.constant([[1, 0]]), f32(1)], "InvalidArgument", check=False)
family.error("PadV2", [f32(2), tf.constant([[1, 0]]), tf.constant(1)], "TypeError")
family.error("MirrorPad", [f32(2, 3), tf.constant([[2, 0], [0, 0]])], "InvalidArgument", mode="REFLECT")
family.error("MirrorPad", [f32(2, 3), tf.constant([[3, 0], [0, 0]])], "InvalidArgument", mode="SYMMETRIC")
family.error("MirrorPad", [f32(2, 3), tf.constant([[-1, 0], [0, 0]])], "InvalidArgument", mode="SYMMETRIC")
family.error("MirrorPad", [f32(2), tf.constant([[1, 0]])], "InvalidArgument", mode="CONSTANT")
family.error("MirrorPadGrad", [f32(3), tf.constant([[2, 0]])], "InvalidArgument", mode="REFLECT")
for shape, multiples in (((3,), (2,)), ((2, 3), (1, 1)), ((2, 3), (1, 2)), ((2, 3), (3, 1)), ((2, 1, 2), (2, 3, 2)),
                         ((2, 3), (0, 2)), ((0, 3), (2, 2)), ((1, 2, 1, 2, 1), (2, 1, 2, 2, 3))):
    family.row("Tile", [sample(f64, shape), i64(*multiples)], name="shape")
family.row("Tile", [sample(f64, ()), tf.constant([], tf.int32)], name="scalar")
family.error("Tile", [f32(2, 2), i32(2)], "InvalidArgument")
family.error("Tile", [f32(2, 2), i32(2, -1)], "InvalidArgument")
family.error("Tile", [f32(2, 2), tf.constant([[2, 1]])], "InvalidArgument")
family.error("Tile", [f32(2, 2), i64(2**62, 2**62)], "InvalidArgument", name="overflow", check=False)

# ---- from a few numbers
for t in family.types("OneHot"):
    for ti in (tf.uint8, tf.int8, tf.int32, tf.int64):
        family.row("OneHot", [tf.constant([[0, 2, 1], [3, 1, 0]], ti), tf.constant(3), sample(t, (), seed=1),
                              sample(t, (), seed=2)], gradient=False)
for axis in (-1, 0, 1, 2):
    family.row("OneHot", [tf.constant([[0, -1, 5], [3, 1, 0]]), tf.constant(4), tf.constant(1.0), tf.constant(0.0)],
               axis=axis, gradient=False)
family.row("OneHot", [tf.constant(1), tf.constant(3), tf.constant(2.0), tf.constant(-1.0)], gradient=False)
family.row("OneHot", [tf.constant([1, 2]), tf.constant(0), tf.constant(2.0), tf.constant(-1.0)], gradient=False)
family.row("OneHot", [tf.zeros([0], tf.int32), tf.constant(2), tf.constant(2.0), tf.constant(-1.0)], gradient=False)
family.error("OneHot", [tf.constant([1]), tf.constant(-1), tf.constant(1.0), tf.constant(0.0)], "InvalidArgument")
family.error("OneHot", [tf.constant([1]), tf.constant(2), tf.constant(1.0), tf.constant(0.0)], "InvalidArgument", axis=2)
family.error("OneHot", [tf.constant([1]), tf.constant(2), tf.constant(1.0), tf.constant(0.0)], "InvalidArgument", axis=-2)
family.error("OneHot", [tf.constant([1]), i32(2), tf.constant(1.0), tf.constant(0.0)], "InvalidArgument")
family.error("OneHot", [tf.constant([1]), tf.constant(2), f32(1), tf.constant(0.0)], "InvalidArgument")
for t in family.types("Range", "Tidx"):
    family.row("Range", [tf.cast(1, t), tf.cast(8, t), tf.cast(3, t)], gradient=False)
    if not t.is_unsigned:
        family.row("Range", [tf.cast(3, t), tf.cast(-3, t), tf.cast(-2, t)], gradient=False)
for start, limit, delta in ((0.0, 1.0, 0.1), (0.0, -1.0, -0.3), (2.0, 2.0, 1.0), (0.5, 5.5, 1.25)):
    for t in (tf.float32, tf.float64):
        family.row("Range", [tf.constant(start, t), tf.constant(limit, t), tf.constant(delta, t)], gradient=False)
family.error("Range", [tf.constant(0), tf.constant(3), tf.constant(0)], "InvalidArgument")
family.error("Range", [tf.constant(3), tf.constant(0), tf.constant(1)], "InvalidArgument")
family.error("Range", [tf.constant(0), tf.constant(3), tf.constant(-1)], "InvalidArgument")
family.error("Range", [tf.constant([0]), tf.constant(3), tf.constant(1)], "InvalidArgument", check=False)
family.error("Range", [tf.constant(-2**63, tf.int64), tf.constant(2**63 - 1, tf.int64), tf.constant(1, tf.int64)],
             "InvalidArgument", name="overflow")
family.error("Range", [tf.constant(0.0), tf.constant(float("inf")), tf.constant(1.0)], "InvalidArgument", name="infinite",
             check=False)
for t in (tf.float32, tf.float64):
    for start, stop, num in ((0, 1, 5), (3, -2, 4), (1, 7, 1), (2, 2, 3), (0, 1, 11)):
        family.row("LinSpace", [tf.constant(start, t), tf.constant(stop, t), tf.constant(num)], gradient=False)
family.row("LinSpace", [tf.constant(0.0), tf.constant(1.0), tf.constant(3, tf.int64)], gradient=False)
family.error("LinSpace", [tf.constant(0.0), tf.constant(1.0), tf.constant(0)], "InvalidArgument")
family.error("LinSpace", [tf.constant([0.0]), tf.constant(1.0), tf.constant(2)], "InvalidArgument")
family.save()
