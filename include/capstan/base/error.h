// Typed errors. Every failure of the library is thrown as a class derived from `Error` and carries one of TensorFlow's
// status codes, so a caller can catch by kind (`catch (const InvalidArgument&)`) or look at `code()`.
//
//   try { matmul(a, b); }
//   catch (const capstan::InvalidArgument& error) { std::cerr << error.what(); }
//
// Messages read: op, what must hold, what came (shapes and types), what to try.
#pragma once

#include <exception>
#include <string>
#include <string_view>

namespace capstan {

/// TensorFlow's status codes, with its numbers.
enum class Code {
  ok = 0,
  cancelled = 1,
  unknown = 2,
  invalid_argument = 3,
  deadline_exceeded = 4,
  not_found = 5,
  already_exists = 6,
  permission_denied = 7,
  resource_exhausted = 8,
  failed_precondition = 9,
  aborted = 10,
  out_of_range = 11,
  unimplemented = 12,
  internal = 13,
  unavailable = 14,
  data_loss = 15,
  unauthenticated = 16,
};

/// The code's name as TensorFlow prints it, for example "INVALID_ARGUMENT".
std::string_view code_name(Code code);

/// Base of all errors. `what()` is the whole message; layers may add context while the error passes through them.
class Error : public std::exception {
 public:
  Error(Code code, std::string message);
  ~Error() override;
  Error(const Error&) = default;
  Error& operator=(const Error&) = default;

  Code code() const noexcept { return code_; }
  const char* what() const noexcept override { return message_.c_str(); }
  const std::string& message() const noexcept { return message_; }
  /// Puts "`context`: " in front of the message, for use in `catch (Error& e) { e.add_context(...); throw; }`.
  void add_context(std::string_view context);

 private:
  Code code_;
  std::string message_;
};

/// A bad argument: shape, axis, attribute, value.
class InvalidArgument : public Error {
 public:
  explicit InvalidArgument(std::string message);
  ~InvalidArgument() override;
};

/// A wrong element type or a wrong kind of object.
class TypeError : public InvalidArgument {
 public:
  explicit TypeError(std::string message);
  ~TypeError() override;
};

/// The call came at the wrong time: a used-up tape, an uninitialized variable.
class FailedPrecondition : public Error {
 public:
  explicit FailedPrecondition(std::string message);
  ~FailedPrecondition() override;
};

/// A tensor of a graph used outside the function that made it.
class OutOfScope : public FailedPrecondition {
 public:
  explicit OutOfScope(std::string message);
  ~OutOfScope() override;
};

/// A gradient was used as a tensor although there is none; the message says where the path broke.
class MissingGradient : public FailedPrecondition {
 public:
  explicit MissingGradient(std::string message);
  ~MissingGradient() override;
};

/// A name, key, file or registration that does not exist.
class NotFound : public Error {
 public:
  explicit NotFound(std::string message);
  ~NotFound() override;
};

/// A name that is taken.
class AlreadyExists : public Error {
 public:
  explicit AlreadyExists(std::string message);
  ~AlreadyExists() override;
};

/// A position outside its range, or the end of a file reached too early.
class OutOfRange : public Error {
 public:
  explicit OutOfRange(std::string message);
  ~OutOfRange() override;
};

/// Something that is not built, named in the message.
class Unimplemented : public Error {
 public:
  explicit Unimplemented(std::string message);
  ~Unimplemented() override;
};

/// A contract inside the engine is broken, by the library or by a recorded user function.
class Internal : public Error {
 public:
  explicit Internal(std::string message);
  ~Internal() override;
};

/// A file is damaged.
class DataLoss : public Error {
 public:
  explicit DataLoss(std::string message);
  ~DataLoss() override;
};

/// Memory, disk space or another resource ran out.
class ResourceExhausted : public Error {
 public:
  explicit ResourceExhausted(std::string message);
  ~ResourceExhausted() override;
};

/// The operating system refused access.
class PermissionDenied : public Error {
 public:
  explicit PermissionDenied(std::string message);
  ~PermissionDenied() override;
};

/// The work was cancelled by its user.
class Cancelled : public Error {
 public:
  explicit Cancelled(std::string message);
  ~Cancelled() override;
};

/// The environment failed in a way that may pass: an input/output error, an interrupted call.
class Unavailable : public Error {
 public:
  explicit Unavailable(std::string message);
  ~Unavailable() override;
};

}  // namespace capstan
