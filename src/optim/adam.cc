#include <cmath>

#include "capstan/base/error.h"
#include "capstan/op/op.h"
#include "capstan/ops/cast.h"
#include "capstan/ops/math.h"
#include "capstan/optim/optimizer.h"
#include "ops/training.h"
#include "optim/optimizer_body.h"

namespace capstan::optim {
namespace {

class AdamBody final : public OptimizerBody {
 public:
  explicit AdamBody(const AdamOptions& options) : OptimizerBody("Adam", options.learning_rate), options_(options) {
    for (double beta : {options.beta_1, options.beta_2})
      if (!(beta >= 0 && beta < 1))
        throw InvalidArgument("Adam: beta_1 and beta_2 must be in [0, 1), got " + std::to_string(beta));
  }

 private:
  std::vector<std::string> slot_names() const override { return {"m", "v"}; }

  void prepare() override {
    const Tensor done = iterations().value();
    if (done.is_symbolic()) {
      const Tensor step = cast(done, DType::float64) + 1;
      beta_1_power_ = pow(options_.beta_1, step);
      beta_2_power_ = pow(options_.beta_2, step);
    } else {
      const auto step = static_cast<double>(done.item<std::int64_t>()) + 1;
      beta_1_power_ = constant(std::pow(options_.beta_1, step));
      beta_2_power_ = constant(std::pow(options_.beta_2, step));
    }
  }

  void update_dense(const Variable& variable, const Tensor& gradient) override {
    capstan::apply_all(apply_adam_op,
                       {variable.handle(), slot_of(variable, "m").handle(), slot_of(variable, "v").handle(),
                        cast(beta_1_power_, variable.dtype()), cast(beta_2_power_, variable.dtype()),
                        learning_rate_in_type(variable), in_type(variable, options_.beta_1),
                        in_type(variable, options_.beta_2), in_type(variable, options_.epsilon), gradient});
  }

  const AdamOptions options_;
  Tensor beta_1_power_, beta_2_power_;  // float64 scalars
};

}  // namespace

Adam::Adam(const AdamOptions& options) : Optimizer(std::make_shared<AdamBody>(options)) {}

}  // namespace capstan::optim
