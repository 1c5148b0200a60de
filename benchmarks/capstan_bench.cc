// Capstan's side of the workloads that the rivals run. Uses the public header and the default build only; results are
// destroyed inside the loops.
#include <capstan/capstan.h>
#include <dlfcn.h>

#include <filesystem>
#include <iostream>
#include <sstream>

#include "harness.h"

using namespace capstan;
using bench::Bench;

namespace {

Tensor normal(const Shape& shape, double scale = 1, std::int64_t seed = 0) {
  return stateless_normal(shape, {seed, 1}, {.stddev = scale});
}
Tensor uniform(const Shape& shape, std::int64_t seed = 0) { return stateless_uniform(shape, {seed, 2}); }
Tensor digits(std::int64_t count) { return stateless_uniform_int(Shape{count}, {0, 3}, constant(0), constant(10)); }

void eager_ops(Bench& b) {
  const Tensor a = constant({1.f, 2.f, 3.f, 4.f}), c = constant({5.f, 6.f, 7.f, 8.f}),
               r = constant({1.f, -2.f, 3.f, -4.f});
  if (b.wants("eager_add4"))
    b.time("eager_add4/operator", "ns", [&](std::int64_t n) {
      for (std::int64_t i = 0; i < n; ++i) Tensor sum = a + c;
    });
  if (b.wants("eager_add4_recorded"))
    b.time("eager_add4_recorded/tape", "ns", [&](std::int64_t n) {
      for (std::int64_t done = 0; done < n; done += 1000) {
        GradientTape tape;
        tape.watch(a);
        for (std::int64_t i = done; i < std::min(done + 1000, n); ++i) Tensor sum = a + c;
      }
    });
  if (b.wants("eager_matmul_32")) {
    const Tensor x = normal(Shape{32, 32}), y = normal(Shape{32, 32}, 1, 1);
    b.time("eager_matmul_32/eager", "ns", [&](std::int64_t n) {
      for (std::int64_t i = 0; i < n; ++i) Tensor product = matmul(x, y);
    });
  }
  if (b.wants("eager_relu4"))
    b.time("eager_relu4/eager", "ns", [&](std::int64_t n) {
      for (std::int64_t i = 0; i < n; ++i) Tensor y = relu(r);
    });
}

template <class Operation>
void backward_chain(Bench& b, const std::string& name, Operation operation) {
  if (!b.wants(name)) return;
  const Tensor a = constant({1.f, 2.f, 3.f, 4.f}), w = constant({1.0001f, .9999f, 1.f, 1.0002f}), one = ones(Shape{4});
  const auto forward = [&](GradientTape& tape) {
    tape.watch(a);
    Tensor y = a;
    for (int i = 0; i < 1000; ++i) y = operation(y, w);
    return y;
  };
  b.time(
      name + "/forward_backward", "ns",
      [&](std::int64_t n) {
        for (std::int64_t i = 0; i < n; ++i) {
          GradientTape tape;
          Tensor y = forward(tape);
          Tensor gradient = tape.gradient(y, a, {.output_gradients = {one}});
        }
      },
      1000);
  std::vector<double> values;
  const double end = bench::now() + b.options().budget;
  while (bench::now() < end || values.size() < 5) {
    GradientTape tape;
    Tensor y = forward(tape);
    const double t = bench::now();
    Tensor gradient = tape.gradient(y, a, {.output_gradients = {one}});
    values.push_back((bench::now() - t) / 1000 * 1e9);
  }
  b.emit(name + "/backward", "ns", values);
}

void mlp_step(Bench& b) {
  if (!b.wants("mlp_step")) return;
  const Tensor x = uniform(Shape{32, 784}), y = digits(32);
  Variable w1(normal(Shape{784, 128}, 0.05)), b1(zeros(Shape{128})), w2(normal(Shape{128, 10}, 0.05)),
      b2(zeros(Shape{10}));
  const std::vector<Variable> parameters{w1, b1, w2, b2};
  optim::SGD sgd{{.learning_rate = 0.01}};
  b.time("mlp_step/eager", "steps/s", [&](std::int64_t n) {
    Tensor loss;
    for (std::int64_t i = 0; i < n; ++i) {
      GradientTape tape;
      const Tensor hidden = relu(bias_add(matmul(x, w1), b1));
      loss = reduce_mean(sparse_softmax_cross_entropy(y, bias_add(matmul(hidden, w2), b2)));
      sgd.apply(tape.gradient(loss, parameters), parameters);
    }
    (void)loss.item<float>();
  });
}

void cnn_step(Bench& b) {
  if (!b.wants("cnn_step")) return;
  const Tensor x = uniform(Shape{32, 28, 28, 1}), y = digits(32);
  nn::Sequential model{nn::Conv2D(32, {3, 3}, relu, {.padding = "SAME"}),
                       nn::Conv2D(64, {3, 3}, relu, {.padding = "SAME"}),
                       nn::MaxPool2D(),
                       nn::Flatten(),
                       nn::Dense(128, relu),
                       nn::Dense(10)};
  model.build(x.shape());
  (void)model(x);
  const auto parameters = model.trainable_variables();
  optim::Adam adam{{.learning_rate = 1e-3}};
  b.time("cnn_step/eager", "steps/s", [&](std::int64_t n) {
    Tensor loss;
    for (std::int64_t i = 0; i < n; ++i) {
      GradientTape tape;
      loss = reduce_mean(sparse_softmax_cross_entropy(y, model(x)));
      adam.apply(tape.gradient(loss, parameters), parameters);
    }
    (void)loss.item<float>();
  });
}

void derivatives(Bench& b) {
  if (b.wants("jacobian_100x1000")) {
    const Tensor w1 = normal(Shape{1000, 256}, 0.05), w2 = normal(Shape{256, 100}, 0.05, 1),
                 x = normal(Shape{1, 1000}, 1, 2);
    b.time("jacobian_100x1000/eager", "us", [&](std::int64_t n) {
      for (std::int64_t i = 0; i < n; ++i)
        Tensor j = jacobian([&](const Tensor& at) { return tanh(matmul(tanh(matmul(at, w1)), w2)); }, x);
    });
  }
  if (!b.wants("hvp_mlp")) return;
  const Tensor x = uniform(Shape{32, 784}), y = digits(32);
  const std::vector<Tensor> weights{normal(Shape{784, 128}, 0.05), normal(Shape{128, 64}, 0.05, 1),
                                    normal(Shape{64, 10}, 0.05, 2)};
  const std::vector<Tensor> direction{normal(Shape{784, 128}), normal(Shape{128, 64}), normal(Shape{64, 10})};
  const auto gradient = [&] {
    GradientTape tape;
    tape.watch(weights);
    const Tensor hidden = tanh(matmul(tanh(matmul(x, weights[0])), weights[1]));
    const Tensor loss = reduce_mean(sparse_softmax_cross_entropy(y, matmul(hidden, weights[2])));
    return tape.gradient(loss, weights);
  };
  b.time("hvp_mlp/gradient", "us", [&](std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) auto g = gradient();
  });
  b.time("hvp_mlp/product", "us", [&](std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
      ForwardAccumulator forward(weights, direction);
      auto product = forward.jvp(gradient());
    }
  });
}

