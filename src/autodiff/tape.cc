#include "autodiff/tape.h"

#include <algorithm>
#include <utility>

#include "autodiff/accumulator.h"
#include "autodiff/isolation.h"
#include "autodiff/op_gradient.h"
#include "autodiff/value_spec.h"
#include "autodiff/variable_reads.h"
#include "capstan/base/error.h"
#include "capstan/base/warning.h"
#include "tensor/handle.h"
#include "tensor/storage.h"

namespace capstan {
namespace {

// Null while the thread has no tape. Plain data: a `thread_local` with a destructor would keep the library loaded for
// as long as the thread lives.
constinit thread_local std::vector<Tape*>* tapes = nullptr;

const std::vector<Tape*>& tapes_of_thread() {
  static const std::vector<Tape*> none;
  return tapes ? *tapes : none;
}

void add_to_thread(Tape* tape) {
  if (!tapes) tapes = new std::vector<Tape*>;
  tapes->push_back(tape);
}

void remove_from_thread(Tape* tape) noexcept {
  Isolation::forget(tape);
  if (!tapes) return;
  std::erase(*tapes, tape);
  if (tapes->empty()) delete std::exchange(tapes, nullptr);
}

}  // namespace

Tape::Tape(bool persistent, bool watch_accessed)
    : is_persistent_(persistent), watches_accessed_(watch_accessed), thread_(std::this_thread::get_id()) {
  hear_of_deaths();
  for (Tape* tape : std::vector<Tape*>(tapes_of_thread()))
    if (tape->is_abandoned_.load(std::memory_order_acquire)) tape->close_abandoned();
  add_to_thread(this);
}

Tape::~Tape() = default;

void Tape::hear_of_deaths() { on_recorded_tensor_death = tensor_died; }

void Tape::drop_reference() noexcept {
  if (references_.drop()) delete this;
}

void Tape::close() noexcept {
  if (is_closed_) return watched_handles_.clear();
  if (std::this_thread::get_id() != thread_) {
    references_.add();
    is_abandoned_.store(true, std::memory_order_release);
    return;
  }
  stop();
  is_closing_ = true;
  if (is_sweeping_) return;
  if (is_freeing_) return references_.add();  // something that it let go of owned it: `end_freeing` does the rest
  is_closed_ = true;
  forget_all();
  remove_from_thread(this);
}

void Tape::begin_sweep() noexcept {
  references_.add();
  is_sweeping_ = true;
}

void Tape::end_sweep() noexcept {
  is_sweeping_ = false;
  if (!is_persistent_) is_used_up_ = true;
  const bool is_dropped = is_closing_;
  std::vector<Tensor> watched;
  watched.swap(watched_handles_);
  if (is_used_up_ || is_dropped) close();
  if (!is_dropped) watched_handles_ = std::move(watched);  // which may be asked for afterwards
  drop_reference();
}

void Tape::close_abandoned() noexcept {
  is_abandoned_.store(false, std::memory_order_relaxed);
  close();
  drop_reference();
}

const std::vector<Tape*>& Tape::alive() { return tapes_of_thread(); }

std::vector<Tape*>* Tape::exchange_alive(std::vector<Tape*>* list) noexcept { return std::exchange(tapes, list); }

void Tape::start() {
  ObserverList::push(*this);
  is_recording_ = true;
}

void Tape::stop() noexcept {
  if (!is_recording_) return;
  ObserverList::remove(*this);
  is_recording_ = false;
}

void Tape::check_thread(const char* what) const {
  if (std::this_thread::get_id() != thread_)
    throw FailedPrecondition(std::string(what) + ": a tape may be used only on the thread that made it");
}

void Tape::check_idle(const char* what) const {
  if (is_sweeping_)
    throw FailedPrecondition(std::string(what) +
                             ": the tape is computing gradients; a backward function may use another tape");
}

// ---- watching -------------------------------------------------------------------------------------------------------

void Tape::watch(const Tensor& tensor) {
  if (!is_trainable(tensor.dtype()))
    warn("GradientTape.watch: a tensor of type " + std::string(dtype_name(tensor.dtype())) +
         " has no gradient; watch floating or complex ones");
  if (find(tensor).exists()) return;  // watched already, or made by an operation on the tape
  const std::uint32_t index = new_entry();
  Entry& leaf = entry(index);
  leaf.kind = Entry::Kind::leaf;
  leaf.output_count = 1;
  leaf.uses = 1;  // leaves stay watched
  by_identity_[identity_of(tensor)] = {index, 0, 0};
  tensor.rep_or_null()->is_known_by_identity.store(true, std::memory_order_relaxed);
  if (tensor.dtype() == DType::resource) watched_handles_.push_back(tensor);
  hold_where_recorded(tensor);
}

void Tape::hold_where_recorded(const Tensor& tensor) {
  for (Tape* tape : alive()) tape->hold_output(tensor);
}

Edge Tape::find(const Tensor& tensor) const {
  const detail::TensorRep* rep = tensor.rep_or_null();
  if (rep->is_known_by_identity.load(std::memory_order_relaxed)) {
    const auto found = by_identity_.find(rep->identity.load(std::memory_order_relaxed));
    if (found != by_identity_.end()) return found->second;
  }
  if (rep->producer.tape == this && !is_closed_) return {rep->producer.entry, rep->producer.output, 0};
  return {};
}

void watch_accessed_variable(const Tensor& handle) {
  VariableReads::note(handle);
  if (thread_state().paused) return;
  ObserverList::for_each([&](Observer& observer) { observer.on_variable_access(handle); });
}

// ---- recording ------------------------------------------------------------------------------------------------------

std::uint32_t Tape::new_entry() {
  if (!free_.empty()) {
    const std::uint32_t index = free_.back();
    free_.pop_back();
    entry(index).is_cut = false;
    ++live_entries_;
    return index;
  }
  if (entry_end_ % kChunkSize == 0) add_chunk();
  ++live_entries_;
  return entry_end_++;
}

void Tape::add_chunk() {
  // The lists of freed entries must never ask for memory: they grow while tensors die.
  const std::size_t entries = (chunks_.size() + 1) * kChunkSize;
  if (unused_.capacity() < entries) {
    unused_.reserve(2 * entries);
    free_.reserve(2 * entries);
  }
  chunks_.push_back(std::make_unique<Entry[]>(kChunkSize));
}

template <class TensorAt>
bool Tape::find_edges(std::size_t count, TensorAt&& tensor_at, SmallVector<Edge, 4>& edges) const {
  bool any = false;
  for (std::size_t i = 0; i < count; ++i) {
    const Tensor& tensor = tensor_at(i);
    Edge edge = find(tensor);
    if (edge.exists()) {
      any = true;
      edge.is_cut = is_trainable(tensor.dtype()) ? 0 : 1;
    }
    edges.push_back(edge);
  }
  return any;
}

void Tape::set_edges(Entry& made, std::span<const Edge> edges) {
  made.input_count = static_cast<std::uint32_t>(edges.size());
  if (edges.size() > Entry::kFew) made.more().more_edges.assign(edges.begin() + Entry::kFew, edges.end());
  for (std::size_t i = 0; i < std::min(edges.size(), Entry::kFew); ++i) made.edges[i] = edges[i];
  for (const Edge& edge : edges)
    if (edge.exists()) ++entry(edge.entry).uses;
}

void Tape::on_call(const OpCall& call) {
  if (is_abandoned_.load(std::memory_order_acquire)) [[unlikely]]
    return close_abandoned();
  if (has_foreign_deaths_.load(std::memory_order_relaxed)) [[unlikely]]
    drain_foreign();
  SmallVector<Edge, 4> edges;
  if (!find_edges(
          call.input_count(), [&](std::size_t i) -> const Tensor& { return call.input(i); }, edges))
    return;
  if (call.output_count() == 0) return note_assignment(call, edges);

  const std::uint32_t index = new_entry();
  Entry& made = entry(index);
  made.kind = Entry::Kind::op;
  made.op = &call.op();
  made.output_count = static_cast<std::uint32_t>(call.output_count());
  made.is_cut = is_not_differentiable(call.op()) ||
                std::none_of(edges.begin(), edges.end(), [](const Edge& e) { return e.exists() && !e.is_cut; });
  set_edges(made, edges);
  if (made.is_cut)
    describe_inputs(made, call);
  else
    save(made, call);
  for (std::uint32_t i = 0; i < call.output_count(); ++i) connect_output(call.output(i), index, i, false);
}

void Tape::note_assignment(const OpCall& call, std::span<const Edge> edges) {
  if (!call.input_count() || call.input(0).dtype() != DType::resource) return;
  for (std::size_t i = 1; i < edges.size(); ++i) {
    if (!edges[i].exists() || edges[i].is_cut) continue;
    ++entry(edges[i].entry).uses;
    assignments_.push_back({identity_of(call.input(0)), resource_of(call.input(0))->name(), edges[i]});
  }
}

void Tape::save(Entry& made, const OpCall& call) {
  const Saves& saves = call.op().saves;
  describe_inputs(made, call);
  made.attributes.save(call.op(), call.raw_attributes());
  for (std::size_t i = 0; i < call.input_count(); ++i)
    if (saves.input(i)) made.saved.push_back(call.input(i));
  if (!saves.outputs) return;
  // An entry that held its own output would keep itself alive. With one listener it keeps the elements without the
  // identity and gives them their identity back when the gradient asks. With several, the others have to recognise the
  // tensor: then it keeps the tensor itself, until the tape is done.
  made.outputs_are_self = tapes_of_thread().size() + Accumulator::alive().size() > 1;
  for (std::size_t i = 0; i < call.output_count(); ++i)
    if (saves.output(i))
      made.saved.push_back(made.outputs_are_self ? call.output(i)
                                                 : share_elements(call.output(i), call.output(i).shape()));
}

namespace {

/// A symbolic tensor costs nothing, and only it can tell a shape that is not known yet.
void keep_for_shape(const Tensor& tensor, std::size_t i, std::size_t count, std::vector<Tensor>& sources) {
  if (tensor.size() >= 0 || !tensor.is_symbolic()) return;
  sources.resize(count);
  sources[i] = tensor;
}

}  // namespace

void Tape::describe_inputs(Entry& made, const OpCall& call) {
  const std::size_t count = call.input_count();
  const Saves& saves = call.op().saves;
  bool all_alike = count <= Entry::kFew && call.output_count() == 1;
  for (std::size_t i = 0; i < std::min(count, Entry::kFew); ++i) {
    made.dtypes[i] = call.input(i).dtype();
    if (!saves.input(i))
      all_alike = all_alike && call.input(i).size() >= 0 && call.input(i).shape() == call.output(0).shape();
  }
  made.shapes_like_output = all_alike;
  if (made.shapes_like_output) return;
  EntryDetails& more = made.more();
  for (std::size_t i = 0; i < count; ++i) {
    more.input_shapes.push_back(call.input(i).shape());
    more.input_dtypes.push_back(call.input(i).dtype());
    if (!saves.input(i)) keep_for_shape(call.input(i), i, count, more.input_sources);
  }
  for (std::size_t i = 0; i < call.output_count(); ++i) {
    more.outputs.push_back({call.output(i).dtype(), call.output(i).shape()});
    if (call.output_count() > 1) keep_for_shape(call.output(i), i, call.output_count(), more.output_sources);
  }
}

void Tape::connect_output(const Tensor& tensor, std::uint32_t index, std::uint32_t output, bool override_producer) {
  detail::TensorRep* rep = tensor.rep_or_null();
  ++entry(index).uses;
  if (!rep->producer.tape && !override_producer) {
    rep->producer = {this, index, output};
    references_.add();
    return;
  }
  const Edge edge{index, output, 0};
  const auto [at, is_new] = by_identity_.try_emplace(identity_of(tensor), edge);
  if (!is_new) {  // the tensor has a new producer
    drop_use(at->second.entry);
    at->second = edge;
  }
  rep->is_known_by_identity.store(true, std::memory_order_relaxed);
}

void Tape::record_function(const RecordedOperation& operation) {
  const auto [inputs, outputs] = std::pair(operation.inputs, operation.outputs);
  SmallVector<Edge, 4> edges;
  if (!find_edges(
          inputs.size(), [&](std::size_t i) -> const Tensor& { return inputs[i]; }, edges))
    return;
  if (std::none_of(edges.begin(), edges.end(), [](const Edge& e) { return e.exists() && !e.is_cut; })) return;
  const std::uint32_t index = new_entry();
  Entry& made = entry(index);
  made.kind = Entry::Kind::function;
  made.output_count = static_cast<std::uint32_t>(outputs.size());
  set_edges(made, edges);
  EntryDetails& more = made.more();
  more.name = operation.name;
  more.backward = operation.backward;
  more.takes_absent_gradients = operation.takes_absent_gradients;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (i < Entry::kFew) made.dtypes[i] = inputs[i].dtype();
    more.input_dtypes.push_back(inputs[i].dtype());
    more.values.push_back(value_spec(inputs[i]));
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    more.outputs.push_back({outputs[i].dtype(), outputs[i].shape()});
    keep_for_shape(outputs[i], i, outputs.size(), more.output_sources);
  }
  for (std::uint32_t i = 0; i < outputs.size(); ++i) {
    const bool has_other_producer = outputs[i].rep_or_null()->producer.tape || !is_sole_owner(outputs[i]);
    connect_output(outputs[i], index, i, has_other_producer);
  }
}

