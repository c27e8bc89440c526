#include "hlo_backend/lowering/codegen/vcode.h"

#include <array>

namespace ptxla::codegen {
namespace {

using isa::Operand;
using isa::RegClass;

FieldClasses Classify(const isa::InstrInfo& info) {
  FieldClasses f;
  const auto cls = [](RegClass c) { return static_cast<int8_t>(c); };
  for (Operand o : info.operands) {
    switch (o) {
      case Operand::kVd:
        f.dst = cls(RegClass::kVector);
        break;
      case Operand::kVa:
        f.a = cls(RegClass::kVector);
        break;
      case Operand::kVb:
      case Operand::kVbImm:
        f.b = cls(RegClass::kVector);
        break;
      case Operand::kVc:
        f.c = cls(RegClass::kVector);
        break;
      case Operand::kSd:
        f.dst = cls(RegClass::kScalar);
        break;
      case Operand::kSa:
      case Operand::kAddr:
        f.a = cls(RegClass::kScalar);
        break;
      case Operand::kSb:
      case Operand::kSbImm:
        f.b = cls(RegClass::kScalar);
        break;
      case Operand::kMd:
      case Operand::kMdRead:
        f.dst = cls(RegClass::kMask);
        break;
      case Operand::kMa:
        f.a = cls(RegClass::kMask);
        break;
      case Operand::kMb:
        f.b = cls(RegClass::kMask);
        break;
      case Operand::kMc:
        f.c = cls(RegClass::kMask);
        break;
      case Operand::kPd:
        f.dst = cls(RegClass::kPredicate);
        break;
      case Operand::kPa:
        f.a = cls(RegClass::kPredicate);
        break;
      case Operand::kPb:
        f.b = cls(RegClass::kPredicate);
        break;
      case Operand::kPc:
        f.c = cls(RegClass::kPredicate);
        break;
      default:
        break;
    }
    if (o == Operand::kMdRead) f.dst_is_read = true;
  }
  return f;
}

}  // namespace

const FieldTable& FieldClassTable() {
  static const FieldTable* const kTable = [] {
    auto* table = new FieldTable();
    const auto rows = isa::InstructionTable();
    for (size_t i = 0; i < rows.size(); ++i) (*table)[i] = Classify(rows[i]);
    return table;
  }();
  return *kTable;
}

}  // namespace ptxla::codegen