void elementwise_chain(Bench& b) {
  if (!b.wants("elementwise_chain")) return;
  const Tensor x = normal(Shape{1'000'000});
  const auto forward = [](const Tensor& at) { return tanh(1.5f * at + 0.5f) * sigmoid(at) + exp(-at * at); };
  b.time("elementwise_chain/forward/eager", "us", [&](std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) Tensor y = forward(x);
  });
  b.time("elementwise_chain/gradient/eager", "us", [&](std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
      GradientTape tape;
      tape.watch(x);
      Tensor y = forward(x);
      Tensor gradient = tape.gradient(y, x);
    }
  });
}

void products(Bench& b) {
  const auto product = [&](const std::string& name, const Shape& left, const Shape& right, double flops) {
    if (!b.wants(name)) return;
    const Tensor x = normal(left), y = normal(right, 1, 1);
    b.time(
        name + "/eager", "GFLOP/s",
        [&](std::int64_t n) {
          for (std::int64_t i = 0; i < n; ++i) Tensor z = matmul(x, y);
        },
        flops);
  };
  product("gemm_1024", Shape{1024, 1024}, Shape{1024, 1024}, 2.0 * 1024 * 1024 * 1024);
  product("gemm_mlp", Shape{32, 784}, Shape{784, 128}, 2.0 * 32 * 784 * 128);
  product("bmm_attention", Shape{64, 128, 64}, Shape{64, 64, 128}, 2.0 * 64 * 128 * 64 * 128);
}

