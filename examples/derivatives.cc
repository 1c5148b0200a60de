// The snippets of docs/derivatives.md: what stands between the marks is quoted there, and a test compares the two.
#include <capstan/capstan.h>

#include <iostream>

using namespace capstan;

namespace {

void tapes() {
  // [tape]
  Tensor x = constant({3.f, 4.f});
  GradientTape tape;
  tape.watch(x);
  Tensor y = reduce_sum(x * x);
  Tensor dy_dx = tape.gradient(y, x);  // [6, 8]
  // [end]
  std::cout << dy_dx << '\n';
}

void variables() {
  // [variables]
  Variable w(2.f), b(1.f);
  GradientTape tape;
  Tensor loss = square(w * 3 + b - 10);
  auto [dw, db] = tape.gradient(loss, w, b);  // -18, -6
  // [end]
  std::cout << dw << ' ' << db << '\n';
}

void explain() {
  // [explain]
  Tensor x = constant({0.3f, 1.7f});
  GradientTape tape;
  tape.watch(x);
  Tensor y = reduce_sum(cast(cast(x * 2, DType::int32), DType::float32));
  std::cout << tape.explain(y, x) << '\n';
  // [end]
}

void functions() {
  // [functions]
  auto cube = [](Tensor x) { return x * x * x; };
  auto [value, slope] = value_and_gradient(cube, 2.f);    // 8, 12
  Tensor second = gradient_of(gradient_of(cube))(2.f);    // 12
  auto [y, pull_back] = vjp(cube, constant({1.f, 2.f}));  // y: [1, 8]
  Tensor row = pull_back(constant({1.f, 10.f}));          // [3, 120]
  // [end]
  std::cout << value << ' ' << slope << ' ' << second << ' ' << y << ' ' << row << '\n';
}

void forward_mode() {
  // [forward]
  Tensor x = constant({1.f, 2.f}), v = constant({1.f, 0.f});
  ForwardAccumulator forward(x, v);
  Tensor y = reduce_sum(x * x * x);
  Tensor along_v = forward.jvp(y);  // 3
  // [end]
  std::cout << along_v << '\n';
}

// [hessian]
Tensor hessian_vector(auto f, Tensor x, Tensor v) {  // forward over reverse
  ForwardAccumulator forward(x, v);
  GradientTape tape;
  tape.watch(x);
  Tensor g = tape.gradient(f(x), x);
  return forward.jvp(g);
}
// [end]

void hessians() {
  // [jacobians]
  auto f = [](Tensor x) { return reduce_sum(x * x * x); };
  Tensor x = constant({1.f, 2.f}), v = constant({1.f, 1.f});
  Tensor hv = hessian_vector_product(f, x, v);                         // [6, 12]
  Tensor h = hessian(f, x);                                            // [[6, 0], [0, 12]]
  Tensor j = jacobian([](Tensor t) { return t * reduce_sum(t); }, x);  // [[4, 1], [2, 5]]
  // [end]
  std::cout << hessian_vector(f, x, v) << ' ' << hv << '\n' << h << '\n' << j << '\n';
}

void custom_gradients() {
  // [custom]
  auto log1pexp = custom_gradient([](Tensor x) {
    Tensor e = exp(x);
    return with_gradient(log1p(e), [=](Tensor dy) { return dy * (1 - 1 / (1 + e)); });
  });
  Tensor slope = gradient_of(log1pexp)(100.f);  // 1, and not NaN
  // [end]
  std::cout << slope << '\n';
}

void custom_gradients_of_variables() {
  // [custom-variables]
  Variable w(3.f);
  auto scale = custom_gradient([&](Tensor x) {
    return with_gradient(x * w, [=](Tensor dy, const std::vector<Variable>& variables) {
      return std::pair(dy * variables[0], std::vector{dy * x});
    });
  });
  GradientTape tape;
  Tensor dw = tape.gradient(scale(2.f), w);  // 2
  // [end]
  std::cout << dw << '\n';
}

void recomputation() {
  // [recompute]
  auto block = recompute_grad([](Tensor x) {
    for (int i = 0; i < 100; ++i) x = tanh(x);
    return x;
  });
  Tensor slope = gradient_of([&](Tensor x) { return block(block(x)); })(0.5f);
  // [end]
  std::cout << (slope.item<float>() > 0) << '\n';
}

void checking() {
  // [checking]
  auto wrong = custom_gradient([](Tensor x) { return with_gradient(x * x, [=](Tensor dy) { return 3 * dy * x; }); });
  std::cout << check_gradients(wrong, constant({0.5f, 2.f}), {.forward = false}) << '\n';
  Tensor estimate = numeric_gradient([](Tensor x) { return x * x; }, constant({0.5f, 2.f}));  // [1, 4], float64
  // [end]
  std::cout << cast(estimate, DType::float32) << '\n';
}

void registration() {
  // [registry]
  const Op cube = define_op({.signature = "GuideCube(x: T) -> (y: T); T: {float, double}",
                             .summary = "x cubed, elementwise.",
                             .shape = shape::unchanged,
                             .cpu = elementwise<float, double>([](auto x) { return x * x * x; })});
  register_gradient("GuideCube", [](const OpCall& call, std::span<const Gradient> dy) {
    return std::vector<Gradient>{dy[0].tensor() * 3 * square(call.input(0))};
  });
  Tensor slope = gradient_of(cube)(2.f);  // 12
  // [end]
  std::cout << slope << '\n';
}

}  // namespace

int main() {
  tapes();
  variables();
  explain();
  functions();
  forward_mode();
  hessians();
  custom_gradients();
  custom_gradients_of_variables();
  recomputation();
  checking();
  registration();
}
