// One recorded operation.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "capstan/autodiff/record.h"
#include "capstan/op/op.h"

namespace capstan {

/// Where an input of an entry came from: an output of an earlier entry.
struct Edge {
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  std::uint32_t entry = kNone;
  std::uint32_t output : 31 = 0;
  std::uint32_t is_cut : 1 = 0;  // the input's type carries no gradient: followed only to explain

  bool exists() const { return entry != kNone; }
};

/// A copy of an op's attributes: small plain structs inside, others on the heap.
class SavedAttributes {
 public:
  void save(const OpDef& op, const void* attributes) {
    if (op.attributes) copy_ = op.attributes().copy(attributes);
  }
  const void* get() const { return copy_.get(); }
  void clear() {
    if (copy_) copy_.reset();
  }

 private:
  std::shared_ptr<void> copy_;
};

/// What only some entries need.
struct EntryDetails {
  std::vector<Edge> more_edges;  // of inputs beyond the first few
  std::vector<Tensor> more_saved;
  std::vector<Shape> input_shapes;  // if inputs were dropped whose shape is not the output's
  std::vector<DType> input_dtypes;
  std::vector<TensorSpec> outputs;  // of operations with several outputs, to make zeros
  // Symbolic tensors whose shapes are known only when the function runs, in place of the shapes above.
  std::vector<Tensor> input_sources, output_sources;
  std::string name;                // of recorded user functions
  std::vector<TensorSpec> values;  // of their inputs, behind handles: what their gradients must fit
  BackwardFunction backward;
  bool takes_absent_gradients = false;
};

struct Entry {
  static constexpr std::size_t kFew = 3;

  enum class Kind : std::uint8_t { free, leaf, op, function };

  const OpDef* op = nullptr;
  std::uint32_t uses = 0;  // live tensor objects that are its outputs, and inputs of other entries that are
  Kind kind = Kind::free;
  bool is_cut = false;             // not differentiable: only there to explain
  bool outputs_are_self = false;   // saved outputs are the tensors themselves, not copies without identity
  bool shapes_like_output = true;  // dropped inputs have the output's shape
  std::uint32_t input_count = 0;
  std::uint32_t output_count = 0;
  DType dtypes[kFew] = {};
  Edge edges[kFew];
  SmallVector<Tensor, kFew> saved;  // inputs first, then outputs, those that the gradient reads
  SavedAttributes attributes;
  std::unique_ptr<EntryDetails> details;

  // Of the sweep in progress.
  std::uint32_t mark = 0;
  std::uint32_t pending = 0;
  std::uint32_t slot = 0;
  bool leads_to_source = false;

  Edge& edge(std::size_t i) { return i < kFew ? edges[i] : details->more_edges[i - kFew]; }
  const Edge& edge(std::size_t i) const { return i < kFew ? edges[i] : details->more_edges[i - kFew]; }
  DType input_dtype(std::size_t i) const { return i < kFew ? dtypes[i] : details->input_dtypes[i]; }
  EntryDetails& more() {
    if (!details) details = std::make_unique<EntryDetails>();
    return *details;
  }
  std::string_view name() const {
    return kind == Kind::op ? op->name() : details ? std::string_view(details->name) : std::string_view();
  }
};

}  // namespace capstan
