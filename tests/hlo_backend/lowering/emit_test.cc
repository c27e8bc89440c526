// Code with virtual registers becomes blocks, loops and conditions.
#include "hlo_backend/lowering/codegen/emit.h"

#include <gtest/gtest.h>

#include "hlo_backend/lowering/codegen/builder.h"
#include "tests/support/status_matchers.h"

namespace ptxla::codegen {
namespace {

TEST(EmitTest, AnAverageStepTakesItsShareOfWhatOnlySomeStepsDo) {
  const isa::MachineModel m = isa::MachineModel::Unit();
  const auto cycles = [&](isa::When::Kind kind, int64_t steps) -> int64_t {
    CodeBuilder b(m);
    b.BeginWhen(0, kind);
    b.NewBlock("part", BlockMode::kInOrder);
    b.Nop(12);
    b.EndWhen();
    IndexCounts indices;
    indices.fill(1);
    indices[0] = steps;
    BlockCache cache(m);
    auto cycles = CyclesOf(b.Finish(), &cache, indices);
    EXPECT_OK(cycles.status());
    return cycles.ok() ? *cycles : -1;
  };
  EXPECT_EQ(cycles(isa::When::Kind::kLast, 1), 12);
  EXPECT_EQ(cycles(isa::When::Kind::kFirst, 4), 3);
  EXPECT_EQ(cycles(isa::When::Kind::kNotLast, 4), 9);
  EXPECT_EQ(cycles(isa::When::Kind::kNotFirst, 1), 0);
}

TEST(EmitTest, EqualBlocksKeepTheirOwnLabels) {
  const isa::MachineModel m = isa::MachineModel::Unit();
  CodeBuilder b(m);
  for (const char* label : {"first", "second"}) {
    b.NewBlock(label, BlockMode::kInOrder);
    b.DmaWait(0);
  }
  BlockCache cache(m);
  ASSERT_OK_AND_ASSIGN(const isa::Code code, EmitCode(b.Finish(), &cache));
  ASSERT_EQ(code.size(), 2u);
  EXPECT_EQ(code[0].block()->label, "first");
  EXPECT_EQ(code[1].block()->label, "second");
  EXPECT_EQ(cache.hits(), 1);
}

}  // namespace
}  // namespace ptxla::codegen
