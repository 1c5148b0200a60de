#include "cpu/indices.h"

#include "tensor/element_count.h"

namespace capstan::cpu {

std::string position_text(const Shape& shape, std::int64_t at) {
  std::string text;
  for (int i = shape.rank(); i-- > 0;) {
    text = std::to_string(at % shape[i]) + (text.empty() ? "" : ",") + text;
    at /= shape[i];
  }
  return "[" + text + "]";
}

void fail_index(const KernelContext& context, std::string_view argument, const Shape& shape, std::int64_t at,
                std::int64_t index, std::int64_t limit) {
  context.fail(std::string(argument) + position_text(shape, at) + " = " + std::to_string(index) + " is outside [0, " +
               std::to_string(limit) + ")");
}

namespace {

template <class Index>
[[noreturn]] void fail_vector(const KernelContext& context, const Tensor& indices, const Index* vector, std::int64_t at,
                              std::int64_t depth, const Shape& shape) {
  std::string text;
  for (std::int64_t i = 0; i < depth; ++i) text += (i ? "," : "") + std::to_string(vector[i]);
  Shape rows = indices.shape();
  rows.erase(-1);
  context.fail("indices" + position_text(rows, at) + " = [" + text + "] is outside the shape " + shape.to_string());
}

}  // namespace

std::vector<std::int64_t> part_offsets(const KernelContext& context, const Tensor& indices, const Shape& shape,
                                       bool ignore) {
  const std::int64_t depth = indices.shape().dim(-1);
  const std::int64_t rows = count_of(indices.shape(), 0, indices.rank() - 1);
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(rows));
  visit_index(indices.dtype(), [&]<class Index>() {
    const Index* vector = static_cast<const Index*>(indices.raw_data());
    for (std::int64_t row = 0; row < rows; ++row, vector += depth) {
      std::int64_t offset = 0;
      for (std::int64_t i = 0; i < depth && offset >= 0; ++i) {
        const std::int64_t index = vector[i], size = shape[static_cast<int>(i)];
        if (index >= 0 && index < size)
          offset = static_cast<std::int64_t>(static_cast<std::uint64_t>(offset) * static_cast<std::uint64_t>(size) +
                                             static_cast<std::uint64_t>(index));
        else if (ignore)
          offset = -1;
        else
          fail_vector(context, indices, vector, row, depth, shape);
      }
      offsets[static_cast<std::size_t>(row)] = offset;
    }
  });
  return offsets;
}

}  // namespace capstan::cpu
