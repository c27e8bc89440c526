#include "hlo_backend/lowering/codegen/recompute.h"

#include <algorithm>

#include "hlo_backend/lowering/codegen/spill_code.h"

namespace ptxla::codegen {

using isa::RegClass;

Recomputation::Recomputation(absl::Span<const VInstr> instrs,
                             absl::Span<const VRegister> registers,
                             RegClass cls)
    : registers_(registers.begin(), registers.end()), cls_(cls) {
  for (int i = 0; i < static_cast<int>(instrs.size()); ++i) {
    VInstr v = instrs[i];
    if (isa::IsDma(v.op)) control_ = true;
    if (isa::IsVectorStore(v.op) && v.space >= 0)
      stored_spaces_.insert(v.space);
    const int32_t* dst = WrittenBy(v);
    if (dst == nullptr) continue;
    if (registers_[*dst].global) {
      global_writes_[*dst].push_back(i);
    } else if (registers_[*dst].cls == cls_) {
      definition_[*dst] = {v, i};
    }
  }
}

bool Recomputation::Unchanged(int32_t global, int from, int to) const {
  const auto it = global_writes_.find(global);
  if (it == global_writes_.end()) return true;
  const auto write =
      std::upper_bound(it->second.begin(), it->second.end(), from);
  return write == it->second.end() || *write >= to;
}

int Recomputation::Cost(int32_t reg, int at) const {
  const auto it = definition_.find(reg);
  if (it == definition_.end()) return kNever;
  const auto& [instr, made] = it->second;
  const isa::InstrInfo& info = isa::Info(instr.op);
  const bool load = isa::IsVectorLoad(instr.op) && !control_ &&
                    !stored_spaces_.contains(instr.space);
  const bool arithmetic = info.slots == isa::Bit(isa::Slot::kVector) &&
                          info.pops == isa::Fifo::kNone;
  if ((!load && !arithmetic) || instr.guard != kNone) return kNever;
  int cost = 1, locals = 0;
  VInstr v = instr;
  ForEachRead(v, [&](RegClass cls, int32_t operand) {
    if (registers_[operand].global) {
      if (!Unchanged(operand, made, at)) cost = kNever;
    } else if (cls == cls_ && ++locals == 1) {
      cost += Cost(operand, at);
    } else {
      // Another local would have to live longer.
      cost = kNever;
    }
  });
  return cost;
}

}  // namespace ptxla::codegen
