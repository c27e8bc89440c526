#include "isa/instruction.h"

#include <algorithm>
#include <array>

namespace ptxla::isa {
namespace {

// The operand names of the table, without their enum's name.
#define X(name) constexpr Operand name = Operand::name;
PTXLA_ISA_OPERANDS(X)
#undef X

}  // namespace

#define PTXLA_ISA_UNPAREN(...) __VA_ARGS__
const InstrInfo kInstructions[kNumOpcodes] = {
#define PTXLA_ISA_ROW(name, mnemonic, slots, unit, latency, interval, pushes, \
                      pops, operands, doc)                                    \
  {#name,                                                                     \
   mnemonic,                                                                  \
   SlotMask{slots},                                                           \
   ExecUnit::unit,                                                            \
   LatencyKey::latency,                                                       \
   IntervalKey::interval,                                                     \
   Fifo::pushes,                                                              \
   Fifo::pops,                                                                \
   {PTXLA_ISA_UNPAREN operands},                                              \
   doc},
#include "isa/instructions.def"
#undef PTXLA_ISA_ROW
};

namespace {

void AddRead(RegUses* uses, RegClass cls, uint8_t index) {
  if (index == kNoReg) return;
  uses->reads[uses->num_reads++] = {cls, index};
}

void SetWrite(RegUses* uses, RegClass cls, uint8_t index) {
  uses->write = {cls, index};
  uses->has_write = true;
}

void AddOperand(const Instr& i, Operand operand, RegUses* u) {
  switch (operand) {
    case Operand::kVd:
      return SetWrite(u, RegClass::kVector, i.dst);
    case Operand::kSd:
      return SetWrite(u, RegClass::kScalar, i.dst);
    case Operand::kMd:
      return SetWrite(u, RegClass::kMask, i.dst);
    case Operand::kPd:
      return SetWrite(u, RegClass::kPredicate, i.dst);
    case Operand::kVa:
      return AddRead(u, RegClass::kVector, i.a);
    case Operand::kVb:
    case Operand::kVbImm:
      return AddRead(u, RegClass::kVector, i.b);
    case Operand::kVc:
      return AddRead(u, RegClass::kVector, i.c);
    case Operand::kSa:
    case Operand::kAddr:
      return AddRead(u, RegClass::kScalar, i.a);
    case Operand::kSb:
    case Operand::kSbImm:
      return AddRead(u, RegClass::kScalar, i.b);
    case Operand::kMa:
      return AddRead(u, RegClass::kMask, i.a);
    case Operand::kMb:
      return AddRead(u, RegClass::kMask, i.b);
    case Operand::kMc:
      return AddRead(u, RegClass::kMask, i.c);
    case Operand::kMdRead:
      return AddRead(u, RegClass::kMask, i.dst);
    case Operand::kPa:
      return AddRead(u, RegClass::kPredicate, i.a);
    case Operand::kPb:
      return AddRead(u, RegClass::kPredicate, i.b);
    case Operand::kPc:
      return AddRead(u, RegClass::kPredicate, i.c);
    default:
      return;
  }
}

}  // namespace

absl::Span<const InstrInfo> InstructionTable() { return kInstructions; }

std::optional<Opcode> FindOpcode(absl::string_view mnemonic) {
  // A sorted index, made at compile time would need constexpr sort (C++20);
  // a linear scan over two hundred short names is fast enough for text.
  for (int i = 0; i < kNumOpcodes; ++i) {
    if (kInstructions[i].mnemonic == mnemonic) return static_cast<Opcode>(i);
  }
  return std::nullopt;
}

RegUses UsesOf(const Instr& instr) {
  RegUses uses;
  if (instr.guard != 0) {
    AddRead(&uses, RegClass::kPredicate,
            static_cast<uint8_t>((instr.guard & 0x7F) - 1));
  }
  for (Operand operand : Info(instr.op).operands) {
    if (operand == Operand::kNone) break;
    AddOperand(instr, operand, &uses);
  }
  return uses;
}

bool IsTransposePush(Opcode op) {
  return Info(op).latency == LatencyKey::kPushXposeToLatch;
}
bool IsXposePush(Opcode op) { return Info(op).pushes == Fifo::kTranspose; }
bool IsXposeStart(Opcode op) {
  return op == Opcode::kVxposeStart || op == Opcode::kVxposeStartEnd ||
         op == Opcode::kVxposeB16Start || op == Opcode::kVxposeB16StartEnd;
}
bool IsXposeEnd(Opcode op) {
  return op == Opcode::kVxposeEnd || op == Opcode::kVxposeStartEnd ||
         op == Opcode::kVxposeB16End || op == Opcode::kVxposeB16StartEnd;
}

int MxuRows(Opcode op) {
  switch (op) {
    case Opcode::kVmatpushF32:
    case Opcode::kVmatpushF32Xpose:
    case Opcode::kVmatmulF32:
    case Opcode::kVmatpushF32Low:
    case Opcode::kVmatpushF32LowXpose:
    case Opcode::kVmatmulF32Low:
      return 8;
    case Opcode::kVmatpushBf16:
    case Opcode::kVmatpushBf16Xpose:
    case Opcode::kVmatmulBf16:
      return 16;
    case Opcode::kVmatpushS8:
    case Opcode::kVmatpushS8Xpose:
    case Opcode::kVmatmulS8:
    case Opcode::kVmatpushF8E5M2:
    case Opcode::kVmatpushF8E5M2Xpose:
    case Opcode::kVmatmulF8E5M2:
    case Opcode::kVmatpushF8E4M3Fn:
    case Opcode::kVmatpushF8E4M3FnXpose:
    case Opcode::kVmatmulF8E4M3Fn:
    case Opcode::kVmatpushF8E4M3B11:
    case Opcode::kVmatpushF8E4M3B11Xpose:
    case Opcode::kVmatmulF8E4M3B11:
      return 32;
    default:
      return 0;
  }
}

int64_t BundleCycles(absl::Span<const Instr> bundle) {
  return bundle.size() == 1 && bundle[0].op == Opcode::kNop
             ? std::max<int64_t>(1, bundle[0].imm)
             : 1;
}

}  // namespace ptxla::isa
