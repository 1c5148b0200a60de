"""Rows of the operations of neural networks; see ../rows.py."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import numpy as np
import tensorflow as tf
from rows import Family, f32

family = Family("nn")
f64 = tf.float64
S = family.sample


def i32(*values):
    return tf.constant(values, tf.int32)


# ---- convolutions ----------------------------------------------------------------------------------------------------

def conv_row(op, inputs, gradient=True, **attributes):
    # TensorFlow sums half types in themselves, we in float.
    tolerance = {tf.float32: 1e-5, tf.float16: 1e-2, tf.bfloat16: 1e-1}.get(inputs[-1].dtype)
    family.row(op, inputs, gradient=gradient, rtol=tolerance, atol=tolerance, **attributes)


for t in family.types("Conv2D"):
    conv_row("Conv2D", [S(t, (2, 4, 5, 3)), S(t, (2, 3, 3, 2), seed=1)], strides=[1, 1, 1, 1], padding="SAME")
for image, filters, strides, padding, more in (
        ((1, 4, 4, 1), (3, 3, 1, 2), [1, 1, 1, 1], "VALID", {}), ((2, 5, 6, 2), (3, 2, 2, 3), [1, 2, 2, 1], "SAME", {}),
        ((2, 5, 6, 2), (3, 2, 2, 3), [1, 2, 1, 1], "VALID", {}), ((1, 5, 5, 2), (1, 1, 2, 3), [1, 1, 1, 1], "SAME", {}),
        ((1, 5, 5, 2), (1, 1, 2, 3), [1, 2, 2, 1], "VALID", {}), ((1, 3, 3, 2), (3, 3, 2, 1), [1, 1, 1, 1], "VALID", {}),
        ((1, 3, 3, 2), (2, 2, 2, 1), [1, 3, 3, 1], "SAME", {}), ((1, 2, 2, 1), (3, 3, 1, 1), [1, 1, 1, 1], "SAME", {}),
        ((1, 4, 5, 4), (3, 3, 2, 6), [1, 1, 1, 1], "SAME", {}),
        ((1, 4, 4, 1), (2, 3, 1, 2), [1, 1, 1, 1], "EXPLICIT", {"explicit_paddings": [0, 0, 1, 2, 0, 1, 0, 0]}),
        ((1, 4, 4, 1), (2, 3, 1, 2), [1, 2, 2, 1], "EXPLICIT", {"explicit_paddings": [0, 0, 3, 0, 0, 0, 0, 0]})):
    grouped = image[3] != filters[2]
    conv_row("Conv2D", [S(f64, image), S(f64, filters, seed=1)], gradient=not grouped, strides=strides, padding=padding, **more)
for dilations in ([1, 2, 1, 1], [1, 2, 3, 1]):
    conv_row("Conv2D", [S(f64, (1, 7, 8, 2)), S(f64, (2, 3, 2, 2), seed=1)], gradient=False, strides=[1, 1, 1, 1],
             padding="SAME", dilations=dilations)
    conv_row("Conv2D", [S(f64, (1, 7, 8, 2)), S(f64, (2, 3, 2, 2), seed=1)], gradient=False, strides=[1, 2, 2, 1],
             padding="VALID", dilations=dilations)
conv_row("Conv2D", [f32(2, 9, 8, 4), f32(3, 3, 4, 8, seed=1)], strides=[1, 1, 1, 1], padding="SAME", gradient=False)
conv_row("Conv2D", [S(f64, (1, 2, 2, 1)), S(f64, (3, 3, 1, 2))], strides=[1, 1, 1, 1], padding="VALID", name="no_window",
         gradient=False)
conv_row("Conv2D", [S(f64, (0, 4, 4, 2)), S(f64, (3, 3, 2, 2))], strides=[1, 1, 1, 1], padding="SAME", name="empty")
same = {"strides": [1, 1, 1, 1], "padding": "SAME"}
for inputs, attributes in (
        ([f32(1, 4, 4, 3), f32(3, 3, 2, 2)], same), ([f32(1, 4, 4, 4), f32(3, 3, 2, 3)], same),
        ([f32(4, 4, 3), f32(3, 3, 3, 2)], same), ([f32(1, 4, 4, 3), f32(3, 3, 3)], same),
        ([f32(1, 1, 1, 1), f32(3, 3, 1, 1)], {"strides": [1, 1, 1, 1], "padding": "VALID"}),
        ([f32(1, 4, 4, 1), f32(3, 3, 1, 1)], {"strides": [1, 0, 1, 1], "padding": "SAME"}),
        ([f32(1, 4, 4, 1), f32(3, 3, 1, 1)], {"strides": [2, 1, 1, 1], "padding": "SAME"}),
        ([f32(1, 4, 4, 1), f32(3, 3, 1, 1)], {"strides": [1, 1, 1], "padding": "SAME"}),
        ([f32(1, 4, 4, 1), f32(3, 3, 1, 1)], {"strides": [1, 1, 1, 1], "padding": "FULL"}),
        ([f32(1, 4, 4, 1), f32(3, 3, 1, 1)], same | {"data_format": "NHCW"}),
        ([f32(1, 4, 4, 1), f32(3, 3, 1, 1)], same | {"dilations": [1, 0, 1, 1]}),
        ([f32(1, 4, 4, 1), f32(3, 3, 1, 1)], same | {"explicit_paddings": [0, 0, 1, 1, 1, 1, 0, 0]})):
    family.error("Conv2D", inputs, "InvalidArgument", **attributes)
family.error("Conv2D", [f32(1, 4, 4, 1), f32(3, 3, 1, 1)], "InvalidArgument", mentions="'explicit_paddings'",
             strides=[1, 1, 1, 1], padding="EXPLICIT")
family.error("Conv2D", [f32(1, 4, 4, 1), S(f64, (3, 3, 1, 1))], "TypeError", **same)

for t in family.types("Conv2DBackpropInput"):
    conv_row("Conv2DBackpropInput", [i32(2, 4, 5, 3), S(t, (2, 3, 3, 2), seed=1), S(t, (2, 4, 5, 2))],
             strides=[1, 1, 1, 1], padding="SAME")
for t in family.types("Conv2DBackpropFilter"):
    conv_row("Conv2DBackpropFilter", [S(t, (2, 4, 5, 3)), i32(2, 3, 3, 2), S(t, (2, 4, 5, 2), seed=1)],
             strides=[1, 1, 1, 1], padding="SAME")
for image, filters, output, strides, padding, more in (
        ((1, 5, 6, 2), (3, 2, 2, 3), (1, 3, 3, 3), [1, 2, 2, 1], "SAME", {}),
        ((2, 5, 6, 2), (3, 2, 2, 3), (2, 2, 5, 3), [1, 2, 1, 1], "VALID", {}),
        ((1, 4, 4, 1), (2, 3, 1, 2), (1, 6, 3, 2), [1, 1, 1, 1], "EXPLICIT", {"explicit_paddings": [0, 0, 1, 2, 0, 1, 0, 0]}),
        ((0, 4, 4, 1), (3, 3, 1, 2), (0, 4, 4, 2), [1, 1, 1, 1], "SAME", {})):
    conv_row("Conv2DBackpropInput", [i32(*image), S(f64, filters, seed=1), S(f64, output)], strides=strides, padding=padding,
             **more)
    conv_row("Conv2DBackpropFilter", [S(f64, image), i32(*filters), S(f64, output, seed=1)], strides=strides, padding=padding,
             **more)
conv_row("Conv2DBackpropInput", [i32(4, 5), S(f64, (2, 3, 3, 2), seed=1), S(f64, (2, 4, 5, 2))], name="two_sizes", gradient=False,
         **same)
family.error("Conv2DBackpropInput", [i32(1, 4, 4, 1), f32(3, 3, 1, 2), f32(1, 3, 3, 2)], "InvalidArgument", **same)
family.error("Conv2DBackpropInput", [i32(1, 4, 4, 1), f32(3, 3, 1, 2), f32(1, 4, 4, 3)], "InvalidArgument", **same)
family.error("Conv2DBackpropInput", [i32(1, 4, 4), f32(3, 3, 1, 2), f32(1, 4, 4, 2)], "InvalidArgument", **same)
family.error("Conv2DBackpropInput", [i32(1, -4, 4, 1), f32(3, 3, 1, 2), f32(1, 4, 4, 2)], "InvalidArgument", **same)
family.error("Conv2DBackpropFilter", [f32(1, 4, 4, 1), i32(3, 3, 1, 2), f32(1, 3, 3, 2)], "InvalidArgument", **same)
family.error("Conv2DBackpropFilter", [f32(1, 4, 4, 1), i32(3, 3, 1), f32(1, 4, 4, 2)], "InvalidArgument", **same)
family.error("Conv2DBackpropFilter", [f32(2, 4, 4, 1), i32(3, 3, 1, 2), f32(1, 4, 4, 2)], "InvalidArgument", **same)

for t in family.types("DepthwiseConv2dNative"):
    conv_row("DepthwiseConv2dNative", [S(t, (2, 4, 5, 3)), S(t, (2, 3, 3, 2), seed=1)], strides=[1, 1, 1, 1], padding="SAME")
for strides, padding in (([1, 2, 2, 1], "SAME"), ([1, 1, 1, 1], "VALID")):
    conv_row("DepthwiseConv2dNative", [S(f64, (1, 5, 6, 2)), S(f64, (3, 2, 2, 1), seed=1)], strides=strides, padding=padding)
    out = (1, 3, 3, 4) if padding == "SAME" else (1, 3, 5, 4)
    conv_row("DepthwiseConv2dNativeBackpropInput", [i32(1, 5, 6, 2), S(f64, (3, 2, 2, 2), seed=1), S(f64, out)],
             strides=strides, padding=padding)
    conv_row("DepthwiseConv2dNativeBackpropFilter", [S(f64, (1, 5, 6, 2)), i32(3, 2, 2, 2), S(f64, out, seed=1)],
             strides=strides, padding=padding)
family.error("DepthwiseConv2dNative", [f32(1, 4, 4, 3), f32(3, 3, 2, 2)], "InvalidArgument", **same)
family.error("DepthwiseConv2dNativeBackpropInput", [i32(1, 4, 4, 1), f32(3, 3, 1, 2), f32(1, 3, 3, 2)], "InvalidArgument", **same)
family.error("DepthwiseConv2dNativeBackpropFilter", [f32(1, 4, 4, 1), i32(3, 3, 1, 2), f32(1, 3, 3, 2)], "InvalidArgument", **same)

# ---- biases ----------------------------------------------------------------------------------------------------------

for t in family.types("BiasAdd"):
    family.row("BiasAdd", [S(t, (2, 3)), S(t, (3,), seed=1)])
    family.row("BiasAddGrad", [S(t, (2, 3))])
for shape in ((2, 3), (0, 3), (2, 0, 3), (2, 1, 2, 3), (1, 2, 1, 2, 3), (2, 3, 4)):
    family.row("BiasAdd", [S(f64, shape), S(f64, shape[-1:], seed=1)])
    family.row("BiasAddGrad", [S(f64, shape)])
for shape in ((2, 3, 2), (2, 3, 2, 1), (1, 3, 1, 2, 2)):
    family.row("BiasAdd", [S(f64, shape), S(f64, (3,), seed=1)], data_format="NCHW")
    family.row("BiasAddGrad", [S(f64, shape)], data_format="NCHW")
family.error("BiasAdd", [f32(2, 3), f32(2)], "InvalidArgument")
family.error("BiasAdd", [f32(3), f32(3)], "InvalidArgument")
family.error("BiasAdd", [f32(2, 3), f32(1, 3)], "InvalidArgument")
family.error("BiasAdd", [f32(2, 3), f32(3)], "InvalidArgument", data_format="HWNC")
family.error("BiasAdd", [f32(2, 3), S(f64, (3,))], "TypeError")
family.error("BiasAddGrad", [f32(3)], "InvalidArgument")

# ---- pools -----------------------------------------------------------------------------------------------------------

pools = (([1, 2, 2, 1], [1, 2, 2, 1], "VALID"), ([1, 2, 2, 1], [1, 2, 2, 1], "SAME"), ([1, 3, 3, 1], [1, 1, 1, 1], "SAME"),
         ([1, 3, 2, 1], [1, 2, 1, 1], "VALID"), ([1, 1, 1, 1], [1, 1, 1, 1], "VALID"), ([1, 1, 1, 1], [1, 2, 2, 1], "SAME"),
         ([1, 1, 2, 1], [1, 1, 2, 1], "SAME"), ([1, 5, 5, 1], [1, 4, 4, 1], "SAME"))
for t in family.types("MaxPool"):
    family.row("MaxPool", [S(t, (2, 4, 4, 3))], ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID")
for ksize, strides, padding in pools:
    attributes = {"ksize": ksize, "strides": strides, "padding": padding}
    x = S(f64, (2, 5, 6, 2), low=-9, high=9)
    family.row("MaxPool", [x], **attributes)
    y = tf.raw_ops.MaxPool(input=x, **attributes)
    family.row("MaxPoolGrad", [x, y, S(f64, y.shape, seed=1)], finite=False, **attributes)
    family.row("MaxPoolGradGrad", [x, y, S(f64, x.shape, seed=1)], finite=False, **attributes)
    family.row("AvgPool", [x], **attributes)
    family.row("AvgPoolGrad", [i32(2, 5, 6, 2), S(f64, y.shape, seed=1)], **attributes)
two = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
for t in family.types("MaxPoolGrad"):
    x = S(t, (1, 4, 4, 2))
    y = tf.cast(tf.raw_ops.MaxPool(input=tf.cast(x, f64), **two), t)
    family.row("MaxPoolGrad", [x, y, S(t, (1, 2, 2, 2), seed=1)], finite=False, **two)
    family.row("MaxPoolGradGrad", [x, y, S(t, (1, 4, 4, 2), seed=1)], finite=False, **two)
for t in family.types("AvgPool"):
    family.row("AvgPool", [S(t, (2, 4, 4, 3))], ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID")
    family.row("AvgPoolGrad", [i32(2, 4, 4, 3), S(t, (2, 2, 2, 3))], ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID")
special = tf.constant([[np.nan, 1, 2, np.nan], [0, -1, np.nan, np.nan], [-np.inf, -np.inf, 3, 3], [-np.inf, -np.inf, 3, 3]],
                      tf.float32)[None, :, :, None]
family.row("MaxPool", [special], gradient=False, name="special", **two)
ties = tf.constant([[1, 1, 2, 2], [1, 1, 0, 2]], f64)[None, :, :, None]
family.row("MaxPool", [ties], finite=False, name="ties", **two)
family.row("MaxPool", [S(f64, (0, 4, 4, 2))], name="empty", **two)
family.row("AvgPool", [S(f64, (0, 4, 4, 2))], name="empty", **two)
family.row("MaxPool", [S(f64, (1, 4, 5, 2))], name="explicit", ksize=[1, 2, 3, 1], strides=[1, 2, 2, 1], padding="EXPLICIT",
           explicit_paddings=[0, 0, 1, 0, 1, 2, 0, 0], gradient=False)
for op in ("MaxPool", "AvgPool"):
    for x, attributes in ((f32(4, 4, 2), two), (f32(1, 1, 1, 2), two | {"ksize": [1, 5, 5, 1]}), (f32(1, 4, 4, 1), two | {"padding": "FULL"}),
                          (f32(1, 4, 4, 1), two | {"ksize": [1, 0, 2, 1]}), (f32(1, 4, 4, 1), two | {"strides": [1, 2, 2]}),
                          (f32(1, 4, 4, 1), two | {"strides": [1, 0, 2, 1]}), (f32(1, 4, 4, 1), two | {"data_format": "NHCW"})):
        family.error(op, [x], "InvalidArgument", **attributes)
    family.error(op, [f32(2, 4, 4, 1)], "Unimplemented", **(two | {"ksize": [2, 2, 2, 1]}))
family.error("MaxPoolGrad", [f32(1, 4, 4, 1), f32(1, 2, 2, 1), f32(1, 3, 2, 1)], "InvalidArgument", **two)
family.error("MaxPoolGradGrad", [f32(1, 4, 4, 1), f32(1, 2, 2, 1), f32(1, 3, 4, 1)], "InvalidArgument", **two)
family.error("AvgPoolGrad", [i32(1, 4, 4, 1), f32(1, 3, 2, 1)], "InvalidArgument", check=False, **two)  # TensorFlow reads on
family.error("AvgPoolGrad", [i32(1, 4, 4), f32(1, 2, 2, 1)], "InvalidArgument", **two)

# ---- softmax and cross entropies -------------------------------------------------------------------------------------

for op in ("Softmax", "LogSoftmax"):
    for t in family.types(op):
        family.row(op, [S(t, (2, 3))])
    for shape in ((3,), (2, 0), (0, 3), (2, 1, 3), (1, 2, 2, 1, 3), (2, 17), (1, 1), (2, 65)):
        family.row(op, [S(f64, shape)])
        family.row(op, [S(tf.float32, shape, low=-20, high=20)], gradient=False)
    family.row(op, [tf.constant([[1e30, 0, -1e30], [np.inf, 0, 1], [-np.inf, 0, 1], [np.nan, 0, 1], [-np.inf, -np.inf, -np.inf],
                                 [200, 100, 0], [90, 89, 88]], tf.float32)], gradient=False, name="special")
    family.error(op, [tf.constant(1.0)], "InvalidArgument")
    family.error(op, [i32(1, 2)], "TypeError")
op = "SoftmaxCrossEntropyWithLogits"
for t in family.types(op):
    family.row(op, [S(t, (2, 3)), S(t, (2, 3), seed=1, low=0)], rtol=2e-2 if t == tf.float16 else None, gradient=False)
# TensorFlow forgets that the second output depends on the labels: gradients have tests of their own.
for a, b in (((2, 3), (2, 3)), ((1, 1), (1, 1)), ((0, 3), (0, 3)), ((2, 19), (2, 19))):
    family.row(op, [S(f64, a), S(f64, b, seed=1, low=0)], gradient=False)
for a, b in (((1, 3), (2, 3)), ((2, 3), (1, 3)), ((2, 1), (2, 3))):
    family.row(op, [S(f64, a), S(f64, b, seed=1, low=0)], gradient=False, name="broadcast")
family.row(op, [tf.constant([[0.1, 0.9]], f64), tf.constant([[0.0, 0.0]], f64)], gradient=False, name="zero_labels")
family.row(op, [tf.constant([[1e30, 0], [np.inf, 0], [np.nan, 0], [-np.inf, 0]]), tf.constant([[0.5, 0.5]] * 4)], gradient=False,
           name="special")
family.error(op, [f32(2, 3), f32(2, 4)], "InvalidArgument")
family.error(op, [f32(3), f32(3)], "InvalidArgument")
family.error(op, [f32(3, 0), f32(0)], "InvalidArgument", check=False)
family.error(op, [f32(2, 3), S(f64, (2, 3))], "TypeError")
op = "SparseSoftmaxCrossEntropyWithLogits"
for t in family.types(op):
    for label in (tf.int32, tf.int64):
        family.row(op, [S(t, (3, 4)), tf.constant([0, 3, 1], label)], rtol=2e-2 if t == tf.float16 else None)
family.row(op, [S(f64, (0, 4)), tf.constant([], tf.int32)])
family.row(op, [tf.constant([[1.0, 2.0, 3.0]], f64), i32(2)], name="hessian")
family.row(op, [S(f64, (2, 21)), i32(20, 3)])
for inputs in ([f32(3, 4), i32(0, 4, 1)], [f32(3, 4), i32(0, -1, 1)], [f32(3, 4), i32(0, 1)], [f32(3, 0), tf.constant([], tf.int32)],
               [f32(4), i32(1)], [f32(2, 4), tf.constant([[1], [2]])]):
    family.error(op, inputs, "InvalidArgument")
family.error(op, [f32(2, 4), f32(2)], "TypeError")

# ---- batch normalization ---------------------------------------------------------------------------------------------

none = tf.constant([], tf.float32)
for t in (tf.float32, tf.float16, tf.bfloat16):
    loose = {tf.float32: 1e-5, tf.float16: 1e-2, tf.bfloat16: 1e-1}[t]
    for training in (True, False):
        mean, variance = (none, none) if training else (tf.constant([0.5, -1.0]), tf.constant([2.0, 0.7]))
        for data_format, shape in (("NHWC", (2, 3, 2, 2)), ("NCHW", (2, 2, 3, 1)), ("NDHWC", (2, 1, 3, 2, 2)),
                                   ("NCDHW", (2, 2, 2, 1, 2))):
            if t == tf.float32 or data_format == "NHWC":
                x = S(t, shape)
                more = {"is_training": training, "data_format": data_format, "epsilon": 0.01}
                # The gradients of the statistics are not TensorFlow's business: only that of y is compared.
                family.row("FusedBatchNormV3", [x, tf.constant([1.5, -0.5]), tf.constant([0.1, 0.2]), mean, variance],
                           rtol=loose, atol=loose, ignore=() if training else (3, 4), **more)
                if training:
                    axes = [i for i in range(len(shape)) if i != (1 if data_format[1] == "C" else len(shape) - 1)]
                    statistics = list(tf.nn.moments(tf.cast(x, tf.float32), axes))
                else:
                    statistics = [mean, variance]
                if not training and data_format[1] == "C":
                    continue  # TensorFlow has no kernel for it
                family.row("FusedBatchNormGradV3", [S(t, shape, seed=1), x, tf.constant([1.5, -0.5])] + statistics + [none],
                           rtol=loose, atol=loose, second=not training, **more)
family.row("FusedBatchNormV3", [f32(2, 3, 1, 2), tf.constant([1.5, -0.5]), tf.constant([0.1, 0.2]), tf.constant([0.5, -1.0]),
                                tf.constant([2.0, 0.7])], exponential_avg_factor=0.25, rtol=1e-5, atol=1e-5)
family.row("FusedBatchNormV3", [f32(1, 1, 1, 2), tf.constant([1.5, -0.5]), tf.constant([0.1, 0.2]), none, none], rtol=1e-5,
           atol=1e-5, gradient=False, name="one_pixel")
two_channels = tf.constant([1.0, 2.0])
for inputs, more in (
        ([f32(1, 2, 2, 2), two_channels, two_channels, none, none], {"is_training": False}),
        ([f32(1, 2, 2, 2), two_channels, two_channels, none, none], {"exponential_avg_factor": 0.5}),
        ([f32(1, 2, 2, 3), two_channels, two_channels, none, none], {}),
        ([f32(1, 2, 2, 2), two_channels, tf.constant([1.0]), none, none], {}),
        ([f32(1, 2, 2), two_channels, two_channels, none, none], {}),
        ([f32(1, 2, 2, 2), f32(1, 2), two_channels, none, none], {}),
        ([f32(1, 2, 2, 2), two_channels, two_channels, none, none], {"data_format": "NHCW"})):
    family.error("FusedBatchNormV3", inputs, "InvalidArgument", **more)
images = f32(1, 2, 2, 2)
family.error("FusedBatchNormGradV3", [images, images, none, two_channels, two_channels, none], "InvalidArgument", name="empty_scale")
family.error("FusedBatchNormGradV3", [f32(1, 2, 1, 2), images, two_channels, two_channels, two_channels, none], "InvalidArgument")
family.error("FusedBatchNormGradV3", [images, images, two_channels, none, two_channels, none], "InvalidArgument")

# ---- the largest, and the sum of squares -----------------------------------------------------------------------------

for t in family.types("L2Loss"):
    family.row("L2Loss", [S(t, (2, 3))])
for shape in ((), (0,), (2, 0), (1, 2, 1, 2, 3), (37,)):
    family.row("L2Loss", [S(f64, shape)])
family.error("L2Loss", [i32(1, 2)], "TypeError")
for t in family.types("TopKV2"):
    family.row("TopKV2", [S(t, (2, 5), low=-9, high=9), tf.constant(3)])
for shape, k in (((4,), 4), ((4,), 0), ((4,), 1), ((2, 1, 3), 2), ((0, 3), 2), ((2, 0), 0), ((1, 2, 1, 2, 3), 3), ((3, 40), 7)):
    family.row("TopKV2", [S(f64, shape, low=-9, high=9), tf.constant(k)], gradient=shape != (2, 0))
for k in (1, 2, 3, 5):
    family.row("TopKV2", [tf.constant([[2, 1, 2, 2, 1], [1, 1, 1, 1, 1], [-1, 3, 0, 3, 3]], f64), tf.constant(k)], finite=False, name="ties")
family.row("TopKV2", [tf.constant([[np.inf, 1, -np.inf, 1]]), tf.constant(4)], gradient=False, name="infinite")
for t in (tf.int16, tf.int32, tf.int64):
    for index in (tf.int16, tf.int32, tf.int64):
        family.row("TopKV2", [f32(2, 4), tf.constant(2, t)], index_type=index, gradient=False)
family.error("TopKV2", [f32(2, 3), tf.constant(4)], "InvalidArgument")
family.error("TopKV2", [f32(2, 3), tf.constant(-1)], "InvalidArgument")
family.error("TopKV2", [f32(2, 3), tf.constant([1])], "InvalidArgument")
family.error("TopKV2", [tf.constant(1.0), tf.constant(1)], "InvalidArgument")
family.error("TopKV2", [f32(2, 3), f32(1)], "TypeError")
predictions = tf.constant([[1, 2, 2, 3], [1, np.nan, 3, 4], [1, 2, 3, 4], [np.inf, 2, 3, 4], [1, 2, 3, 4], [4, 3, 2, 1]], tf.float32)
for t in (tf.int32, tf.int64):
    for k in (0, 1, 2, 4, 9):
        family.row("InTopKV2", [predictions, tf.constant([2, 0, 7, 0, -1, 1], t), tf.constant(k, t)])
family.row("InTopKV2", [tf.zeros([0, 3]), tf.constant([], tf.int32), tf.constant(1)])
family.error("InTopKV2", [f32(2, 3), i32(1), tf.constant(1)], "InvalidArgument")
family.error("InTopKV2", [f32(3), i32(1, 2, 0), tf.constant(1)], "InvalidArgument")
family.error("InTopKV2", [f32(2, 3), f32(2), tf.constant(1)], "TypeError")

family.save()
