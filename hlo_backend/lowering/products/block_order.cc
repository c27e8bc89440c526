#include "hlo_backend/lowering/products/block_order.h"

#include <utility>

#include "absl/status/statusor.h"
#include "hlo_backend/lowering/codegen/schedule.h"
#include "isa/instruction.h"

namespace ptxla::lowering::stream {
namespace {

using codegen::VInstr;
using codegen::VNode;
using isa::RegClass;

// fn(class, register, written) for each register that the instruction names.
template <class Fn>
void ForEachRegister(const VInstr& v, Fn fn) {
  const codegen::FieldClasses& f = codegen::FieldsOf(v.op);
  const auto field = [&](int8_t cls, int32_t reg, bool written) {
    if (cls >= 0 && reg != codegen::kNone) {
      fn(static_cast<RegClass>(cls), reg, written);
    }
  };
  field(f.a, v.a, false);
  field(f.b, v.b, false);
  field(f.c, v.c, false);
  if (v.guard != codegen::kNone) fn(RegClass::kPredicate, v.guard, false);
  field(f.dst, v.dst, !f.dst_is_read);
}

}  // namespace

// Opcodes, and registers by their first mention; globals as they are.
BlockOrder::Shape BlockOrder::ShapeOf(const VNode& block) const {
  Shape shape;
  absl::flat_hash_map<int32_t, int32_t> numbers;
  for (const VInstr& v : block.instrs) {
    shape.push_back(static_cast<int32_t>(v.op));
    shape.push_back(v.unit);
    ForEachRegister(v, [&](RegClass, int32_t reg, bool) {
      const bool global = b_.registers()[reg].global;
      const auto next = static_cast<int32_t>(numbers.size());
      shape.push_back(global ? -1 - reg
                             : numbers.try_emplace(reg, next).first->second);
    });
  }
  return shape;
}

std::vector<int32_t> BlockOrder::Schedule(const VNode& block) const {
  // What it reads and others wrote is there from its first cycle on.
  std::vector<VInstr> instrs;
  absl::flat_hash_map<int32_t, bool> written;
  for (const VInstr& v : block.instrs) {
    ForEachRegister(v, [&](RegClass cls, int32_t reg, bool writes) {
      if (b_.registers()[reg].global) return;
      const bool first = written.try_emplace(reg, writes).second;
      if (!first || writes || cls != RegClass::kVector) return;
      VInstr given;
      given.op = isa::Opcode::kVimm;
      given.dst = reg;
      instrs.push_back(given);
    });
  }
  const size_t given = instrs.size();
  instrs.insert(instrs.end(), block.instrs.begin(), block.instrs.end());
  codegen::RegisterBudget budget;
  for (int c = 0; c < isa::kNumRegClasses; ++c) {
    const auto cls = static_cast<RegClass>(c);
    const int free = cls == RegClass::kVector
                         ? std::min(vectors_, b_.FreeGlobals(cls))
                         : b_.FreeGlobals(cls);
    for (int k = 0; k < free; ++k) {
      budget.free[c].push_back(static_cast<uint8_t>(k));
    }
  }
  const absl::StatusOr<codegen::BlockSchedule> schedule =
      codegen::ScheduleBlock(instrs, b_.registers(), b_.model(), budget,
                             codegen::BlockMode::kFree);
  std::vector<int32_t> order;
  if (!schedule.ok()) return order;
  for (const auto& [cycle, n] : schedule->order) {
    if (n >= static_cast<int32_t>(given)) {
      order.push_back(n - static_cast<int32_t>(given));
    }
  }
  return order;
}

void BlockOrder::Apply(VNode* block) {
  Shape shape = ShapeOf(*block);
  auto it = known_.find(shape);
  if (it == known_.end()) {
    it = known_.emplace(std::move(shape), Schedule(*block)).first;
  }
  if (it->second.empty()) return;
  std::vector<VInstr> instrs;
  instrs.reserve(block->instrs.size());
  for (int32_t n : it->second) instrs.push_back(block->instrs[n]);
  block->instrs = std::move(instrs);
}

}  // namespace ptxla::lowering::stream
