#include "cpu/onednn.h"

#include <dlfcn.h>

#include <atomic>
#include <memory>

namespace capstan::cpu {
namespace {

// With DEEPBIND the library sees its own symbols first, whatever the host has loaded; sanitizers cannot live with it.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kLoadMode = RTLD_NOW | RTLD_LOCAL;
#else
constexpr int kLoadMode = RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND;
#endif

class Symbols {
 public:
  explicit Symbols(void* library) : library_(library) {}
  template <class Function>
  void find(const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library_, name));
    complete_ = complete_ && function;
  }
  bool complete() const { return complete_; }

 private:
  void* library_;
  bool complete_ = true;
};

bool find_functions(void* library, OneDnn& dnn) {
  Symbols symbols(library);
  symbols.find("dnnl_sgemm", dnn.sgemm);
  symbols.find("dnnl_engine_create", dnn.engine_create);
  symbols.find("dnnl_stream_create", dnn.stream_create);
  symbols.find("dnnl_primitive_attr_create", dnn.primitive_attr_create);
  symbols.find("dnnl_primitive_attr_destroy", dnn.primitive_attr_destroy);
  symbols.find("dnnl_primitive_attr_set_scratchpad_mode", dnn.primitive_attr_set_scratchpad_mode);
  symbols.find("dnnl_memory_desc_init_by_tag", dnn.memory_desc_init_by_tag);
  symbols.find("dnnl_memory_desc_get_size", dnn.memory_desc_get_size);
  symbols.find("dnnl_memory_desc_equal", dnn.memory_desc_equal);
  symbols.find("dnnl_memory_create", dnn.memory_create);
  symbols.find("dnnl_memory_destroy", dnn.memory_destroy);
  symbols.find("dnnl_dilated_convolution_forward_desc_init", dnn.dilated_convolution_forward_desc_init);
  symbols.find("dnnl_dilated_convolution_backward_data_desc_init", dnn.dilated_convolution_backward_data_desc_init);
  symbols.find("dnnl_dilated_convolution_backward_weights_desc_init",
               dnn.dilated_convolution_backward_weights_desc_init);
  symbols.find("dnnl_reorder_primitive_desc_create", dnn.reorder_primitive_desc_create);
  symbols.find("dnnl_primitive_desc_create", dnn.primitive_desc_create);
  symbols.find("dnnl_primitive_desc_destroy", dnn.primitive_desc_destroy);
  symbols.find("dnnl_primitive_desc_query", dnn.primitive_desc_query);
  symbols.find("dnnl_primitive_desc_query_md", dnn.primitive_desc_query_md);
  symbols.find("dnnl_primitive_create", dnn.primitive_create);
  symbols.find("dnnl_primitive_destroy", dnn.primitive_destroy);
  symbols.find("dnnl_primitive_execute", dnn.primitive_execute);
  symbols.find("dnnl_set_primitive_cache_capacity", dnn.set_primitive_cache_capacity);
  symbols.find("omp_get_max_threads", dnn.omp_get_max_threads);  // of the OpenMP library that oneDNN itself uses
  symbols.find("omp_set_num_threads", dnn.omp_set_num_threads);
  return symbols.complete();
}

const OneDnn* load() {
  void* library = dlopen("libdnnl.so.2", kLoadMode);
  if (!library) return nullptr;
  auto dnn = std::make_unique<OneDnn>();
  if (!find_functions(library, *dnn) || dnn->engine_create(&dnn->engine, dnnl_cpu, 0) != dnnl_success ||
      dnn->stream_create(&dnn->stream, dnn->engine, dnnl_stream_default_flags) != dnnl_success) {
    dlclose(library);
    return nullptr;
  }
  // We keep the primitives that we use; a second store of them would only hold memory.
  dnn->set_primitive_cache_capacity(0);
  return dnn.release();  // stays for good: its OpenMP threads and generated code cannot be unloaded safely
}

std::atomic<bool> is_on{true};

}  // namespace

const OneDnn* onednn() {
  static const OneDnn* const loaded = load();
  return is_on.load(std::memory_order_relaxed) ? loaded : nullptr;
}

void switch_onednn(bool on) { is_on.store(on, std::memory_order_relaxed); }

}  // namespace capstan::cpu
