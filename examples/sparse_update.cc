// Program 7: rows of a large table are looked up, and only they are updated.
#include <capstan/capstan.h>

#include <iostream>

using namespace capstan;

int main() {
  Variable table(stateless_normal({1'000'000, 64}, {1, 2}), {.name = "embedding"});
  optim::SGD sgd{{.learning_rate = 0.1}};
  Tensor ids = constant({3, 141'592, 3});
  GradientTape tape;
  Tensor rows = gather(table, ids);
  Tensor loss = reduce_sum(square(rows));
  Gradient gradient = tape.gradient(loss, table);
  std::cout << "rows in the gradient: " << gradient.slices().indices.size() << '\n';
  const float before = table.value().values<float>()[3 * 64];
  sgd.apply(gradient, table);
  std::cout << "row 3 shrank to " << table.value().values<float>()[3 * 64] / before << '\n';
}
