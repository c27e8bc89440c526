// Does a concatenation that takes its parts where they are, slices of arrays
// and concatenations of such, put every element where HLO says, in one block
// and in many, in HBM and in VMEM?
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "hlo_backend/lowering/movement/box_mover.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/hlo_backend/lowering/drawn_hlo.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

using Dims = DrawnDims;

// Arrays p0 and p1; concatenations of slices of them, of each other, and of
// slices of concatenations.
class JoinWriter : DrawnHlo {
 public:
  using DrawnHlo::DrawnHlo;

  std::string Write() {
    const char* types[] = {"f32", "bf16", "s8", "s32"};
    type_ = types[Pick(4)];
    const Dims shapes[] = {{3000}, {100, 300}, {3, 50, 200}, {2, 3, 40, 140}};
    shape_ = shapes[Pick(4)];
    Clear();
    Dims dims;
    const std::string root = Join(1, &dims);
    const std::string p = Array(type_, shape_);
    return absl::Substitute(
        "HloModule m\nbody {\n  p0 = $0 parameter(0)\n  p1 = $0 parameter(1)\n"
        "$1  ROOT r = $2 copy($3)\n}\nENTRY e {\n  a = $0 parameter(0)\n"
        "  b = $0 parameter(1)\n"
        "  ROOT f = $2 fusion(a, b), kind=kLoop, calls=body\n}\n",
        p, body(), Array(type_, dims), root);
  }

 private:
  std::string Slice(const std::string& of, Dims* dims, size_t keep,
                    const Dims& kept) {
    std::vector<std::string> parts;
    for (size_t d = 0; d < dims->size(); ++d) {
      const int64_t size = d == keep ? 1 + Pick((*dims)[d]) : kept[d];
      const int64_t start = Pick((*dims)[d] - size + 1);
      parts.push_back(absl::StrCat("[", start, ":", start + size, "]"));
      (*dims)[d] = size;
    }
    return Add(type_, *dims,
               absl::StrCat("slice(", of, "), slice={",
                            absl::StrJoin(parts, ", "), "}"));
  }

  // Of two or three parts along one dimension.
  std::string Join(int depth, Dims* dims) {
    std::string from;
    Dims of = shape_;
    if (depth > 0 && Pick(2) == 0) {
      from = Join(depth - 1, &of);
    }
    const auto d = static_cast<size_t>(Pick(static_cast<int64_t>(of.size())));
    Dims kept = of;
    for (size_t e = 0; e < kept.size(); ++e) {
      if (e != d && Pick(3) == 0) kept[e] = 1 + Pick(kept[e]);
    }
    std::vector<std::string> parts;
    *dims = kept;
    (*dims)[d] = 0;
    const int64_t count = 2 + Pick(2);
    for (int64_t k = 0; k < count; ++k) {
      Dims part = of;
      const std::string source =
          !from.empty() ? from : absl::StrCat("p", Pick(2));
      parts.push_back(Slice(source, &part, d, kept));
      (*dims)[d] += part[d];
    }
    return Add(type_, *dims,
               absl::StrCat("concatenate(", absl::StrJoin(parts, ", "),
                            "), dimensions={", d, "}"));
  }

  std::string type_;
  Dims shape_;
};

// With so little room that results are cut into many blocks, or with much.
HarnessOptions Options(const chips::ChipSpec& chip, std::vector<int> in_vmem) {
  HarnessOptions options;
  options.spec = &chip;
  options.in_vmem = std::move(in_vmem);
  options.low = -100;
  options.high = 100;
  options.emit = EmitBoxMover;
  return options;
}

class JoinedSlices : public ::testing::TestWithParam<int> {};

TEST_P(JoinedSlices, RandomOnesMoveEveryElement) {
  JoinWriter writer(static_cast<uint32_t>(GetParam()) + 1);
  for (const char* name : {"v3", "v5e", "v6e"}) {
    ASSERT_OK_AND_ASSIGN(const chips::ChipSpec whole,
                         chips::ChipSpec::Load(name));
    for (const double room : {double{3 << 19}, double{1 << 23}}) {
      ASSERT_OK_AND_ASSIGN(const chips::ChipSpec chip,
                           whole.WithValue("vmem.scoped_limit", room));
      const std::string hlo = writer.Write();
      for (const std::vector<int>& in_vmem :
           {std::vector<int>{}, {0}, {2}, {0, 1, 2}}) {
        EXPECT_OK(CompareKernel(hlo, Options(chip, in_vmem)).status())
            << name << " " << room << " " << absl::StrJoin(in_vmem, ",") << "\n"
            << hlo;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, JoinedSlices, ::testing::Range(0, 24));

// A roll by rows and lanes, of blocks of which each has a part of one source
// and only the first has some of the others.
TEST(JoinedSlices, ARollHasOneKernel) {
  const std::string hlo = R"(
    HloModule m
    body {
      x = f32[1100,640] parameter(0)
      a = f32[3,640] slice(x), slice={[1097:1100], [0:640]}
      b = f32[1097,640] slice(x), slice={[0:1097], [0:640]}
      rows = f32[1100,640] concatenate(a, b), dimensions={0}
      c = f32[1100,5] slice(rows), slice={[0:1100], [635:640]}
      d = f32[1100,635] slice(rows), slice={[0:1100], [0:635]}
      ROOT r = f32[1100,640] concatenate(c, d), dimensions={1}
    }
    ENTRY e {
      x = f32[1100,640] parameter(0)
      ROOT f = f32[1100,640] fusion(x), kind=kLoop, calls=body
    })";
  for (const char* chip : {"v5e", "tpu7x"}) {
    for (const std::vector<int>& in_vmem :
         {std::vector<int>{}, {0}, {1}, {0, 1}}) {
      HarnessOptions options;
      options.chip = chip;
      options.in_vmem = in_vmem;
      EXPECT_OK(CompareKernel(hlo, options).status())
          << chip << " " << absl::StrJoin(in_vmem, ",");
    }
  }
}

}  // namespace
}  // namespace ptxla::lowering
