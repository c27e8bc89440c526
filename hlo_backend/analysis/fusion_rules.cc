#include "hlo_backend/analysis/fusion_rules.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "base/status.h"
#include "hlo_backend/analysis/extremum_position.h"
#include "hlo_backend/analysis/filled_scatter.h"
#include "hlo_backend/analysis/product_batch.h"
#include "hlo_backend/analysis/product_chain.h"
#include "hlo_backend/analysis/prologue_rules.h"
#include "hlo_backend/analysis/stages.h"

namespace ptxla::hlo {
namespace {

// Arrays that `i` takes parts of; kMostShiftedParts + 1: too many.
int PartsOf(const Instruction& i) {
  if (i.opcode() == Opcode::kParameter) return 1;
  int parts = 0;
  for (const Instruction* o : i.operands()) {
    if (o->IsConstant()) continue;
    parts += IsShift(*o) || o->opcode() == Opcode::kParameter
                 ? PartsOf(*o)
                 : kMostShiftedParts + 1;
    if (parts > kMostShiftedParts) return kMostShiftedParts + 1;
  }
  return parts;
}

// Parts of operands, or of other such parts, of the iteration's shape.
absl::Status CheckShift(const Instruction& fusion, const Instruction& i,
                        const Shape& iteration) {
  const auto is_shift = [](const Instruction* u) { return IsShift(*u); };
  if (fusion.fusion_kind() == FusionKind::kOutput || !IsShift(i)) {
    return RefuseFusion(fusion, i, "only parts of an operand are");
  }
  const int parts = PartsOf(i);
  if (parts > kMostShiftedParts) {
    return RefuseFusion(fusion, i, "it is made of too much");
  }
  const bool inner = std::all_of(i.users().begin(), i.users().end(), is_shift);
  if (i.opcode() == Opcode::kPad && (inner || parts != 1)) {
    return RefuseFusion(fusion, i, "a pad of or in other parts");
  }
  if (!inner && (!IsShiftedOperand(i) || !i.shape().SameDims(iteration))) {
    return RefuseFusion(fusion, i, "no loop reads it so");
  }
  return absl::OkStatus();
}

// An instruction that a loop over `iteration` may hold, apart from roots.
absl::Status CheckLoopMember(const Instruction& fusion, const Instruction& i,
                             const Shape& iteration) {
  switch (i.opcode()) {
    case Opcode::kParameter:
    case Opcode::kTuple:
      return absl::OkStatus();
    case Opcode::kConstant:
      if (i.shape().IsScalar() || i.literal().IsSplat()) {
        return absl::OkStatus();
      }
      return RefuseFusion(fusion, i, "only scalar and splat constants are");
    case Opcode::kIota:
    case Opcode::kBroadcast:
      return absl::OkStatus();
    case Opcode::kSlice:
      if ((IsLaneSlice(i) || IsTileSlice(i)) &&
          i.operand(0)->opcode() == Opcode::kParameter) {
        return absl::OkStatus();
      }
      return CheckShift(fusion, i, iteration);
    case Opcode::kConcatenate:
      if (LaneRotation(i) > 0) return absl::OkStatus();
      return CheckShift(fusion, i, iteration);
    case Opcode::kPad:
      return CheckShift(fusion, i, iteration);
    case Opcode::kBitcast:
    case Opcode::kReshape:
      if (SameUpToDegenerateDims(i.shape(), i.operand(0)->shape())) {
        return absl::OkStatus();
      }
      return RefuseFusion(fusion, i,
                          "it changes more than dimensions of size 1");
    default:
      break;
  }
  if (!IsLoopElementwise(i)) {
    return RefuseFusion(fusion, i, "it is no vector loop");
  }
  if (i.shape().SameDims(iteration)) return absl::OkStatus();
  // On a smaller shape: it must end in a broadcast, or in more such work.
  if (i.shape().ElementCount() > iteration.ElementCount()) {
    return RefuseFusion(fusion, i, "it is larger than the iteration shape");
  }
  return absl::OkStatus();
}

bool IsRootOf(const Instruction& i) {
  if (i.IsRoot()) return true;
  const Instruction* root = i.parent()->root();
  return root->opcode() == Opcode::kTuple && i.IsUsedBy(root);
}

// A reduce whose convert is a root.
bool IsStoredByRoot(const Instruction& reduce) {
  if (reduce.IsRoot() || reduce.user_count() != 1) return false;
  const Instruction& user = *reduce.users()[0];
  return StoredReduce(user) == &reduce && IsRootOf(user);
}

// An extremum whose positions are roots of the same fusion.
bool IsExtremumOfPositions(const Instruction& reduce) {
  const bool read = std::any_of(
      reduce.users().begin(), reduce.users().end(),
      [](const Instruction* u) { return u->opcode() == Opcode::kBroadcast; });
  return read && IsFusibleReduce(reduce) && IsForPositionsOnly(reduce);
}

absl::Status CheckMembers(const Instruction& fusion, const Shape& iteration,
                          const Instruction* except,
                          const absl::flat_hash_set<const Instruction*>& skip) {
  for (const Instruction* i : fusion.fused()->instructions()) {
    if (i == except || skip.contains(i)) continue;
    if (except != nullptr && IsRowReduce(*i, *except)) continue;
    // Of whole columns of a member, whose work goes on with them.
    if (except != nullptr && IsMemberColumnReduce(*i, *except) &&
        IsBroadcastAgain(*i)) {
      continue;
    }
    if (i->opcode() == Opcode::kReduce && except == nullptr &&
        IsExtremumOfPositions(*i)) {
      continue;
    }
    if (i->opcode() == Opcode::kReduce && IsStoredByRoot(*i)) continue;
    if (i->opcode() == Opcode::kReduce && IsRootOf(*i)) {
      if (i->IsRoot() || i->user_count() == 1) continue;
      return RefuseFusion(fusion, *i,
                          "its result is used before it is complete");
    }
    if (except == nullptr && IsBroadcastAgain(*i) &&
        i->operand(0)->shape().SameDims(iteration)) {
      continue;
    }
    RETURN_IF_ERROR(CheckLoopMember(fusion, *i, iteration));
  }
  return absl::OkStatus();
}

const Instruction* TheDot(const Instruction& fusion) {
  const Instruction* dot = nullptr;
  for (const Instruction* i : fusion.fused()->instructions()) {
    if (!IsProduct(*i)) continue;
    if (dot != nullptr) return nullptr;
    dot = i;
  }
  return dot;
}

}  // namespace

bool IsProduct(const Instruction& i) {
  // A grouped convolution (a depthwise one, its gradient) is vector work.
  return i.opcode() == Opcode::kDot ||
         (i.opcode() == Opcode::kConvolution &&
          i.attrs<ConvAttrs>().feature_group_count == 1 &&
          i.attrs<ConvAttrs>().batch_group_count == 1);
}

std::vector<Instruction*> FusionRoots(const Instruction& fusion) {
  Instruction* root = fusion.fused()->root();
  if (root->opcode() != Opcode::kTuple) return {root};
  return {root->operands().begin(), root->operands().end()};
}

const Shape& IterationShape(const Instruction& fusion) {
  if (fusion.fusion_kind() == FusionKind::kOutput) {
    const Instruction* dot = TheDot(fusion);
    if (dot != nullptr) return dot->shape();
  }
  for (const Instruction* root : FusionRoots(fusion)) {
    const Instruction* reduce = StoredReduce(*root);
    if (reduce != nullptr) return reduce->operand(0)->shape();
  }
  return FusionRoots(fusion)[0]->shape();
}

absl::Status CheckLoopFusion(const Instruction& fusion) {
  if (IsMovementFusion(fusion)) return absl::OkStatus();
  const Shape& iteration = IterationShape(fusion);
  for (const Instruction* root : FusionRoots(fusion)) {
    if (root->opcode() == Opcode::kReduce) {
      return RefuseFusion(fusion, *root, "a reduce needs kind=kInput");
    }
    if (!root->shape().IsArray() || !root->shape().SameDims(iteration)) {
      return RefuseFusion(fusion, *root, "a root of another shape");
    }
  }
  return CheckMembers(fusion, iteration, nullptr, {});
}

absl::Status CheckInputFusion(const Instruction& fusion) {
  const Shape& iteration = IterationShape(fusion);
  const Instruction* first = nullptr;
  const std::vector<Instruction*> roots = FusionRoots(fusion);
  const bool of_rows =
      std::any_of(roots.begin(), roots.end(), [](const Instruction* root) {
        const Instruction* reduce = StoredReduce(*root);
        return reduce != nullptr && IsOverLastDimension(*reduce);
      });
  bool of_columns = false;
  for (const Instruction* root : roots) {
    if (const Instruction* reduce = StoredReduce(*root)) {
      if (!IsFusibleReduce(*reduce)) {
        return RefuseFusion(
            fusion, *reduce,
            "its start is no constant or its body no one operation");
      }
      if (!reduce->operand(0)->shape().SameDims(iteration)) {
        return RefuseFusion(fusion, *reduce, "it reduces another shape");
      }
      if (of_rows && reduce == root && IsReduceOfColumns(*reduce)) {
        of_columns = true;
        continue;
      }
      if (first == nullptr) first = reduce;
      if (reduce->dimensions() != first->dimensions()) {
        return RefuseFusion(fusion, *reduce, "it reduces other dimensions");
      }
    } else if (!root->shape().IsArray() || !root->shape().SameDims(iteration)) {
      return RefuseFusion(fusion, *root, "a root of another shape");
    }
  }
  for (const Instruction* i : fusion.fused()->instructions()) {
    if (!IsBroadcastAgain(*i)) continue;
    if (of_columns) {
      return RefuseFusion(fusion, *i, "its columns are reduced as well");
    }
    if (first == nullptr) first = i;
    if (i->dimensions() != first->dimensions()) {
      return RefuseFusion(fusion, *i, "it reduces another dimension");
    }
  }
  if (first == nullptr) {
    return RefuseFusion(fusion, *fusion.fused()->root(),
                        "kind=kInput has no reduce");
  }
  return CheckMembers(fusion, iteration, nullptr, {});
}

absl::Status CheckOutputFusion(const Instruction& fusion) {
  const Instruction* dot = TheDot(fusion);
  if (dot == nullptr) {
    return RefuseFusion(fusion, *fusion.fused()->root(),
                        "kind=kOutput needs exactly one dot");
  }
  absl::flat_hash_set<const Instruction*> prologue;
  for (int o = 0; o < dot->operand_count(); ++o) {
    const Instruction* operand = dot->operand(o);
    absl::flat_hash_set<const Instruction*> seen;
    const Instruction* parameter = nullptr;
    if (const Instruction* matrix =
            dot->opcode() == Opcode::kDot ? SharedMatrix(*dot, o) : nullptr) {
      seen.insert(operand);
      operand = matrix;
    }
    if (const Instruction* members =
            dot->opcode() == Opcode::kDot ? SlicedMembers(*dot, o) : nullptr) {
      seen.insert(operand);
      operand = members->operand(0);
      if (operand->opcode() != Opcode::kParameter) {
        return RefuseFusion(fusion, *operand,
                            "computed members in front of a slice");
      }
    }
    RETURN_IF_ERROR(CollectPrologue(fusion, *dot, *operand, &parameter, &seen));
    if (parameter == nullptr) {
      return RefuseFusion(fusion, *operand,
                          "a dot's operand that reads no array");
    }
    prologue.insert(seen.begin(), seen.end());
  }
  for (const Instruction* root : FusionRoots(fusion)) {
    if (IsRowReduce(*root, *dot)) {
      if (root->shape().type() == PrimitiveType::kF32 &&
          dot->shape().rank() == ProductBatch(*dot) + 2) {
        continue;
      }
      return RefuseFusion(fusion, *root, "a result per row of this form");
    }
    if (IsColumnReduce(*root, *dot) || IsMemberColumnReduce(*root, *dot))
      continue;
    if (!root->shape().IsArray() || !root->shape().SameDims(dot->shape())) {
      return RefuseFusion(fusion, *root,
                          "a root of another shape than the dot's");
    }
  }
  return CheckMembers(fusion, dot->shape(), dot, prologue);
}

// A sum has one place where it is stored.
absl::Status CheckSumsOnce(const Instruction& fusion) {
  const std::vector<Instruction*> roots = FusionRoots(fusion);
  for (const Instruction* root : roots) {
    if (StoredReduce(*root) != nullptr &&
        std::count(roots.begin(), roots.end(), root) > 1) {
      return RefuseFusion(fusion, *root, "a sum that is stored twice");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckFusion(const Instruction& fusion) {
  RETURN_IF_ERROR(CheckSumsOnce(fusion));
  switch (fusion.fusion_kind()) {
    case FusionKind::kLoop:
      return CheckLoopFusion(fusion);
    case FusionKind::kInput:
      return CheckInputFusion(fusion);
    case FusionKind::kOutput:
      return CheckOutputFusion(fusion);
    case FusionKind::kCustom:
      break;
  }
  if (IsFilledScatter(fusion)) return CheckFilledScatter(fusion);
  return IsStagedFusion(fusion) ? CheckStagedFusion(fusion)
                                : CheckChainFusion(fusion);
}

}  // namespace ptxla::hlo
