// What an op is said to move is what HBM moved: a copy out of VMEM has one side
// there, and half of a 64-bit array is made in place.
#include <string>

#include "driver/prediction.h"
#include "tests/support/status_matchers.h"
#include "tests/support/subprocess.h"

namespace ptxla::driver {
namespace {

using ::ptxla::testing::TemporaryFolder;

TEST(CopyBytesTest, NoOpMovesMoreThanHbmCan) {
  const TemporaryFolder folder;
  RunRequest request;
  request.topology = "v6e-1";
  for (const char* body :
       {// A parameter that is a result twice, and read.
        "a = f32[4096,4096] parameter(0)\n"
        "s = f32[4096,4096] add(a, a)\n"
        "ROOT r = (f32[4096,4096], f32[4096,4096], f32[4096,4096]) "
        "tuple(a, a, s)",
        // Its two planes are made apart.
        "a = c64[1024,1024] parameter(0)\n"
        "ROOT r = c64[1024,1024] dot(a, a), lhs_contracting_dims={1}, "
        "rhs_contracting_dims={0}"}) {
    request.hlo = folder.Write(
        "m.hlo", std::string("HloModule m\nENTRY e {\n") + body + "\n}\n");
    ASSERT_OK_AND_ASSIGN(const Prediction prediction, Predict(request));
    int copies = 0;
    for (const record::ProgramRecord& p : prediction.record.programs()) {
      for (const record::OpRecord& op : p.ops()) {
        copies += op.opcode() == "copy" || op.opcode() == "custom-call";
        EXPECT_LE(op.fraction_of_peak(), 1) << op.name() << " of\n" << body;
      }
    }
    EXPECT_GT(copies, 0) << body;
  }
}

}  // namespace
}  // namespace ptxla::driver
