// Is a kernel whose bytes have changed on the way refused or timed, but never a
// crash?
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "chips/chip_spec.h"
#include "gtest/gtest.h"
#include "hlo_backend/lowering/custom_calls/pallas_call.h"
#include "isa/from_chip_spec.h"
#include "tests/hlo_backend/mosaic/fixtures.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

TEST(BrokenKernelsTest, AreRefusedOrTimed) {
  ASSERT_OK_AND_ASSIGN(const chips::ChipSpec chip,
                       chips::ChipSpec::Load("v5e"));
  const isa::MachineModel model = isa::FromChipSpec(chip);
  codegen::BlockCache cache(model);
  const hlo::Shape array =
      hlo::Shape::ArrayRowMajor(hlo::PrimitiveType::kF32, {32, 16, 128});
  std::mt19937 random(7);
  int read = 0;
  for (const char* name : ::ptxla::testing::kPallasCases) {
    const std::string payload = ::ptxla::testing::PallasPayload(name);
    for (int k = 0; k < 300; ++k) {
      std::string bytes = payload;
      for (int changes = 0; changes < 1 + k % 3; ++changes) {
        bytes[random() % bytes.size()] = static_cast<char>(random());
      }
      const auto kernel = mosaic::PallasKernelOf(
          absl::StrCat("{\"body\": \"", absl::Base64Escape(bytes), "\"}"));
      if (!kernel.ok()) continue;
      ++read;
      double steps = 1;
      for (const int64_t bound : kernel->grid) {
        steps *= bound < 0 ? 1 : static_cast<double>(bound);
      }
      if (steps > 5000) continue;
      const std::vector<const hlo::Shape*> arrays(kernel->windows.size(),
                                                  &array);
      const auto time =
          TimeOf({chip, model, &cache}, *kernel, arrays, /*results=*/1);
      EXPECT_TRUE(!time.ok() || time->cycles > 0);
    }
  }
  EXPECT_GT(read, 300);
}

}  // namespace
}  // namespace ptxla::lowering
