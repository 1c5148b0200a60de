"""Rows of comparisons, logic and choosing; see ../rows.py."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import numpy as np
import tensorflow as tf
from rows import Family, f32

family = Family("compare")

SHAPES = (((), ()), ((4,), ()), ((), (2, 2)), ((3, 1), (1, 4)), ((2, 1, 3), (5, 1)), ((0, 3), (1, 3)),
          ((2, 1, 2, 1, 2), (3, 1, 2, 1)), ((40,), (40,)))
RELATIONS = ("Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual")
values = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0])
left, right = (v.reshape(-1) for v in np.meshgrid(values, values))
for op in RELATIONS:
    for t in family.types(op):
        if t in (tf.resource, tf.variant):
            continue
        x = family.sample(t, (2, 3))
        family.row(op, [x, x])
        family.row(op, [x, family.sample(t, (3,), seed=1)])
    for a, b in SHAPES:
        family.row(op, [family.sample(tf.int32, a), family.sample(tf.int32, b, seed=3)], name="broadcast")
    for t in (tf.float32, tf.float64, tf.bfloat16):
        family.row(op, [tf.constant(left, t), tf.constant(right, t)], name="special")
    family.error(op, [f32(2, 3), f32(4)], "InvalidArgument", name="no_broadcast")
    family.error(op, [f32(2), tf.constant([1, 2])], "TypeError", name="mixed_types")
    if op not in ("Equal", "NotEqual"):
        family.error(op, [tf.constant([True]), tf.constant([False])], "TypeError", name="bools")
# TensorFlow infers [?,?] for [?,?] and [?], though the result is a scalar if the sizes do not fit.
for op in ("Equal", "NotEqual"):
    family.row(op, [f32(2, 3), f32(4)], incompatible_shape_error=False, name="no_broadcast", infer=False)
    family.row(op, [f32(2, 3), f32(3)], incompatible_shape_error=False, infer=False)
    family.row(op, [f32(2, 3), tf.constant(1.0)], incompatible_shape_error=False, infer=False)
    family.row(op, [tf.constant(["a", "b"]), tf.constant("a")], name="strings")
for op in ("LogicalAnd", "LogicalOr"):
    for a, b in SHAPES:
        family.row(op, [family.sample(tf.bool, a), family.sample(tf.bool, b, seed=3)])
    family.error(op, [f32(2), f32(2)], "TypeError", name="numbers")
    family.error(op, [tf.constant([True, False]), tf.constant([True] * 3)], "InvalidArgument", name="no_broadcast")
for shape in ((), (0,), (2, 3), (40,)):
    family.row("LogicalNot", [family.sample(tf.bool, shape)])
family.error("LogicalNot", [f32(2)], "TypeError", name="numbers")

# ---- Select, SelectV2, ClipByValue -----------------------------------------------------------------------------------
for t in family.types("SelectV2"):
    if t in (tf.resource, tf.variant):
        continue
    x, y = family.sample(t, (2, 3)), family.sample(t, (2, 3), seed=1)
    for op in ("Select", "SelectV2"):
        family.row(op, [family.sample(tf.bool, (2, 3)), x, y])
    family.row("SelectV2", [family.sample(tf.bool, (3,)), x, y[0, 0]])
for condition in ((2,), ()):
    for shape in ((2, 3), (2, 2, 3), (2,)):
        family.row("Select", [family.sample(tf.bool, condition), family.sample(tf.float64, shape),
                              family.sample(tf.float64, shape, seed=1)])
family.row("Select", [family.sample(tf.bool, (0,)), f32(0, 3), f32(0, 3)], name="empty")
family.error("Select", [family.sample(tf.bool, (3,)), f32(2, 3), f32(2, 3)], "InvalidArgument", name="rows")
family.error("Select", [family.sample(tf.bool, (2, 2)), f32(2, 3), f32(2, 3)], "InvalidArgument", name="condition")
family.error("Select", [family.sample(tf.bool, (2,)), f32(2), f32(3)], "InvalidArgument", name="shapes")
family.error("Select", [f32(2), f32(2), f32(2)], "TypeError", name="condition_type")
for c, a, b in (((), (), ()), ((4,), (), (4,)), ((2, 1), (3,), ()), ((3, 1, 2), (4, 1), (1, 1, 1)), ((), (2, 3), (3,)),
                ((0, 1), (1, 3), ()), ((2, 1, 1, 1, 2), (3, 1, 2), (2, 1, 1, 1))):
    family.row("SelectV2", [family.sample(tf.bool, c), family.sample(tf.float64, a), family.sample(tf.float64, b, seed=1)],
               name="broadcast")
family.row("SelectV2", [family.sample(tf.bool, (2, 1)), family.sample(tf.string, (2, 3)), tf.constant("z")], name="strings")
family.error("SelectV2", [family.sample(tf.bool, (2,)), f32(3), f32(3)], "InvalidArgument", name="no_broadcast")
family.error("SelectV2", [family.sample(tf.bool, (2,)), f32(2), tf.constant([1, 2])], "TypeError", name="mixed_types")
family.error("SelectV2", [f32(2), f32(2), f32(2)], "TypeError", name="condition_type")
for t in family.types("ClipByValue"):
    if not t.is_complex:
        low = 0 if t.is_unsigned else -1
        family.row("ClipByValue", [family.sample(t, (2, 3)), tf.cast(low, t), tf.cast(1, t)])
for a, b in (((), ()), ((2, 3), (2, 3)), ((0,), ()), ((2, 3), ())):
    family.row("ClipByValue", [family.sample(tf.float64, a), family.sample(tf.float64, b, low=-1, high=-0.5),
                               family.sample(tf.float64, b, low=0.5, high=1)])
family.row("ClipByValue", [tf.constant([np.nan, np.inf, -np.inf, 0.0]), tf.constant(-1.0), tf.constant(1.0)],
           name="special", gradient=False)
family.error("ClipByValue", [f32(2, 3), f32(2), tf.constant(1.0)], "InvalidArgument", name="shapes")

# ---- Cast, Bitcast ---------------------------------------------------------------------------------------------------
numbers = [t for t in family.types("AddV2")] + [tf.bool]
for source in numbers:
    for target in numbers:
        low = 0 if target.is_unsigned else -2
        x = family.sample(source, (2, 3), low=low, high=100)
        family.row("Cast", [x], DstT=target)
for shape in ((), (0,), (1, 2, 1, 2, 3), (300,)):
    family.row("Cast", [family.sample(tf.float64, shape)], DstT=tf.float32, name="shape")
    family.row("Cast", [family.sample(tf.float32, shape)], DstT=tf.bfloat16, name="shape")
family.row("Cast", [tf.constant([0, 1, 255, 256, -1, 65535, 2**31 - 1, -2**31])], DstT=tf.uint8, name="wraps")
family.row("Cast", [tf.constant([0, 1, 255, 256, -1, 2**40, 2**63 - 1], tf.int64)], DstT=tf.int16, name="wraps")
family.row("Cast", [tf.constant([np.nan, 0.0, -0.0, np.inf, 1e-30])], DstT=tf.bool, name="special")
family.row("Cast", [tf.constant([np.nan, np.inf, -np.inf, 1e30, 65519.0, 65520.0, -0.0])], DstT=tf.float16, name="special")
family.row("Cast", [tf.constant([np.nan, np.inf, 1e300, 1.1, -1.1], tf.float64)], DstT=tf.float32, name="special")
family.row("Cast", [tf.constant([1.99, -1.99, 2147483520.0, -2147483648.0])], DstT=tf.int32, name="fractions")
for source, target in ((tf.float32, tf.bfloat16), (tf.float32, tf.float16), (tf.float64, tf.float32), (tf.float64, tf.float16),
                       (tf.float64, tf.bfloat16), (tf.float32, tf.float64), (tf.float32, tf.int32)):
    family.row("Cast", [tf.constant([1.0 + 2**-9 + 2**-20, -3.14159265, 1e-3, np.inf, 0.0][:5 if target != tf.int32 else 3],
                                    source)], DstT=target, Truncate=True, name="truncate", gradient=False)
family.row("Cast", [tf.constant([1.1 + 1.1j, -2.3j], tf.complex128)], DstT=tf.complex64, Truncate=True, name="truncate",
           gradient=False)
family.row("Cast", [tf.constant([0j, 1j, 1 + 0j])], DstT=tf.bool, name="special")
family.row("Cast", [tf.constant(["a"])], DstT=tf.string, name="string")
family.error("Cast", [tf.constant(["1"])], "Unimplemented", DstT=tf.float32, name="string")
family.error("Cast", [tf.constant([1.0])], "Unimplemented", DstT=tf.string, name="to_string")
for source, target, shape in ((tf.float32, tf.int32, (2, 3)), (tf.float32, tf.uint8, (2, 3)), (tf.int8, tf.int32, (3, 4)),
                              (tf.complex64, tf.float32, (2,)), (tf.float32, tf.complex64, (3, 2)), (tf.int64, tf.float64, ()),
                              (tf.float64, tf.uint16, (0,)), (tf.uint16, tf.bfloat16, (5,))):
    family.row("Bitcast", [family.sample(source, shape)], type=target, gradient=False)
family.error("Bitcast", [tf.constant([1, 2, 3], tf.int8)], "InvalidArgument", type=tf.int32, name="last_dimension")
family.error("Bitcast", [tf.constant(1, tf.int8)], "InvalidArgument", type=tf.int32, name="scalar")
family.error("Bitcast", [tf.constant(["a"])], "TypeError", type=tf.int32, name="string")

family.save()
