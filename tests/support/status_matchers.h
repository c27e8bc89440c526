// gMock matchers for absl::Status and StatusOr, named as in newer Abseil.
//
//   EXPECT_THAT(Parse("add("), StatusIs(absl::StatusCode::kInvalidArgument,
//                                       HasSubstr("1:5")));
//   ASSERT_OK_AND_ASSIGN(Module m, Parse(text));
#ifndef PTXLA_TESTS_SUPPORT_STATUS_MATCHERS_H_
#define PTXLA_TESTS_SUPPORT_STATUS_MATCHERS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ptxla::testing {

inline const absl::Status& GetStatus(const absl::Status& status) {
  return status;
}
template <class T>
const absl::Status& GetStatus(const absl::StatusOr<T>& status) {
  return status.status();
}

MATCHER(IsOk, "is OK") {
  if (GetStatus(arg).ok()) return true;
  *result_listener << GetStatus(arg);
  return false;
}

MATCHER_P2(StatusIs, code, message_matcher, "has the status code and message") {
  const absl::Status& status = GetStatus(arg);
  *result_listener << status;
  return status.code() == code &&
         ::testing::Matches(message_matcher)(std::string(status.message()));
}

}  // namespace ptxla::testing

#define EXPECT_OK(expr) EXPECT_THAT(expr, ::ptxla::testing::IsOk())
#define ASSERT_OK(expr) ASSERT_THAT(expr, ::ptxla::testing::IsOk())
#define ASSERT_OK_AND_ASSIGN(lhs, expr) \
  PTXLA_ASSERT_OK_AND_ASSIGN_(PTXLA_CONCAT(ptxla_or_, __LINE__), lhs, expr)
#define PTXLA_ASSERT_OK_AND_ASSIGN_(tmp, lhs, expr) \
  auto tmp = (expr);                                \
  ASSERT_OK(tmp);                                   \
  lhs = std::move(tmp).value()

#endif  // PTXLA_TESTS_SUPPORT_STATUS_MATCHERS_H_
