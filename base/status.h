// Macros and helpers over absl::Status, named as in newer Abseil releases
// (Debian's has neither the macros nor a StatusBuilder).
//
//   absl::StatusOr<Module> Load(const std::string& path) {
//     ASSIGN_OR_RETURN(std::string text, ReadFile(path));
//     ASSIGN_OR_RETURN(Module m, Parse(text), _ << "while reading " << path);
//     RETURN_IF_ERROR(Verify(m)) << "while verifying " << path;
//     return m;
//   }
//
// Context is put in front: "while reading a.hlo: 3:7: expected a shape".
// What each code means to the user (and the exit code it becomes):
//   InvalidArgument    the user's input is wrong                        2
//   NotFound           a name or file does not exist                    2
//   ResourceExhausted  does not fit in the memory of the chip           3
//   Unimplemented      valid, but not supported; names the instruction  5
//   Internal           our own bug                                      4
#ifndef PTXLA_BASE_STATUS_H_
#define PTXLA_BASE_STATUS_H_

#include <sstream>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace ptxla {

// `status` with "context: " in front of its message; OK stays OK. Keeps
// payloads.
absl::Status AddContext(const absl::Status& status, absl::string_view context);

// Collects context with << and converts to Status or StatusOr<T>.
class StatusBuilder {
 public:
  explicit StatusBuilder(absl::Status status) : status_(std::move(status)) {}

  template <class T>
  StatusBuilder& operator<<(const T& part) & {
    context_ << part;
    return *this;
  }
  template <class T>
  StatusBuilder&& operator<<(const T& part) && {
    context_ << part;
    return std::move(*this);
  }
  operator absl::Status() const {  // NOLINT(google-explicit-constructor)
    return Build();
  }
  template <class T>
  operator absl::StatusOr<T>() const {  // NOLINT(google-explicit-constructor)
    return Build();
  }

 private:
  absl::Status Build() const {
    const std::string context = context_.str();
    return context.empty() ? status_ : AddContext(status_, context);
  }

  absl::Status status_;
  std::ostringstream context_;
};

}  // namespace ptxla

#define PTXLA_CONCAT_(a, b) a##b
#define PTXLA_CONCAT(a, b) PTXLA_CONCAT_(a, b)

// A `for` that leaves in its first round: it nests under an `if` without
// braces, where an `if ... else` would be ambiguous.
#define RETURN_IF_ERROR(expr)                                   \
  for (absl::Status ptxla_status = (expr); !ptxla_status.ok();) \
  return ::ptxla::StatusBuilder(std::move(ptxla_status))

#define PTXLA_ASSIGN_OR_RETURN_2(lhs, expr) \
  PTXLA_ASSIGN_OR_RETURN_3(lhs, expr, _)
#define PTXLA_ASSIGN_OR_RETURN_3(lhs, expr, error)                            \
  PTXLA_ASSIGN_OR_RETURN_(PTXLA_CONCAT(ptxla_statusor_, __LINE__), lhs, expr, \
                          error)
#define PTXLA_ASSIGN_OR_RETURN_(tmp, lhs, expr, error) \
  auto tmp = (expr);                                   \
  if (!tmp.ok()) {                                     \
    ::ptxla::StatusBuilder _(std::move(tmp).status()); \
    return error;                                      \
  }                                                    \
  lhs = std::move(tmp).value()
#define PTXLA_PICK_(a, b, c, name, ...) name
// The optional third argument is an expression over `_`, the StatusBuilder.
// A type with a comma in it needs an alias or `auto`.
#define ASSIGN_OR_RETURN(...)                                                  \
  PTXLA_PICK_(__VA_ARGS__, PTXLA_ASSIGN_OR_RETURN_3, PTXLA_ASSIGN_OR_RETURN_2, \
              unused)                                                          \
  (__VA_ARGS__)

#endif  // PTXLA_BASE_STATUS_H_
