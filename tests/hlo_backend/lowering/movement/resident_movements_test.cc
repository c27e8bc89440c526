// Can every movement that memory-space assignment leaves values in VMEM for
// read them there, and make its result there? Random ragged shapes.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo_backend/analysis/buffer_plan.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/lowering/movement/box_mover.h"
#include "hlo_backend/passes/memory/vmem_kernels.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/hlo_backend/lowering/drawn_hlo.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

using Dims = DrawnDims;

class Movements : DrawnHlo {
 public:
  using DrawnHlo::DrawnHlo;

  std::string Type() {
    static constexpr const char* kTypes[] = {"f32", "bf16", "s32", "u8"};
    return kTypes[Pick(4)];
  }

  Dims Shape(int most_rank = 4) {
    static constexpr int kSizes[] = {1, 2, 3, 5, 7, 8, 9, 16, 17, 33};
    static constexpr int kLanes[] = {1, 4, 40, 127, 128, 130, 256, 300};
    while (true) {
      Dims dims(1 + Pick(most_rank));
      for (int64_t& d : dims) d = kSizes[Pick(10)];
      dims.back() = kLanes[Pick(8)];
      if (dims.size() > 1 && Pick(2) == 0) dims[dims.size() - 2] = 1 + Pick(60);
      int64_t elements = 1;
      for (int64_t d : dims) elements *= d;
      if (elements <= 40000) return dims;
    }
  }

  std::string Module(const std::vector<std::string>& parameters,
                     const std::string& root, const std::string& before = "") {
    std::string text = "HloModule m\nENTRY e {\n";
    for (size_t k = 0; k < parameters.size(); ++k) {
      absl::StrAppend(&text, "  p", k, " = ", parameters[k], " parameter(", k,
                      ")\n");
    }
    return absl::StrCat(text, before, "  ROOT r = ", root, "\n}\n");
  }

  std::string Slice() {
    const std::string type = Type();
    const Dims from = Shape();
    Dims to;
    std::vector<std::string> cuts;
    for (int64_t d : from) {
      const int64_t start = Pick(d);
      const int64_t limit = start + 1 + Pick(d - start);
      to.push_back(limit - start);
      cuts.push_back(absl::StrCat("[", start, ":", limit, "]"));
    }
    return Module({Array(type, from)},
                  absl::StrCat(Array(type, to), " slice(p0), slice={",
                               absl::StrJoin(cuts, ","), "}"));
  }

  std::string Pad() {
    const std::string type = Type();
    const Dims from = Shape();
    Dims to;
    std::vector<std::string> sides;
    for (int64_t d : from) {
      const int64_t low = Pick(4), high = Pick(4);
      to.push_back(d + low + high);
      sides.push_back(absl::StrCat(low, "_", high));
    }
    return Module({Array(type, from)},
                  absl::StrCat(Array(type, to), " pad(p0, z), padding=",
                               absl::StrJoin(sides, "x")),
                  absl::StrCat("  z = ", type, "[] constant(1)\n"));
  }

  std::string Concatenate() {
    const std::string type = Type();
    const Dims one = Shape();
    Dims other = one, all = one;
    const auto at = static_cast<size_t>(Pick(static_cast<int64_t>(one.size())));
    other[at] = 1 + Pick(40);
    all[at] += other[at];
    return Module({Array(type, one), Array(type, other)},
                  absl::StrCat(Array(type, all),
                               " concatenate(p0, p1), dimensions={", at, "}"));
  }

  std::string DynamicSlice() {
    const std::string type = Type();
    const Dims from = Shape();
    Dims to;
    std::vector<std::string> parameters = {Array(type, from)}, names;
    for (int64_t d : from) {
      to.push_back(1 + Pick(d));
      names.push_back(absl::StrCat("p", parameters.size()));
      parameters.push_back("s32[]");
    }
    return Module(
        parameters,
        absl::StrCat(Array(type, to), " dynamic-slice(p0, ",
                     absl::StrJoin(names, ", "), "), dynamic_slice_sizes={",
                     absl::StrJoin(to, ","), "}"));
  }

  std::string DynamicUpdate() {
    const std::string type = Type();
    const Dims all = Shape();
    Dims part;
    for (int64_t d : all) part.push_back(1 + Pick(d));
    std::vector<std::string> parameters = {Array(type, all), Array(type, part)};
    std::vector<std::string> names;
    for (size_t k = 0; k < all.size(); ++k) {
      names.push_back(absl::StrCat("p", parameters.size()));
      parameters.push_back("s32[]");
    }
    return Module(parameters, absl::StrCat(Array(type, all),
                                           " dynamic-update-slice(p0, p1, ",
                                           absl::StrJoin(names, ", "), ")"));
  }

