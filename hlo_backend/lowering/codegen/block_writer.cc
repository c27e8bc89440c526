#include "hlo_backend/lowering/codegen/block_writer.h"

#include "base/status.h"
#include "hlo_backend/lowering/codegen/allocate_registers.h"

namespace ptxla::codegen {
namespace {

class BlockWriter {
 public:
  BlockWriter(const VNode& block, absl::Span<const VRegister> registers,
              const BlockSchedule& schedule)
      : block_(block), registers_(registers), schedule_(schedule) {}

  isa::Block Write() {
    isa::Block out;
    out.label = block_.label;
    Reserve(&out);
    int64_t cycle = 0;
    for (size_t k = 0; k < schedule_.order.size();) {
      const int64_t at = schedule_.order[k].first;
      if (at > cycle) out.AddNop(static_cast<int>(at - cycle));
      for (; k < schedule_.order.size() && schedule_.order[k].first == at;
           ++k) {
        out.instrs.push_back(
            Physical(block_.instrs[schedule_.order[k].second]));
      }
      out.ends.push_back(static_cast<uint32_t>(out.instrs.size()));
      cycle = at + 1;
    }
    if (schedule_.cycles > cycle) {
      out.AddNop(static_cast<int>(schedule_.cycles - cycle));
    }
    return out;
  }

 private:
  // Room for all bundles, and for a nop in each gap between two of them.
  void Reserve(isa::Block* out) const {
    size_t bundles = 0, nops = 1;
    int64_t cycle = -1;
    for (const auto& [at, instr] : schedule_.order) {
      if (at == cycle) continue;
      ++bundles;
      if (at > cycle + 1) ++nops;
      cycle = at;
    }
    out->instrs.reserve(schedule_.order.size() + nops);
    out->ends.reserve(bundles + nops);
  }

  uint8_t Register(int8_t cls, int32_t reg) const {
    if (cls < 0) return reg == kNone ? isa::kNoReg : static_cast<uint8_t>(reg);
    if (reg == kNone) return isa::kNoReg;
    const VRegister& info = registers_[reg];
    return info.global ? info.physical
                       : schedule_.physical[reg - schedule_.first_local];
  }

  isa::Instr Physical(const VInstr& v) const {
    const FieldClasses& f = FieldsOf(v.op);
    isa::Instr i;
    i.op = v.op;
    i.unit = v.unit;
    i.dst = Register(f.dst, v.dst);
    i.a = Register(f.a, v.a);
    i.b = Register(f.b, v.b);
    i.c = Register(f.c, v.c);
    i.imm = v.imm;
    i.imm2 = v.imm2;
    if (v.guard != kNone) {
      const int p = Register(0, v.guard);
      i.guard = v.guard_not ? isa::GuardIfNot(p) : isa::GuardIf(p);
    }
    return i;
  }

  const VNode& block_;
  absl::Span<const VRegister> registers_;
  const BlockSchedule& schedule_;
};

}  // namespace

isa::Block WriteBlock(const VNode& block, absl::Span<const VRegister> registers,
                      const BlockSchedule& schedule) {
  return BlockWriter(block, registers, schedule).Write();
}

absl::StatusOr<isa::Block> WritePlacedBlock(const VNode& block,
                                            const Code& code,
                                            const isa::MachineModel& model) {
  ASSIGN_OR_RETURN(const BlockSchedule schedule,
                   AllocatePlaced(block, code.registers, model,
                                  BudgetOf(block.globals, model)));
  return WriteBlock(block, code.registers, schedule);
}

RegisterBudget BudgetOf(
    const std::array<uint64_t, isa::kNumRegClasses>& globals,
    const isa::MachineModel& model) {
  RegisterBudget budget;
  for (int c = 0; c < isa::kNumRegClasses; ++c) {
    const int count = model.Registers(static_cast<isa::RegClass>(c));
    for (int r = count - 1; r >= 0; --r) {
      if (!(globals[c] >> r & 1)) {
        budget.free[c].push_back(static_cast<uint8_t>(r));
      }
    }
  }
  return budget;
}

}  // namespace ptxla::codegen
