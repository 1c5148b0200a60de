"""Sample rows of operations: runs each on real TensorFlow and writes what came out to tests/golden/ops/FAMILY.gold.

A family's script (tools/golden/ops/FAMILY.py) lists rows:

    from rows import Family, f32
    family = Family("math_binary")
    for t in family.types("AddV2"):                      # every element type that both sides have kernels for
        family.row("AddV2", [family.sample(t, (2, 3)), family.sample(t, (3,))])
    family.error("AddV2", [f32(2, 3), f32(4)], "InvalidArgument")
    family.save()

A row holds the op, attributes, inputs, outputs, gradients for given output gradients, the gradient of those, and the
shapes that TensorFlow infers when the inputs are only partly known. tests/conformance/conformance_test.cc replays them.

Run with TF_ENABLE_ONEDNN_OPTS=0 in the environment (this module sets it): TensorFlow's plain kernels are the reference.
"""
import functools
import gzip
import inspect
import os
import pathlib
import struct
import sys

os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
import numpy as np
import tensorflow as tf
from tensorflow.python.framework import op_def_registry

GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden" / "ops"
# Element types of Capstan, by TensorFlow's number.
TYPES = {1: tf.float32, 2: tf.float64, 3: tf.int32, 4: tf.uint8, 5: tf.int16, 6: tf.int8, 7: tf.string,
         8: tf.complex64, 9: tf.int64, 10: tf.bool, 14: tf.bfloat16, 17: tf.uint16, 18: tf.complex128,
         19: tf.float16, 22: tf.uint32, 23: tf.uint64}
NUMBER = {t: n for n, t in TYPES.items()}


def f32(*shape, seed=0):
    """Normal numbers of float32."""
    return tf.constant(np.asarray(np.random.RandomState(seed).standard_normal(shape)).astype("float32"))


class Bytes:
    def __init__(self):
        self.parts = []

    def pack(self, form, *values):
        self.parts.append(struct.pack("<" + form, *values))

    def text(self, value):
        raw = value if isinstance(value, bytes) else value.encode()
        self.pack("I", len(raw))
        self.parts.append(raw)

    def tensor(self, value):
        """None becomes an undefined tensor: type 0."""
        if value is None:
            return self.pack("B", 0)
        value = tf.convert_to_tensor(value)
        self.pack("BB", NUMBER[value.dtype], len(value.shape))
        self.pack(f"{len(value.shape)}q", *value.shape)
        if value.dtype == tf.string:
            for element in np.asarray(value.numpy()).reshape(-1):
                self.text(element)
        else:
            self.parts.append(np.ascontiguousarray(value.numpy()).tobytes())

    def tensors(self, values):
        self.pack("I", len(values))
        for value in values:
            self.tensor(value)

    def attribute(self, value):
        """A kind, as in AttributeValue, and the value."""
        if isinstance(value, bool):
            self.pack("BB", 3, value)
        elif isinstance(value, int):
            self.pack("Bq", 1, value)
        elif isinstance(value, float):
            self.pack("Bf", 2, value)
        elif isinstance(value, str):
            self.pack("B", 4)
            self.text(value)
        elif isinstance(value, tf.DType):
            self.pack("BB", 5, NUMBER[value])
        elif isinstance(value, tf.TensorShape):
            self.pack("B", 6)
            self.shape(value)
        elif isinstance(value, tf.Tensor):
            self.pack("B", 7)
            self.tensor(value)
        elif isinstance(value, (list, tuple)) and all(isinstance(v, int) for v in value):
            self.pack("BI", 8, len(value))
            self.pack(f"{len(value)}q", *value)
        elif isinstance(value, (list, tuple)) and all(isinstance(v, float) for v in value):
            self.pack("BI", 9, len(value))
            self.pack(f"{len(value)}f", *value)
        else:
            raise TypeError(f"attribute {value!r}")

    def shape(self, shape):
        """Rank (-1: unknown) and dimensions."""
        if shape.rank is None:
            return self.pack("b", -1)
        self.pack("b", shape.rank)
        self.pack(f"{shape.rank}q", *(-1 if d is None else d for d in shape))


