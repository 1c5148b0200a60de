// The eager rows on LibTorch, from C++: what a user of its tensor library would write.
#include <torch/torch.h>

#include "harness.h"

using bench::Bench;
using torch::Tensor;

namespace {

void eager_ops(Bench& b) {
  const Tensor a = torch::tensor({1.f, 2.f, 3.f, 4.f}), c = torch::tensor({5.f, 6.f, 7.f, 8.f});
  const auto loop = [](const Tensor& x, const Tensor& y) {
    return [=](std::int64_t n) {
      for (std::int64_t i = 0; i < n; ++i) Tensor sum = x + y;
    };
  };
  if (b.wants("eager_add4")) {
    {
      torch::NoGradGuard no_grad;
      b.time("eager_add4/no_grad", "ns", loop(a, c));
    }
    torch::InferenceMode inference;
    b.time("eager_add4/inference_mode", "ns", loop(a.clone(), c.clone()));
  }
  if (b.wants("eager_add4_recorded"))
    b.time("eager_add4_recorded/requires_grad", "ns", loop(a.clone().set_requires_grad(true), c));
  if (b.wants("eager_matmul_32")) {
    torch::NoGradGuard no_grad;
    const Tensor x = torch::randn({32, 32}), y = torch::randn({32, 32});
    b.time("eager_matmul_32/eager", "ns", [&](std::int64_t n) {
      for (std::int64_t i = 0; i < n; ++i) Tensor z = torch::mm(x, y);
    });
  }
  if (b.wants("eager_relu4")) {
    torch::NoGradGuard no_grad;
    b.time("eager_relu4/eager", "ns", [&](std::int64_t n) {
      for (std::int64_t i = 0; i < n; ++i) Tensor y = torch::relu(a);
    });
  }
}

template <class Operation>
void backward_chain(Bench& b, const std::string& name, Operation operation) {
  if (!b.wants(name)) return;
  const Tensor a = torch::tensor({1.f, 2.f, 3.f, 4.f}).set_requires_grad(true);
  const Tensor w = torch::tensor({1.0001f, .9999f, 1.f, 1.0002f}), one = torch::ones({4});
  const auto forward = [&] {
    Tensor y = a;
    for (int i = 0; i < 1000; ++i) y = operation(y, w);
    return y;
  };
  b.time(
      name + "/forward_backward", "ns",
      [&](std::int64_t n) {
        for (std::int64_t i = 0; i < n; ++i) torch::autograd::grad({forward()}, {a}, {one});
      },
      1000);
  std::vector<double> values;
  const double end = bench::now() + b.options().budget;
  while (bench::now() < end || values.size() < 5) {
    Tensor y = forward();
    const double t = bench::now();
    torch::autograd::grad({y}, {a}, {one});
    values.push_back((bench::now() - t) / 1000 * 1e9);
  }
  b.emit(name + "/backward", "ns", values);
}

void train(Bench& b, const std::string& name, torch::nn::Sequential model, const Tensor& x, bool adam) {
  if (!b.wants(name)) return;
  const Tensor y = torch::randint(0, 10, {32}, torch::kLong);
  std::unique_ptr<torch::optim::Optimizer> optimizer;
  if (adam)
    optimizer = std::make_unique<torch::optim::Adam>(model->parameters(), torch::optim::AdamOptions(1e-3).eps(1e-7));
  else
    optimizer = std::make_unique<torch::optim::SGD>(model->parameters(), 0.01);
  b.time(name + "/eager", "steps/s", [&](std::int64_t n) {
    Tensor loss;
    for (std::int64_t i = 0; i < n; ++i) {
      optimizer->zero_grad();
      loss = torch::nn::functional::cross_entropy(model->forward(x), y);
      loss.backward();
      optimizer->step();
    }
    (void)loss.item<float>();
  });
}

void networks(Bench& b) {
  using namespace torch::nn;
  train(b, "mlp_step", Sequential(Linear(784, 128), ReLU(), Linear(128, 10)), torch::rand({32, 784}), false);
  train(b, "cnn_step",
        Sequential(Conv2d(Conv2dOptions(1, 32, 3).padding(1)), ReLU(), Conv2d(Conv2dOptions(32, 64, 3).padding(1)),
                   ReLU(), MaxPool2d(2), Flatten(), Linear(12544, 128), ReLU(), Linear(128, 10)),
        torch::rand({32, 1, 28, 28}), true);
}

void elementwise_chain(Bench& b) {
  if (!b.wants("elementwise_chain")) return;
  const auto forward = [](const Tensor& x) {
    return torch::tanh(1.5 * x + 0.5) * torch::sigmoid(x) + torch::exp(-x * x);
  };
  {
    torch::NoGradGuard no_grad;
    const Tensor x = torch::randn({1'000'000});
    b.time("elementwise_chain/forward/eager", "us", [&](std::int64_t n) {
      for (std::int64_t i = 0; i < n; ++i) Tensor y = forward(x);
    });
  }
  const Tensor x = torch::randn({1'000'000}).set_requires_grad(true);
  b.time("elementwise_chain/gradient/eager", "us", [&](std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
      Tensor y = forward(x);
      torch::autograd::grad({y}, {x}, {torch::ones_like(y)});
    }
  });
}

void products(Bench& b) {
  torch::NoGradGuard no_grad;
  const auto product = [&](const std::string& name, const Tensor& x, const Tensor& y, double flops) {
    if (!b.wants(name)) return;
    b.time(
        name + "/eager", "GFLOP/s",
        [&](std::int64_t n) {
          for (std::int64_t i = 0; i < n; ++i) Tensor z = torch::matmul(x, y);
        },
        flops);
  };
  product("gemm_1024", torch::randn({1024, 1024}), torch::randn({1024, 1024}), 2.0 * 1024 * 1024 * 1024);
  product("gemm_mlp", torch::randn({32, 784}), torch::randn({784, 128}), 2.0 * 32 * 784 * 128);
  product("bmm_attention", torch::randn({64, 128, 64}), torch::randn({64, 64, 128}), 2.0 * 64 * 128 * 64 * 128);
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Options options = bench::read_options(argc, argv);
  torch::set_num_threads(options.threads);
  Bench b("libtorch", options);
  eager_ops(b);
  backward_chain(b, "backward_chain_add", [](const Tensor& y, const Tensor& w) { return y + w; });
  backward_chain(b, "backward_chain_mul", [](const Tensor& y, const Tensor& w) { return y * w; });
  networks(b);
  elementwise_chain(b);
  products(b);
}
