// Datasets: descriptions of a sequence of elements, each of `N` tensors, that is made while it is read.
//
//   auto train = data::from_tensor_slices(images, labels);
//   for (auto [images, labels] : train.shuffle(60'000).batch(32).prefetch(2)) step(images, labels);
//
// A dataset is a handle to something that does not change: cheap to copy, alive as long as it or an iterator is. Each
// `begin()` reads it from the start. Any number of iterators may be at work, on any threads; one iterator belongs to
// one thread at a time. An error comes out where its element would; the iterator is at its end after that.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "capstan/tensor/tensor.h"

namespace capstan::data {

/// The cardinality of a dataset that never ends.
inline constexpr std::int64_t kInfinite = -1;
/// The count with which `repeat` never ends.
inline constexpr std::int64_t kForever = -1;

struct ShuffleOptions {
  /// Unset: drawn when `shuffle` is called, from the generator that `set_random_seed` restarts.
  std::optional<std::uint64_t> seed = {};
  /// Another order for each iteration and repetition; otherwise the same one each time.
  bool reshuffle_each_iteration = true;
};

struct BatchOptions {
  /// Leave the last batch out if it would be smaller.
  bool drop_remainder = false;
};

namespace detail {

using Components = std::vector<Tensor>;
struct PipelineNode;
class CursorState;

/// One reading of a pipeline.
class Cursor {
 public:
  explicit Cursor(std::shared_ptr<const PipelineNode> node);
  Cursor(Cursor&&) noexcept;
  Cursor& operator=(Cursor&&) noexcept;
  ~Cursor();
  /// False at the end.
  bool next(Components& element);

 private:
  std::unique_ptr<CursorState> state_;
};

/// A dataset without the number of its components; see `Dataset` for what the functions mean.
class Pipeline {
 public:
  explicit Pipeline(std::shared_ptr<const PipelineNode> node) : node_(std::move(node)) {}
  static Pipeline slices(Components tensors);
  static Pipeline single(Components tensors);

  Pipeline shuffle(std::int64_t buffer_size, const ShuffleOptions& options) const;
  Pipeline batch(std::int64_t size, const BatchOptions& options) const;
  Pipeline repeat(std::int64_t count) const;
  Pipeline take(std::int64_t count) const;
  Pipeline skip(std::int64_t count) const;
  Pipeline prefetch(std::int64_t count) const;
  Pipeline map(std::function<Components(Components)> function) const;
  std::int64_t cardinality() const;
  Cursor open() const { return Cursor(node_); }

 private:
  std::shared_ptr<const PipelineNode> node_;
};

/// How many components a mapped element has: one for what converts to a tensor, else those of an array, pair or tuple.
template <class Result>
constexpr std::size_t component_count() {
  if constexpr (std::convertible_to<Result, Tensor>) {
    return 1;
  } else if constexpr (requires { std::tuple_size<Result>::value; }) {
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return (std::convertible_to<std::tuple_element_t<I, Result>, Tensor> && ...) ? sizeof...(I) : 0;
    }
    (std::make_index_sequence<std::tuple_size<Result>::value>());
  } else {
    return 0;
  }
}

template <class Result>
Components components_of(Result&& result) {
  if constexpr (std::convertible_to<Result, Tensor>) {
    return {Tensor(std::forward<Result>(result))};
  } else {
    return std::apply([](auto&&... parts) { return Components{Tensor(std::forward<decltype(parts)>(parts))...}; },
                      std::forward<Result>(result));
  }
}

template <class F, std::size_t... I>
auto call_with_components(F& function, Components& c, std::index_sequence<I...>)
    -> decltype(std::invoke(function, ((void)I, std::declval<Tensor>())...)) {
  return std::invoke(function, std::move(c[I])...);
}

template <class F, std::size_t N>
using MapResult = std::remove_cvref_t<decltype(call_with_components(std::declval<F&>(), std::declval<Components&>(),
                                                                    std::make_index_sequence<N>()))>;

}  // namespace detail

/// A function of `N` tensors that gives a tensor, or an array, pair or tuple of tensors.
template <class F, std::size_t N>
concept MapFunction = std::copy_constructible<F> && requires {
  typename detail::MapResult<F, N>;
} &&(detail::component_count<detail::MapResult<F, N>>() > 0);

template <std::size_t N>
class DatasetIterator;

template <std::size_t N>
class Dataset {
  static_assert(N > 0, "an element has at least one component");

 public:
  /// An element: a tensor if it has one component, otherwise an array of tensors, which unpacks.
  using value_type = std::conditional_t<N == 1, Tensor, std::array<Tensor, N>>;

