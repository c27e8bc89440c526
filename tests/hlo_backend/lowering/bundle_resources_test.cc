#include "hlo_backend/lowering/codegen/bundle_resources.h"

#include "gtest/gtest.h"

namespace ptxla::codegen {
namespace {

isa::MachineModel ModelWithLoads(int loads) {
  isa::MachineModel model;
  model.SetSlots(isa::Slot::kLoad, loads);
  model.load_store_total = loads;
  return model;
}

// A chip file may ask for more loads than any real chip has.
TEST(BundleResourcesTest, ABundleHoldsAsManyLoadsAsTheChipHasSlots) {
  const isa::MachineModel model = ModelWithLoads(6);
  BundleResources bundle;
  VInstr load;
  load.op = isa::Opcode::kVld;
  for (int i = 0; i < 6; ++i) {
    load.imm = i;
    ASSERT_TRUE(bundle.Fits(load, model, {})) << "load " << i;
    bundle.Take(load);
  }
  EXPECT_FALSE(bundle.Fits(load, model, {}));
}

}  // namespace
}  // namespace ptxla::codegen
