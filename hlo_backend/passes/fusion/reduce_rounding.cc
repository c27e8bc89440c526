#include "hlo_backend/passes/fusion/reduce_rounding.h"

#include "hlo_backend/analysis/fusible_reduces.h"
#include "hlo_backend/analysis/monoid.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {
namespace {

constexpr PrimitiveType kNarrow = PrimitiveType::kBf16;
constexpr PrimitiveType kWide = PrimitiveType::kF32;

bool IsConvert(const Instruction& i, PrimitiveType from, PrimitiveType to) {
  return i.opcode() == Opcode::kConvert && i.shape().type() == to &&
         i.operand(0)->shape().type() == from;
}

// The conversion rounds a sum of widened numbers that nobody else reads. A
// start that bf16 does not hold would be rounded first.
bool RoundsASum(const Instruction& convert) {
  if (!IsConvert(convert, kWide, kNarrow)) return false;
  const Instruction& sum = *convert.operand(0);
  return sum.opcode() == Opcode::kReduce && sum.user_count() == 1 &&
         !sum.IsRoot() && IsFusibleReduce(sum) &&
         MonoidOf(*sum.to_apply()) == Opcode::kAdd &&
         sum.operand(1)->literal().GetDouble(0) == 0 &&
         IsConvert(*sum.operand(0), kNarrow, kWide);
}

}  // namespace

absl::StatusOr<bool> ReduceRoundingPass::Run(Module* module,
                                             const PassContext& context) {
  if (module->config().is_scheduled || context.chip == nullptr) return false;
  bool changed = false;
  for (Computation* c : module->computations()) {
    if (c->IsFusionComputation()) continue;
    for (Instruction* i : c->PostOrder()) {
      if (!RoundsASum(*i)) continue;
      Instruction* sum = i->operand(0);
      Builder b(c);
      b.set_metadata(sum->shared_metadata());
      Instruction* start = b.ConstantScalar(kNarrow, 0);
      *start->mutable_shape() =
          WithTpuLayout(start->shape(), context.chip->generation());
      c->Replace(i,
                 c->Add(Opcode::kReduce, i->shape(),
                        {sum->operand(0)->operand(0), start}, sum->attributes(),
                        {b.Scalar2(Opcode::kAdd, kNarrow)}));
      changed = true;
    }
    if (changed) c->RemoveDead();
  }
  return changed;
}

}  // namespace ptxla::hlo
