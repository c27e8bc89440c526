// Does a loop or a sum over parts of arrays that begin inside of tiles, slices,
// concatenations and padded arrays, make the values of the evaluator, in one
// step and in many, from HBM and from VMEM?
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/hlo_backend/lowering/drawn_hlo.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

using Sizes = DrawnDims;

// x - y and max(x - y, z) of three values of one shape, each a slice of an
// array, a concatenation of two, a padded array, or an array.
class ShiftWriter : DrawnHlo {
 public:
  using DrawnHlo::DrawnHlo;

  std::string Write() {
    const char* types[] = {"f32", "bf16", "s32", "s16"};
    type_ = types[Pick(4)];
    const Sizes shapes[] = {{3000},     {20000},      {100, 300},
                            {37, 2000}, {3, 50, 200}, {2, 3, 20, 140}};
    shape_ = shapes[Pick(6)];
    parameters_.clear();
    Clear();
    const std::string x = Value(), y = Value(), z = Value();
    std::string outer, names, arrays;
    for (size_t k = 0; k < parameters_.size(); ++k) {
      absl::StrAppend(&outer, "  q", k, " = ", parameters_[k], " parameter(", k,
                      ")\n");
      absl::StrAppend(&arrays, "  p", k, " = ", parameters_[k], " parameter(",
                      k, ")\n");
      absl::StrAppend(&names, k == 0 ? "" : ", ", "q", k);
    }
    if (type_ == "f32" && Pick(2) == 0) {
      const std::string reduced = Reduced();
      return absl::Substitute(
          "HloModule m\nsum {\n  a = f32[] parameter(0)\n"
          "  b = f32[] parameter(1)\n  ROOT r = f32[] add(a, b)\n}\n"
          "body {\n$0$1  d = $2 subtract($3, $4)\n  m = $2 maximum(d, $5)\n"
          "  c = f32[] constant(0)\n"
          "  ROOT r = $6 reduce(m, c), dimensions={$7}, to_apply=sum\n}\n"
          "ENTRY e {\n$8  ROOT f = $6 fusion($9), kind=kInput, calls=body\n}\n",
          arrays, body(), Array(type_, shape_), x, y, z, reduced, reduced_,
          outer, names);
    }
    return absl::Substitute(
        "HloModule m\nbody {\n$0$1  d = $2 subtract($3, $4)\n"
        "  s = $2 maximum(d, $5)\n"
        "  ROOT r = ($2, $2) tuple(d, s)\n}\nENTRY e {\n$6"
        "  f = ($2, $2) fusion($7), kind=kLoop, calls=body\n"
        "  f0 = $2 get-tuple-element(f), index=0\n"
        "  f1 = $2 get-tuple-element(f), index=1\n"
        "  ROOT t = ($2, $2) tuple(f0, f1)\n}\n",
        arrays, body(), Array(type_, shape_), x, y, z, outer, names);
  }
  size_t parameters() const { return parameters_.size(); }

 private:
  std::string Parameter(const Sizes& sizes) {
    parameters_.push_back(Array(type_, sizes));
    return absl::StrCat("p", parameters_.size() - 1);
  }
  // The shape without the dimensions that are summed up: all, the last, or all
  // others.
  std::string Reduced() {
    const int64_t last = static_cast<int64_t>(shape_.size()) - 1;
    const int64_t which = Pick(3);
    Sizes kept;
    std::vector<int64_t> dims;
    for (int64_t d = 0; d <= last; ++d) {
      const bool reduced = which == 0 || (which == 1) == (d == last);
      if (reduced) {
        dims.push_back(d);
      } else {
        kept.push_back(shape_[d]);
      }
    }
    if (dims.empty()) {
      dims.push_back(last);
      kept.pop_back();
    }
    reduced_ = absl::StrJoin(dims, ",");
    return Array(type_, kept);
  }

  std::string Value() {
    switch (Pick(4)) {
      case 0:
        return Parameter(shape_);
      case 1:
        return Slice(shape_);
      case 2:
        return Pad();
      default:
        return Concatenate();
    }
  }

  // Of an array that is a little larger.
  std::string Slice(const Sizes& sizes) {
    Sizes of = sizes;
    std::vector<std::string> ranges;
    for (int64_t& d : of) {
      const int64_t before = Pick(3) == 0 ? Pick(140) : 0;
      ranges.push_back(absl::StrCat("[", before, ":", before + d, "]"));
      d += before + (Pick(2) == 0 ? Pick(20) : 0);
    }
    return Add(type_, sizes,
               absl::StrCat("slice(", Parameter(of), "), slice={",
                            absl::StrJoin(ranges, ", "), "}"));
  }

