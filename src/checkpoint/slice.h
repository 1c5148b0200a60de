// Parts of partitioned tensors: the keys they are stored under and the copying between them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "capstan/tensor/shape.h"
#include "capstan/tensor/tensor.h"
#include "wire/bundle.h"

namespace capstan::checkpoint {

/// A box of elements: where it starts and how long it is in each dimension.
struct Region {
  std::vector<std::int64_t> starts;
  std::vector<std::int64_t> lengths;

  bool operator==(const Region&) const = default;
  std::int64_t num_elements() const;
  Shape shape() const { return Shape(lengths); }
  /// "0,3:5,2".
  std::string to_string() const;
};

/// The key of one part's entry.
std::string slice_key(std::string_view tensor_name, const wire::TensorSliceProto& slice);

/// The box that a slice of a tensor of shape `full` stands for; throws InvalidArgument if it does not lie inside.
Region region_of(const wire::TensorSliceProto& slice, const Shape& full);
/// The two ways to write a box down: whole dimensions as such, or with their lengths.
wire::TensorSliceProto to_slice(const Region& region, const Shape& full, bool name_whole_dimensions);

/// The whole of a tensor.
Region whole_of(const Shape& full);
/// Have they any element in common?
bool overlap(const Region& a, const Region& b);
/// What both have in common; it has no elements if that is nothing.
Region intersection(const Region& a, const Region& b);

/// Copies the elements of `part` from a tensor that holds the box `from` into one, not yet handed out, that holds `to`.
void copy_region(const Region& part, const Tensor& source, const Region& from, Tensor& target, const Region& to);

}  // namespace capstan::checkpoint