void Tape::hold_output(const Tensor& tensor) {
  const Edge edge = find(tensor);
  if (!edge.exists()) return;
  Entry& made = entry(edge.entry);
  if (made.kind != Entry::Kind::op || made.outputs_are_self || made.saved.empty()) return;
  const Saves& saves = made.op->saves;
  if (!saves.output(edge.output)) return;
  std::size_t at = 0;
  for (std::size_t i = 0; i < made.input_count; ++i) at += saves.input(i);
  for (std::size_t i = 0; i < edge.output; ++i) at += saves.output(i);
  made.saved[at] = tensor;
}

Tensor Tape::saved_output(std::uint32_t index, std::uint32_t k, const Tensor& saved) {
  if (!is_recording_) return saved;  // this tape does not ask for the identity
  if (entry(index).outputs_are_self || knows(saved)) return saved;
  Tensor again = share_elements(saved, saved.shape());
  connect_output(again, index, k, false);
  return again;
}

// ---- letting go -----------------------------------------------------------------------------------------------------

void Tape::tensor_died(detail::TensorRep* rep) {
  if (auto* tape = static_cast<Tape*>(rep->producer.tape)) {
    tape->output_died(rep->producer.entry);
    tape->drop_reference();
  }
  if (!rep->is_known_by_identity.load(std::memory_order_relaxed)) return;
  const std::uint64_t identity = rep->identity.load(std::memory_order_relaxed);
  // From the last to the first: what the tapes let go of may own a tape and end it.
  for (std::size_t i = tapes_of_thread().size(); i-- > 0;)
    if (i < tapes_of_thread().size()) tapes_of_thread()[i]->identity_died(identity);
  Accumulator::tensor_died(identity);
}

