#include "autodiff/batch.h"

#include <atomic>
#include <memory>
#include <utility>

#include "capstan/base/error.h"
#include "capstan/op/op.h"
#include "capstan/ops/array.h"
#include "tensor/storage.h"
#include "tensor/symbolic.h"

namespace capstan {
namespace {

/// What a batched tensor owns in place of elements.
class Members final : public SymbolicOrigin {
 public:
  Members(const Batch* of, std::uint64_t number, Tensor members)
      : SymbolicOrigin(of), batch(number), tensor(std::move(members)) {}
  std::string description() const override { return "a member of a batch that is differentiated in one pass"; }

  const std::uint64_t batch;  // its number: a tensor that outlives its batch belongs to none
  const Tensor tensor;
};

const Members* members_behind(const Tensor& tensor, std::uint64_t batch) {
  const auto* members = dynamic_cast<const Members*>(origin_of(tensor));
  return members && members->batch == batch ? members : nullptr;
}

Shape with_first(std::int64_t size, Shape shape) {
  shape.insert(0, size);
  return shape;
}

/// Takes the thread's recorder away, so that operations run for what they are.
class OutsideOf {
 public:
  explicit OutsideOf(Recorder* outer) : own_(std::exchange(thread_state().recorder, outer)) {}
  ~OutsideOf() { thread_state().recorder = own_; }
  OutsideOf(const OutsideOf&) = delete;
  OutsideOf& operator=(const OutsideOf&) = delete;

 private:
  Recorder* const own_;
};

/// Batching rules are written for batched numbers; batched indices and conditions go one by one, except where every
/// element stands for itself.
bool suits_rule(const OpDef& op, std::span<const InputRef> inputs, std::span<const bool> is_batched) {
  if (op.batching == by_loop || op.facts.stateful) return false;
  if (op.facts.elementwise) return true;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (is_batched[i] && !is_trainable(inputs[i].tensor->dtype())) return false;
  return true;
}

}  // namespace

Shape without_first(Shape shape) {
  shape.erase(0);
  return shape;
}

Batch::Batch(std::int64_t size)
    : size_(size), number_([] {
        static std::atomic<std::uint64_t> last = 0;
        return ++last;
      }()) {}

Tensor Batch::wrap(const Tensor& members) const {
  return new_symbolic_tensor(members.dtype(), without_first(members.shape()), new Members(this, number_, members));
}

bool Batch::has(const Tensor& tensor) const { return members_behind(tensor, number_); }

Tensor Batch::members_of(const Tensor& tensor) const {
  if (const Members* members = members_behind(tensor, number_)) return members->tensor;
  return broadcast_to(tensor, with_first(size_, tensor.shape()));
}

Tensor Batch::members_outside(const Tensor& tensor) const {
  const OutsideOf outside(outer_);
  return members_of(tensor);
}

Batch::Active::Active(Batch& batch) : batch_(batch), outer_(std::exchange(batch.outer_, thread_state().recorder)) {
  thread_state().recorder = &batch;
}
Batch::Active::~Active() { thread_state().recorder = std::exchange(batch_.outer_, outer_); }

bool Batch::record(const OpDef& op, const void* attributes, std::span<const InputRef> inputs,
                   std::span<const TensorSpec> specs, std::span<Tensor> outputs) {
  const OutsideOf outside(outer_);
  const auto is_batched = std::make_unique<bool[]>(inputs.size());
  bool any = false;
  for (std::size_t i = 0; i < inputs.size(); ++i) any |= is_batched[i] = has(*inputs[i].tensor);
  if (!any) {
    auto results = apply_all(op, inputs, attributes);
    std::move(results.begin(), results.end(), outputs.begin());
    return false;
  }
  const auto results = run(op, attributes, inputs, specs, std::span(is_batched.get(), inputs.size()));
  for (std::size_t i = 0; i < outputs.size(); ++i) outputs[i] = wrap(results[i]);
  return false;
}

std::vector<Tensor> Batch::run(const OpDef& op, const void* attributes, std::span<const InputRef> inputs,
                               std::span<const TensorSpec> specs, std::span<const bool> is_batched) const {
  std::vector<Tensor> results;
  if (size_ == 0) {  // nothing to run: the shapes are known without
    for (const TensorSpec& spec : specs) results.push_back(zeros(with_first(0, spec.shape), spec.dtype));
    return results;
  }
  std::vector<InputRef> real;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    real.push_back(is_batched[i] ? members_behind(*inputs[i].tensor, number_)->tensor : *inputs[i].tensor);
  if (!suits_rule(op, inputs, is_batched)) return run_by_loop(op, attributes, real, is_batched, specs.size());
  results = op.batching(OpCall(op, attributes, real, {}), is_batched);
  if (results.size() != specs.size())
    throw Internal(std::string(op.name()) + ": its batching rule returned " + std::to_string(results.size()) +
                   " outputs, expected " + std::to_string(specs.size()));
  return results;
}

std::vector<Tensor> Batch::run_by_loop(const OpDef& op, const void* attributes, std::span<const InputRef> inputs,
                                       std::span<const bool> is_batched, std::size_t output_count) const {
  std::vector<std::vector<Tensor>> members(inputs.size()), results(output_count);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (is_batched[i]) members[i] = unstack(*inputs[i].tensor);
  for (std::int64_t m = 0; m < size_; ++m) {
    std::vector<InputRef> of_member;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      of_member.push_back(is_batched[i] ? members[i][static_cast<std::size_t>(m)] : *inputs[i].tensor);
    auto made = apply_all(op, of_member, attributes);
    for (std::size_t k = 0; k < output_count; ++k) results[k].push_back(std::move(made[k]));
  }
  std::vector<Tensor> stacked;
  for (const auto& each : results) stacked.push_back(stack(each));
  return stacked;
}

}  // namespace capstan
