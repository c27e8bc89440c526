// Is HFU what the products would take at the peak of their type?
#include "chips/topology.h"
#include "driver/prediction.h"
#include "tests/support/status_matchers.h"
#include "tests/support/subprocess.h"

namespace ptxla::driver {
namespace {

// FLOPs in the step at HFU 1 over those of the program's one product.
double PossibleOverDone(const std::string& topology, chips::MatmulType type) {
  const ::ptxla::testing::TemporaryFolder folder;
  RunRequest request;
  request.hlo = folder.Write("m.hlo", R"(HloModule m
ENTRY e {
  a = s8[1024,1024] parameter(0)
  b = s8[1024,1024] parameter(1)
  ROOT d = s32[1024,1024] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
)");
  request.topology = topology;
  request.assumed_effects = false;
  const auto run = Predict(request);
  EXPECT_OK(run.status());
  if (!run.ok()) return 0;
  const record::RunRecord& r = run->record;
  const auto slice = chips::ParseSlice(topology).value();
  const double possible = slice.chip.PeakMatmul(type).count() *
                          static_cast<double>(r.step_time().value_ps()) / 1e12;
  return possible * r.hfu() / (2.0 * 1024 * 1024 * 1024);
}

TEST(UtilisationTest, ProductsOfInt8AreHeldAgainstItsPeak) {
  EXPECT_NEAR(PossibleOverDone("v5e-1", chips::MatmulType::kInt8), 1, 1e-3);
}

// v4's MXUs have no int8: its bytes are converted.
TEST(UtilisationTest, AConvertedProductIsHeldAgainstThePeakThatItRunsAt) {
  EXPECT_NEAR(PossibleOverDone("v4-8", chips::MatmulType::kBf16), 1, 1e-3);
}

}  // namespace
}  // namespace ptxla::driver
