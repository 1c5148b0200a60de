"""Rows of the elementwise operations of one argument; see ../rows.py."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import numpy as np
import tensorflow as tf
from rows import Family

family = Family("math_unary")

# Where each function is defined and smooth; (-2, 2) unless said.
DOMAIN = {"Reciprocal": (0.25, 2), "Inv": (0.25, 2), "Sqrt": (0.25, 3), "Rsqrt": (0.25, 3), "Log1p": (-0.5, 2),
          "Tan": (-1, 1), "Asin": (-0.9, 0.9), "Acos": (-0.9, 0.9), "Acosh": (1.1, 3), "Atanh": (-0.9, 0.9),
          "Lgamma": (0.25, 4), "Digamma": (0.25, 4), "Softsign": (-2, 2)}
FLOATING = ("Abs", "Sign", "Reciprocal", "Inv", "Sqrt", "Rsqrt", "Floor", "Ceil", "Round", "Rint", "IsNan", "IsInf",
            "IsFinite", "Expm1", "Log1p", "Sigmoid", "Erf", "Erfc", "Lgamma", "Digamma", "Sin", "Cos", "Tan", "Asin",
            "Acos", "Atan", "Sinh", "Cosh", "Asinh", "Acosh", "Atanh")
special = tf.constant([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 1e-6, 9.0, -30.0, 30.0, 88.0,
                       -88.0, 90.0, 1e30, -1e30], tf.float32)
for op in FLOATING:
    low, high = DOMAIN.get(op, (-2, 2))
    for t in family.types(op):
        if op == "Round" and t.is_integer:
            continue  # TensorFlow's op gives zeros; its Python function does not call it
        # TensorFlow's half-precision second gradients round at each step of long formulas.
        # Polygamma, which the second gradient of lgamma asks for, has no half types.
        smooth = not (op in ("Lgamma", "Digamma") and t in (tf.float16, tf.bfloat16))
        family.row(op, [family.sample(t, (2, 3), low=low, high=high)], rtol=2e-5 if t.is_complex else None,
                   gradient=smooth)
    for shape in ((), (0,), (2, 0, 3), (1, 2, 1, 2, 3)):
        family.row(op, [family.sample(tf.float64, shape, low=low, high=high)], name="shape")
    family.row(op, [family.sample(tf.float32, (37,), low=low, high=high)], name="long")
    # sin of 1e30: TensorFlow reduces large angles in float32.
    keep = special[:-2] if op in ("Sin", "Cos", "Tan") else special
    if op == "Digamma":
        keep = special[:1]  # at poles and at -inf conventions differ
    family.row(op, [keep], name="special", gradient=False, rtol=4e-6)
    if op not in ("Abs", "Sign", "Reciprocal", "Inv", "Round"):
        family.error(op, [tf.constant([1, 2])], "TypeError", name="integers")
    family.error(op, [tf.constant(["a"])], "TypeError", name="strings")

for op in ("Abs", "Sign"):
    family.row(op, [tf.constant([-7, 0, 7, 2**31 - 1])], name="integers")

# Gradients that are ops of their own: (output, output gradient).
for op in ("ReciprocalGrad", "InvGrad", "SqrtGrad", "RsqrtGrad", "SigmoidGrad"):
    for t in family.types(op):
        family.row(op, [family.sample(t, (2, 3), low=0.25, high=0.9), family.sample(t, (2, 3), seed=1)],
                   rtol=2e-5 if t.is_complex else None)
    for shape in ((), (0,), (1, 2, 1, 2, 3), (37,)):
        family.row(op, [family.sample(tf.float64, shape, low=0.25, high=0.9), family.sample(tf.float64, shape, seed=1)],
                   name="shape")
    family.error(op, [tf.constant([1.0, 2.0]), tf.constant([1.0], tf.float64)], "TypeError", name="mixed_types")

for op, first in (("Polygamma", [1.0, 2.0, 3.0]), ("Zeta", [1.5, 2.0, 3.5])):
    for t in (tf.float32, tf.float64):
        a, x = tf.constant(first, t), family.sample(t, (2, 3), low=0.25, high=5)
        family.row(op, [a, x], rtol=1e-5 if t == tf.float32 else 1e-11, finite=False)
        family.row(op, [a[1], x], rtol=1e-5 if t == tf.float32 else 1e-11, finite=False)
    family.row(op, [tf.zeros([0]), tf.zeros([1])], name="empty")
    family.error(op, [tf.constant([1.0, 2.0]), tf.constant([1.0, 2.0, 3.0])], "InvalidArgument", name="no_broadcast")
    family.error(op, [tf.constant([1]), tf.constant([1])], "TypeError", name="integers")

# ---- complex numbers -------------------------------------------------------------------------------------------------
for t, part in ((tf.complex64, tf.float32), (tf.complex128, tf.float64)):
    for op in ("Real", "Imag", "ComplexAbs", "Angle"):
        for shape in ((2, 3), (), (0,)):
            family.row(op, [family.sample(t, shape)], Tout=part, rtol=2e-5)
    family.row("Complex", [family.sample(part, (2, 3)), family.sample(part, (3,), seed=1)], Tout=t)
    family.row("Complex", [family.sample(part, ()), family.sample(part, (2, 1), seed=1)], Tout=t)
    family.row("ComplexAbs", [tf.zeros([2], t)], Tout=part, name="zero")
family.error("Real", [tf.constant([1.0])], "TypeError", name="real")
family.error("Real", [tf.constant([1 + 1j], tf.complex128)], "TypeError", name="wrong_part", Tout=tf.float32)
family.error("Complex", [tf.constant([1.0]), tf.constant([1.0])], "TypeError", name="wrong_type", Tout=tf.complex128)
family.error("Complex", [tf.ones([2]), tf.ones([3])], "InvalidArgument", name="no_broadcast", Tout=tf.complex64)

family.save()
