#include "autodiff/variable_reads.h"

#include <algorithm>
#include <utility>

#include "tensor/storage.h"

namespace capstan {
namespace {

constinit thread_local VariableReads* innermost = nullptr;

bool is_among(std::span<const Tensor> handles, const Tensor& handle) {
  return std::ranges::any_of(handles, [&](const Tensor& each) {
    return each.dtype() == DType::resource && resource_of(each) == resource_of(handle);
  });
}

}  // namespace

// It stands in the list of observers so that reads are announced at all.
VariableReads::VariableReads() : outer_(std::exchange(innermost, this)), paused_(thread_state().paused) {
  ObserverList::push(*this);
}

VariableReads::~VariableReads() {
  ObserverList::remove(*this);
  innermost = outer_;
}

std::vector<Tensor> VariableReads::besides(std::span<const Tensor> inputs) const {
  std::vector<Tensor> rest;
  for (const Tensor& handle : handles_)
    if (!is_among(inputs, handle)) rest.push_back(handle);
  return rest;
}

void VariableReads::note(const Tensor& handle) {
  for (VariableReads* reads = innermost; reads; reads = reads->outer_)
    if (reads->paused_ == thread_state().paused && !is_among(reads->handles_, handle))
      reads->handles_.push_back(handle);
}

}  // namespace capstan
