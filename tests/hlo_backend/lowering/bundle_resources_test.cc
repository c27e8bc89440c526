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
  BundleResources bundles(model);
  VInstr load;
  load.op = isa::Opcode::kVld;
  for (int i = 0; i < 6; ++i) {
    load.imm = i;
    ASSERT_TRUE(bundles.Fit(3, load, {})) << "load " << i;
    bundles.Take(3, load);
  }
  EXPECT_FALSE(bundles.Fit(3, load, {}));
  EXPECT_TRUE(bundles.Fit(2, load, {}));
  EXPECT_TRUE(bundles.Fit(4, load, {}));
}

TEST(BundleResourcesTest, TwoLoadsOfOneBankAreNotInOneBundle) {
  isa::MachineModel model = ModelWithLoads(2);
  model.vmem_banks = 16;
  BundleResources bundles(model);
  VInstr load;
  load.op = isa::Opcode::kVld;
  bundles.Take(0, load);
  load.imm = 16 * 512;
  EXPECT_FALSE(bundles.Fit(0, load, {}));
  load.imm = 8 * 512;
  EXPECT_TRUE(bundles.Fit(0, load, {}));
}

TEST(BundleResourcesTest, ASlotThatTheChipLacksHasNoRoom) {
  const isa::MachineModel model = ModelWithLoads(1);
  const BundleResources bundles(model);
  VInstr store;
  store.op = isa::Opcode::kVst;
  EXPECT_FALSE(bundles.Fit(0, store, {}));
}

}  // namespace
}  // namespace ptxla::codegen
