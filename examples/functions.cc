// The snippets of docs/functions.md and docs/control-flow.md: what stands between the marks is quoted there, and a test
// compares the two.
#include <capstan/capstan.h>

#include <iostream>

using namespace capstan;

namespace {

void first() {
  // [first]
  Variable w(constant({{1.f}, {2.f}}));
  auto predict = function([&](Tensor x) { return matmul(x, w); });
  Tensor y = predict(constant({{3.f, 4.f}}));  // traced, then run: [[11]]
  w.assign(constant({{0.f}, {1.f}}));
  Tensor z = predict(constant({{3.f, 4.f}}));  // run: [[4]]
  // [end]
  std::cout << y << ' ' << z << ' ' << predict.trace_count() << '\n';
}

void retracing() {
  // [retracing]
  auto power = function([](Tensor x, int n) {
    Tensor y = x;
    for (int i = 1; i < n; ++i) y = y * x;
    return y;
  });
  power(constant(2.f), 3);
  power(constant(5.f), 3);         // the same trace
  power(constant(2.f), 4);         // another number: traced again
  power(constant({1.f, 2.f}), 4);  // another shape: again
  // [end]
  std::cout << power.trace_count() << '\n';
  for (const std::string& reason : power.retrace_reasons()) std::cout << reason << '\n';
}

void signature() {
  // [signature]
  auto mean = function([](Tensor x) { return reduce_mean(x); }, {.input_signature = {{spec<float>({-1, 2})}}});
  Tensor a = mean(constant({{1.f, 3.f}}));              // 2
  Tensor b = mean(constant({{1.f, 3.f}, {5.f, 7.f}}));  // 4, by the same trace
  // [end]
  std::cout << a << ' ' << b << ' ' << mean.trace_count() << '\n';
}

void training() {
  // [training]
  Variable w(0.f);
  optim::SGD sgd{{.learning_rate = 0.25}};
  auto step = function([&](Tensor x, Tensor target) {
    GradientTape tape;
    Tensor loss = square(w * x - target);
    sgd.apply(tape.gradient(loss, w), w);
    return loss;
  });
  for (int i = 0; i < 3; ++i) std::cout << step(constant(1.f), constant(2.f)) << '\n';  // 4, 1, 0.25
  // [end]
}

void derivatives() {
  // [derivatives]
  auto f = function([](Tensor x) { return x * x * x; });
  Tensor x = constant(2.f);
  GradientTape outer;
  outer.watch(x);
  GradientTape inner;
  inner.watch(x);
  Tensor slope = inner.gradient(f(x), x);  // 12
  Tensor bend = outer.gradient(slope, x);  // 12
  // [end]
  std::cout << slope << ' ' << bend << '\n';
}

void loop() {
  // [loop]
  auto newton_sqrt = function([](Tensor a) {
    return while_loop([&](Tensor x) { return abs(x * x - a) > 1e-6f; }, [&](Tensor x) { return 0.5f * (x + a / x); },
                      /*start=*/a);
  });
  Tensor a = constant(9.f);
  GradientTape tape;
  tape.watch(a);
  Tensor root = newton_sqrt(a);           // 3
  Tensor slope = tape.gradient(root, a);  // 1 / 6
  // [end]
  std::cout << root << ' ' << slope << '\n';
}

void branch() {
  // [branch]
  auto softlog = function([](Tensor x) {
    return cond(
        x > 1, [&] { return log(x); }, [&] { return x - 1; });
  });
  Tensor above = softlog(constant(1.f)), below = softlog(constant(-2.f));  // 0, -3
  // [end]
  std::cout << above << ' ' << below << '\n';
}

void state() {
  // [state]
  struct Walk {
    Tensor position, velocity;
  };
  auto walk = function([](Tensor steps) {
    auto [count, end] = while_loop([&](Tensor i, Walk) { return i < steps; },
                                   [](Tensor i, Walk now) {
                                     return std::pair(i + 1, Walk{now.position + now.velocity, now.velocity * 0.5f});
                                   },
                                   std::pair(constant(0), Walk{constant(0.f), constant(1.f)}));
    return end;
  });
  Walk end = walk(constant(3));  // position 1.75, velocity 0.125
  // [end]
  std::cout << end.position << ' ' << end.velocity << '\n';
}

}  // namespace

int main() {
  first();
  retracing();
  signature();
  training();
  derivatives();
  loop();
  branch();
  state();
}
