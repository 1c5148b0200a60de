"""Prints what TensorFlow reads from a checkpoint: `python tools/golden/read_back.py PREFIX`."""
import sys

import numpy as np
import tensorflow as tf


def main():
    reader = tf.train.load_checkpoint(sys.argv[1])
    types = reader.get_variable_to_dtype_map()
    for name, shape in sorted(reader.get_variable_to_shape_map().items()):
        value = np.asarray(reader.get_tensor(name))
        print(name, types[name].name, shape, value.tolist())


if __name__ == "__main__":
    main()
