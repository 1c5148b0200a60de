// Parts of softmax on one row, for the instruction set of the machine.
#pragma once

#include <cstdint>

namespace capstan::cpu {

/// The largest of n > 0 elements; NaN is passed over.
float row_max(const float* x, std::int64_t n);
/// out = exp(x - shift), and the sum of that. May work in place.
float row_exp(const float* x, float shift, float* out, std::int64_t n);
/// The sum of exp(x - shift).
float row_exp_sum(const float* x, float shift, std::int64_t n);
void row_scale(float* x, float factor, std::int64_t n);

}  // namespace capstan::cpu
