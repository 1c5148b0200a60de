// Running operations on many members at once. A batched tensor is symbolic: it has the shape of one member, and behind
// it stands a real tensor with one more dimension in front. While a batch is active, an operation on batched tensors
// runs once, on the real ones, by its record's batching rule; what the rule executes is seen by tapes as usual.
#pragma once

#include "op/observer.h"

namespace capstan {

/// The shape of one member.
Shape without_first(Shape shape);

class Batch final : public Recorder {
 public:
  explicit Batch(std::int64_t size);

  /// The batched tensor behind which `members` [size, ...] stands.
  Tensor wrap(const Tensor& members) const;
  /// The members [size, ...] of a tensor; one that is not batched is repeated.
  Tensor members_of(const Tensor& tensor) const;
  /// The same while the batch is active, for those who leave it.
  Tensor members_outside(const Tensor& tensor) const;
  bool has(const Tensor& tensor) const;
  bool has_made(const Tensor& tensor) const override { return has(tensor); }
  Recorder* outer() const override { return outer_; }

  bool record(const OpDef& op, const void* attributes, std::span<const InputRef> inputs,
              std::span<const TensorSpec> specs, std::span<Tensor> outputs) override;

  /// Operations of this thread meet batched tensors while this lives.
  class Active {
   public:
    explicit Active(Batch& batch);
    ~Active();
    Active(const Active&) = delete;
    Active& operator=(const Active&) = delete;

   private:
    Batch& batch_;
    Recorder* const outer_;
  };

 private:
  std::vector<Tensor> run(const OpDef& op, const void* attributes, std::span<const InputRef> inputs,
                          std::span<const TensorSpec> specs, std::span<const bool> is_batched) const;
  std::vector<Tensor> run_by_loop(const OpDef& op, const void* attributes, std::span<const InputRef> inputs,
                                  std::span<const bool> is_batched, std::size_t output_count) const;

  const std::int64_t size_;
  const std::uint64_t number_;  // no batch before or after has it
  Recorder* outer_ = nullptr;   // of the thread on which the batch is active
};

}  // namespace capstan
