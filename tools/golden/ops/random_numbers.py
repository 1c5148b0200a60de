"""Rows of the random family; see ../rows.py."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import numpy as np
import tensorflow as tf
from rows import Family

family = Family("random_numbers")
SEEDS = [(0, 0), (1, 2), (-7, 2**40 + 3)]

for a, b in SEEDS:
    family.row("StatelessRandomGetKeyCounter", [tf.constant([a, b], tf.int64)])
family.row("StatelessRandomGetKeyCounter", [tf.constant([3, -4], tf.int32)])
family.error("StatelessRandomGetKeyCounter", [tf.constant([3, 4, 5], tf.int32)], "InvalidArgument")
family.error("StatelessRandomGetKeyCounter", [tf.constant([3.0, 4.0])], "TypeError")
family.row("StatelessRandomGetAlg", [])


def words(seed):
    key, counter = tf.raw_ops.StatelessRandomGetKeyCounter(seed=tf.constant(seed, tf.int64))
    return [key, counter, tf.constant(1)]


# sin, cos and log differ in the last bits between libraries.
EXACT, NEAR = {"rtol": 0.0, "atol": 0.0}, {}
for op, loose in (("StatelessRandomUniformV2", EXACT), ("StatelessRandomNormalV2", NEAR), ("StatelessTruncatedNormalV2", NEAR)):
    for t in (tf.float32, tf.float64, tf.float16, tf.bfloat16):
        for seed, shape in ((SEEDS[1], [7]), (SEEDS[2], [2, 3, 2]), (SEEDS[0], [])):
            family.row(op, [tf.constant(shape, tf.int32)] + words(seed), dtype=t,
                       **(loose if t in (tf.float32, tf.float64) else EXACT))
        family.row(op, [tf.constant([0, 3], tf.int64)] + words(SEEDS[1]), dtype=t)
    family.row(op, [tf.constant([37], tf.int64)] + words(SEEDS[1])[:2] + [tf.constant(3)], dtype=tf.float32, **loose)
    family.error(op, [tf.constant([-1])] + words(SEEDS[1]), "InvalidArgument", dtype=tf.float32)
    family.error(op, [tf.constant([1])] + words(SEEDS[1])[:2] + [tf.constant(2)], "InvalidArgument", dtype=tf.float32)
    family.error(op, [tf.constant([1])] + words(SEEDS[1])[:2] + [tf.constant(9)], "InvalidArgument", dtype=tf.float32)

for t in (tf.int32, tf.int64, tf.uint32, tf.uint64):
    low, high = tf.constant(3, t), tf.constant(1000003, t)
    for seed, shape in ((SEEDS[1], [7]), (SEEDS[2], [2, 3]), (SEEDS[0], [])):
        family.row("StatelessRandomUniformIntV2", [tf.constant(shape, tf.int32)] + words(seed) + [low, high])
        family.row("StatelessRandomUniformFullIntV2", [tf.constant(shape, tf.int32)] + words(seed), dtype=t)
family.row("StatelessRandomUniformIntV2", [tf.constant([9])] + words(SEEDS[1]) + [tf.constant(-2**31), tf.constant(2**31 - 1)])
family.error("StatelessRandomUniformIntV2", [tf.constant([9])] + words(SEEDS[1]) + [tf.constant(5), tf.constant(5)],
             "InvalidArgument")

for op in ("RandomUniform", "RandomStandardNormal", "TruncatedNormal"):
    for i, t in enumerate((tf.float32, tf.float64, tf.float16)):
        # The first draw of a fresh kernel; each row has seeds of its own.
        exact = t == tf.float16 or op == "RandomUniform"
        family.row(op, [tf.constant([5, 2])], infer=False, dtype=t, seed=1234 + i, seed2=56 + i,
                   **(EXACT if exact else NEAR))
    family.error(op, [tf.constant([2, -1])], "InvalidArgument", dtype=tf.float32)

family.save()
