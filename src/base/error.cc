#include "capstan/base/error.h"

#include <utility>

namespace capstan {

std::string_view code_name(Code code) {
  switch (code) {
    case Code::ok:
      return "OK";
    case Code::cancelled:
      return "CANCELLED";
    case Code::unknown:
      return "UNKNOWN";
    case Code::invalid_argument:
      return "INVALID_ARGUMENT";
    case Code::deadline_exceeded:
      return "DEADLINE_EXCEEDED";
    case Code::not_found:
      return "NOT_FOUND";
    case Code::already_exists:
      return "ALREADY_EXISTS";
    case Code::permission_denied:
      return "PERMISSION_DENIED";
    case Code::resource_exhausted:
      return "RESOURCE_EXHAUSTED";
    case Code::failed_precondition:
      return "FAILED_PRECONDITION";
    case Code::aborted:
      return "ABORTED";
    case Code::out_of_range:
      return "OUT_OF_RANGE";
    case Code::unimplemented:
      return "UNIMPLEMENTED";
    case Code::internal:
      return "INTERNAL";
    case Code::unavailable:
      return "UNAVAILABLE";
    case Code::data_loss:
      return "DATA_LOSS";
    case Code::unauthenticated:
      return "UNAUTHENTICATED";
  }
  return "UNKNOWN";
}

Error::Error(Code code, std::string message) : code_(code), message_(std::move(message)) {}
Error::~Error() = default;

void Error::add_context(std::string_view context) { message_.insert(0, std::string(context) + ": "); }

// Destructors stand here, out of line, so that each class has one home for its type information across libraries.
InvalidArgument::InvalidArgument(std::string message) : Error(Code::invalid_argument, std::move(message)) {}
InvalidArgument::~InvalidArgument() = default;
TypeError::TypeError(std::string message) : InvalidArgument(std::move(message)) {}
TypeError::~TypeError() = default;
FailedPrecondition::FailedPrecondition(std::string message) : Error(Code::failed_precondition, std::move(message)) {}
FailedPrecondition::~FailedPrecondition() = default;
OutOfScope::OutOfScope(std::string message) : FailedPrecondition(std::move(message)) {}
OutOfScope::~OutOfScope() = default;
MissingGradient::MissingGradient(std::string message) : FailedPrecondition(std::move(message)) {}
MissingGradient::~MissingGradient() = default;
NotFound::NotFound(std::string message) : Error(Code::not_found, std::move(message)) {}
NotFound::~NotFound() = default;
AlreadyExists::AlreadyExists(std::string message) : Error(Code::already_exists, std::move(message)) {}
AlreadyExists::~AlreadyExists() = default;
OutOfRange::OutOfRange(std::string message) : Error(Code::out_of_range, std::move(message)) {}
OutOfRange::~OutOfRange() = default;
Unimplemented::Unimplemented(std::string message) : Error(Code::unimplemented, std::move(message)) {}
Unimplemented::~Unimplemented() = default;
Internal::Internal(std::string message) : Error(Code::internal, std::move(message)) {}
Internal::~Internal() = default;
DataLoss::DataLoss(std::string message) : Error(Code::data_loss, std::move(message)) {}
DataLoss::~DataLoss() = default;
ResourceExhausted::ResourceExhausted(std::string message) : Error(Code::resource_exhausted, std::move(message)) {}
ResourceExhausted::~ResourceExhausted() = default;
PermissionDenied::PermissionDenied(std::string message) : Error(Code::permission_denied, std::move(message)) {}
PermissionDenied::~PermissionDenied() = default;
Cancelled::Cancelled(std::string message) : Error(Code::cancelled, std::move(message)) {}
Cancelled::~Cancelled() = default;
Unavailable::Unavailable(std::string message) : Error(Code::unavailable, std::move(message)) {}
Unavailable::~Unavailable() = default;

}  // namespace capstan
