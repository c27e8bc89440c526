// Rows that a movement steps over, or puts apart, are moved where they are, in
// blocks of which the last may be cut off.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "hlo_backend/lowering/movement/mover.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

absl::StatusOr<isa::Kernel> Emit(const KernelContext& context,
                                 const hlo::Instruction& i) {
  return EmitMover(context, i);
}

void ExpectMoved(const std::string& text) {
  for (const char* chip : {"v3", "v4", "v5e", "v6e", "tpu7x"}) {
    HarnessOptions options;
    options.chip = chip;
    options.emit = Emit;
    EXPECT_OK(CompareKernel(text, options).status()) << chip << text;
  }
}

TEST(SteppedRowsTest, SlicesTakeEveryFewRows) {
  struct Case {
    const char *from, *to, *rows, *others;
  };
  for (const Case& c : {
           Case{"f32[10001,120]", "f32[5001,120]", "[0:10001:2]", ", [0:120]"},
           Case{"f32[6000,300]", "f32[1999,300]", "[1:5998:3]", ", [0:300]"},
           Case{"bf16[20003,100]", "bf16[10001,100]", "[1:20003:2]",
                ", [0:100]"},
           Case{"s8[4097,513]", "s8[1366,513]", "[0:4097:3]", ", [0:513]"},
       }) {
    ExpectMoved(
        absl::Substitute("HloModule m\nENTRY e {\n  x = $0 parameter(0)\n"
                         "  ROOT s = $1 slice(x), slice={$2$3}\n}\n",
                         c.from, c.to, c.rows, c.others));
  }
}

TEST(SteppedRowsTest, PadsPutRowsApart) {
  struct Case {
    const char *type, *from, *to, *padding;
  };
  for (const Case& c : {
           Case{"f32", "[5001,120]", "[10001,120]", "0_0_1x0_0"},
           Case{"f32", "[2000,300]", "[6000,300]", "0_2_2x0_0"},
           Case{"bf16", "[10001,100]", "[20002,100]", "0_1_1x0_0"},
           Case{"bf16", "[3,50,200]", "[3,99,200]", "0_0x0_0_1x0_0"},
           Case{"f32", "[40000,128]", "[80000,128]", "0_1_1x0_0"},
           Case{"bf16", "[150,512,2]", "[150,1534,2]", "0_0x0_0_2x0_0"},
       }) {
    ExpectMoved(absl::Substitute(
        "HloModule m\nENTRY e {\n  x = $0$1 parameter(0)\n"
        "  z = $0[] constant(7)\n  ROOT p = $0$2 pad(x, z), padding=$3\n}\n",
        c.type, c.from, c.to, c.padding));
  }
}

}  // namespace
}  // namespace ptxla::lowering
