#include <utility>

#include "hlo_backend/analysis/monoid.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/passes/simplify/simplify_rules.h"

namespace ptxla::hlo {
namespace {

// Adds rows, or whatever is scattered, to zeros, and only a sum reads them.
bool AddsToZeros(const Instruction& i) {
  return i.opcode() == Opcode::kScatter && i.operand_count() == 3 &&
         i.user_count() == 1 && !i.IsRoot() && IsAll(*i.operand(0), 0) &&
         MonoidOf(*i.to_apply()) == Opcode::kAdd;
}

}  // namespace

Instruction* SimplifySumOfScatter(Instruction* i, Rewriter& r) {
  Instruction *x = i->operand(0), *scatter = i->operand(1);
  if (i->shape().has_layout() || x == scatter) return nullptr;
  if (!AddsToZeros(*scatter)) std::swap(x, scatter);
  if (!AddsToZeros(*scatter)) return nullptr;
  return r.builder().Scatter({x}, scatter->operand(1), {scatter->operand(2)},
                             scatter->to_apply(),
                             scatter->attrs<ScatterAttrs>());
}

}  // namespace ptxla::hlo
