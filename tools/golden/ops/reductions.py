"""Rows of the reductions and scans; see ../rows.py."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import numpy as np
import tensorflow as tf
from rows import Family, f32

family = Family("reductions")
f64 = tf.float64
sample = family.sample


def i32(*values):
    return tf.constant(values, tf.int32)


def reducible(op):
    return [t for t in family.types(op) if t.is_floating or t.is_complex or t.is_integer]


def spread(shape, seed=0):
    """Distinct numbers, so that extremes are unique and far apart for finite differences."""
    r = np.random.RandomState(seed)
    return tf.constant((r.permutation(int(np.prod(shape))).reshape(shape) * 0.25 - 1.1), f64)


for op in ("Sum", "Mean", "Prod", "Max", "Min", "EuclideanNorm"):
    tolerance = {"rtol": 2e-2} if op == "EuclideanNorm" else {}
    for t in reducible(op):
        low = 0.5 if op in ("Prod", "EuclideanNorm") else -2
        extra = {"rtol": 3e-2, "atol": 3e-2} if t in (tf.float16, tf.bfloat16) else {}
        for axes in (i32(1), i32(0), i32(0, 1)):
            family.row(op, [sample(t, (3, 4), low=low), axes], gradient=t not in (tf.float16, tf.bfloat16),
                       second=not (op == "Prod" and t.is_complex), **extra)
    for shape, axes in (((2, 3, 4), (1,)), ((2, 3, 4), (0, 2)), ((2, 3, 4), (-1, 0)), ((2, 3, 4), (2, 1)), ((2, 3, 4), ()),
                        ((2, 3, 4), (0, 1, 2)), ((2, 2, 2, 2, 2), (1, 3)), ((2, 2, 2, 2, 2), (0, 2, 4)), ((5,), (0,)),
                        ((), ()), ((1, 3, 1), (0, 2)), ((1, 1), (0,)), ((40, 3), (0,)), ((3, 70), (1,))):
        for keep in (False, True):
            family.row(op, [spread(shape, 1), tf.constant(axes, tf.int64, shape=[len(axes)])], keep_dims=keep, name="axes",
                       finite=op != "Prod" or np.prod(shape) < 30, infer=bool(axes), rtol=1e-12)
    family.row(op, [spread((2, 3)), tf.constant(1)], name="scalar_axis")
    family.row(op, [spread((2, 3)), tf.constant(-2)], name="scalar_axis")
    for shape, axes in (((0, 3), (0,)), ((0, 3), (1,)), ((3, 0), (0, 1)), ((2, 0, 3), (1,))):
        family.row(op, [sample(f64, shape), i32(*axes)], name="empty", gradient=op in ("Sum", "Prod"))
        family.row(op, [sample(tf.float32, shape), i32(*axes)], name="empty", gradient=False)
        if op in ("Sum", "Prod", "Max", "Min"):
            family.row(op, [sample(tf.int32, shape), i32(*axes)], name="empty")
    family.error(op, [f32(2, 3), i32(2)], "InvalidArgument")
    family.error(op, [f32(2, 3), i32(-3)], "InvalidArgument")
    family.error(op, [f32(2, 3), i32(0, 0)], "InvalidArgument", name="twice")
    family.error(op, [f32(2, 3), i32(0, -2)], "InvalidArgument", name="twice")
    family.error(op, [f32(2, 3), f32(1)], "TypeError")

ties = tf.constant([[1, 3, 3], [2, 2, 2], [-1, 0, -1]], f64)
for op in ("Max", "Min"):
    for axes in (i32(0), i32(1), i32(0, 1)):
        family.row(op, [ties, axes], name="ties", finite=False)
    for values in ([np.inf, 1, -np.inf], [-np.inf, -np.inf], [np.inf, np.inf]):
        family.row(op, [tf.constant(values, f64), i32(0)], name="infinite", gradient=False)
for values, axes in (([2, 0, 4], (-1,)), ([0, 0, 4], (0,)), ([[2, 0], [3, 5]], (0,)), ([[2, 0], [3, 5]], (0, 1))):
    family.row("Prod", [tf.constant(values, f64), i32(*axes)], name="zeros", second=False)
family.row("EuclideanNorm", [tf.constant([0, 3, 4], f64), i32(0)], name="some_zero")
big = tf.constant([2**31 - 1, 2, -2**31, 5], tf.int32)
family.row("Sum", [big, i32(0)], name="wraps")
family.row("Prod", [big, i32(0)], name="wraps")
family.row("Sum", [tf.constant([100, 100, 100], tf.int8), i32(0)], name="wraps")

for op in ("All", "Any"):
    for shape, axes in (((2, 3), (0,)), ((2, 3), (1,)), ((2, 3), (0, 1)), ((2, 3), ()), ((), ()), ((0, 2), (0,)), ((0, 2), (1,)),
                        ((2, 2, 2, 2, 2), (0, 3)), ((3, 100), (1,))):
        for keep in (False, True):
            family.row(op, [sample(tf.bool, shape), tf.constant(axes, tf.int64, shape=[len(axes)])], keep_dims=keep,
                       infer=bool(axes))
    family.row(op, [sample(tf.bool, (2, 3)), tf.constant(1)])
    family.error(op, [sample(tf.bool, (2, 3)), i32(2)], "InvalidArgument")
    family.error(op, [f32(2, 3), i32(0)], "TypeError")

for op in ("ArgMax", "ArgMin"):
    outputs = (tf.int32, tf.int64) + ((tf.int16, tf.uint16) if op == "ArgMax" else ())
    for t in family.types(op):
        family.row(op, [sample(t, (3, 4)), tf.constant(1)])
    for output in outputs:
        for shape, axis in (((5,), 0), ((2, 3, 4), 1), ((2, 3, 4), -1), ((2, 3, 4), -3), ((3, 1), 1), ((0, 3), 1)):
            family.row(op, [spread(shape, 2), tf.constant(axis)], output_type=output)
        family.row(op, [ties, tf.constant(1, tf.int64)], output_type=output, name="ties")
    family.error(op, [f32(0, 3), tf.constant(0)], "InvalidArgument")
    family.error(op, [f32(2, 3), tf.constant(2)], "InvalidArgument")
    family.error(op, [f32(2, 3), i32(0, 1)], "InvalidArgument")
    family.error(op, [f32(), tf.constant(0)], "InvalidArgument")

for op in ("Cumsum", "Cumprod"):
    for t in reducible(op):
        for exclusive in (False, True):
            # TensorFlow forgets to conjugate in the gradient of a complex Cumprod.
            family.row(op, [sample(t, (3, 4), low=0.5), tf.constant(1)], exclusive=exclusive,
                       gradient=not (op == "Cumprod" and t.is_complex),
                       **({"rtol": 3e-2, "atol": 3e-2} if t in (tf.float16, tf.bfloat16) else {}))
    for exclusive in (False, True):
        for reverse in (False, True):
            for shape, axis in (((5,), 0), ((2, 3, 4), 1), ((2, 3, 4), -1), ((2, 3, 2), -3), ((2, 0), 1), ((2, 0), 0),
                                ((2, 1, 2, 1, 3), 4)):
                family.row(op, [spread(shape, 3), tf.constant(axis, tf.int64)], exclusive=exclusive, reverse=reverse)
    family.error(op, [f32(2, 3), tf.constant(2)], "InvalidArgument")
    family.error(op, [f32(2, 3), tf.constant(-3)], "InvalidArgument")
    family.error(op, [f32(2, 3), i32(0)], "InvalidArgument", check=False)
    family.error(op, [f32(), tf.constant(0)], "InvalidArgument")

for t in family.types("ReverseV2"):
    family.row("ReverseV2", [sample(t, (2, 3)), i32(1)])
for t in family.types("Roll"):
    family.row("Roll", [sample(t, (2, 3)), i32(1), i32(1)])
for shape, axes in (((4,), (0,)), ((2, 3, 4), (0, 2)), ((2, 3, 4), (-1,)), ((2, 3, 4), ()), ((2, 0), (1,)), ((), ()),
                    ((2, 2, 3, 2, 2), (1, 4)), ((2, 3), (0, 1))):
    family.row("ReverseV2", [sample(f64, shape), tf.constant(axes, tf.int64, shape=[len(axes)])], name="axes")
family.error("ReverseV2", [f32(2, 3), i32(2)], "InvalidArgument")
family.error("ReverseV2", [f32(2, 3), i32(0, 0)], "InvalidArgument")
family.error("ReverseV2", [f32(2, 3), i32(0, -2)], "InvalidArgument")
family.error("ReverseV2", [f32(2, 3), tf.constant(0)], "InvalidArgument")
for shape, shifts, axes in (((5,), (2,), (0,)), ((5,), (-7,), (0,)), ((2, 3, 4), (1, -1), (0, 2)), ((2, 3, 4), (1, 1), (1, 1)),
                            ((2, 3, 4), (1,), (-2,)), ((2, 0), (1,), (1,)), ((3, 2, 2, 2, 3), (1, 1, 2), (0, 2, 4))):
    family.row("Roll", [sample(f64, shape), tf.constant(shifts, tf.int64), tf.constant(axes, tf.int64)], name="axes")
family.row("Roll", [sample(f64, (5,)), tf.constant(2), tf.constant(0)], name="scalar")
family.error("Roll", [f32(2, 3), i32(1), i32(2)], "InvalidArgument")
family.error("Roll", [f32(2, 3), i32(1), i32(0, 1)], "InvalidArgument")
family.error("Roll", [f32(), i32(1), i32(0)], "InvalidArgument")
family.save()
