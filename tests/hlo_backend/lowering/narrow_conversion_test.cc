// Bytes in vector kernels: how they are read, made and written, chip by chip.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/substitute.h"
#include "isa/from_chip_spec.h"
#include "isa/timing.h"
#include "tests/hlo_backend/lowering/binary_operation.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

constexpr const char* kChips[] = {"v2",  "v3",  "v4",    "v5e",
                                  "v5p", "v6e", "tpu7x", "unit"};

std::string Convert(absl::string_view from, absl::string_view to,
                    absl::string_view dims) {
  return absl::Substitute(R"(HloModule m
ENTRY e {
  a = $0[$2] parameter(0)
  ROOT r = $1[$2] convert(a)
})",
                          from, to, dims);
}

struct Case {
  const char *from, *to;
  double range;
};

// Numbers beyond the type that are read where they are made.
TEST(NarrowConversionTest, PositionsBeyondATypeBeginAgainOrAreRounded) {
  for (const char* chip : kChips) {
    for (const char* type : {"s8", "u8", "s16", "f8e5m2", "f8e4m3fn"}) {
      for (const int dim : {0, 1}) {
        HarnessOptions options;
        options.chip = chip;
        EXPECT_OK(CompareKernel(absl::Substitute(R"(HloModule m
fused {
  i = $0[300,270] iota(), iota_dimension=$1
  ROOT r = f32[300,270] convert(i)
}
ENTRY e {
  ROOT f = f32[300,270] fusion(), kind=kLoop, calls=fused
})",
                                                 type, dim),
                                options)
                      .status())
            << chip << " " << type << " " << dim;
      }
    }
  }
}

TEST(NarrowConversionTest, ConversionsOfRaggedShapesEqualTheEvaluator) {
  constexpr Case kCases[] = {
      {"f32", "s8", 300},
      {"f32", "u8", 300},
      {"f32", "s32", 5e9},
      {"s8", "f32", 128},
      {"u8", "s32", 128},
      {"s32", "s8", 1000},
      {"f32", "f8e5m2", 1e5},
      {"f32", "f8e5m2", 4},
      {"f32", "f8e5m2", 1e-4},
      {"bf16", "f8e5m2", 9e4},
      {"f8e5m2", "f32", 8},
      {"f8e5m2", "bf16", 5e4},
      {"f8e5m2", "f16", 1e-4},
      {"f16", "s8", 200},
      {"f32", "s16", 40000},
      {"f32", "f8e4m3fn", 900},
      {"f32", "f8e4m3fn", 0.03},
      {"f8e4m3fn", "bf16", 400},
      {"s32", "f8e4m3fn", 500},
      {"f32", "f8e4m3b11fnuz", 50},
      {"bf16", "f8e4m3b11fnuz", 1e-3},
      {"f8e4m3b11fnuz", "f32", 9},
      {"f32", "f8e3m4", 20},
      {"f8e4m3", "f32", 200},
      {"f32", "f8e5m2fnuz", 9e4},
  };
  for (const char* chip : kChips) {
    for (const Case& c : kCases) {
      for (const char* dims :
           {"1", "1000", "5000", "7,129", "33,300", "2,70,385", "127,1000"}) {
        HarnessOptions options;
        options.chip = chip;
        options.low = -c.range;
        options.high = c.range;
        EXPECT_OK(CompareKernel(Convert(c.from, c.to, dims), options).status())
            << chip << " " << c.from << " " << c.to << " " << dims;
      }
    }
  }
}

// Half bytes, eight rows to a word; v2 and v3 keep them in bytes of their own.
TEST(NarrowConversionTest, HalfBytesEqualTheEvaluator) {
  constexpr Case kCases[] = {
      {"s4", "bf16", 8},          {"u4", "f32", 15},
      {"f32", "s4", 20},          {"bf16", "u4", 20},
      {"s8", "s4", 99},           {"u4", "s32", 15},
      {"f32", "f4e2m1fn", 8},     {"bf16", "f4e2m1fn", 1},
      {"f4e2m1fn", "f32", 6},     {"f4e2m1fn", "bf16", 6},
      {"f4e2m1fn", "f8e4m3fn", 6}};
  for (const char* chip : {"v4", "v5e", "v6e", "tpu7x"}) {
    for (const Case& c : kCases) {
      for (const char* dims : {"1", "5000", "7,129", "33,300", "3,64,130",
                               "2,16,256", "40,32,128", "127,1000"}) {
        HarnessOptions options;
        options.chip = chip;
        options.low = -c.range;
        options.high = c.range;
        EXPECT_OK(CompareKernel(Convert(c.from, c.to, dims), options).status())
            << chip << " " << c.from << " " << c.to << " " << dims;
        options.in_vmem = {0, 1};
        EXPECT_OK(CompareKernel(Convert(c.from, c.to, dims), options).status())
            << chip << " " << c.from << " " << c.to << " " << dims << " VMEM";
      }
    }
  }
}

// Bytes in VMEM are read and written where they lie, and nothing beyond them.
TEST(NarrowConversionTest, BytesInVmemEqualTheEvaluator) {
  for (const char* chip : kChips) {
    for (const char* dims : {"7,129", "33,300", "5000", "3,40,130"}) {
      HarnessOptions options;
      options.chip = chip;
      options.low = -300;
      options.high = 300;
      options.in_vmem = {0, 1};
      for (const char* type : {"s8", "f8e5m2", "f8e4m3fn"}) {
        EXPECT_OK(CompareKernel(Convert("f32", type, dims), options).status())
            << chip << " " << type << " " << dims;
        EXPECT_OK(CompareKernel(Convert(type, "f32", dims), options).status())
            << chip << " " << type << " " << dims;
      }
    }
  }
}

