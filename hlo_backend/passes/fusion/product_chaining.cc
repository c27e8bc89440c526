#include "hlo_backend/passes/fusion/product_chaining.h"

#include "absl/container/flat_hash_set.h"
#include "base/units.h"
#include "chips/compiler_policy.h"
#include "hlo_backend/analysis/product_batch.h"
#include "hlo_backend/analysis/product_chain.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/passes/control_edges.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/memory/memory_space_assignment.h"
#include "hlo_backend/passes/products/score_order.h"

namespace ptxla::hlo {
namespace {

// Of an operand whose members have `columns` values in a row of the rows: the
// plane of one, in two windows.
int64_t WindowBytes(const Instruction& dot, int operand, int64_t columns) {
  const Shape& shape = dot.operand(operand)->shape();
  int64_t plane = shape.ElementCount();
  for (int d = 0; d < OperandBatch(dot, operand); ++d) plane /= shape.dim(d);
  return 2 * RoundUpTo<int64_t>(plane / columns, 128) *
         RoundUpTo<int64_t>(columns, 128) * BitWidth(shape.type()) / 8;
}

// A step of both: rows as sums and as they are handed on, and the other
// operands.
bool FitsStep(const Instruction& rows, const Instruction& product, int operand,
              const chips::ChipSpec& chip) {
  const Shape& shape = rows.shape();
  const int64_t columns = shape.dim(shape.rank() - 1);
  const int64_t bytes =
      static_cast<int64_t>(chip.Policy("chain_rows").value_or(0)) *
          RoundUpTo<int64_t>(columns, 128) * (4 + BitWidth(shape.type()) / 8) +
      WindowBytes(*DotOf(rows), 1, columns) +
      WindowBytes(*DotOf(product), 1 - operand, columns);
  return static_cast<double>(bytes) <=
         chip.Policy("product_vmem_share").value_or(1) *
             static_cast<double>(chip.vmem().scoped_limit.count());
}

}  // namespace

bool HasChains(const chips::ChipSpec& chip, const Instruction& dot) {
  if (!chip.Policy("chain_rows").has_value()) return false;
  // Queries, keys and numbers of a head.
  const int64_t least = chips::WholePolicy(chip, "chain_least");
  const Shape& scores = dot.shape();
  for (int64_t d : dot.attrs<DotAttrs>().lhs_contracting) {
    if (dot.operand(0)->shape().dim(static_cast<int>(d)) < least) {
      return false;
    }
  }
  return scores.rank() >= 2 && scores.dim(scores.rank() - 2) >= least &&
         scores.dim(scores.rank() - 1) >= least;
}

bool MayBeChained(const Instruction& dot, const Instruction& next,
                  const chips::ChipSpec& chip) {
  return HasChains(chip, dot) && !IsKeysFirst(dot) && ReadsPlanes(dot) &&
         ReadsPlanes(next);
}

bool StaysInVmem(const Instruction& dot, const Instruction& values,
                 const Instruction& made, const chips::ChipSpec& chip) {
  const int64_t room = RoomForResidents(chip);
  return HasChains(chip, dot) && !IsKeysFirst(dot) &&
         PaddedBytes(values.shape()) > room &&
         PaddedBytes(made.shape()) <= room;
}

absl::StatusOr<bool> ProductChainingPass::Run(Module* module,
                                              const PassContext& context) {
  if (module->config().is_scheduled || context.chip == nullptr ||
      !context.chip->Policy("chain_rows").has_value()) {
    return false;
  }
  bool changed = false;
  absl::flat_hash_set<const Instruction*> gone;  // the second of a chain
  for (Computation* c : ControlComputations(*module)) {
    for (Instruction* rows : c->PostOrder()) {
      if (gone.contains(rows) || rows->opcode() != Opcode::kFusion ||
          rows->user_count() != 1 || rows->IsRoot() || HasControlEdges(*rows) ||
          !rows->shape().IsArray()) {
        continue;
      }
      Instruction* product = *rows->users().begin();
      const int operand = GoesOnWithRows(*rows, *product);
      if (operand < 0 || IsKeysFirst(*DotOf(*rows)) ||
          HasControlEdges(*product) ||
          !HasChains(*context.chip, *DotOf(*rows)) ||
          !FitsStep(*rows, *product, operand, *context.chip)) {
        continue;
      }
      c->CreateFusion({rows, product}, FusionKind::kCustom, "chain_fusion");
      gone.insert(product);
      changed = true;
    }
  }
  return changed;
}

}  // namespace ptxla::hlo
