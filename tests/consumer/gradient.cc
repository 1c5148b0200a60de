#include <capstan/capstan.h>

#include <iostream>
using namespace capstan;

int main() {
  Tensor x = constant({3.f, 4.f});
  GradientTape tape;
  tape.watch(x);
  Tensor y = reduce_sum(x * x);
  std::cout << tape.gradient(y, x) << '\n';
}
