// oneDNN, loaded when it is first needed. It is looked up at run time rather than linked: start-up stays cheap, the
// host program may carry a oneDNN of its own, and where there is none our own loops do the work.
//
// oneDNN's Debian build runs on OpenMP. We cut work into pieces on our own pool and call it on one thread inside each:
//
//   if (const OneDnn* dnn = onednn()) {
//     const OneDnnThread alone(*dnn);
//     dnn->sgemm(...);
//   }
#pragma once

#include <dnnl.h>

namespace capstan::cpu {

/// Functions of the library, by their names without the prefix `dnnl_`.
struct OneDnn {
  decltype(&dnnl_sgemm) sgemm;
  decltype(&dnnl_engine_create) engine_create;
  decltype(&dnnl_stream_create) stream_create;
  decltype(&dnnl_primitive_attr_create) primitive_attr_create;
  decltype(&dnnl_primitive_attr_destroy) primitive_attr_destroy;
  decltype(&dnnl_primitive_attr_set_scratchpad_mode) primitive_attr_set_scratchpad_mode;
  decltype(&dnnl_memory_desc_init_by_tag) memory_desc_init_by_tag;
  decltype(&dnnl_memory_desc_get_size) memory_desc_get_size;
  decltype(&dnnl_memory_desc_equal) memory_desc_equal;
  decltype(&dnnl_memory_create) memory_create;
  decltype(&dnnl_memory_destroy) memory_destroy;
  decltype(&dnnl_dilated_convolution_forward_desc_init) dilated_convolution_forward_desc_init;
  decltype(&dnnl_dilated_convolution_backward_data_desc_init) dilated_convolution_backward_data_desc_init;
  decltype(&dnnl_dilated_convolution_backward_weights_desc_init) dilated_convolution_backward_weights_desc_init;
  decltype(&dnnl_reorder_primitive_desc_create) reorder_primitive_desc_create;
  decltype(&dnnl_primitive_desc_create) primitive_desc_create;
  decltype(&dnnl_primitive_desc_destroy) primitive_desc_destroy;
  decltype(&dnnl_primitive_desc_query) primitive_desc_query;
  decltype(&dnnl_primitive_desc_query_md) primitive_desc_query_md;
  decltype(&dnnl_primitive_create) primitive_create;
  decltype(&dnnl_primitive_destroy) primitive_destroy;
  decltype(&dnnl_primitive_execute) primitive_execute;
  decltype(&dnnl_set_primitive_cache_capacity) set_primitive_cache_capacity;
  int (*omp_get_max_threads)();
  void (*omp_set_num_threads)(int);

  dnnl_engine_t engine = nullptr;
  dnnl_stream_t stream = nullptr;  // keeps nothing between calls, so threads share it
};

/// The library, or null if it cannot be loaded or is switched off. Thread-safe.
const OneDnn* onednn();

/// For tests: lets `onednn()` return null, so that our own loops run.
void switch_onednn(bool on);

/// While it lives, oneDNN works on the calling thread alone; then the thread's OpenMP setting is what it was.
class OneDnnThread {
 public:
  explicit OneDnnThread(const OneDnn& dnn) : dnn_(dnn), before_(dnn.omp_get_max_threads()) {
    if (before_ != 1) dnn_.omp_set_num_threads(1);
  }
  ~OneDnnThread() {
    if (before_ != 1) dnn_.omp_set_num_threads(before_);
  }
  OneDnnThread(const OneDnnThread&) = delete;
  OneDnnThread& operator=(const OneDnnThread&) = delete;

 private:
  const OneDnn& dnn_;
  int before_;
};

}  // namespace capstan::cpu
