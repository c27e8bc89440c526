#include "isa/semantics/mutant.h"

namespace ptxla::isa {
namespace {

// True if the row's effect is a register or a FIFO entry.
bool HasOutput(Opcode op) {
  const InstrInfo& info = Info(op);
  if (IsXposePush(op)) return IsXposeEnd(op);
  const Operand first = info.operands[0];
  return info.pushes != Fifo::kNone || first == Operand::kVd ||
         first == Operand::kSd || first == Operand::kMd ||
         first == Operand::kPd;
}

template <SemanticsFn kReal>
void Flipped(ExecContext& context, const Instr& instr) {
  const ExecContext::OutputMark before = context.Mark();
  kReal(context, instr);
  context.CorruptSince(before);
}

void Nothing(ExecContext&, const Instr&) {}

}  // namespace

SemanticsTable MutantTable(Opcode op) {
  SemanticsTable table = SemanticsTable::Default();
  if (!HasOutput(op)) {
    table.Set(op, &Nothing);
    return table;
  }
  switch (op) {
#define PTXLA_ISA_ROW(name, ...)               \
  case Opcode::k##name:                        \
    table.Set(op, &Flipped<&semantics::name>); \
    break;
#include "isa/instructions.def"
#undef PTXLA_ISA_ROW
    case Opcode::kCount:
      break;
  }
  return table;
}

}  // namespace ptxla::isa
