// Random instructions and code for tests: the same for the same seed.
#ifndef PTXLA_TESTS_ISA_RANDOM_CODE_H_
#define PTXLA_TESTS_ISA_RANDOM_CODE_H_

#include <random>

#include "isa/code.h"

namespace ptxla::isa::testing {

// An instruction of `op` whose operands are all in the range of their kind.
inline Instr RandomInstr(Opcode op, std::mt19937* rng) {
  auto below = [&](int n) { return static_cast<int>((*rng)() % n); };
  auto reg = [&] { return static_cast<uint8_t>(below(16)); };
  Instr i{op};
  const InstrInfo& info = Info(op);
  if (info.unit == ExecUnit::kXlu || info.unit == ExecUnit::kXluPop ||
      info.unit == ExecUnit::kMatmul || info.unit == ExecUnit::kPush ||
      info.unit == ExecUnit::kPrep || info.unit == ExecUnit::kMrfPop) {
    i.unit = static_cast<uint8_t>(below(4));
  }
  if (below(3) == 0) i.guard = GuardIf(below(8));
  if (below(3) == 0) i.guard = GuardIfNot(below(8));
  for (Operand operand : info.operands) {
    switch (operand) {
      case Operand::kVd:
      case Operand::kSd:
      case Operand::kMd:
      case Operand::kPd:
      case Operand::kMdRead:
        i.dst = reg();
        break;
      case Operand::kVa:
      case Operand::kSa:
      case Operand::kMa:
      case Operand::kPa:
        i.a = reg();
        break;
      case Operand::kVb:
      case Operand::kSb:
      case Operand::kMb:
      case Operand::kPb:
        i.b = reg();
        break;
      case Operand::kVc:
      case Operand::kMc:
      case Operand::kPc:
        i.c = reg();
        break;
      case Operand::kVbImm:
      case Operand::kSbImm:
        if (below(2) == 0) {
          i.b = reg();
        } else {
          i.imm = static_cast<int32_t>((*rng)());
        }
        break;
      case Operand::kAddr:
        if (below(4) > 0) i.a = reg();
        i.imm = below(3) * 512 - 512;
        break;
      case Operand::kImm:
      case Operand::kHex:
        i.imm = static_cast<int32_t>((*rng)());
        break;
      case Operand::kImm2:
      case Operand::kStride:
        i.imm2 = static_cast<int32_t>((*rng)());
        break;
      case Operand::kGroup:
        i.c = static_cast<uint8_t>(1 << below(4));
        break;
      case Operand::kLaneRange:
        i.imm = below(64) | (64 + below(65)) << 16;
        break;
      case Operand::kSublaneRange:
        i.imm2 = below(4) | (4 + below(5)) << 16;
        break;
      case Operand::kRow:
        i.imm = 8 * below(12);
        break;
      case Operand::kBlock:
        i.b = static_cast<uint8_t>(1 + below(3));
        break;
      case Operand::kStage:
        i.c = static_cast<uint8_t>(below(2));
        break;
      case Operand::kLatch:
        if (below(2) == 0) i.c = static_cast<uint8_t>(1 + below(2));
        break;
      case Operand::kWindow:
      case Operand::kDescriptor:
      case Operand::kArg:
      case Operand::kSemaphore:
        i.imm = below(10);
        break;
      case Operand::kNone:
        break;
    }
  }
  return i;
}

}  // namespace ptxla::isa::testing

#endif  // PTXLA_TESTS_ISA_RANDOM_CODE_H_
