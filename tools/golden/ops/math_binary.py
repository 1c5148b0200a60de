"""Rows of the elementwise operations of two arguments; see ../rows.py."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import numpy as np
import tensorflow as tf
from rows import Family, f32

family = Family("math_binary")

SHAPES = (((), ()), ((4,), ()), ((), (2, 2)), ((3, 1), (1, 4)), ((2, 1, 3), (5, 1)), ((0, 3), (1, 3)),
          ((2, 1, 2, 1, 2), (3, 1, 2, 1)), ((40,), (40,)), ((2, 20), (20,)))
DIVISIONS = ("Div", "FloorDiv", "FloorMod", "TruncateDiv", "TruncateMod", "Mod")
REAL = ("Maximum", "Minimum", "SquaredDifference", "DivNoNan", "MulNoNan", "Atan2", "Xlogy", "Xdivy", "Xlog1py",
        "Pow") + DIVISIONS


def pair(op, t, a, b):
    """Two samples for which the function is smooth."""
    positive = op in ("Xlogy", "Xdivy", "Xlog1py", "Pow", "DivNoNan") or op in DIVISIONS
    x = family.sample(t, a, low=0.3 if op == "Pow" and not t.is_integer else -4, high=4)
    y = family.sample(t, b, seed=3, low=1 if positive else -3, high=4)
    return [x, y]


for op in REAL:
    for t in family.types(op):
        family.row(op, pair(op, t, (2, 3), (2, 3)), rtol=2e-5 if t.is_complex else None,
                   finite=op not in DIVISIONS)
    for a, b in SHAPES:
        family.row(op, pair(op, tf.float64, a, b), name="broadcast", finite=op not in DIVISIONS)
    family.row(op, pair(op, tf.float32, (37,), (1,)), name="long")
    family.row(op, pair(op, tf.float16, (1,), (300,)), name="long", gradient=False)
    family.error(op, [f32(2, 3), f32(4)], "InvalidArgument", name="no_broadcast")
    family.error(op, [f32(2), tf.constant([1, 2])], "TypeError", name="mixed_types")
    family.error(op, [tf.constant(["a"]), tf.constant(["b"])], "TypeError", name="strings")

values = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 2.0, 0.5, -2.5])
left, right = (tf.constant(v.reshape(-1), tf.float32) for v in np.meshgrid(values, values))
for op in ("Maximum", "Minimum", "SquaredDifference", "DivNoNan", "MulNoNan", "Atan2", "Pow", "Div", "TruncateDiv",
           "FloorDiv", "TruncateMod"):
    family.row(op, [left, right], name="special", gradient=False)
finite = np.array([0.0, -0.0, 1.0, -1.0, 2.0, 0.5, -2.5, 7.0])
left, right = (tf.constant(v.reshape(-1), tf.float32) for v in np.meshgrid(finite, finite))
for op in ("Xlogy", "Xdivy", "Xlog1py", "FloorMod"):
    family.row(op, [left, right], name="special", gradient=False)
ties = [tf.constant([1.0, 2.0, 3.0], tf.float64), tf.constant([1.0, 3.0, 2.0], tf.float64)]
family.row("Maximum", ties, name="ties", finite=False)
family.row("Minimum", ties, name="ties", finite=False)
family.row("DivNoNan", [tf.constant([1.0, 2.0]), tf.constant([0.0, 4.0])], name="zero", finite=False)
family.row("MulNoNan", [tf.constant([np.inf, 2.0]), tf.constant([0.0, 4.0])], name="zero")
family.row("Pow", [tf.constant([0.0, -2.0], tf.float64), tf.constant([2.0, 3.0], tf.float64)], name="zero",
           finite=False)

# ---- integers --------------------------------------------------------------------------------------------------------
for t in (tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.uint16, tf.uint32, tf.uint64):
    x = tf.constant(np.array([7, 7, 100, 1, 0] if t.is_unsigned else [7, -7, 7, -7, 6], t.as_numpy_dtype))
    y = tf.constant(np.array([2, 3, 7, 5, 9] if t.is_unsigned else [2, 2, -2, -2, -3], t.as_numpy_dtype))
    for op in DIVISIONS:
        if t in family.types(op):
            family.row(op, [x, y], name="signs")
            family.row(op, [x, y[1]], name="scalar")
            family.error(op, [x, tf.zeros([5], t)], "InvalidArgument", name="by_zero", check=False)
    for op in DIVISIONS:
        if t in family.types(op):
            family.row(op, [tf.zeros([0], t), tf.zeros([1], t)], name="nothing_by_zero")
    family.row("Maximum", [x, y])
    family.row("Minimum", [x, y])
    if t in family.types("Pow"):
        family.row("Pow", [x, tf.constant([0, 1, 2, 3, 4], t)], name="integers")
        family.error("Pow", [x, y], "InvalidArgument", name="negative", check=False)
big = tf.constant([2**31 - 1, -2**31, -1], tf.int32)
family.row("Pow", [big, tf.constant([2, 3, 5])], name="wraps")
family.row("SquaredDifference", [big, tf.constant([-1, 1, 1])], name="wraps")

# ---- Add, AddN -------------------------------------------------------------------------------------------------------
for t in family.types("Add"):
    family.row("Add", [family.sample(t, (2, 3)), family.sample(t, (3,), seed=1)])
family.row("Add", [tf.constant(["a", "b"]), tf.constant("c")])
family.row("Add", [tf.constant([], tf.string), tf.constant("c")])
family.error("Add", [f32(2), f32(3)], "InvalidArgument", name="no_broadcast")
for t in family.types("AddN"):
    if t != tf.variant:
        family.row("AddN", [[family.sample(t, (2, 3), seed=i) for i in range(3)]])
for shape in ((), (0,), (1, 2, 1, 2, 3), (300,)):
    for count in (1, 2, 5):
        family.row("AddN", [[family.sample(tf.float64, shape, seed=i) for i in range(count)]])
family.row("AddN", [[family.sample(tf.float16, (300,), seed=i) for i in range(3)]], gradient=False)
family.error("AddN", [[f32(2), f32(3)]], "InvalidArgument", name="shapes")
family.error("AddN", [[f32(2), tf.constant([1, 2])]], "TypeError", name="mixed_types")

family.save()