  std::string Gather() {
    const int64_t rows = 2 + Pick(60), lanes = 1 + Pick(300);
    const int64_t count = 8 * (1 + Pick(5));
    return Module({Array("f32", {rows, lanes}), Array("s32", {count})},
                  absl::StrCat(Array("f32", {count, lanes}),
                               " gather(p0, p1), offset_dims={1}, "
                               "collapsed_slice_dims={0}, start_index_map={0}, "
                               "index_vector_dim=1, slice_sizes={1,",
                               lanes, "}"));
  }
};

// Every way to put arrays into VMEM: what is updated in place lies where its
// result does.
std::vector<std::vector<int>> Places(const hlo::Instruction& root) {
  const bool in_place = hlo::InPlaceOperand(root) == 0;
  std::vector<int> arrays;
  for (int k = 0; k < root.operand_count(); ++k) {
    if (!root.operand(k)->shape().IsScalar() &&
        hlo::ReadsInVmem(root, *root.operand(k))) {
      arrays.push_back(k);
    }
  }
  const int result = root.operand_count();
  std::vector<int> all = arrays;
  all.push_back(result);
  if (in_place) return {{0, result}, {1}, all};
  if (arrays.empty()) return {{result}};
  return {arrays, {result}, all};
}

class ResidentMovements : public ::testing::TestWithParam<int> {};

TEST_P(ResidentMovements, KernelsFindTheirArraysInVmem) {
  Movements m(GetParam() + 1);
  for (const std::string& text :
       {m.Slice(), m.Pad(), m.Concatenate(), m.DynamicSlice(),
        m.DynamicUpdate(), m.Gather()}) {
    ASSERT_OK_AND_ASSIGN(auto module, hlo::ParseModule(text));
    const hlo::Instruction& root = *module->entry()->root();
    if (!hlo::MayLieInVmem(root)) continue;
    for (const std::vector<int>& places : Places(root)) {
      for (const char* chip : {"v5e", "v6e"}) {
        HarnessOptions options;
        options.chip = chip;
        options.in_vmem = places;
        options.low = 0;
        const absl::Status status = CompareKernel(text, options).status();
        // Refused, it is done in HBM (lower_module.cc).
        if (absl::IsUnimplemented(status)) {
          options.in_vmem.clear();
          EXPECT_OK(CompareKernel(text, options).status()) << text;
          continue;
        }
        EXPECT_OK(status) << chip << " " << absl::StrJoin(places, ",") << "\n"
                          << text;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, ResidentMovements, ::testing::Range(0, 24));

// Strips of one column of tiles are the array itself: nothing is copied to
// where the code could have read or stored it.
TEST(ResidentMovements, OneColumnOfTilesNeedsNoTransfers) {
  const auto descriptors = [](const std::string& root, int result = 2) {
    HarnessOptions options;
    options.chip = "v5e";
    options.in_vmem = {0, result};
    options.low = 0;
    options.emit = EmitBoxMover;
    return KernelOf(absl::StrCat("HloModule m\nENTRY e {\n"
                                 "  p0 = f32[6,5,40,72] parameter(0)\n"
                                 "  z = f32[] constant(1)\n",
                                 root, "\n}\n"),
                    options);
  };
  // What lies beyond the operand is not read: it comes by a transfer.
  ASSERT_OK_AND_ASSIGN(isa::Kernel pad,
                       descriptors("ROOT r = f32[6,8,40,72] pad(p0, z), "
                                   "padding=0_0x1_2x0_0x0_0"));
  EXPECT_EQ(pad.descriptors.size(), 1);
  ASSERT_OK_AND_ASSIGN(isa::Kernel rows,
                       descriptors("ROOT r = f32[6,5,64,72] pad(p0, z), "
                                   "padding=0_0x0_0x0_24x0_0"));
  EXPECT_EQ(rows.descriptors.size(), 1);
  ASSERT_OK_AND_ASSIGN(isa::Kernel slice,
                       descriptors("ROOT r = f32[6,3,40,72] slice(p0), "
                                   "slice={[0:6], [1:4], [0:40], [0:72]}",
                                   1));
  EXPECT_EQ(slice.descriptors.size(), 0);
}

// A part of the lanes of an array in VMEM is read where it lies.
TEST(ResidentMovements, SlicesOfLanesNeedNoTransfers) {
  HarnessOptions options;
  options.chip = "v6e";
  options.in_vmem = {0};
  options.low = 0;
  ASSERT_OK_AND_ASSIGN(
      isa::Kernel slice,
      KernelOf("HloModule m\nENTRY e {\n"
               "  p0 = bf16[512,768] parameter(0)\n"
               "  ROOT r = bf16[512,256] slice(p0), slice={[0:512], "
               "[256:512]}\n}\n",
               options));
  EXPECT_EQ(slice.descriptors.size(), 0);
}

}  // namespace
}  // namespace ptxla::lowering