class Family:
    def __init__(self, name):
        self.name = name
        self.cases = []
        self.counts = {}

    # -- inputs --------------------------------------------------------------------------------------------------------
    def sample(self, dtype, shape, seed=0, low=-2.0, high=2.0):
        """Values of a type: uniform in [low, high) for numbers, whole ones for integers."""
        r = np.random.RandomState(seed + 7)
        if dtype == tf.bool:
            return tf.constant(r.rand(*shape) < 0.5)
        if dtype == tf.string:
            words = np.array([b"", b"a", b"tape", b"capstan", "\u00e9".encode()], dtype=object)
            return tf.constant(words[r.randint(0, len(words), shape)])
        x = r.uniform(low, high, shape)
        if dtype.is_complex:
            x = x + 1j * r.uniform(low, high, shape)
        if dtype.is_integer:
            x = np.floor(np.abs(x) if dtype.is_unsigned else x)
        return tf.cast(tf.constant(x), dtype) if dtype.is_complex or dtype.is_floating else tf.constant(
            x.astype(dtype.as_numpy_dtype))

    def types(self, op, attribute="T", probe=None):
        """The element types that the op's definition allows and Capstan has. Whether TensorFlow has a CPU kernel shows
        when the row runs: `row` leaves out those for which it has none."""
        definition = op_def_registry.get(op)
        for a in definition.attr:
            if a.name == attribute:
                allowed = a.allowed_values.list.type
                return [t for n, t in TYPES.items() if not allowed or n in allowed]
        raise KeyError(f"{op} has no attribute {attribute}")

    # -- rows ----------------------------------------------------------------------------------------------------------
    def row(self, op, inputs, gradient=True, name="", rtol=None, atol=None, finite=None, infer=True, second=True, ignore=(),
            **attributes):
        """One sample. `inputs` in the order of the definition; a list of tensors for a list argument. `gradient=False`
        leaves gradients out, `second=False` those of second order; `ignore` names outputs
        that TensorFlow leaves uninitialized; `finite` says whether finite differences must confirm them (default: in float64);
        rtol/atol override the tolerance of the element type (0 for both: the same bits); attributes by name."""
        try:
            outputs = run(op, inputs, attributes)
        except (tf.errors.NotFoundError, tf.errors.UnimplementedError) as error:
            if "Could not find device" in str(error) or "No OpKernel" in str(error) or isinstance(
                    error, tf.errors.UnimplementedError):
                return  # TensorFlow has no CPU kernel for this type
            raise
        b = self.begin(op, inputs, attributes, name)
        b.pack("B", 0)
        b.pack("ff", *(-1 if tolerance is None else tolerance for tolerance in (rtol, atol)))
        b.tensors([None if i in ignore else output for i, output in enumerate(outputs)])
        flat = flatten(inputs)
        dtypes = {t.dtype for t in flat}
        if finite is None:
            finite = tf.float64 in dtypes
        write_gradients(b, op, inputs, attributes, gradient, finite, second)
        write_inference(b, op, inputs, attributes, infer, len(outputs))
        self.end(b, op)

    def error(self, op, inputs, code, name="", check=True, mentions="", **attributes):
        """A call that must fail with Capstan's class `code` ("InvalidArgument", "TypeError", ...) and a message that
        contains `mentions`, or without it a shape, type, value or attribute of the call. Unless `check` is off,
        TensorFlow must refuse it too."""
        if check:
            try:
                run(op, inputs, attributes)
                raise AssertionError(f"{op}: TensorFlow accepts the row that should fail")
            except (tf.errors.OpError, ValueError, TypeError):
                pass
        b = self.begin(op, inputs, attributes, name)
        b.pack("B", 1)
        b.text(code)
        b.text(mentions)
        self.end(b, op)

    def begin(self, op, inputs, attributes, name):
        b = Bytes()
        flat = flatten(inputs)
        kinds = "-".join(t.dtype.name for t in flat[:2]) or "none"
        index = self.counts.get(op, 0)
        self.counts[op] = index + 1
        b.text(op)
        b.text(f"{op}/{index}/{kinds}" + (f"/{name}" if name else ""))
        b.pack("I", len(attributes))
        for key, value in attributes.items():
            b.text(key)
            b.attribute(value)
        b.tensors(flat)
        return b

    def end(self, b, op):
        self.cases.append(b"".join(b.parts))

    def save(self):
        GOLDEN.mkdir(parents=True, exist_ok=True)
        raw = struct.pack("<4sI", b"CAPG", len(self.cases)) + b"".join(self.cases)
        path = GOLDEN / (self.name + ".gold")
        path.write_bytes(gzip.compress(raw, 9, mtime=0))
        print(f"{path.name}: {len(self.cases)} rows, {len(raw)} bytes, {path.stat().st_size} compressed; "
              + ", ".join(f"{op} {n}" for op, n in self.counts.items()))


def flatten(inputs):
    flat = []
    for value in inputs:
        flat.extend(value if isinstance(value, list) else [value])
    return [tf.convert_to_tensor(v) for v in flat]


