"""Rows of the basic arithmetic; see ../rows.py."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import numpy as np
import tensorflow as tf
from rows import Family, f32

family = Family("math_basic")

for op in ("AddV2", "Sub", "Mul", "RealDiv"):
    for t in family.types(op):
        family.row(op, [family.sample(t, (2, 3)), family.sample(t, (2, 3), seed=1, low=1, high=4)])
    for a, b in (((), ()), ((4,), ()), ((), (2, 2)), ((3, 1), (1, 4)), ((2, 1, 3), (5, 1)), ((0, 3), (1, 3)),
                 ((2, 1, 2, 1, 2), (3, 1, 2, 1)), ((1, 1), (1,))):
        x, y = family.sample(tf.float64, a), family.sample(tf.float64, b, seed=3, low=0.5)
        family.row(op, [x, y], name="broadcast")
    special = tf.constant([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-30], tf.float32)
    family.row(op, [special, tf.reverse(special, [0])], name="special", gradient=False)
    family.error(op, [f32(2, 3), f32(4)], "InvalidArgument", name="no_broadcast")
    family.error(op, [f32(2), tf.constant([1, 2])], "TypeError", name="mixed_types")

big = tf.constant([2**31 - 1, -2**31, -1], tf.int32)
family.row("AddV2", [big, tf.constant([1, -1, 1])], name="wraps")
family.row("Mul", [big, tf.constant([2, -1, 3])], name="wraps")

for op in ("Neg", "Square", "Exp", "Log", "Tanh", "Conj"):
    for t in family.types(op):
        if t == tf.variant:
            continue
        low = 0.25 if op == "Log" else -2
        family.row(op, [family.sample(t, (2, 3), low=low)])
    for shape in ((), (0,), (2, 0, 3), (1, 2, 1, 2, 3), (33,)):
        if op != "Conj":
            family.row(op, [family.sample(tf.float64, shape, low=0.25)], name="shape")
    if op != "Conj":
        family.row(op, [tf.constant([np.nan, np.inf, -np.inf, 0.0, -0.0, 90.0, -90.0, 1e-30, 1e-6], tf.float32)],
                   name="special", gradient=False)

for t in family.types("TanhGrad"):
    family.row("TanhGrad", [family.sample(t, (2, 3), low=-1, high=1), family.sample(t, (2, 3), seed=1)])

family.save()
