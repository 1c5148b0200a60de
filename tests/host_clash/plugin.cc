// The part of the host program that uses the library. Gives back null, or what went wrong.
#include <capstan/capstan.h>

#include <cmath>
#include <fstream>
#include <string>

using namespace capstan;

namespace {

bool is_near(const Tensor& x, float expected) {
  for (const float value : x.values<float>())
    if (!(std::fabs(value - expected) <= 1e-4f * std::fabs(expected))) return false;
  return x.size() > 0;
}

// Long enough to need several threads.
const char* compute() {
  const Tensor x = fill(Shape{1'000'000}, constant(2.f));
  GradientTape tape;
  tape.watch(x);
  const Tensor y = reduce_sum(exp(x) * x);
  if (!is_near(y, 2e6f * std::exp(2.f))) return "exp, multiply or reduce_sum gives a wrong number";
  if (!is_near(tape.gradient(y, x), 3 * std::exp(2.f))) return "the gradient is wrong";
  return nullptr;
}

#if 1
// The sizes at which a library for matrix products is worth its while.
const char* multiply() {
  const Tensor a = fill(Shape{300, 200}, constant(0.5f)), b = fill(Shape{200, 400}, constant(-0.25f));
  if (!is_near(matmul(a, b), -25.f)) return "matmul gives wrong numbers";
  if (!is_near(relu(matmul(a, -b)), 25.f)) return "relu gives wrong numbers";
  return nullptr;
}
#else
const char* multiply() { return nullptr; }
#endif

// An IDX file of a thousand threes, packed by gzip.
constexpr char kPackedThrees[] =
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x63\x60\xe0\x60\x64\x60\x60\x7e\xc1\x3c\x0a\x46\xc1\x28\x18\xf6\x00\x00"
    "\xf7\xe5\x1f\xde\xf0\x03\x00\x00";

const char* save_and_load(const std::string& directory) {
  const Tensor x = fill(Shape{1000}, constant(3.f));
  checkpoint::write_bundle(directory + "/ckpt", {{"x", x}});
  if (!is_near(checkpoint::read_tensor(directory + "/ckpt", "x"), 3.f)) return "a bundle gives other numbers back";
  save_npz(directory + "/x.npz", {{"x", x}});
  if (!is_near(load_npz(directory + "/x.npz").at("x"), 3.f)) return "an .npz file gives other numbers back";
  std::ofstream(directory + "/x.idx.gz", std::ios::binary) << std::string(kPackedThrees, sizeof kPackedThrees - 1);
  const Tensor threes = data::load_idx(directory + "/x.idx.gz");
  if (threes.size() != 1000 || threes.values<std::uint8_t>()[999] != 3) return "gzip data give wrong numbers";
  return nullptr;
}

}  // namespace

extern "C" const char* use_capstan(const char* directory) try {
  set_thread_count(3);
  for (const char* error : {compute(), multiply(), save_and_load(directory)})
    if (error) return error;
  return nullptr;
} catch (const std::exception& error) {
  static std::string message;
  message = error.what();
  return message.c_str();
}
