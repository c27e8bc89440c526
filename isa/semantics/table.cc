#include "isa/semantics/table.h"

namespace ptxla::isa {

SemanticsTable SemanticsTable::Default() {
  SemanticsTable table;
#define PTXLA_ISA_ROW(name, ...) table.Set(Opcode::k##name, &semantics::name);
#include "isa/instructions.def"
#undef PTXLA_ISA_ROW
  return table;
}

}  // namespace ptxla::isa
