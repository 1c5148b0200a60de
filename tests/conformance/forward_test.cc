// Forward mode against reverse mode, for every differentiable operation: for random tangents t and output gradients u,
// <u, J t> must equal <J^T u, t>; and several directions in one pass must give what each gives alone. Prints the
// operations whose tangents are missing although they have a gradient.
#include <gtest/gtest.h>

#include <complex>
#include <filesystem>
#include <iostream>
#include <map>
#include <random>
#include <set>

#include "capstan/autodiff/forward_accumulator.h"
#include "capstan/base/error.h"
#include "capstan/op/op.h"
#include "capstan/ops/array.h"
#include "capstan/ops/math.h"
#include "compare.h"
#include "golden_rows.h"
#include "tensor/storage.h"

namespace capstan::conformance {
namespace {

bool is_wide(DType dtype) {
  return dtype == DType::float32 || dtype == DType::float64 || dtype == DType::complex64 || dtype == DType::complex128;
}

Tensor some_tangent(const Tensor& like, std::mt19937& random) {
  Tensor tangent = new_tensor(like.dtype(), like.shape());
  std::uniform_real_distribution<double> any(-1, 1);
  const auto fill = [&]<class T>(T* to) {
    for (std::int64_t i = 0; i < tangent.size(); ++i) {
      if constexpr (std::is_floating_point_v<T>)
        to[i] = static_cast<T>(any(random));
      else
        to[i] = T(static_cast<typename T::value_type>(any(random)), static_cast<typename T::value_type>(any(random)));
    }
  };
  switch (like.dtype()) {
    case DType::float32:
      fill(mutable_values<float>(tangent));
      break;
    case DType::float64:
      fill(mutable_values<double>(tangent));
      break;
    case DType::complex64:
      fill(mutable_values<std::complex<float>>(tangent));
      break;
    default:
      fill(mutable_values<std::complex<double>>(tangent));
      break;
  }
  return tangent;
}

/// The real part of the sum of conj(a) * b, and the sum of the magnitudes, against which rounding is judged.
struct Pairing {
  double sum = 0, magnitude = 0;
  void add(const Tensor& a, const Tensor& b) {
    const auto go = [&]<class T>(T) {
      for (std::int64_t i = 0; i < a.size(); ++i) {
        const std::complex<double> x(a.values<T>()[static_cast<std::size_t>(i)]);
        const std::complex<double> y(b.values<T>()[static_cast<std::size_t>(i)]);
        sum += (std::conj(x) * y).real();
        magnitude += std::abs(x) * std::abs(y);
      }
    };
    switch (a.dtype()) {
      case DType::float32:
        return go(float());
      case DType::float64:
        return go(double());
      case DType::complex64:
        return go(std::complex<float>());
      default:
        return go(std::complex<double>());
    }
  }
};

struct Differentiated {
  std::vector<Tensor> outputs;  // trainable ones
  std::vector<Gradient> tangents, gradients;
};

class Forward {
 public:
  Forward(const Op& op, const GoldenRow& row) : op_(op), row_(row), random_(7) {
    for (const Tensor& input : row.inputs) {
      inputs_.push_back(input.is_defined() ? share_elements(input, input.shape()) : input);
      if (!is_trainable(input.dtype())) continue;
      primals_.push_back(inputs_.back());
      tangents_.push_back(is_wide(input.dtype()) ? some_tangent(input, random_) : input);
    }
  }
  bool applies() const {
    for (const Tensor& primal : primals_)
      if (!is_wide(primal.dtype())) return false;
    for (const Tensor& seed : row_.gradients->seeds)
      if (!is_wide(seed.dtype())) return false;
    return !primals_.empty() && !row_.gradients->seeds.empty();
  }

  /// False if no output has a tangent although an input has a gradient.
  bool check() {
    Differentiated of = differentiate();
    Pairing forward, reverse;
    bool any_tangent = false, any_gradient = false;
    for (std::size_t k = 0; k < of.outputs.size(); ++k) {
      if (!of.tangents[k].has_value()) continue;
      any_tangent = true;
      EXPECT_EQ(of.tangents[k].tensor().shape(), of.outputs[k].shape());
      forward.add(row_.gradients->seeds[k], of.tangents[k].tensor());
    }
    for (std::size_t i = 0; i < primals_.size(); ++i) {
      if (!of.gradients[i].has_value()) continue;
      any_gradient = true;
      reverse.add(of.gradients[i].tensor(), tangents_[i]);
    }
    if (any_gradient && !any_tangent) return reverse.magnitude == 0;
    if (std::isfinite(forward.sum) && std::isfinite(reverse.sum)) {
      const double tolerance = (is_double() ? 1e-9 : 1e-3) * (1e-3 + forward.magnitude + reverse.magnitude);
      EXPECT_NEAR(forward.sum, reverse.sum, tolerance) << "forward against reverse";
    }
    check_directions(of);
    return true;
  }

