// Convolutions by oneDNN's primitives: images stay NHWC, filters are reordered into the layout that the primitive asks
// for. Primitives are kept by their sizes, because making one generates code (0.2 to 1.3 ms).
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include "cpu/convolution.h"
#include "cpu/onednn.h"
#include "cpu/parallel.h"
#include "cpu/scratch.h"

namespace capstan::cpu {
namespace {

constexpr std::size_t kKeptPlans = 256;

/// Everything that decides which primitive runs.
using PlanKey = std::array<std::int64_t, 20>;
PlanKey key_of(ConvolutionKind kind, const ConvolutionSizes& s, std::int64_t images) {
  return {static_cast<std::int64_t>(kind),
          images,
          s.in_channels,
          s.out_channels,
          s.groups,
          s.height.in,
          s.height.size,
          s.height.out,
          s.height.stride,
          s.height.dilation,
          s.height.before,
          s.height.after,
          s.width.in,
          s.width.size,
          s.width.out,
          s.width.stride,
          s.width.dilation,
          s.width.before,
          s.width.after,
          0};
}

/// A primitive and its reordering of the filter, both ready to run on arrays.
class Plan {
 public:
  Plan(const OneDnn& dnn, ConvolutionKind kind, const ConvolutionSizes& s, std::int64_t images)
      : dnn_(dnn), kind_(kind) {
    // A primitive divides its work among as many threads as there are when it is made, whoever runs it later.
    const OneDnnThread alone(dnn);
    is_usable_ = describe(s, images) && create(s);
  }
  ~Plan() {
    if (convolution_) dnn_.primitive_destroy(convolution_);
    if (reorder_) dnn_.primitive_destroy(reorder_);
  }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  bool is_usable() const { return is_usable_; }
  /// Bytes of the filter in the primitive's layout; 0 if that is the user's.
  std::size_t filter_bytes() const { return reorder_ ? dnn_.memory_desc_get_size(&chosen_filter_) : 0; }

  /// From the user's layout to the primitive's, or back for the gradient of the filter.
  bool reorder(float* user, float* chosen) const {
    const Memory a(dnn_, user_filter_, user), b(dnn_, chosen_filter_, chosen);
    const bool back = kind_ == ConvolutionKind::backprop_filter;
    const dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, back ? b.get() : a.get()}, {DNNL_ARG_TO, back ? a.get() : b.get()}};
    return dnn_.primitive_execute(reorder_, dnn_.stream, 2, args) == dnnl_success;
  }

  bool run(float* input, float* filter, float* output) const {
    const Scratch<char> scratch(scratch_bytes_);
    const Memory in(dnn_, input_, input), weights(dnn_, reorder_ ? chosen_filter_ : user_filter_, filter),
        out(dnn_, output_, output), work(dnn_, scratch_, scratch.data());
    const bool to_input = kind_ == ConvolutionKind::backprop_input,
               to_filter = kind_ == ConvolutionKind::backprop_filter;
    const dnnl_exec_arg_t args[] = {{to_input ? DNNL_ARG_DIFF_SRC : DNNL_ARG_SRC, in.get()},
                                    {to_filter ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS, weights.get()},
                                    {to_input || to_filter ? DNNL_ARG_DIFF_DST : DNNL_ARG_DST, out.get()},
                                    {DNNL_ARG_SCRATCHPAD, work.get()}};
    return dnn_.primitive_execute(convolution_, dnn_.stream, 4, args) == dnnl_success;
  }

 private:
  /// A memory object over an array; the library reads and writes it in place.
  class Memory {
   public:
    Memory(const OneDnn& dnn, const dnnl_memory_desc_t& desc, void* data) : dnn_(dnn) {
      dnn.memory_create(&memory_, &desc, dnn.engine, data);
    }
    ~Memory() {
      if (memory_) dnn_.memory_destroy(memory_);
    }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    dnnl_memory_t get() const { return memory_; }

   private:
    const OneDnn& dnn_;
    dnnl_memory_t memory_ = nullptr;
  };

  bool describe(const ConvolutionSizes& s, std::int64_t images) {
    const dnnl_dims_t in{images, s.in_channels, s.height.in, s.width.in};
    const dnnl_dims_t out{images, s.out_channels, s.height.out, s.width.out};
    const dnnl_dims_t one_group{s.out_channels, s.in_channels, s.height.size, s.width.size};
    const dnnl_dims_t grouped{s.groups, s.out_channels / s.groups, s.in_channels / s.groups, s.height.size,
                              s.width.size};
    const bool has_groups = s.groups > 1;
    const int rank = has_groups ? 5 : 4;
    const auto& filter = has_groups ? grouped : one_group;
    return dnn_.memory_desc_init_by_tag(&input_, 4, in, dnnl_f32, dnnl_nhwc) == dnnl_success &&
           dnn_.memory_desc_init_by_tag(&output_, 4, out, dnnl_f32, dnnl_nhwc) == dnnl_success &&
           dnn_.memory_desc_init_by_tag(&user_filter_, rank, filter, dnnl_f32, has_groups ? dnnl_hwigo : dnnl_hwio) ==
               dnnl_success &&
           dnn_.memory_desc_init_by_tag(&chosen_filter_, rank, filter, dnnl_f32, dnnl_format_tag_any) == dnnl_success;
  }