void Tape::output_died(std::uint32_t index) noexcept {
  if (std::this_thread::get_id() == thread_) {
    if (!is_closed_) drop_use(index);
    return;
  }
  std::lock_guard lock(foreign_mutex_);
  foreign_deaths_.push_back(index);
  has_foreign_deaths_.store(true, std::memory_order_relaxed);
}

void Tape::drain_foreign() noexcept {
  std::vector<std::uint32_t> deaths;
  {
    std::lock_guard lock(foreign_mutex_);
    deaths.swap(foreign_deaths_);
    has_foreign_deaths_.store(false, std::memory_order_relaxed);
  }
  for (std::uint32_t index : deaths) drop_use(index);
}

void Tape::identity_died(std::uint64_t identity) noexcept {
  const auto found = by_identity_.find(identity);
  if (found == by_identity_.end() || entry(found->second.entry).kind == Entry::Kind::leaf) return;
  const std::uint32_t index = found->second.entry;
  by_identity_.erase(found);
  drop_use(index);
}

void Tape::drop_use(std::uint32_t index) noexcept {
  if (--entry(index).uses > 0) return;
  unused_.push_back(index);
  if (!is_freeing_) free_unused();
}

void Tape::free_unused() noexcept {
  is_freeing_ = true;
  while (!unused_.empty()) {
    const std::uint32_t index = unused_.back();
    unused_.pop_back();
    clear_entry(index);
    free_.push_back(index);
  }
  end_freeing();
}

