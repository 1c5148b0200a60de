"""The rivals' side of jacobian_100x1000: TensorFlow's tape.jacobian (eager and in a function) and torch.func.jacrev.

    python derivatives_rivals.py tf|torch [--threads N] [--budget S] [--json FILE]

Prints the JSON lines that capstan_bench prints.
"""
import argparse
import json
import os
import statistics
import time

parser = argparse.ArgumentParser()
parser.add_argument("framework", choices=["tf", "torch"])
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--budget", type=float, default=1.5)
parser.add_argument("--json")
options = parser.parse_args()
os.sched_setaffinity(0, set(range(options.threads)))
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


def measure(name, run):
    started = time.perf_counter()
    run()
    first = time.perf_counter() - started
    run()
    times = []
    end = time.perf_counter() + options.budget
    while time.perf_counter() < end or len(times) < 5:
        started = time.perf_counter()
        run()
        times.append((time.perf_counter() - started) * 1e6)
    line = json.dumps({"framework": options.framework, "threads": options.threads, "name": name, "unit": "us",
                       "median": statistics.median(times), "min": min(times), "best": min(times), "n": len(times),
                       "clock": "wall", "first_call_s": first})
    print(line, flush=True)
    if options.json:
        with open(options.json, "a") as out:
            out.write(line + "\n")


def tensorflow():
    import tensorflow as tf
    tf.config.threading.set_intra_op_parallelism_threads(options.threads)
    tf.config.threading.set_inter_op_parallelism_threads(options.threads)
    w1, w2 = tf.random.normal([1000, 256], stddev=.05), tf.random.normal([256, 100], stddev=.05)
    x = tf.random.normal([1, 1000])

    def jacobian():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.tanh(tf.tanh(x @ w1) @ w2)
        return tape.jacobian(y, x)

    measure("jacobian_100x1000/eager", lambda: jacobian().numpy())
    traced = tf.function(jacobian)
    measure("jacobian_100x1000/function", lambda: traced().numpy())


def torch_():
    import torch
    torch.set_num_threads(options.threads)
    w1, w2 = torch.randn(1000, 256) * .05, torch.randn(256, 100) * .05
    x = torch.randn(1, 1000)
    jacobian = torch.func.jacrev(lambda at: torch.tanh(torch.tanh(at @ w1) @ w2))
    measure("jacobian_100x1000/jacrev", lambda: jacobian(x))


tensorflow() if options.framework == "tf" else torch_()
