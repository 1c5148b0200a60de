// Program 10: an operation of one's own, recorded like any other.
#include <capstan/capstan.h>

#include <iostream>

using namespace capstan;

const Op cube = define_op({
    .signature = "Cube(x: T) -> (y: T); T: {float, double}",
    .summary = "x cubed, elementwise.",
    .shape = shape::unchanged,
    .gradient = [](const OpCall& call, Tensor dy) { return dy * 3 * square(call.input(0)); },
    .cpu = elementwise<float, double>([](auto x) { return x * x * x; }),
});

int main() {
  Tensor x = constant({1.f, 2.f, 3.f});
  GradientTape tape;
  tape.watch(x);
  Tensor y = cube(x);
  std::cout << y << '\n' << tape.gradient(y, x) << '\n';
}