void Tape::end_freeing() noexcept {
  is_freeing_ = false;
  if (!is_closing_ || is_closed_ || is_sweeping_) return;
  close();
  drop_reference();
}

// Dropping what the entry saved may drop tensors that this tape recorded, which come back here through `drop_use` and
// wait in the work list.
void Tape::clear_entry(std::uint32_t index) noexcept {
  Entry& dead = entry(index);
  --live_entries_;
  dead.kind = Entry::Kind::free;
  for (std::size_t i = 0; i < dead.input_count; ++i)
    if (dead.edge(i).exists()) drop_use(dead.edge(i).entry);
  dead.input_count = 0;
  dead.outputs_are_self = false;
  dead.shapes_like_output = true;
  release_saved(index);
  if (dead.details) dead.details.reset();
}

void Tape::release_saved(std::uint32_t index) noexcept {
  const bool was_freeing = std::exchange(is_freeing_, true);
  Entry& used = entry(index);
  used.saved.clear();
  used.attributes.clear();
  if (used.details) used.details->backward = nullptr;
  if (was_freeing) return;
  if (unused_.empty())
    end_freeing();
  else
    free_unused();
}

void Tape::forget_all() noexcept {
  is_freeing_ = true;  // nothing is freed one by one; tensors that die now find the tape closed
  for (std::uint32_t i = 0; i < entry_end_; ++i) {
    release_saved(i);
    entry(i).details.reset();
  }
  chunks_.clear();
  free_.clear();
  unused_.clear();
  by_identity_.clear();
  assignments_.clear();
  watched_handles_.clear();
  entry_end_ = 0;
  live_entries_ = 0;
  is_freeing_ = false;
}

}  // namespace capstan
