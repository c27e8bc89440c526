#include "isa/instruction.h"

#include <set>

#include "gtest/gtest.h"
#include "isa/from_chip_spec.h"
#include "tests/support/status_matchers.h"

namespace ptxla::isa {
namespace {

TEST(InstructionTest, MnemonicsAreUniqueAndFound) {
  std::set<std::string> seen;
  for (int op = 0; op < kNumOpcodes; ++op) {
    const InstrInfo& info = Info(static_cast<Opcode>(op));
    EXPECT_TRUE(seen.insert(std::string(info.mnemonic)).second)
        << info.mnemonic;
    EXPECT_EQ(FindOpcode(info.mnemonic), static_cast<Opcode>(op));
    EXPECT_FALSE(info.doc.empty());
  }
  EXPECT_FALSE(FindOpcode("vad").has_value());
}

TEST(InstructionTest, UsesNameEveryRegisterOnce) {
  Instr store{Opcode::kVstStrMsk};
  store.a = 1;
  store.b = 2;
  store.c = 4;  // group, not a register
  store.dst = 3;
  store.guard = GuardIfNot(5);
  const RegUses uses = UsesOf(store);
  EXPECT_FALSE(uses.has_write);
  ASSERT_EQ(uses.num_reads, 4);
  EXPECT_EQ(uses.reads[0].cls, RegClass::kPredicate);
  EXPECT_EQ(uses.reads[0].index, 5);
  EXPECT_EQ(uses.reads[1].cls, RegClass::kScalar);
  EXPECT_EQ(uses.reads[2].cls, RegClass::kVector);
  EXPECT_EQ(uses.reads[3].cls, RegClass::kMask);
  EXPECT_EQ(uses.reads[3].index, 3);
}

TEST(InstructionTest, EveryChipFileGivesAMachine) {
  for (const std::string& name : chips::ChipSpec::Names()) {
    ASSERT_OK_AND_ASSIGN(chips::ChipSpec chip, chips::ChipSpec::Load(name));
    const MachineModel m = FromChipSpec(chip);
    EXPECT_TRUE(Supports(m, Opcode::kVmatmulF32)) << name;
    EXPECT_TRUE(Supports(m, Opcode::kVmatpushF32)) << name;
    EXPECT_TRUE(Supports(m, Opcode::kVld)) << name;
    EXPECT_TRUE(Supports(m, Opcode::kVaddXlane)) << name;
    EXPECT_TRUE(Supports(m, Opcode::kDmaStart)) << name;
  }
}

TEST(InstructionTest, AChipLacksWhatItsFileDoesNotGive) {
  ASSERT_OK_AND_ASSIGN(chips::ChipSpec v5e, chips::ChipSpec::Load("v5e"));
  const MachineModel m = FromChipSpec(v5e);
  EXPECT_FALSE(Supports(m, Opcode::kVaddBf16));
  EXPECT_FALSE(Supports(m, Opcode::kVerfF32));
  EXPECT_TRUE(Supports(m, Opcode::kVmatmulS8));
  Instr rotate{Opcode::kVrotLane};
  EXPECT_EQ(LatencyOf(rotate, m), 114);
  rotate.unit = 2;
  EXPECT_EQ(LatencyOf(rotate, m), 90);
  EXPECT_EQ(m.vmem_banks, 32);
}

TEST(InstructionTest, MatmulResultsFollowTheArray) {
  MachineModel m = MachineModel::Unit();
  Instr bf16{Opcode::kVmatmulBf16};
  Instr s8{Opcode::kVmatmulS8};
  EXPECT_EQ(ResultsOf(bf16, m), 2);
  EXPECT_EQ(ResultsOf(s8, m), 4);
  m.mxu_rows = m.mxu_cols = 256;
  EXPECT_EQ(ResultsOf(bf16, m), 4);
  EXPECT_EQ(ResultsOf(s8, m), 8);
}

}  // namespace
}  // namespace ptxla::isa
