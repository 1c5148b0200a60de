// What is executed and what is differentiated, line by line.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

namespace capstan {

/// While it lives, each operation that this thread executes gives one line ("Mul(float32[2], float32[]=3.0) ->
/// float32[2]"), and each call of a gradient function one ("gradient of Mul: inputs (...), output gradients (...),
/// results (...)"). What runs while recording is paused is left out. Of several logs each gets all lines.
/// It ends on the thread that began it.
class GradientLog {
 public:
  using Sink = std::function<void(std::string_view line)>;
  /// To the standard error output.
  GradientLog();
  explicit GradientLog(Sink sink);
  ~GradientLog();
  GradientLog(const GradientLog&) = delete;
  GradientLog& operator=(const GradientLog&) = delete;

 private:
  class Writer;
  std::unique_ptr<Writer> writer_;
};

}  // namespace capstan
