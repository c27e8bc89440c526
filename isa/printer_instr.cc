// The text of one instruction.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "isa/asm.h"

namespace ptxla::isa {
namespace {

std::string Reg(char letter, uint8_t index) {
  return index == kNoReg ? "-" : absl::StrCat(std::string(1, letter), index);
}

std::string Address(const Instr& i) {
  if (i.a == kNoReg) return absl::StrCat("[", i.imm, "]");
  if (i.imm == 0) return absl::StrCat("[s", i.a, "]");
  return absl::StrFormat("[s%d%+d]", i.a, i.imm);
}

std::string Stage(int stage) { return stage == 0 ? "msra" : "msrb"; }

// A source operand; "" if it is left out.
std::string Source(const Instr& i, Operand operand) {
  switch (operand) {
    case Operand::kVa:
      return Reg('v', i.a);
    case Operand::kVb:
      return Reg('v', i.b);
    case Operand::kVc:
      return Reg('v', i.c);
    case Operand::kVbImm:
      return i.b != kNoReg
                 ? Reg('v', i.b)
                 : absl::StrFormat("0x%x", static_cast<uint32_t>(i.imm));
    case Operand::kSa:
      return Reg('s', i.a);
    case Operand::kSb:
      return Reg('s', i.b);
    case Operand::kSbImm:
      return i.b != kNoReg ? Reg('s', i.b) : absl::StrCat(i.imm);
    case Operand::kMa:
      return Reg('m', i.a);
    case Operand::kMb:
      return Reg('m', i.b);
    case Operand::kMc:
      return Reg('m', i.c);
    case Operand::kMdRead:
      return Reg('m', i.dst);
    case Operand::kPa:
      return Reg('p', i.a);
    case Operand::kPb:
      return Reg('p', i.b);
    case Operand::kPc:
      return Reg('p', i.c);
    case Operand::kImm:
      return absl::StrCat(i.imm);
    case Operand::kHex:
      return absl::StrFormat("0x%x", static_cast<uint32_t>(i.imm));
    case Operand::kImm2:
      return absl::StrCat(i.imm2);
    case Operand::kAddr:
      return Address(i);
    case Operand::kStride:
      return absl::StrCat("stride=", i.imm2);
    case Operand::kGroup:
      return absl::StrCat("group=", i.c);
    case Operand::kLaneRange:
      return absl::StrFormat("lanes=%d:%d", i.imm & 0xFFFF, i.imm >> 16);
    case Operand::kSublaneRange:
      return absl::StrFormat("sublanes=%d:%d", i.imm2 & 0xFFFF, i.imm2 >> 16);
    case Operand::kRow:
      return absl::StrCat("row=", i.imm);
    case Operand::kBlock:
      return absl::StrCat("block=", i.b);
    case Operand::kStage:
      return Stage(i.c);
    case Operand::kLatch:
      return i.c == kNoReg ? "" : absl::StrCat("latch=", Stage(i.c - 1));
    case Operand::kWindow:
      return absl::StrCat("w", i.imm);
    case Operand::kDescriptor:
      return absl::StrCat("d", i.imm);
    case Operand::kArg:
      return absl::StrCat("arg", i.imm);
    case Operand::kSemaphore:
      return absl::StrCat("sem", i.imm);
    default:
      return "";
  }
}

std::string UnitSuffix(const Instr& i) {
  switch (Info(i.op).unit) {
    case ExecUnit::kXlu:
    case ExecUnit::kXluPop:
      return absl::StrCat(".xlu", i.unit);
    case ExecUnit::kMatmul:
    case ExecUnit::kPush:
    case ExecUnit::kPrep:
    case ExecUnit::kMrfPop:
      return absl::StrCat(".mxu", i.unit);
    default:
      return "";
  }
}

}  // namespace

std::string Print(const Instr& i) {
  std::string out;
  if (i.guard != 0) {
    absl::StrAppend(&out, i.guard & 0x80 ? "@!p" : "@p", (i.guard & 0x7F) - 1,
                    " ");
  }
  const InstrInfo& info = Info(i.op);
  switch (info.operands[0]) {
    case Operand::kVd:
      absl::StrAppend(&out, "v", i.dst, " = ");
      break;
    case Operand::kSd:
      absl::StrAppend(&out, "s", i.dst, " = ");
      break;
    case Operand::kMd:
      absl::StrAppend(&out, "m", i.dst, " = ");
      break;
    case Operand::kPd:
      absl::StrAppend(&out, "p", i.dst, " = ");
      break;
    default:
      break;
  }
  absl::StrAppend(&out, info.mnemonic, UnitSuffix(i));
  absl::string_view separator = " ";
  for (Operand operand : info.operands) {
    const std::string text = Source(i, operand);
    if (text.empty()) continue;
    absl::StrAppend(&out, separator, text);
    separator = ", ";
  }
  return out;
}

}  // namespace ptxla::isa
