// Steps of the optimizers over arrays of float and double, with SIMD instructions chosen at run time.
#pragma once

#include <cstdint>

namespace capstan::cpu {

/// The numbers of one Adam step; `alpha` is the learning rate with both bias corrections.
template <class T>
struct AdamNumbers {
  T alpha, beta1, beta2, epsilon;
  bool use_nesterov;
};

/// Each updates n elements in place and does not depend on where an element lies.
template <class T>
struct VectorTraining {
  /// var -= alpha * delta
  void (*descent)(T* var, const T* delta, T alpha, std::int64_t n);
  void (*adam)(T* var, T* m, T* v, const T* grad, const AdamNumbers<T>& numbers, std::int64_t n);
};

// For float and double.
template <class T>
const VectorTraining<T>& vector_training();

}  // namespace capstan::cpu
