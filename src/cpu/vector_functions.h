// Functions of many elements, written with SIMD instructions that are chosen at run time (AVX-512, AVX2, SSSE3 on x86).
// Each works on n elements side by side. `out` may be the same array as an input, not overlap it otherwise. An
// element's result does not depend on its place in the array, so cutting the work differently changes no bit.
//
//   vector_math<float>().exp(x, out, n);
#pragma once

#include <cstdint>

#include "capstan/tensor/dtype.h"
#include "cpu/instruction_set.h"

namespace capstan::cpu {

template <class T>
using UnaryRow = void (*)(const T* x, T* out, std::int64_t n);

/// Two arrays; an array and one element; one element and an array.
template <class T>
struct BinaryRow {
  void (*vv)(const T* x, const T* y, T* out, std::int64_t n);
  void (*vs)(const T* x, T y, T* out, std::int64_t n);
  void (*sv)(T x, const T* y, T* out, std::int64_t n);
};

/// Exactly rounded, except `reciprocal_root`: 1 / sqrt(x) with two roundings. Maximum and minimum hand NaN on.
template <class T>
struct VectorArithmetic {
  UnaryRow<T> negative, absolute, square, square_root, reciprocal_root, reciprocal, relu;
  BinaryRow<T> add, subtract, multiply, divide, maximum, minimum, squared_difference;
  BinaryRow<T> relu_grad;  // (dy, x): dy where x > 0, else 0
};

/// Within 5 units in the last place (most within 2; half as much again on processors without fused operations), right
/// at zeros, denormals, infinities and NaN. (dy, y) of the gradients in TensorFlow's order: `tanh_grad(y, dy)`.
template <class T>
struct VectorMath {
  UnaryRow<T> exp, expm1, log, log1p, tanh, sigmoid, sin, cos, erf;
  BinaryRow<T> tanh_grad, sigmoid_grad;
};

// For float and double.
template <class T>
const VectorArithmetic<T>& vector_arithmetic();
template <class T>
const VectorMath<T>& vector_math();
/// The functions for one instruction set, which the processor must have: tests compare them.
template <class T>
const VectorMath<T>& vector_math_for(InstructionSet set);

/// Half types to float and back, rounding to nearest even.
void widen(const float16* x, float* out, std::int64_t n);
void widen(const bfloat16* x, float* out, std::int64_t n);
void narrow(const float* x, float16* out, std::int64_t n);
void narrow(const float* x, bfloat16* out, std::int64_t n);

}  // namespace capstan::cpu
