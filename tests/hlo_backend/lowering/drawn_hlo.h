// What writers of random HLO text share: numbers drawn from a seed, arrays as
// HLO writes them, and lines of a computation.
//
//   class Writer : public DrawnHlo { ... Add("f32", {8, 128}, "negate(p0)") ...
#ifndef PTXLA_TESTS_HLO_BACKEND_LOWERING_DRAWN_HLO_H_
#define PTXLA_TESTS_HLO_BACKEND_LOWERING_DRAWN_HLO_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"

namespace ptxla::lowering {

using DrawnDims = std::vector<int64_t>;

class DrawnHlo {
 public:
  explicit DrawnHlo(uint32_t seed) : random_(seed) {}

 protected:
  // From 0 to n - 1.
  int64_t Pick(int64_t n) {
    return std::uniform_int_distribution<int64_t>(0, n - 1)(random_);
  }
  static std::string Array(absl::string_view type, const DrawnDims& dims) {
    return absl::StrCat(type, "[", absl::StrJoin(dims, ","), "]");
  }
  // A line of the body; its name.
  std::string Add(absl::string_view type, const DrawnDims& dims,
                  absl::string_view what) {
    const std::string name = absl::StrCat("v", count_++);
    absl::StrAppend(&body_, "  ", name, " = ", Array(type, dims), " ", what,
                    "\n");
    return name;
  }
  void Clear() {
    body_.clear();
    count_ = 0;
  }
  const std::string& body() const { return body_; }

 private:
  std::mt19937 random_;
  std::string body_;
  int count_ = 0;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_TESTS_HLO_BACKEND_LOWERING_DRAWN_HLO_H_
