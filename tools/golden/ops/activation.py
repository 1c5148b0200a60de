"""Rows of the activation functions; see ../rows.py."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import numpy as np
import tensorflow as tf
from rows import Family, f32

family = Family("activation")

special = tf.constant([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 6.0, 7.0, 1e-6, -1e-6, -30.0, 30.0, 90.0, -90.0])
for op in ("Relu", "Relu6", "Elu", "Selu", "LeakyRelu", "Softplus", "Softsign"):
    for t in family.types(op):
        if t != tf.qint8:
            family.row(op, [family.sample(t, (2, 3), low=-4, high=8)])
    for shape in ((), (0,), (2, 0, 3), (1, 2, 1, 2, 3)):
        family.row(op, [family.sample(tf.float64, shape, low=-4, high=8)], name="shape")
    family.row(op, [family.sample(tf.float32, (300,), low=-4, high=8)], name="long")
    family.row(op, [family.sample(tf.float16, (300,), low=-4, high=8)], name="long", gradient=False)
    family.row(op, [special], name="special", gradient=False)
    family.error(op, [tf.constant(["a"])], "TypeError", name="strings")
    gradient = op + "Grad"
    for t in family.types(gradient):
        family.row(gradient, [family.sample(t, (2, 3), seed=1), family.sample(t, (2, 3), low=-1, high=8)])
    for shape in ((), (0,), (1, 2, 1, 2, 3), (300,)):
        family.row(gradient, [family.sample(tf.float64, shape, seed=1), family.sample(tf.float64, shape, low=-1, high=8)],
                   name="shape", finite=op != "Softsign" or None)
    if op not in ("Relu", "Relu6"):  # TensorFlow gives 0 for NaN there
        family.row(gradient, [tf.ones_like(special), special], name="special", gradient=False)
    else:
        family.row(gradient, [special, tf.ones_like(special)], name="special", gradient=False)
    family.error(gradient, [f32(2), tf.constant([1.0, 2.0], tf.float64)], "TypeError", name="mixed_types")
for alpha in (0.0, 0.5, 1.0, 2.0, -0.5):
    family.row("LeakyRelu", [family.sample(tf.float64, (2, 3))], alpha=alpha)
    family.row("LeakyReluGrad", [family.sample(tf.float64, (2, 3), seed=1), family.sample(tf.float64, (2, 3))], alpha=alpha)
family.error("ReluGrad", [f32(2), f32(3)], "InvalidArgument", name="shapes")
for t in (tf.int32, tf.uint8):
    family.error("Elu", [tf.constant([1, 2], t)], "TypeError", name="integers")

family.save()
