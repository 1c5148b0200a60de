#include "capstan/base/error.h"
#include "capstan/op/op.h"
#include "capstan/ops/math.h"
#include "capstan/optim/optimizer.h"
#include "ops/training.h"
#include "optim/optimizer_body.h"

namespace capstan::optim {
namespace {

class SGDBody final : public OptimizerBody {
 public:
  explicit SGDBody(const SGDOptions& options)
      : OptimizerBody("SGD", options.learning_rate), momentum_(options.momentum), nesterov_(options.nesterov) {
    if (!(options.momentum >= 0 && options.momentum <= 1))
      throw InvalidArgument("SGD: momentum must be in [0, 1], got " + std::to_string(options.momentum));
  }

 private:
  std::vector<std::string> slot_names() const override {
    return momentum_ > 0 ? std::vector<std::string>{"momentum"} : std::vector<std::string>{};
  }

  void update_dense(const Variable& variable, const Tensor& gradient) override {
    const Tensor rate = learning_rate_in_type(variable);
    if (momentum_ == 0) {
      capstan::apply_all(apply_gradient_descent_op, {variable.handle(), rate, gradient});
      return;
    }
    const NesterovAttributes attributes{.use_locking = false, .use_nesterov = nesterov_};
    capstan::apply_all(
        apply_keras_momentum_op,
        {variable.handle(), slot_of(variable, "momentum").handle(), rate, gradient, in_type(variable, momentum_)},
        &attributes);
  }

  void update_sparse(const Variable& variable, const IndexedSlices& gradient) override {
    const Tensor rate = learning_rate_in_type(variable);
    if (momentum_ == 0) {
      variable.scatter_sub({gradient.values * rate, gradient.indices, gradient.dense_shape});
      return;
    }
    const NesterovAttributes attributes{.use_locking = false, .use_nesterov = nesterov_};
    capstan::apply_all(sparse_apply_keras_momentum_op,
                       {variable.handle(), slot_of(variable, "momentum").handle(), rate, gradient.values,
                        gradient.indices, in_type(variable, momentum_)},
                       &attributes);
  }

  const double momentum_;
  const bool nesterov_;
};

}  // namespace

SGD::SGD(const SGDOptions& options) : Optimizer(std::make_shared<SGDBody>(options)) {}

}  // namespace capstan::optim
