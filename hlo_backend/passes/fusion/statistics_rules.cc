#include "hlo_backend/passes/fusion/statistics_rules.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "hlo_backend/analysis/fusible_reduces.h"
#include "hlo_backend/analysis/prologue_rules.h"
#include "hlo_backend/analysis/vector_loops.h"
#include "hlo_backend/ir/dimensions.h"
#include "hlo_backend/passes/fusion/kept_exponentials.h"
#include "hlo_backend/passes/fusion/row_leaves.h"

namespace ptxla::hlo {
namespace {

// Only reduces read it: a pass over the product, which stores none of it.
bool IsReduced(const Instruction& i) {
  return IsLoopElementwise(i) && !i.IsRoot() &&
         std::all_of(i.users().begin(), i.users().end(),
                     [](const Instruction* u) {
                       return u->opcode() == Opcode::kReduce;
                     });
}

}  // namespace

bool StatisticsRules::IsStatistic(const Instruction& reduce) const {
  const PrimitiveType type = reduce.shape().type();
  if (of_columns_) {
    return type == PrimitiveType::kF32 && IsMemberColumnReduce(reduce, dot_);
  }
  // Extrema of bf16 are exact.
  return (type == PrimitiveType::kF32 || type == PrimitiveType::kBf16) &&
         IsRowReduce(reduce, dot_);
}

bool StatisticsRules::IsStored(const std::vector<Instruction*>& reduces) const {
  for (const Instruction* w : work_) {
    if (w->IsRoot()) return false;
    for (const Instruction* u : w->users()) {
      if (absl::c_linear_search(work_, u) ||
          absl::c_linear_search(reduces, u)) {
        continue;
      }
      const bool elsewhere = w == &dot_ && !IsLoopElementwise(*u);
      if (!elsewhere && !IsReduced(*u) && !Needs(*u, reduces)) return false;
    }
  }
  return true;
}

// Reads one of the reduces, or work on them, along the rows again.
bool StatisticsRules::Needs(const Instruction& i,
                            const std::vector<Instruction*>& reduces) const {
  return std::any_of(i.operands().begin(), i.operands().end(),
                     [&](const Instruction* o) {
                       // Values of rows are spread as f32 (row-values).
                       if (o->opcode() == Opcode::kConvert) o = o->operand(0);
                       return o->opcode() == Opcode::kBroadcast &&
                              IsOfReduces(*o->operand(0), reduces, 0);
                     });
}

bool StatisticsRules::IsOfReduces(const Instruction& i,
                                  const std::vector<Instruction*>& reduces,
                                  int depth) const {
  if (absl::c_linear_search(reduces, &i)) return true;
  return depth < most_of_rows_ && i.IsElementwise() &&
         std::any_of(i.operands().begin(), i.operands().end(),
                     [&](const Instruction* o) {
                       return IsOfReduces(*o, reduces, depth + 1);
                     });
}

bool StatisticsRules::IsWork(const Instruction& i) const {
  if (!i.shape().SameDims(dot_.shape()) || !IsLoopElementwise(i) ||
      !IsRowMajor(i.shape())) {
    return false;
  }
  return std::all_of(i.operands().begin(), i.operands().end(),
                     [&](const Instruction* o) {
                       return absl::c_linear_search(work_, o) || IsLeaf(*o);
                     });
}

// Made of constants, or without the product.
bool StatisticsRules::IsLeaf(const Instruction& o) const {
  if (IsFreeOfRows(o)) return o.opcode() != Opcode::kIota;
  if (of_columns_ && IsOtherArray(o, 0)) return true;
  // With another array of its size, it would be stored.
  return o.opcode() == Opcode::kBroadcast &&
         (o.operand(0)->shape().IsScalar() || IsSharedByRows(o, dot_)) &&
         !NeedsProduct(*o.operand(0));
}

// What only the reduces of columns read may be made with other arrays of the
// product's size (the gradient of a softmax with its exponentials), which lie
// in memory: they, and elementwise work on them.
bool StatisticsRules::IsOtherArray(const Instruction& o, int depth) const {
  if (depth > most_of_rows_ || !o.shape().SameDims(dot_.shape()) ||
      !IsRowMajor(o.shape()) || absl::c_linear_search(work_, &o)) {
    return false;
  }
  if (o.opcode() == Opcode::kBroadcast) {
    const Instruction& source = *o.operand(0);
    const bool of_columns = IsMemberColumns(o) &&
                            source.shape().type() == PrimitiveType::kF32 &&
                            source.shape().rank() == dot_.shape().rank() - 1;
    return (source.shape().IsScalar() || of_columns) && !NeedsProduct(source);
  }
  if (IsFreeOfRows(o)) return o.opcode() != Opcode::kIota;
  if (IsLoopElementwise(o) && !IsKeptExponential(o)) {
    return std::all_of(
        o.operands().begin(), o.operands().end(),
        [&](const Instruction* x) { return IsOtherArray(*x, depth + 1); });
  }
  const PrimitiveType type = o.shape().type();
  return (type == PrimitiveType::kF32 || type == PrimitiveType::kBf16) &&
         !NeedsProduct(o);
}

bool StatisticsRules::NeedsProduct(const Instruction& value) const {
  std::vector<const Instruction*> open = {&value};
  absl::flat_hash_set<const Instruction*> seen = {&value};
  while (!open.empty()) {
    const Instruction* i = open.back();
    open.pop_back();
    if (i == &dot_) return true;
    const auto at = positions_.find(i);
    // Operands come before their users.
    if (at != positions_.end() && at->second < positions_.at(&dot_)) continue;
    for (const Instruction* o : i->operands()) {
      if (seen.insert(o).second) open.push_back(o);
    }
  }
  return false;
}

}  // namespace ptxla::hlo