void rows(Bench& b) {
  const Tensor x = normal(Shape{4096, 1024});
  for (int axis : {0, 1}) {
    const std::string name = "reduce_sum_axis" + std::to_string(axis) + "_4096x1024";
    if (b.wants(name))
      b.time(name + "/eager", "ms", [&](std::int64_t n) {
        for (std::int64_t i = 0; i < n; ++i) Tensor y = reduce_sum(x, {.axis = axis});
      });
  }
  if (b.wants("transpose_4096x1024"))
    b.time("transpose_4096x1024/eager", "ms", [&](std::int64_t n) {
      for (std::int64_t i = 0; i < n; ++i) Tensor y = transpose(x);
    });
  if (b.wants("softmax_4096x1000")) {
    const Tensor logits = normal(Shape{4096, 1000}), dy = normal(Shape{4096, 1000}, 1, 1);
    b.time("softmax_4096x1000/eager", "ms", [&](std::int64_t n) {
      for (std::int64_t i = 0; i < n; ++i) {
        GradientTape tape;
        tape.watch(logits);
        Tensor y = softmax(logits);
        Tensor gradient = tape.gradient(y, logits, {.output_gradients = {dy}});
      }
    });
  }
}

/// Megabytes of the library and of what it loads.
double installed_mb() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<const void*>(&code_name), &info)) return 0;
  double bytes = static_cast<double>(std::filesystem::file_size(std::filesystem::canonical(info.dli_fname)));
  if (void* kernels = dlopen("libdnnl.so.2", RTLD_NOW | RTLD_LOCAL)) {
    Dl_info loaded;
    if (void* symbol = dlsym(kernels, "dnnl_sgemm"); symbol && dladdr(symbol, &loaded))
      bytes += static_cast<double>(std::filesystem::file_size(std::filesystem::canonical(loaded.dli_fname)));
  }
  return bytes / 1e6;
}

void startup(Bench& b) {
  if (!b.wants("startup")) return;
  std::vector<double> total, resident;
  for (const std::string& line : bench::run_children(b.options(), "startup", 9)) {
    std::istringstream in(line);
    double seconds = 0, megabytes = 0;
    in >> seconds >> megabytes;
    total.push_back(seconds);
    resident.push_back(megabytes);
  }
  b.emit("startup/total", "s", total);
  b.emit("startup/rss", "MB", resident);
  b.emit("startup/installed", "MB", {installed_mb()});
}

int startup_child(const bench::Options& options) {
  const Tensor sum = constant({1.f, 2.f, 3.f, 4.f}) + constant({5.f, 6.f, 7.f, 8.f});
  if (sum.values<float>()[3] != 12) return 1;
  const double seconds = bench::now() - options.started;
  std::cout << seconds << ' ' << bench::peak_resident_mb() << std::endl;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Options options = bench::read_options(argc, argv);
  if (options.child == "startup") return startup_child(options);
  set_thread_count(options.threads);
  Bench b("capstan", options);
  eager_ops(b);
  backward_chain(b, "backward_chain_add", [](const Tensor& y, const Tensor& w) { return y + w; });
  backward_chain(b, "backward_chain_mul", [](const Tensor& y, const Tensor& w) { return y * w; });
  mlp_step(b);
  cnn_step(b);
  derivatives(b);
  elementwise_chain(b);
  products(b);
  rows(b);
  startup(b);
}