  explicit Dataset(detail::Pipeline pipeline) : pipeline_(std::move(pipeline)) {}

  /// Each next element is drawn evenly from a buffer of `buffer_size` elements, which is filled up from the input. A
  /// buffer that holds all of the input makes every order equally likely. With a seed the orders are the same in every
  /// run of the program. `buffer_size` is at least 1.
  Dataset shuffle(std::int64_t buffer_size, const ShuffleOptions& options = {}) const {
    return Dataset(pipeline_.shuffle(buffer_size, options));
  }
  /// `size` elements, at least 1, stacked along a new first axis. The last batch holds what is left. Reading throws
  /// InvalidArgument if elements of one batch differ in type or shape.
  Dataset batch(std::int64_t size, const BatchOptions& options = {}) const {
    return Dataset(pipeline_.batch(size, options));
  }
  /// The input `count` times in a row.
  Dataset repeat(std::int64_t count = kForever) const { return Dataset(pipeline_.repeat(count)); }
  /// The first `count` elements.
  Dataset take(std::int64_t count) const { return Dataset(pipeline_.take(count)); }
  /// All but the first `count` elements.
  Dataset skip(std::int64_t count) const { return Dataset(pipeline_.skip(count)); }
  /// Up to `count` elements, at least 1, are made ahead of the reader, by a thread that each iterator starts and joins.
  /// With `thread_count() == 1` there is no thread and each element is made when it is asked for. In a process that was
  /// forked while an iterator was alive, that iterator throws FailedPrecondition.
  Dataset prefetch(std::int64_t count) const { return Dataset(pipeline_.prefetch(count)); }
  /// `function(component...)` in place of each element. It is called while elements are read, by the thread of a
  /// `prefetch` that follows; gradient tapes do not record what it does. Several iterators may call it at once.
  template <MapFunction<N> F>
  auto map(F function) const {
    return Dataset<detail::component_count<detail::MapResult<F, N>>()>(
        pipeline_.map([function = std::move(function)](detail::Components c) mutable {
          return detail::components_of(detail::call_with_components(function, c, std::make_index_sequence<N>()));
        }));
  }

  /// The number of elements, or kInfinite.
  std::int64_t cardinality() const { return pipeline_.cardinality(); }

  DatasetIterator<N> begin() const { return DatasetIterator<N>(pipeline_.open()); }
  std::default_sentinel_t end() const { return {}; }

 private:
  detail::Pipeline pipeline_;
};

/// Reads a dataset once, from the first element on. It keeps alive what it reads.
template <std::size_t N>
class DatasetIterator {
 public:
  using iterator_concept = std::input_iterator_tag;
  using value_type = typename Dataset<N>::value_type;
  using difference_type = std::ptrdiff_t;

  explicit DatasetIterator(detail::Cursor cursor) : cursor_(std::move(cursor)) { ++*this; }

  const value_type& operator*() const { return element_; }
  const value_type* operator->() const { return &element_; }
  DatasetIterator& operator++() {
    is_at_end_ = true;  // in case `next` throws
    element_ = {};      // its memory may serve the next element
    detail::Components components;
    if (!cursor_.next(components)) return *this;
    if constexpr (N == 1)
      element_ = std::move(components[0]);
    else
      std::move(components.begin(), components.end(), element_.begin());
    is_at_end_ = false;
    return *this;
  }
  void operator++(int) { ++*this; }
  friend bool operator==(const DatasetIterator& iterator, std::default_sentinel_t) { return iterator.is_at_end_; }

 private:
  detail::Cursor cursor_;
  value_type element_ = {};
  bool is_at_end_ = false;
};

/// The slices of the tensors along their first axes, which have the same size: `n` elements for tensors of shape
/// [n,...]. The tensors are shared, not copied. Throws InvalidArgument for scalars and for sizes that differ.
template <std::convertible_to<Tensor>... T>
requires(sizeof...(T) > 0) Dataset<sizeof...(T)> from_tensor_slices(const T&... tensors) {
  return Dataset<sizeof...(T)>(detail::Pipeline::slices({Tensor(tensors)...}));
}
/// A dataset of one element: these tensors.
template <std::convertible_to<Tensor>... T>
requires(sizeof...(T) > 0) Dataset<sizeof...(T)> from_tensors(const T&... tensors) {
  return Dataset<sizeof...(T)>(detail::Pipeline::single({Tensor(tensors)...}));
}

}  // namespace capstan::data