  std::string Pad() {
    Sizes of = shape_;
    std::vector<std::string> dims;
    for (int64_t& d : of) {
      const int64_t low = Pick(std::min<int64_t>(d, 9));
      const int64_t high = Pick(std::min<int64_t>(d - low, 4)) - Pick(2);
      d -= low + high;
      dims.push_back(absl::StrCat(low, "_", high));
    }
    const std::string value = Add(type_, {}, "constant(3)");
    return Add(type_, shape_,
               absl::StrCat("pad(", Parameter(of), ", ", value,
                            "), padding=", absl::StrJoin(dims, "x")));
  }

  // Of an array and a slice.
  std::string Concatenate() {
    const auto d =
        static_cast<size_t>(Pick(static_cast<int64_t>(shape_.size())));
    Sizes a = shape_, b = shape_;
    a[d] = 1 + Pick(shape_[d] - 1);
    b[d] = shape_[d] - a[d];
    const std::string first = Parameter(a), second = Slice(b);
    return Add(type_, shape_,
               absl::StrCat("concatenate(", first, ", ", second,
                            "), dimensions={", d, "}"));
  }

  std::string type_, reduced_;
  std::vector<std::string> parameters_;
  Sizes shape_;
};

class ShiftedStreams : public ::testing::TestWithParam<int> {};

TEST_P(ShiftedStreams, RandomOnesGiveTheValuesOfTheEvaluator) {
  ShiftWriter writer(static_cast<uint32_t>(GetParam()) + 1);
  const bool even = GetParam() % 2 == 0;
  for (const char* name : {even ? "v3" : "v5e", even ? "v6e" : "tpu7x"}) {
    ASSERT_OK_AND_ASSIGN(const chips::ChipSpec whole,
                         chips::ChipSpec::Load(name));
    const double room = GetParam() % 4 < 2 ? 1 << 24 : 1 << 21;
    ASSERT_OK_AND_ASSIGN(const chips::ChipSpec chip,
                         whole.WithValue("vmem.scoped_limit", room));
    const std::string hlo = writer.Write();
    std::vector<int> all;
    for (size_t k = 0; k < writer.parameters(); ++k) {
      all.push_back(static_cast<int>(k));
    }
    for (const std::vector<int>& in_vmem : {std::vector<int>{}, {0}, all}) {
      HarnessOptions options;
      options.spec = &chip;
      options.in_vmem = in_vmem;
      options.low = -50;
      options.high = 50;
      EXPECT_OK(CompareKernel(hlo, options).status())
          << name << " " << absl::StrJoin(in_vmem, ",") << "\n"
          << hlo;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, ShiftedStreams, ::testing::Range(0, 12));

// The exponentials of a softmax need its maxima: the part is walked twice.
TEST(ShiftedStreams, APartIsThereForEveryWalk) {
  const std::string hlo = R"(
    HloModule m
    sum {
      a = f32[] parameter(0)
      b = f32[] parameter(1)
      ROOT r = f32[] add(a, b)
    }
    max {
      a = f32[] parameter(0)
      b = f32[] parameter(1)
      ROOT r = f32[] maximum(a, b)
    }
    body {
      x = f32[260,300] parameter(0)
      y = f32[253,290] slice(x), slice={[5:258], [7:297]}
      least = f32[] constant(-inf)
      m = f32[253] reduce(y, least), dimensions={1}, to_apply=max
      all = f32[253,290] broadcast(m), dimensions={0}
      d = f32[253,290] subtract(y, all)
      e = f32[253,290] exponential(d)
      zero = f32[] constant(0)
      ROOT r = f32[253] reduce(e, zero), dimensions={1}, to_apply=sum
    }
    ENTRY e {
      x = f32[260,300] parameter(0)
      ROOT f = f32[253] fusion(x), kind=kInput, calls=body
    })";
  for (const char* chip : {"v3", "v4", "v6e"}) {
    for (const std::vector<int>& in_vmem : {std::vector<int>{}, {0}}) {
      HarnessOptions options;
      options.chip = chip;
      options.in_vmem = in_vmem;
      EXPECT_OK(CompareKernel(hlo, options).status()) << chip;
    }
  }
}

}  // namespace
}  // namespace ptxla::lowering
