// CHECK(condition) << "context": for our own bugs only; prints file, line and
// condition to stderr and aborts. What a user can cause is an absl::Status.
#ifndef PTXLA_BASE_CHECK_H_
#define PTXLA_BASE_CHECK_H_

#include <sstream>

namespace ptxla::internal {

class CheckFailure {
 public:
  CheckFailure(const char* file, int line, const char* condition);
  [[noreturn]] ~CheckFailure();
  std::ostream& stream() { return message_; }

 private:
  std::ostringstream message_;
};

struct Voidify {
  void operator&(std::ostream&) {}
};

}  // namespace ptxla::internal

#define CHECK(condition)                                                    \
  (condition)                                                               \
      ? (void)0                                                             \
      : ::ptxla::internal::Voidify() &                                      \
            ::ptxla::internal::CheckFailure(__FILE__, __LINE__, #condition) \
                .stream()
#define CHECK_EQ(a, b) CHECK((a) == (b)) << (a) << " vs " << (b) << " "
#define CHECK_NE(a, b) CHECK((a) != (b)) << (a) << " vs " << (b) << " "
#define CHECK_LT(a, b) CHECK((a) < (b)) << (a) << " vs " << (b) << " "
#define CHECK_LE(a, b) CHECK((a) <= (b)) << (a) << " vs " << (b) << " "
#define CHECK_GE(a, b) CHECK((a) >= (b)) << (a) << " vs " << (b) << " "

#endif  // PTXLA_BASE_CHECK_H_