 private:
  Differentiated differentiate() {
    Differentiated of;
    ForwardAccumulator accumulator(primals_, tangents_);
    GradientTape tape;
    tape.watch(primals_);
    of.outputs = run();
    of.tangents = accumulator.jvp(of.outputs);
    of.gradients = tape.gradient(of.outputs, primals_, {.output_gradients = row_.gradients->seeds});
    return of;
  }
  std::vector<Tensor> run() const {
    std::vector<Tensor> outputs;
    for (Tensor& output : op_.call_all(inputs_, row_.attributes))
      if (is_trainable(output.dtype())) outputs.push_back(std::move(output));
    return outputs;
  }
  bool is_double() const {
    for (const auto& tensors : {primals_, row_.gradients->seeds})
      for (const Tensor& tensor : tensors)
        if (tensor.dtype() != DType::float64 && tensor.dtype() != DType::complex128) return false;
    return true;
  }
  /// Twice the direction, and the direction itself, in one pass.
  void check_directions(const Differentiated& alone) {
    std::vector<Tensor> pairs;
    for (const Tensor& tangent : tangents_) pairs.push_back(stack({tangent + tangent, tangent}));
    ForwardAccumulator accumulator(primals_, pairs, {.directions = 2});
    const auto outputs = run();
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      const Gradient both = accumulator.jvp(outputs[k]);
      ASSERT_EQ(both.has_value(), alone.tangents[k].has_value()) << "several directions, output " << k;
      if (!both.has_value()) continue;
      const Tensor one = alone.tangents[k].tensor();
      const double tolerance = 8 * tolerance_of(one.dtype());
      EXPECT_TRUE(nearly_equal(stack({one + one, one}), both.tensor(), tolerance, tolerance))
          << "several directions, output " << k;
    }
  }

  const Op& op_;
  const GoldenRow& row_;
  std::mt19937 random_;
  std::vector<Tensor> inputs_, primals_, tangents_;
};

const std::map<std::string, std::vector<GoldenRow>>& rows_with_gradients() {
  static const auto rows = [] {
    std::map<std::string, std::vector<GoldenRow>> by_op;
    for (const auto& file : std::filesystem::directory_iterator(CAPSTAN_GOLDEN_DIR "/ops"))
      if (file.path().extension() == ".gold")
        for (GoldenRow& row : read_golden_rows(file.path()))
          if (row.error.empty() && row.gradients && row.gradients->is_registered)
            by_op[row.op].push_back(std::move(row));
    return by_op;
  }();
  return rows;
}

/// Whose gradient is TensorFlow's but not the transpose of a derivative.
const std::map<std::string, std::string> kExceptions{
    {"MulNoNan", "TensorFlow's gradient leaves out the conjugate of complex arguments"}};

bool is_excepted(const GoldenRow& row) { return kExceptions.contains(row.op) && is_complex(row.inputs[0].dtype()); }

class ForwardMode : public ::testing::TestWithParam<std::string> {};

TEST_P(ForwardMode, AgreesWithReverse) {
  const Op op = find_op(GetParam());
  std::set<std::string> without;
  for (const GoldenRow& row : rows_with_gradients().at(GetParam())) {
    SCOPED_TRACE(row.op + ", row '" + row.name + "'");
    if (is_excepted(row)) {
      std::cout << "exception: " << row.name << ": " << kExceptions.at(row.op) << '\n';
      continue;
    }
    try {
      Forward forward(op, row);
      if (forward.applies() && !forward.check()) without.insert(row.name);
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
    if (HasFailure()) break;
  }
  for (const std::string& name : without) std::cout << "no tangent: " << GetParam() << ", row '" << name << "'\n";
}

std::vector<std::string> op_names() {
  std::vector<std::string> names;
  for (const auto& [name, rows] : rows_with_gradients()) names.push_back(name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Ops, ForwardMode, ::testing::ValuesIn(op_names()), [](const auto& of) { return of.param; });

}  // namespace
}  // namespace capstan::conformance
