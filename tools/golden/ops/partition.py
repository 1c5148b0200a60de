"""Rows of partitioning, stitching, bands and broadcast shapes; see ../rows.py."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import numpy as np
import tensorflow as tf
from rows import Family, f32

family = Family("partition")
f64 = tf.float64
sample = family.sample


def i32(*values):
    return tf.constant(values, tf.int32)


def i64(*values):
    return tf.constant(values, tf.int64)


for t in family.types("DynamicPartition"):
    family.row("DynamicPartition", [sample(t, (4, 2)), i32(1, 0, 1, 2)], num_partitions=3)
    family.row("DynamicStitch", [[i32(2, 0), i32(1)], [sample(t, (2, 2)), sample(t, (1, 2), seed=2)]])
family.row("DynamicPartition", [sample(f64, (2, 3)), tf.constant([[0, 1, 0], [1, 1, 0]])], num_partitions=2)
family.row("DynamicPartition", [sample(f64, (3,)), i32(0, 0, 0)], num_partitions=1)
family.row("DynamicPartition", [sample(f64, (3, 2)), i32(3, 3, 0)], num_partitions=4, name="empty_parts")
family.row("DynamicPartition", [sample(f64, (0, 2)), tf.zeros([0], tf.int32)], num_partitions=2, name="empty",
           gradient=False)
family.row("DynamicPartition", [sample(f64, (2,)), tf.constant(1)], num_partitions=2, name="scalar", gradient=False)
family.error("DynamicPartition", [f32(2), i32(0, 2)], "InvalidArgument", num_partitions=2)
family.error("DynamicPartition", [f32(2), i32(0, -1)], "InvalidArgument", num_partitions=2)
family.error("DynamicPartition", [f32(2), i32(0)], "InvalidArgument", num_partitions=2)
family.error("DynamicPartition", [f32(2), tf.constant([[0], [0]])], "InvalidArgument", num_partitions=2)
family.row("DynamicStitch", [[tf.constant([[0, 3], [1, 2]]), tf.constant(4)],
                             [sample(f64, (2, 2, 2)), sample(f64, (2,), seed=2)]])
family.row("DynamicStitch", [[i32(0, 1), i32(1, 2)], [sample(f64, (2,)), sample(f64, (2,), seed=2)]], name="twice",
           finite=False)
family.row("DynamicStitch", [[tf.zeros([0], tf.int32)], [sample(f64, (0, 2))]], name="empty", gradient=False)
family.error("DynamicStitch", [[i32(0, 1), i32(2)], [f32(2), f32(1, 2)]], "InvalidArgument")
family.error("DynamicStitch", [[i32(0, 1)], [f32(3)]], "InvalidArgument")
family.error("DynamicStitch", [[i32(0, -1)], [f32(2)]], "InvalidArgument")

for t in family.types("Unique"):
    if t == tf.string or t.is_integer or t.is_floating or t == tf.bool:
        family.row("Unique", [tf.constant([b"b", b"a", b"b"]) if t == tf.string else tf.cast([1, 0, 1, 1, 0, 1], t)],
                   gradient=False)
for out in (tf.int32, tf.int64):
    family.row("Unique", [i64(5, 3, 5, 2, 3)], out_idx=out)
    family.row("Unique", [i64()], out_idx=out)
family.row("Unique", [tf.constant([np.nan, 1.0, np.nan, 0.0, -0.0])], gradient=False)
family.error("Unique", [f32(2, 2)], "InvalidArgument")

for t in family.types("Where"):
    if t.is_integer or t.is_floating or t.is_complex or t == tf.bool:
        family.row("Where", [tf.cast([[1, 0, 1], [0, 0, 1]], t)])
for shape in ((5,), (2, 3, 2), (0, 3), (2, 1, 2, 1, 2)):
    family.row("Where", [sample(tf.bool, shape)])
family.row("Where", [tf.constant([np.nan, 0.0, -0.0])], gradient=False)

for t in family.types("MatrixBandPart"):
    family.row("MatrixBandPart", [sample(t, (3, 4)), tf.constant(1), tf.constant(0)])
for shape in ((3, 4), (4, 2), (2, 3, 3), (1, 2, 2, 2, 2), (2, 0), (0, 2, 2)):
    for lower, upper in ((0, 0), (-1, 0), (0, -1), (1, 1), (-1, -1), (min(2, shape[-2]), 0)):
        if lower <= shape[-2] and upper <= shape[-1]:
            family.row("MatrixBandPart", [sample(f64, shape), tf.constant(lower, tf.int64), tf.constant(upper, tf.int64)])
family.error("MatrixBandPart", [f32(3), tf.constant(0), tf.constant(0)], "InvalidArgument")
family.error("MatrixBandPart", [f32(3, 3), tf.constant(4), tf.constant(0)], "InvalidArgument")
family.error("MatrixBandPart", [f32(3, 3), tf.constant(0), tf.constant(4)], "InvalidArgument")
family.error("MatrixBandPart", [f32(3, 3), i32(0), tf.constant(0)], "InvalidArgument")

family.row("IdentityN", [[sample(f64, (2,)), i32(1, 2), sample(tf.float32, ())]])
family.row("IdentityN", [[tf.constant(["a"]), sample(f64, (2, 3))]])
for t in family.types("PreventGradient"):
    family.row("PreventGradient", [sample(t, (2, 3))], gradient=False)

for a, b in (((2, 3), (3,)), ((2, 1), (1, 3)), ((), (2,)), ((2, 3), (2, 3)), ((1, 1), (1, 1)), ((1,), (2, 1)), ((), ()),
             ((0, 1), (1, 3)), ((4, 1, 2), (3, 1)), ((1, 2), (2,)), ((1,), ())):
    for t in (tf.int32, tf.int64):
        shapes = [tf.constant(a, t, shape=[len(a)]), tf.constant(b, t, shape=[len(b)])]
        family.row("BroadcastArgs", shapes)
        family.row("BroadcastGradientArgs", shapes)
for op in ("BroadcastArgs", "BroadcastGradientArgs"):
    family.error(op, [i32(2, 3), i32(2)], "InvalidArgument")
    family.error(op, [tf.constant(2), i32(2)], "InvalidArgument")
family.save()
