"""Writes tensor bundles with TensorFlow (2.21) into tests/golden/bundle.

    TF_ENABLE_ONEDNN_OPTS=0 python tools/golden/bundle.py
"""
import os
import shutil

import numpy as np
import tensorflow as tf

HERE = os.path.dirname(os.path.abspath(__file__))
TARGET = os.path.join(HERE, "..", "..", "tests", "golden", "bundle")

PLAIN = [
    "float32", "float64", "float16", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
]


def tensors():
    """One 2x3 tensor of each type, values 0..5, and some shapes."""
    made = {name: tf.cast(tf.reshape(tf.range(6), [2, 3]), name) for name in PLAIN}
    made["complex64"] = tf.complex(made["float32"], -made["float32"])
    made["complex128"] = tf.complex(made["float64"], -made["float64"])
    made["bool"] = tf.constant([[True, False, True], [False, False, True]])
    made["string"] = tf.constant([[b"hello", b"", b"\x00\xff"], [b"x" * 300, b"world", "käse".encode()]])
    made["string_scalar"] = tf.constant(b"")
    made["scalar"] = tf.constant(0.5)
    made["special"] = tf.constant(np.array([0x7FC01234, 0x80000000, 0xFF800000], np.uint32).view(np.float32))
    made["empty"] = tf.zeros([16, 0, 18])
    made["deep/name.with.dots/.ATTRIBUTES/VARIABLE_VALUE"] = tf.range(4)
    return made


def save(name, named):
    """Keys are added in reverse order: the data file keeps it, the index sorts."""
    keys = sorted(named, reverse=True)
    tf.raw_ops.SaveV2(
        prefix=os.path.join(TARGET, name),
        tensor_names=keys,
        shape_and_slices=[""] * len(keys),
        tensors=[named[key] for key in keys],
    )


def save_parts():
    whole = tf.reshape(tf.range(50), [5, 10])
    names = tf.reshape(tf.strings.as_string(tf.range(4)), [2, 2])
    tf.raw_ops.SaveV2(
        prefix=os.path.join(TARGET, "parts"),
        tensor_names=["v", "v", "v", "s", "s"],
        shape_and_slices=["5 10 0,5:0,1", "5 10 -:1,4", "5 10 -:5,5", "2 2 0,1:-", "2 2 1,1:0,2"],
        tensors=[whole[:, :1], whole[:, 1:5], whole[:, 5:], names[:1], names[1:]],
    )


def save_shards():
    for part in range(2):
        tf.raw_ops.SaveV2(
            prefix=os.path.join(TARGET, f"part{part}"),
            tensor_names=[f"tensor{part}"],
            shape_and_slices=[""],
            tensors=[tf.fill([3], float(part + 1))],
        )
    tf.raw_ops.MergeV2Checkpoints(
        checkpoint_prefixes=[os.path.join(TARGET, f"part{part}") for part in range(2)],
        destination_prefix=os.path.join(TARGET, "shards"),
        delete_old_dirs=False,
    )


def save_objects():
    model = tf.train.Checkpoint(dense=tf.train.Checkpoint(kernel=tf.Variable([[1.0, 2.0], [3.0, 4.0]]),
                                                          bias=tf.Variable([5.0, 6.0])))
    model.step = tf.Variable(7, dtype=tf.int64)
    directory = os.path.join(TARGET, "objects")
    os.makedirs(directory)
    manager = tf.train.CheckpointManager(model, directory, max_to_keep=2)
    for _ in range(3):
        manager.save()


def main():
    shutil.rmtree(TARGET, ignore_errors=True)
    os.makedirs(TARGET)
    save("types", tensors())
    save("three", {"a": tf.constant(0.5), "b": tf.constant(2.0), "c": tf.constant(3.0)})
    save_parts()
    save_shards()
    save_objects()


if __name__ == "__main__":
    main()
