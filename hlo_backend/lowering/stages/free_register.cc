#include "hlo_backend/lowering/stages/free_register.h"

#include <cstdint>

#include "isa/instruction.h"

namespace ptxla::lowering {
namespace {

void Mark(const isa::RegRef& r, uint64_t* used) {
  if (r.cls == isa::RegClass::kScalar) *used |= uint64_t{1} << r.index;
}

void MarkScalars(const isa::Code& code, uint64_t* used) {
  for (const isa::Node& node : code) {
    if (const isa::When* when = node.when()) {
      MarkScalars(when->body, used);
    } else if (const isa::Loop* loop = node.loop()) {
      if (loop->counter != isa::kNoReg) *used |= uint64_t{1} << loop->counter;
      MarkScalars(loop->body, used);
    } else {
      for (const isa::Instr& i : node.block()->instrs) {
        const isa::RegUses uses = isa::UsesOf(i);
        for (int k = 0; k < uses.num_reads; ++k) Mark(uses.reads[k], used);
        if (uses.has_write) Mark(uses.write, used);
      }
    }
  }
}

}  // namespace

int FreeScalarRegister(const isa::Kernel& kernel, int registers) {
  uint64_t used = 0;
  for (const isa::Code* code : {&kernel.entry, &kernel.step, &kernel.exit}) {
    MarkScalars(*code, &used);
  }
  for (int r = registers; r-- > 0;) {
    if ((used >> r & 1) == 0) return r;
  }
  return -1;
}

}  // namespace ptxla::lowering
