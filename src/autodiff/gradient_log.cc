#include "capstan/autodiff/gradient_log.h"

#include <iostream>
#include <memory>
#include <utility>
#include <vector>

#include "autodiff/op_gradient.h"
#include "op/observer.h"

namespace capstan {
namespace {

std::string text_of(DType dtype, const Shape& shape) { return std::string(dtype_name(dtype)) + shape.to_string(); }

/// Type and shape; the value of a single element.
std::string text_of(const Tensor& tensor) {
  std::string text = text_of(tensor.dtype(), tensor.shape());
  const bool has_value = !tensor.is_symbolic() && tensor.size() == 1 && is_plain(tensor.dtype());
  return has_value ? text + "=" + tensor.to_string() : text;
}

std::string text_of(const Gradient& gradient) {
  if (!gradient.has_value()) return "none";
  return gradient.is_slices() ? "slices " + text_of(gradient.slices().values) : text_of(gradient.tensor());
}

template <class Range, class Text>
std::string list_of(const Range& range, Text&& text) {
  std::string list = "(";
  for (const auto& each : range) list += (list.size() > 1 ? ", " : "") + text(each);
  return list + ")";
}

std::string inputs_of(const OpCall& call) {
  std::string list = "(";
  for (std::size_t i = 0; i < call.input_count(); ++i)
    list += (i ? ", " : "") +
            (call.has_input(i) ? text_of(call.input(i)) : text_of(call.input_dtype(i), call.input_shape(i)));
  return list + ")";
}

const auto kGradientText = [](const Gradient& gradient) { return text_of(gradient); };

/// Linked to the writers of the thread that began before it.
class LogWriter final : public Observer {
 public:
  explicit LogWriter(GradientLog::Sink sink)
      : sink_(std::make_shared<const GradientLog::Sink>(std::move(sink))), outer_(std::exchange(innermost, this)) {
    ObserverList::push(*this);
  }
  ~LogWriter() override {
    ObserverList::remove(*this);
    LogWriter** at = &innermost;
    while (*at && *at != this) at = &(*at)->outer_;
    if (*at) *at = outer_;
  }
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  void on_call(const OpCall& call) override {
    const auto sink = sink_;
    write(*sink, std::string(call.op().name()) + inputs_of(call) + " -> " +
                     list_of(call.outputs(), [](const Tensor& output) { return text_of(output); }));
  }

  static void write_to_all(const std::string& line) {
    std::vector<std::shared_ptr<const GradientLog::Sink>> sinks;
    for (LogWriter* at = innermost; at; at = at->outer_) sinks.push_back(at->sink_);
    for (const auto& sink : sinks) write(*sink, line);
  }
  static bool any() { return innermost; }

 private:
  static void write(const GradientLog::Sink& sink, const std::string& line) {
    const PauseObservers silent;  // the sink may compute
    sink(line);
  }

  static constinit thread_local LogWriter* innermost;

  const std::shared_ptr<const GradientLog::Sink> sink_;  // which may end its log
  LogWriter* outer_;
};

constinit thread_local LogWriter* LogWriter::innermost = nullptr;

}  // namespace

class GradientLog::Writer {
 public:
  explicit Writer(Sink sink) : writer_(std::move(sink)) {}

 private:
  LogWriter writer_;
};

GradientLog::GradientLog() : GradientLog([](std::string_view line) { std::cerr << line << '\n'; }) {}
GradientLog::GradientLog(Sink sink) : writer_(std::make_unique<Writer>(std::move(sink))) {}
GradientLog::~GradientLog() = default;

bool is_logging_gradients() { return LogWriter::any(); }

void log_gradient(std::string_view name, const OpCall* call, std::span<const Gradient> dy,
                  std::span<const Gradient> dx) {
  LogWriter::write_to_all("gradient of " + std::string(name) + ": " +
                          (call ? "inputs " + inputs_of(*call) + ", " : "") + "output gradients " +
                          list_of(dy, kGradientText) + ", results " + list_of(dx, kGradientText));
}

}  // namespace capstan
