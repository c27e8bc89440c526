#include "hlo_backend/passes/fusion/row_values.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo_backend/analysis/monoid.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/control_edges.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/fusion/finished_columns.h"

namespace ptxla::hlo {
namespace {

// Instructions between a product and what reads the values of rows: ends the
// search in long chains, whose rows stay narrow. ASSUMED.
constexpr int kDeepest = 4;

// Made of a product by elementwise work.
bool IsBehindProduct(const Instruction& i, int depth = 0) {
  if (i.opcode() == Opcode::kDot) return i.shape().rank() == 2;
  if (!i.IsElementwise() || depth == kDeepest) return false;
  return std::any_of(
      i.operands().begin(), i.operands().end(),
      [&](const Instruction* o) { return IsBehindProduct(*o, depth + 1); });
}

bool SpreadsNarrowRows(const Instruction& i) {
  if (i.opcode() != Opcode::kBroadcast || i.shape().rank() != 2 ||
      i.shape().type() != PrimitiveType::kBf16 || i.IsRoot() ||
      HasControlEdges(i)) {
    return false;
  }
  return i.operand(0)->shape().rank() == 1 && i.dimensions()[0] == 0 &&
         std::all_of(i.users().begin(), i.users().end(),
                     [](const Instruction* user) {
                       return user->IsElementwise() && IsBehindProduct(*user);
                     });
}

// Maxima or sums over the keys of scores that lie keys first, [.., keys,
// queries], spread over the keys again.
bool SpreadsStatistics(const Instruction& i) {
  const int rank = i.shape().rank();
  if (i.opcode() != Opcode::kBroadcast || rank < 3 || i.IsRoot() ||
      i.shape().type() != PrimitiveType::kBf16 || HasControlEdges(i) ||
      Contains(i.dimensions(), rank - 2) ||
      i.operand(0)->shape().rank() != rank - 1) {
    return false;
  }
  const Instruction& value = *i.operand(0);
  const bool rounded = value.opcode() == Opcode::kConvert;
  const Instruction& reduce = rounded ? *value.operand(0) : value;
  return reduce.opcode() == Opcode::kReduce && reduce.operand_count() == 2 &&
         (rounded ? reduce.shape().type() == PrimitiveType::kF32
                  : MonoidOf(*reduce.to_apply()) == Opcode::kMaximum) &&
         reduce.operand(1)->IsConstant() && !HasControlEdges(reduce) &&
         reduce.dimensions().size() == 1 &&
         reduce.dimensions()[0] == rank - 2 &&
         reduce.operand(0)->shape().SameDims(i.shape()) &&
         ScoresBehind(*reduce.operand(0)) != nullptr;
}

// The f32 values that are rounded to what `i` spreads: sums, or maxima, which
// need no rounding.
Instruction* WideStatistics(const Instruction& i, Builder* b) {
  Instruction* value = i.operand(0);
  if (value->opcode() == Opcode::kConvert) return value->operand(0);
  return b->Reduce(b->Convert(value->operand(0), PrimitiveType::kF32),
                   b->ConstantScalar(PrimitiveType::kF32,
                                     value->operand(1)->literal().GetDouble(0)),
                   value->dimensions(),
                   b->Scalar2(Opcode::kMaximum, PrimitiveType::kF32));
}

}  // namespace

absl::StatusOr<bool> RowValuesPass::Run(Module* module, const PassContext&) {
  if (module->config().is_scheduled) return false;
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    std::vector<Instruction*> narrow;
    for (Instruction* i : c->PostOrder()) {
      if (SpreadsNarrowRows(*i) || SpreadsStatistics(*i)) narrow.push_back(i);
    }
    Builder b(c);
    absl::flat_hash_map<const Instruction*, Instruction*> wide_values;
    for (Instruction* i : narrow) {
      Instruction*& wide = wide_values[i->operand(0)];
      if (wide == nullptr) {
        wide = i->shape().rank() == 2
                   ? b.Convert(i->operand(0), PrimitiveType::kF32)
                   : WideStatistics(*i, &b);
      }
      c->Replace(
          i, b.Convert(b.Broadcast(wide, i->shape().dims(), i->dimensions()),
                       PrimitiveType::kBf16));
      changed = true;
    }
  }
  return changed;
}

}  // namespace ptxla::hlo
