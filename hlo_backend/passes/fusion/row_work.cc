#include "hlo_backend/passes/fusion/row_work.h"

#include <algorithm>

#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/analysis/product_batch.h"
#include "hlo_backend/ir/dimensions.h"
#include "hlo_backend/passes/fusion/product_chaining.h"

namespace ptxla::hlo {

bool MayBeResult(const Instruction& i, const Instruction& dot) {
  return i.opcode() == Opcode::kReduce &&
         i.shape().type() == PrimitiveType::kF32 && IsRowMajor(i.shape()) &&
         dot.shape().rank() == ProductBatch(dot) + 2;
}

bool StoresOnce(const RowMembers& members) {
  int readers = 0;
  for (const auto& [i, kind] : members) {
    if (kind != RowKind::kFull) continue;
    if (i->IsRoot()) return false;
    for (const Instruction* u : i->users()) readers += !members.contains(u);
  }
  return readers == 1;
}

std::vector<const Instruction*> WorkBefore(const RowWork& rows,
                                           const Instruction& last,
                                           const Instruction& product,
                                           int operand) {
  if (!PrologueForm(product, operand) ||
      MayBeChained(rows.dot, product, rows.chip)) {
    return {};
  }
  std::vector<const Instruction*> work = {&last};
  const auto inside = [&](const Instruction* i) {
    return std::find(work.begin(), work.end(), i) != work.end();
  };
  const Instruction* array = nullptr;
  bool of_rows = false;
  for (size_t next = 0; next < work.size(); ++next) {
    const Instruction* i = work[next];
    for (const Instruction* o : i->operands()) {
      const auto found = rows.members.find(o);
      if (found == rows.members.end()) {
        if (o->IsConstant() || (o->opcode() == Opcode::kBroadcast &&
                                o->operand(0)->shape().IsScalar())) {
          continue;
        }
        return {};
      }
      if (found->second == RowKind::kRow) {
        if (!MayBeResult(*o, rows.dot)) return {};
        of_rows = true;
        continue;
      }
      if (inside(o) || o == array) continue;
      if (o != &rows.dot &&
          std::all_of(o->users().begin(), o->users().end(), inside)) {
        work.push_back(o);
        continue;
      }
      if (array != nullptr || o == &rows.dot ||
          o->shape().type() != PrimitiveType::kF32) {
        return {};
      }
      array = o;
    }
  }
  if (array == nullptr || !of_rows ||
      StaysInVmem(rows.dot, *array, last, rows.chip) ||
      !rows.prologues.MayCompute(product, operand)) {
    return {};
  }
  return work;
}

}  // namespace ptxla::hlo