// Sums of narrow integers wrap when they are stored, not before.
TEST(NarrowConversionTest, NarrowIntegersWrapWhereTheyAreStored) {
  for (const char* chip : kChips) {
    for (const char* type : {"s8", "u8", "s16", "u16"}) {
      for (const char* op : {"add", "multiply", "subtract"}) {
        HarnessOptions options;
        options.chip = chip;
        options.low = -127;
        options.high = 127;
        for (const char* dims : {"5000", "33,300", "4,9,140"}) {
          EXPECT_OK(
              CompareKernel(BinaryOperation(op, type, dims), options).status())
              << chip << " " << type << " " << op << " " << dims;
        }
      }
    }
  }
}

// What a kernel computes of an f8 has its two or three bits of fraction.
TEST(NarrowConversionTest, FloatsOf8BitsAreRoundedInsideOfAKernel) {
  for (const char* chip : kChips) {
    for (const char* type : {"f8e5m2", "f8e4m3fn", "f8e4m3b11fnuz"}) {
      for (const char* from : {"f32", "s32"}) {
        HarnessOptions options;
        options.chip = chip;
        options.low = -29;
        options.high = 29;
        EXPECT_OK(CompareKernel(absl::Substitute(R"(HloModule m
f {
  p = $1[33,300] parameter(0)
  a = $0[33,300] convert(p)
  ROOT r = s32[33,300] convert(a)
}
ENTRY e {
  p = $1[33,300] parameter(0)
  ROOT r = s32[33,300] fusion(p), kind=kLoop, calls=f
})",
                                                 type, from),
                                options))
            << chip << " " << type << " " << from;
      }
    }
  }
}

// A row for all rows, a number for each row, and a single one.
TEST(NarrowConversionTest, BroadcastFloatsOf8BitsEqualTheEvaluator) {
  for (const char* chip : kChips) {
    for (const char* type : {"f8e5m2", "f8e4m3fn"}) {
      for (const char* operand : {"[300] 1", "[33] 0", "[] "}) {
        const std::string text = operand;
        HarnessOptions options;
        options.chip = chip;
        options.low = -9;
        options.high = 9;
        EXPECT_OK(
            CompareKernel(absl::Substitute(R"(HloModule m
f {
  p = f32[33,300] parameter(0)
  a = $0$1 parameter(1)
  w = f32$1 convert(a)
  b = f32[33,300] broadcast(w), dimensions={$2}
  ROOT r = f32[33,300] add(p, b)
}
ENTRY e {
  p = f32[33,300] parameter(0)
  a = $0$1 parameter(1)
  ROOT r = f32[33,300] fusion(p, a), kind=kLoop, calls=f
})",
                                           type, text.substr(0, text.find(' ')),
                                           text.substr(text.find(' ') + 1)),
                          options))
            << chip << " " << type << operand;
      }
    }
  }
}

// Vector operations per 1,024 numbers (tpu_slots.md, section 4).
TEST(NarrowConversionTest, OperationsAreThePublishedOnes) {
  const std::string dims = "256,512";
  struct Row {
    std::string text;
    const char* chip;
    double operations;
  };
  const Row rows[] = {
      {Convert("f32", "s8", dims), "v3", 10},
      {Convert("f32", "s8", dims), "v4", 10},
      {Convert("f32", "s8", dims), "v5e", 9},
      {Convert("f32", "s8", dims), "v6e", 5},
      {Convert("s8", "f32", dims), "v3", 4},
      {Convert("s8", "f32", dims), "v5e", 2},
      {Convert("f32", "s32", dims), "v4", 1},
      {Convert("f32", "s32", dims), "v5p", 5},
      {Convert("f32", "s32", dims), "tpu7x", 2},
      {Convert("f32", "f8e5m2", dims), "v4", 25},
      {Convert("f32", "f8e5m2", dims), "v5e", 3},
      {Convert("f8e5m2", "f32", dims), "v6e", 1},
      {BinaryOperation("add", "s8", dims), "v3", 14},
      {BinaryOperation("add", "s8", dims), "v5e", 5},
      {BinaryOperation("add", "s16", "131072"), "v5e", 3.5},
  };
  for (const Row& row : rows) {
    HarnessOptions options;
    options.chip = row.chip;
    auto kernel = KernelOf(row.text, options);
    ASSERT_OK(kernel.status()) << row.chip << row.text;
    ASSERT_OK_AND_ASSIGN(const auto chip, chips::ChipSpec::Load(row.chip));
    const isa::MachineModel machine = isa::FromChipSpec(chip);
    const auto profile = isa::ProfileCode(kernel->step, machine);
    const double tiles = 128.0 / static_cast<double>(kernel->NumSteps());
    EXPECT_NEAR(profile.slot_uses[static_cast<int>(isa::Slot::kVector)] / tiles,
                row.operations, 0.05 * row.operations + 0.1)
        << row.chip << row.text;
  }
}

}  // namespace
}  // namespace ptxla::lowering
