"""Rows of gathering, scattering, segments and slicing; see ../rows.py."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import numpy as np
import tensorflow as tf
from rows import Family, f32

family = Family("gather")
f64 = tf.float64
sample = family.sample


def i32(*values):
    return tf.constant(values, tf.int32)


# ---- GatherV2
for t in family.types("GatherV2", "Tparams"):
    family.row("GatherV2", [sample(t, (3, 2)), i32(2, 0, 2), tf.constant(0)])
    family.row("GatherNd", [sample(t, (3, 2)), tf.constant([[2, 0], [0, 1]])])
    family.row("GatherNd", [sample(t, (3, 2)), tf.constant([[2], [0], [2]])])
for ti in (tf.int16, tf.int32, tf.int64):
    for ta in (tf.int32, tf.int64):
        family.row("GatherV2", [sample(f64, (2, 3)), tf.constant([[1, 2], [0, 1]], ti), tf.constant(1, ta)])
        family.row("GatherV2", [sample(f64, (3, 2)), tf.constant([[1, 2], [0, 1]], ti), tf.constant(0, ta)])
for shape, indices, axis in (((4,), 2, 0), ((4, 2), [], 0), ((2, 3, 2), [2, 0], 1), ((2, 3, 2), [[1], [1]], -1),
                             ((2, 3, 2), 1, -2), ((2, 3, 2), [1, 1, 0], -3), ((2, 0), [1, 0], 0), ((2, 3, 1, 2, 2), [2, 1], 1)):
    family.row("GatherV2", [sample(f64, shape), tf.constant(indices, tf.int32), tf.constant(axis)], name="axis")
for shape, ishape, axis, batch in (((2, 3), (2, 2), 1, 1), ((2, 3, 4), (2, 2), 1, 1), ((2, 3, 4), (2, 2), 2, 1),
                                   ((2, 3, 4), (2, 3), 2, 2), ((2, 3, 4), (2, 3, 2), 2, 2), ((2, 3, 4), (2, 2, 3), -1, 1),
                                   ((2, 3, 4), (2, 3, 2), -1, -1), ((2, 3), (2,), 1, 1), ((2, 3, 2, 2), (2, 2), 3, 1)):
    indices = np.random.RandomState(3).randint(0, shape[axis], ishape)
    for ti in (tf.int32, tf.int64):
        family.row("GatherV2", [sample(f64, shape), tf.constant(indices, ti), tf.constant(axis)], batch_dims=batch,
                   name="batch", infer=batch > 0)  # TensorFlow infers a wrong rank for negative ones
family.error("GatherV2", [f32(3), i32(0, 3), tf.constant(0)], "InvalidArgument")
family.error("GatherV2", [f32(3), i32(-1), tf.constant(0)], "InvalidArgument")
family.error("GatherV2", [f32(0, 2), i32(0), tf.constant(0)], "InvalidArgument")
family.error("GatherV2", [f32(), i32(0), tf.constant(0)], "InvalidArgument")
family.error("GatherV2", [f32(3), i32(0), tf.constant(1)], "InvalidArgument")
family.error("GatherV2", [f32(3), i32(0), i32(0, 0)], "InvalidArgument")
family.error("GatherV2", [f32(2, 3), tf.constant([[0]]), tf.constant(1)], "InvalidArgument", batch_dims=1)
family.error("GatherV2", [f32(2, 3), tf.constant([[0], [1]]), tf.constant(0)], "InvalidArgument", batch_dims=1)
family.error("GatherV2", [f32(2, 3), tf.constant([[0], [1]]), tf.constant(1)], "InvalidArgument", batch_dims=3)

# ---- GatherNd, ScatterNd and relatives
for shape, indices in (((3, 2), [[[0, 1]], [[2, 0]]]), ((3, 2), [1]), ((3, 2), [2, 1]), ((2, 3, 2), [[1, 2], [0, 0]]),
                       ((2, 2), np.zeros((2, 0))), ((3, 2), np.zeros((0, 1)))):
    for ti in (tf.int32, tf.int64, tf.int16):
        family.row("GatherNd", [sample(f64, shape), tf.constant(indices, ti)], name="depth", gradient=ti != tf.int16 and np.ndim(indices) != 1 and np.size(indices) > 0)
family.row("GatherNd", [sample(f64, (3, 2)), tf.constant([[2], [-1], [7]])], bad_indices_policy="IGNORE", gradient=False)
family.error("GatherNd", [f32(3, 2), tf.constant([[3]])], "InvalidArgument")
family.error("GatherNd", [f32(3, 2), tf.constant([[0, -1]])], "InvalidArgument")
family.error("GatherNd", [f32(3, 2), tf.constant([[0, 0, 0]])], "InvalidArgument")
family.error("GatherNd", [f32(3, 2), tf.constant(0)], "InvalidArgument")
family.error("GatherNd", [f32(3, 2), tf.constant([[0]])], "InvalidArgument", bad_indices_policy="SOMETIMES")
for t in family.types("ScatterNd"):
    family.row("ScatterNd", [tf.constant([[2], [0], [2]]), sample(t, (3, 2)), i32(4, 2)])
for ti in (tf.int16, tf.int32, tf.int64):
    family.row("ScatterNd", [tf.constant([[2, 1], [0, 0], [2, 1]], ti), sample(f64, (3,)), tf.constant([3, 2], ti)])
family.row("ScatterNd", [tf.constant([[[1], [0]], [[1], [1]]]), sample(f64, (2, 2, 3)), i32(2, 3)])
family.row("ScatterNd", [tf.zeros([0, 1], tf.int32), sample(f64, (0, 2)), i32(3, 2)], name="empty")
family.row("ScatterNd", [tf.constant([[2], [-1], [9]]), sample(f64, (3, 2)), i32(4, 2)], bad_indices_policy="IGNORE", gradient=False)
family.error("ScatterNd", [tf.constant([[4]]), f32(1, 2), i32(4, 2)], "InvalidArgument")
family.error("ScatterNd", [tf.constant([[-1]]), f32(1, 2), i32(4, 2)], "InvalidArgument")
family.error("ScatterNd", [tf.constant([[1]]), f32(1, 3), i32(4, 2)], "InvalidArgument")
family.error("ScatterNd", [tf.constant([[1]]), f32(2, 2), i32(4, 2)], "InvalidArgument")
family.error("ScatterNd", [tf.constant([[1]]), f32(1), i32(-4)], "InvalidArgument")
family.error("ScatterNd", [tf.constant([[1, 1, 1]]), f32(1), i32(4, 2)], "InvalidArgument")
for op in ("TensorScatterUpdate", "TensorScatterAdd", "TensorScatterSub"):
    for t in family.types(op):
        family.row(op, [sample(t, (3, 2)), tf.constant([[2], [0]]), sample(t, (2, 2), seed=3)])
    for ti in (tf.int32, tf.int64):
        family.row(op, [sample(f64, (3, 2)), tf.constant([[2, 1], [0, 0]], ti), sample(f64, (2,), seed=3)])
    if op != "TensorScatterUpdate":
        family.row(op, [sample(f64, (3, 2)), tf.constant([[2], [2]]), sample(f64, (2, 2), seed=3)], name="twice")
    family.row(op, [sample(f64, (3, 2)), tf.zeros([0, 1], tf.int32), sample(f64, (0, 2))], name="empty")
    family.error(op, [f32(3, 2), tf.constant([[3]]), f32(1, 2)], "InvalidArgument")
    family.error(op, [f32(3, 2), tf.constant([[1]]), f32(1, 3)], "InvalidArgument")
    family.error(op, [f32(3, 2), tf.constant([[1, 1, 1]]), f32(1)], "InvalidArgument")
for ti in (tf.int16, tf.uint16):
    family.row("TensorScatterUpdate", [sample(f64, (3, 2)), tf.constant([[2], [0]], ti), sample(f64, (2, 2), seed=3)],
               gradient=False)

# ---- segments
for t in family.types("UnsortedSegmentSum"):
    family.row("UnsortedSegmentSum", [sample(t, (4, 2)), i32(1, 0, 1, 3), tf.constant(4)])
for ti in (tf.int16, tf.int32, tf.int64):
    for tn in (tf.int32, tf.int64):
        family.row("UnsortedSegmentSum", [sample(f64, (4, 2)), tf.constant([1, -1, 1, 0], ti), tf.constant(3, tn)])
family.row("UnsortedSegmentSum", [sample(f64, (2, 3)), tf.constant([[0, 1, 0], [1, 1, 2]]), tf.constant(3)])
family.row("UnsortedSegmentSum", [sample(f64, (3,)), tf.constant([0, 0, 1]), tf.constant(2)])
family.row("UnsortedSegmentSum", [sample(f64, ()), tf.constant(1), tf.constant(2)])
family.row("UnsortedSegmentSum", [sample(f64, (0, 2)), tf.zeros([0], tf.int32), tf.constant(2)], name="empty")
family.row("UnsortedSegmentSum", [sample(f64, (2, 2)), i32(-1, -1), tf.constant(0)], name="none", gradient=False)
family.error("UnsortedSegmentSum", [f32(2), i32(0, 2), tf.constant(2)], "InvalidArgument")
family.error("UnsortedSegmentSum", [f32(2), i32(0), tf.constant(2)], "InvalidArgument")
family.error("UnsortedSegmentSum", [f32(2), i32(0, 0), tf.constant(-1)], "InvalidArgument")
family.error("UnsortedSegmentSum", [f32(2), i32(0, 0), i32(2)], "InvalidArgument", check=False)

for op in ("UnsortedSegmentProd", "UnsortedSegmentMax", "UnsortedSegmentMin"):
    for t in family.types(op):
        if t.is_floating or t.is_integer or t.is_complex:
            # An empty segment of a half type is its own lowest number there, that of float here: no segment is empty.
            family.row(op, [sample(t, (5, 2), low=0.5), i32(1, 0, 1, 3, 2), tf.constant(4)],
                       gradient=t in (tf.float32, tf.float64), rtol=2e-2 if t in (tf.float16, tf.bfloat16) else None)
    family.row(op, [sample(f64, (4, 2)), tf.constant([1, -1, 1, 0], tf.int64), tf.constant(3, tf.int64)], name="negative",
               finite=op == "UnsortedSegmentProd")  # the lowest number of an empty segment drowns differences
    family.row(op, [sample(f64, (2, 3)), tf.constant([[0, 1, 0], [1, 1, 2]]), tf.constant(3)])
    family.row(op, [tf.constant([[1, 2], [1, 0], [3, 0], [0, 5]], f64), i32(0, 0, 0, 1), tf.constant(2)], name="ties_zeros",
               finite=False, second=False)
    family.row(op, [sample(f64, (0, 2)), tf.zeros([0], tf.int32), tf.constant(2)], name="empty", gradient=False)
    family.row(op, [sample(tf.int32, (0, 2)), tf.zeros([0], tf.int32), tf.constant(2)], name="empty")
    family.error(op, [f32(2), i32(0, 2), tf.constant(2)], "InvalidArgument")
    family.error(op, [f32(2), i32(0), tf.constant(2)], "InvalidArgument")
for op in ("SegmentSum", "SegmentMean", "SegmentProd", "SegmentMax", "SegmentMin"):
    for t in family.types(op):
        if t.is_floating or t.is_integer or t.is_complex:
            family.row(op, [sample(t, (4, 2), low=0.5), i32(0, 0, 1, 3)], gradient=t in (tf.float32, tf.float64),
                       rtol=2e-2 if t in (tf.float16, tf.bfloat16) else None)
    family.row(op, [sample(f64, (4, 2, 3)), tf.constant([0, 1, 1, 1], tf.int64)])
    family.row(op, [sample(f64, (3,)), i32(0, 2, 2)])
    family.row(op, [tf.constant([[1, 2], [1, 0], [3, 0], [0, 5]], f64), i32(0, 0, 0, 1)], name="ties_zeros", finite=False,
               second=False)
    family.row(op, [sample(f64, (0, 2)), tf.zeros([0], tf.int32)], name="empty", gradient=False)
    family.error(op, [f32(2), i32(1, 0)], "InvalidArgument")
    family.error(op, [f32(2), i32(-1, 0)], "InvalidArgument")
    family.error(op, [f32(2), i32(0)], "InvalidArgument")
    family.error(op, [f32(2), tf.constant([[0, 0]])], "InvalidArgument")

# ---- slices
for t in family.types("Slice"):
    family.row("Slice", [sample(t, (3, 4)), i32(1, 0), i32(2, 3)])
    family.row("StridedSlice", [sample(t, (3, 4)), i32(0, 3), i32(3, 0), i32(2, -1)])
    family.row("StridedSliceGrad", [i32(3, 4), i32(0, 3), i32(3, 0), i32(2, -1), sample(t, (2, 3))])
for shape, begin, size in (((5,), (2,), (2,)), ((5,), (2,), (-1,)), ((5,), (5,), (0,)), ((2, 3), (0, 0), (2, 3)),
                           ((2, 3, 4), (1, 1, 1), (1, -1, 2)), ((2, 0), (1, 0), (1, 0)),
                           ((2, 2, 2, 3, 2), (0, 1, 0, 1, 0), (2, 1, 2, -1, 1))):
    family.row("Slice", [sample(f64, shape), tf.constant(begin, tf.int64), tf.constant(size, tf.int64)], name="part")
family.row("Slice", [sample(f64, ()), tf.constant([], tf.int32), tf.constant([], tf.int32)], name="scalar")
family.error("Slice", [f32(3), i32(2), i32(2)], "InvalidArgument")
family.error("Slice", [f32(3), i32(-1), i32(1)], "InvalidArgument")
family.error("Slice", [f32(3), i32(4), i32(0)], "InvalidArgument")
family.error("Slice", [f32(3), i32(0), i32(-2)], "InvalidArgument")
family.error("Slice", [f32(3), i32(0, 0), i32(1, 1)], "InvalidArgument")
family.error("Slice", [f32(3), i32(0), i32(1, 1)], "InvalidArgument")
family.error("Slice", [f32(3), tf.constant([2**62], tf.int64), tf.constant([2**62], tf.int64)], "InvalidArgument",
             name="overflow")
cases = [  # shape, begin, end, strides, begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask
    ((6,), (1,), (5,), (2,), 0, 0, 0, 0, 0),
    ((6,), (-4,), (-1,), (1,), 0, 0, 0, 0, 0),
    ((6,), (4,), (0,), (-1,), 0, 0, 0, 0, 0),
    ((6,), (4,), (0,), (-2,), 1, 1, 0, 0, 0),
    ((6,), (0,), (0,), (1,), 1, 1, 0, 0, 0),
    ((6,), (9,), (20,), (1,), 0, 0, 0, 0, 0),
    ((6,), (-20,), (20,), (3,), 0, 0, 0, 0, 0),
    ((6,), (20,), (-20,), (-4,), 0, 0, 0, 0, 0),
    ((6,), (3,), (1,), (1,), 0, 0, 0, 0, 0),
    ((6,), (2,), (3,), (1,), 0, 0, 0, 0, 1),
    ((6,), (-1,), (0,), (1,), 0, 0, 0, 0, 1),
    ((3, 4), (1, 1), (2, 3), (1, 1), 0, 0, 0, 0, 1),
    ((3, 4), (1, 1), (2, 3), (1, 1), 0, 0, 0, 0, 3),
    ((3, 4), (1,), (2,), (1,), 0, 0, 0, 0, 0),
    ((3, 4), (0, 1), (0, 3), (1, 1), 0, 0, 1, 0, 0),
    ((3, 4), (0, 1), (0, 3), (1, 1), 0, 0, 0, 1, 0),
    ((3, 4), (0, 0, 1), (0, 0, 3), (1, 1, 1), 0, 0, 2, 1, 0),
    ((3, 4), (0, 0, 1), (0, 0, 3), (1, 1, 1), 0, 0, 1, 2, 4),
    ((2, 3, 4), (0, 0, 1), (0, 0, 2), (1, 1, -1), 7, 7, 2, 0, 0),
    ((2, 3, 4), (1, 0, -1), (2, 0, 0), (1, 1, 1), 0, 0, 2, 0, 5),
    ((2, 3, 4), (0, 0, 0, 0), (1, 0, 0, 0), (1, 1, 1, 1), 0, 0, 2, 4, 9),
    ((2, 3, 4), (0, 0), (0, 0), (1, 1), 0, 0, 1, 2, 0),
    ((2, 3, 2, 2, 3), (1, 0, 0, 2), (2, 2, 0, 0), (1, 1, 1, -1), 0, 0, 4, 0, 1),
    ((2, 0, 3), (0, 0), (2, 5), (1, 1), 0, 0, 0, 0, 0),
    ((3, 4), (1, 2), (3, 3), (1, 1), 1, 2, 0, 0, 0),
    ((3, 4), (1, 1), (0, 3), (1, 1), 0, 0, 0, 1, 1),
    ((), (), (), (), 0, 0, 0, 0, 0),
    ((), (0,), (0,), (1,), 0, 0, 0, 1, 0),
    ((), (0,), (0,), (1,), 0, 0, 1, 0, 0),
    ((3, 4), (2**31 - 1, 0), (-2**31, 4), (-2**31 + 1, 2**31 - 1), 0, 0, 0, 0, 0),
]
for shape, begin, end, strides, bm, em, elm, nm, sm in cases:
    for ti in (tf.int32, tf.int64):
        bounds = [tf.constant(v, ti, shape=[len(v)]) for v in (begin, end, strides)]
        masks = dict(begin_mask=bm, end_mask=em, ellipsis_mask=elm, new_axis_mask=nm, shrink_axis_mask=sm)
        family.row("StridedSlice", [sample(f64, shape), *bounds], name="masks", **masks)
        out = tf.raw_ops.StridedSlice(input=tf.ones(shape), begin=bounds[0], end=bounds[1], strides=bounds[2], **masks)
        family.row("StridedSliceGrad", [tf.constant(shape, ti, shape=[len(shape)]), *bounds, sample(f64, tuple(out.shape))],
                   name="masks", **masks)
family.row("StridedSlice", [sample(f64, (5,)), *(tf.constant([v], tf.int16) for v in (1, 4, 2))], gradient=False)
family.error("StridedSlice", [f32(3), i32(3), i32(4), i32(1)], "InvalidArgument", shrink_axis_mask=1)
family.error("StridedSlice", [f32(3), i32(-4), i32(4), i32(1)], "InvalidArgument", shrink_axis_mask=1)
family.error("StridedSlice", [f32(3), i32(1), i32(2), i32(-1)], "InvalidArgument", shrink_axis_mask=1)
family.error("StridedSlice", [f32(3), i32(0), i32(2), i32(0)], "InvalidArgument")
family.error("StridedSlice", [f32(3), i32(0, 0), i32(2, 2), i32(1, 1)], "InvalidArgument")
family.error("StridedSlice", [f32(3), i32(0), i32(2, 2), i32(1)], "InvalidArgument")
family.error("StridedSlice", [f32(3, 3), i32(0, 0), i32(2, 2), i32(1, 1)], "InvalidArgument", ellipsis_mask=3)
family.error("StridedSlice", [f32(3), tf.constant([[0]]), tf.constant([[2]]), tf.constant([[1]])], "InvalidArgument")
family.error("StridedSliceGrad", [i32(3), i32(0), i32(2), i32(1), f32(3)], "InvalidArgument")
family.error("StridedSliceGrad", [i32(-3), i32(0), i32(2), i32(1), f32(2)], "InvalidArgument")
family.save()