  dnnl_status_t operation(const ConvolutionSizes& s, dnnl_convolution_desc_t& desc) const {
    const dnnl_dims_t strides{s.height.stride, s.width.stride};
    const dnnl_dims_t gaps{s.height.dilation - 1, s.width.dilation - 1};
    const dnnl_dims_t before{s.height.before, s.width.before}, after{s.height.after, s.width.after};
    switch (kind_) {
      case ConvolutionKind::forward:
        return dnn_.dilated_convolution_forward_desc_init(&desc, dnnl_forward_training, dnnl_convolution_direct,
                                                          &input_, &chosen_filter_, nullptr, &output_, strides, gaps,
                                                          before, after);
      case ConvolutionKind::backprop_input:
        return dnn_.dilated_convolution_backward_data_desc_init(
            &desc, dnnl_convolution_direct, &input_, &chosen_filter_, &output_, strides, gaps, before, after);
      case ConvolutionKind::backprop_filter:
        break;
    }
    return dnn_.dilated_convolution_backward_weights_desc_init(&desc, dnnl_convolution_direct, &input_, &chosen_filter_,
                                                               nullptr, &output_, strides, gaps, before, after);
  }

  dnnl_primitive_desc_t describe_primitive(const dnnl_convolution_desc_t& desc, dnnl_primitive_desc_t hint) const {
    dnnl_primitive_attr_t attributes = nullptr;
    dnnl_primitive_desc_t made = nullptr;
    if (dnn_.primitive_attr_create(&attributes) != dnnl_success) return nullptr;
    // Working memory comes from our pool, so that one primitive can run on several threads at once.
    dnn_.primitive_attr_set_scratchpad_mode(attributes, dnnl_scratchpad_mode_user);
    if (dnn_.primitive_desc_create(&made, &desc, attributes, dnn_.engine, hint) != dnnl_success) made = nullptr;
    dnn_.primitive_attr_destroy(attributes);
    return made;
  }

  /// Backward primitives want to know what the forward one would be.
  dnnl_primitive_desc_t describe_forward(const ConvolutionSizes& s) {
    const ConvolutionKind kind = std::exchange(kind_, ConvolutionKind::forward);
    dnnl_convolution_desc_t desc;
    const bool made = operation(s, desc) == dnnl_success;
    kind_ = kind;
    return made ? describe_primitive(desc, nullptr) : nullptr;
  }

  bool create(const ConvolutionSizes& s) {
    dnnl_convolution_desc_t desc;
    if (operation(s, desc) != dnnl_success) return false;
    const bool is_forward = kind_ == ConvolutionKind::forward;
    dnnl_primitive_desc_t hint = is_forward ? nullptr : describe_forward(s);
    dnnl_primitive_desc_t described = is_forward || hint ? describe_primitive(desc, hint) : nullptr;
    const bool made = described && is_fast(described) && create_from(described);
    if (described) dnn_.primitive_desc_destroy(described);
    if (hint) dnn_.primitive_desc_destroy(hint);
    return made;
  }

  /// Its plain loops for what has no generated code are far slower than our matrix products.
  bool is_fast(dnnl_primitive_desc_t described) const {
    const char* name = nullptr;
    dnn_.primitive_desc_query(described, dnnl_query_impl_info_str, 0, &name);
    return name && std::string_view(name).find("ref") == std::string_view::npos &&
           std::string_view(name).find("gemm") == std::string_view::npos;
  }

  bool create_from(dnnl_primitive_desc_t described) {
    const bool to_filter = kind_ == ConvolutionKind::backprop_filter;
    chosen_filter_ =
        *dnn_.primitive_desc_query_md(described, to_filter ? dnnl_query_diff_weights_md : dnnl_query_weights_md, 0);
    scratch_ = *dnn_.primitive_desc_query_md(described, dnnl_query_scratchpad_md, 0);
    scratch_bytes_ = dnn_.memory_desc_get_size(&scratch_);
    if (dnn_.primitive_create(&convolution_, described) != dnnl_success) return false;
    return dnn_.memory_desc_equal(&chosen_filter_, &user_filter_) || create_reorder(to_filter);
  }
  bool create_reorder(bool back) {
    dnnl_primitive_desc_t described = nullptr;
    const auto &from = back ? chosen_filter_ : user_filter_, &to = back ? user_filter_ : chosen_filter_;
    if (dnn_.reorder_primitive_desc_create(&described, &from, dnn_.engine, &to, dnn_.engine, nullptr) != dnnl_success)
      return false;
    const bool made = dnn_.primitive_create(&reorder_, described) == dnnl_success;
    dnn_.primitive_desc_destroy(described);
    return made;
  }

