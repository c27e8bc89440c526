// The meaning of every opcode: one function per row of the instruction table.
//
//   SemanticsTable table = SemanticsTable::Default();
//   table.Set(Opcode::kVaddF32, &semantics::VsubF32);   // a mutant, in a test
//   Core core(machine, {&table});
#ifndef PTXLA_ISA_SEMANTICS_TABLE_H_
#define PTXLA_ISA_SEMANTICS_TABLE_H_

#include <array>

#include "isa/instruction.h"
#include "isa/semantics/context.h"

namespace ptxla::isa {

using SemanticsFn = void (*)(ExecContext& context, const Instr& instr);

namespace semantics {
#define PTXLA_ISA_ROW(name, ...) \
  void name(ExecContext& context, const Instr& instr);
#include "isa/instructions.def"
#undef PTXLA_ISA_ROW
}  // namespace semantics

class SemanticsTable {
 public:
  static SemanticsTable Default();
  SemanticsFn Get(Opcode op) const { return fns_[static_cast<int>(op)]; }
  void Set(Opcode op, SemanticsFn fn) { fns_[static_cast<int>(op)] = fn; }

 private:
  std::array<SemanticsFn, kNumOpcodes> fns_{};
};

}  // namespace ptxla::isa

#endif  // PTXLA_ISA_SEMANTICS_TABLE_H_