@functools.cache
def python_names(op):
    """The arguments that Python calls otherwise than the op's definition does: {"reduction_indices": "axis"}."""
    definition = op_def_registry.get(op)
    parameters = list(inspect.signature(getattr(tf.raw_ops, op)).parameters)
    defined = [a.name for a in definition.input_arg] + [a.name for a in definition.attr if not a.type.startswith("type")]
    unmatched = [p for p in parameters if p not in [a.name for a in definition.attr] + defined + ["name"]]
    return dict(zip([name for name in defined if name not in parameters and name != "N"], unmatched))


def run(op, inputs, attributes):
    definition = op_def_registry.get(op)
    names = [a.name for a in definition.input_arg]
    assert len(names) == len(inputs), (op, names)
    python_name = python_names(op)
    named = dict(zip(names, inputs)) | attributes
    result = getattr(tf.raw_ops, op)(**{python_name.get(name, name): value for name, value in named.items()})
    if result is None or isinstance(result, tf.Operation):
        return []
    if isinstance(result, tf.Tensor):
        return [result]
    out = []
    for value in result:
        out.extend(value if isinstance(value, (list, tuple)) else [value])
    return out


def seed_like(tensor, seed):
    r = np.random.RandomState(100 + seed)
    x = r.uniform(0.5, 1.5, tensor.shape) * r.choice([-1, 1], tensor.shape)
    if tensor.dtype.is_complex:
        x = x + 1j * r.uniform(0.5, 1.5, tensor.shape)
    return tf.cast(tf.constant(x), tensor.dtype)


def trainable(tensor):
    return tensor.dtype.is_floating or tensor.dtype.is_complex


def regroup(flat, inputs):
    flat, out = list(flat), []
    for value in inputs:
        out.append([flat.pop(0) for _ in value] if isinstance(value, list) else flat.pop(0))
    return out


def write_gradients(b, op, inputs, attributes, wanted, finite, want_second):
    """0: not checked, 1: none registered, 2: gradients (and 1 + second ones or 0)."""
    flat = flatten(inputs)
    if not wanted or not any(trainable(t) for t in flat):
        return b.pack("B", 0)
    with tf.GradientTape(persistent=True) as outer:
        watched = [tf.identity(t) for t in flat]
        outer.watch([t for t in watched if trainable(t)])
        with tf.GradientTape() as tape:
            tape.watch([t for t in watched if trainable(t)])
            outputs = run(op, regroup(watched, inputs), attributes)
        targets = [o for o in outputs if trainable(o)]
        seeds = [seed_like(o, i) for i, o in enumerate(targets)]
        if not targets:
            return b.pack("B", 0)
        try:
            first = tape.gradient(targets, watched, output_gradients=seeds)
        except LookupError:
            return b.pack("B", 1)
        first = [None if g is None else tf.convert_to_tensor(g) for g in first]
        mixed = [(g, seed_like(g, 50 + i)) for i, g in enumerate(first) if g is not None and trainable(g)]
    b.pack("BB", 2, bool(finite))
    b.tensors(seeds)
    b.tensors(first)
    second = None
    if mixed and want_second:
        try:
            second = outer.gradient([g for g, _ in mixed], watched, output_gradients=[s for _, s in mixed])
            second = [None if g is None else tf.convert_to_tensor(g) for g in second]
        except LookupError:
            second = None
    b.pack("B", second is not None)
    if second is not None:
        b.tensors([s for _, s in mixed])
        b.tensors(second)


def write_inference(b, op, inputs, attributes, wanted, output_count):
    """Four ways to know the inputs only in part; for each 0, or 1 and the outputs' shapes.
    0: shapes, no values. 1: integer values known, the first dimension of other inputs unknown. 2: ranks only.
    3: integer values known, other inputs of unknown rank."""
    for way in range(4):
        shapes = infer(op, inputs, attributes, way) if wanted else None
        if shapes is None or len(shapes) != output_count:
            b.pack("B", 0)
            continue
        b.pack("B", 1)
        for shape in shapes:
            b.shape(shape)


def infer(op, inputs, attributes, way):
    def known(t):
        return t.dtype.is_integer or t.dtype == tf.bool

    eager = [(t, t.numpy() if known(t) else None) for t in flatten(inputs)]
    with tf.Graph().as_default():
        def stand_in(t, value):
            if way in (1, 3) and known(t):
                return tf.constant(value, t.dtype)
            dims = list(t.shape)
            if way == 0:
                shape = dims
            elif way == 1:
                shape = [None] + dims[1:] if dims else []
            elif way == 2:
                shape = [None] * len(dims)
            else:
                shape = None
            return tf.compat.v1.placeholder(t.dtype, shape)

        flat = [stand_in(t, value) for t, value in eager]
        try:
            outputs = run(op, regroup(flat, inputs), attributes)
        except (ValueError, TypeError):
            return None
        return [o.shape for o in outputs]


sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