  const OneDnn& dnn_;
  ConvolutionKind kind_;
  bool is_usable_ = false;
  dnnl_memory_desc_t input_, output_, user_filter_, chosen_filter_, scratch_;
  std::size_t scratch_bytes_ = 0;
  dnnl_primitive_t convolution_ = nullptr, reorder_ = nullptr;
};

/// Plans by their sizes; the one not used for longest goes first. Thread-safe.
class Plans {
 public:
  std::shared_ptr<const Plan> get(const OneDnn& dnn, ConvolutionKind kind, const ConvolutionSizes& s,
                                  std::int64_t images) {
    const PlanKey key = key_of(kind, s, images);
    {
      const std::lock_guard lock(mutex_);
      const auto found = by_key_.find(key);
      if (found != by_key_.end()) {
        recent_.splice(recent_.begin(), recent_, found->second.place);
        return found->second.plan;
      }
    }
    auto plan = std::make_shared<const Plan>(dnn, kind, s, images);  // slow: not under the lock
    const std::lock_guard lock(mutex_);
    const auto [entry, is_new] = by_key_.try_emplace(key);
    if (!is_new) return entry->second.plan;  // another thread was faster
    recent_.push_front(key);
    entry->second = {plan, recent_.begin()};
    if (by_key_.size() > kKeptPlans) {
      by_key_.erase(recent_.back());
      recent_.pop_back();
    }
    return plan;
  }

 private:
  struct Entry {
    std::shared_ptr<const Plan> plan;
    std::list<PlanKey>::iterator place;
  };
  std::mutex mutex_;
  std::map<PlanKey, Entry> by_key_;
  std::list<PlanKey> recent_;
};

Plans& plans() {
  static Plans* const kept = new Plans;  // never destroyed: threads may outlive main
  return *kept;
}

double work_per_image(const ConvolutionSizes& s) {
  return static_cast<double>(s.height.out * s.width.out * s.out_channels) *
         static_cast<double>(s.height.size * s.width.size * (s.in_channels / s.groups));
}

/// Images of one piece: enough work for a thread, and for gradients of filters few pieces, each of which has a sum.
std::int64_t images_per_piece(ConvolutionKind kind, const ConvolutionSizes& s) {
  constexpr double kPerPiece = 2e6;
  std::int64_t images = static_cast<std::int64_t>(std::min(kPerPiece / std::max(1.0, work_per_image(s)), 1e6)) + 1;
  if (kind == ConvolutionKind::backprop_filter) images = std::max(images, (s.batch + 7) / 8);
  return std::min(images, s.batch);
}

/// The convolution of all images, cut into pieces of whole images; all but the last have the same number.
class Pieces {
 public:
  Pieces(const OneDnn& dnn, ConvolutionKind kind, const ConvolutionSizes& s)
      : dnn_(dnn),
        kind_(kind),
        images_(images_per_piece(kind, s)),
        count_((s.batch + images_ - 1) / images_),
        plan_(plans().get(dnn, kind, s, images_)),
        last_(plan_),
        input_step_(images_ * s.height.in * s.width.in * s.in_channels),
        output_step_(images_ * s.height.out * s.width.out * s.out_channels),
        filter_size_(s.height.size * s.width.size * (s.in_channels / s.groups) * s.out_channels) {
    const std::int64_t rest = s.batch - (count_ - 1) * images_;
    if (plan_->is_usable() && rest != images_) last_ = plans().get(dnn, kind, s, rest);
  }
  bool are_usable() const {
    return plan_->is_usable() && last_->is_usable() && plan_->filter_bytes() == last_->filter_bytes();
  }

  bool run(const ConvolutionArrays<float>& a) const {
    return kind_ == ConvolutionKind::backprop_filter ? run_to_filter(a) : run_with_filter(a);
  }

 private:
  const Plan& plan(std::int64_t piece) const { return piece + 1 == count_ ? *last_ : *plan_; }

