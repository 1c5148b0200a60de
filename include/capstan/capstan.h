// Capstan: run, differentiate, train, save and load TensorFlow models in C++, without TensorFlow and without Python.
// This header brings everything; each part has a header of its own beside it.
#pragma once

#include "capstan/autodiff/gradient_tape.h"
#include "capstan/autodiff/record.h"
#include "capstan/base/error.h"
#include "capstan/base/threads.h"
#include "capstan/base/warning.h"
#include "capstan/checkpoint/bundle.h"
#include "capstan/checkpoint/checkpoint.h"
#include "capstan/checkpoint/state.h"
#include "capstan/nn/initializers.h"
#include "capstan/nn/layers.h"
#include "capstan/op/op.h"
#include "capstan/ops/array.h"
#include "capstan/ops/math.h"
#include "capstan/ops/random_ops.h"
#include "capstan/ops/reduce.h"
#include "capstan/optim/optimizer.h"
#include "capstan/state/trackable.h"
#include "capstan/state/variable.h"
#include "capstan/tensor/npy.h"
#include "capstan/tensor/tensor.h"
