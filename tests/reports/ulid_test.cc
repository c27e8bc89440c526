#include "reports/ulid.h"

#include "gtest/gtest.h"

namespace ptxla::reports {
namespace {

TEST(UlidTest, HasTheDocumentedLayout) {
  EXPECT_EQ(Ulid(0, 0, 0), std::string(26, '0'));
  // The example of the ULID specification: 1469918176385 ms is 01ARYZ6S41.
  EXPECT_EQ(Ulid(1469918176385, 0, 0).substr(0, 10), "01ARYZ6S41");
  EXPECT_EQ(Ulid(0, 0xffff, ~uint64_t{0}), "0000000000ZZZZZZZZZZZZZZZZ");
  EXPECT_EQ(Ulid(0, 1, 0), "0000000000000G000000000000");
}

TEST(UlidTest, SortsByTime) { EXPECT_LT(Ulid(1, 0xffff, 7), Ulid(2, 0, 0)); }

TEST(UlidTest, TwoOfOneMillisecondDiffer) { EXPECT_NE(NewUlid(5), NewUlid(5)); }

}  // namespace
}  // namespace ptxla::reports