  bool run_with_filter(const ConvolutionArrays<float>& a) const {
    const Scratch<char> reordered(2 * plan_->filter_bytes());
    float* filters[] = {a.filter, a.filter};  // for most pieces, for the last
    if (plan_->filter_bytes()) {
      const OneDnnThread alone(dnn_);
      filters[0] = filters[1] = reinterpret_cast<float*>(reordered.data());
      if (!plan_->reorder(a.filter, filters[0])) return false;
      if (last_ != plan_) {  // the primitive for fewer images may want another layout
        filters[1] = reinterpret_cast<float*>(reordered.data() + plan_->filter_bytes());
        if (!last_->reorder(a.filter, filters[1])) return false;
      }
    }
    std::atomic<bool> worked = true;
    parallel_for(count_, [&](std::int64_t piece) {
      const OneDnnThread alone(dnn_);
      if (!plan(piece).run(a.input + piece * input_step_, filters[piece + 1 == count_],
                           a.output + piece * output_step_))
        worked = false;
    });
    return worked;
  }

  bool run_to_filter(const ConvolutionArrays<float>& a) const {
    const std::size_t size = std::max(static_cast<std::size_t>(filter_size_), plan_->filter_bytes() / sizeof(float));
    const Scratch<float> sums(static_cast<std::size_t>(count_) * static_cast<std::size_t>(filter_size_));
    std::atomic<bool> worked = true;
    parallel_for(count_, [&](std::int64_t piece) {
      const OneDnnThread alone(dnn_);
      float* const sum = count_ == 1 ? a.filter : sums.data() + piece * filter_size_;
      const Plan& chosen = plan(piece);
      const Scratch<float> gradient(chosen.filter_bytes() ? size : 0);
      float* const to = chosen.filter_bytes() ? gradient.data() : sum;
      if (!chosen.run(a.input + piece * input_step_, to, a.output + piece * output_step_) ||
          (chosen.filter_bytes() && !chosen.reorder(sum, to)))
        worked = false;
    });
    if (worked && count_ > 1) add_up(sums.data(), a.filter);
    return worked;
  }
  void add_up(const float* sums, float* total) const {
    std::copy_n(sums, filter_size_, total);
    for (std::int64_t piece = 1; piece < count_; ++piece)
      for (std::int64_t i = 0; i < filter_size_; ++i) total[i] += sums[piece * filter_size_ + i];
  }

  const OneDnn& dnn_;
  ConvolutionKind kind_;
  std::int64_t images_, count_;
  std::shared_ptr<const Plan> plan_, last_;
  std::int64_t input_step_, output_step_, filter_size_;
};

/// With steps of 1 the gradient of the input is itself a convolution: of the output's gradient, with the filter turned
/// about and its channels exchanged. The primitives for that are a third faster than those for the gradient.
bool is_turned_convolution(const ConvolutionSizes& s) {
  const auto reaches = [](const auto& of) {
    const std::int64_t reach = (of.size - 1) * of.dilation;
    return of.stride == 1 && of.before <= reach && of.after <= reach;
  };
  return s.groups == 1 && reaches(s.height) && reaches(s.width);
}

ConvolutionSizes turned(ConvolutionSizes s) {
  std::swap(s.in_channels, s.out_channels);
  for (auto* of : {&s.height, &s.width}) {
    const std::int64_t reach = (of->size - 1) * of->dilation;
    std::swap(of->in, of->out);
    of->before = reach - of->before;
    of->after = reach - of->after;
  }
  return s;
}

/// filter[height][width][in][out] as [-height][-width][out][in].
Scratch<float> turned_filter(const ConvolutionSizes& s, const float* filter) {
  const std::int64_t places = s.height.size * s.width.size, in = s.in_channels, out = s.out_channels;
  Scratch<float> turned(static_cast<std::size_t>(places * in * out));
  for (std::int64_t place = 0; place < places; ++place) {
    const float* from = filter + (places - 1 - place) * in * out;
    float* to = turned.data() + place * in * out;
    for (std::int64_t i = 0; i < in; ++i)
      for (std::int64_t o = 0; o < out; ++o) to[o * in + i] = from[i * out + o];
  }
  return turned;
}

bool run_turned(const OneDnn& dnn, const ConvolutionSizes& sizes, const ConvolutionArrays<float>& arrays) {
  const ConvolutionSizes other = turned(sizes);
  const Pieces pieces(dnn, ConvolutionKind::forward, other);
  if (!pieces.are_usable()) return false;
  const Scratch<float> filter = turned_filter(sizes, arrays.filter);
  return pieces.run({arrays.output, filter.data(), arrays.input});
}

}  // namespace

bool convolve_onednn(ConvolutionKind kind, const ConvolutionSizes& sizes, const ConvolutionArrays<float>& arrays) {
  const OneDnn* dnn = onednn();
  // A small convolution is over before the library has begun.
  if (!dnn || work_per_image(sizes) * static_cast<double>(sizes.batch) < 20'000) return false;
  if (kind == ConvolutionKind::backprop_input && is_turned_convolution(sizes) && run_turned(*dnn, sizes, arrays))
    return true;
  const Pieces pieces(*dnn, kind, sizes);
  return pieces.are_usable() && pieces.run(arrays);
}

}  // namespace capstan::cpu
