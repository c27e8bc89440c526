#include "hlo_backend/analysis/fusion_rules.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "base/status.h"
#include "hlo_backend/analysis/extremum_position.h"
#include "hlo_backend/analysis/filled_scatter.h"
#include "hlo_backend/analysis/product_batch.h"
#include "hlo_backend/analysis/product_chain.h"
#include "hlo_backend/analysis/stages.h"
#include "hlo_backend/analysis/turned_input.h"
#include "hlo_backend/ir/verifier.h"

namespace ptxla::hlo {
namespace {

absl::Status Refuse(const Instruction& fusion, const Instruction& inside,
                    absl::string_view why) {
  return absl::UnimplementedError(absl::StrCat(Describe(fusion), ": ",
                                               Describe(inside),
                                               " cannot be fused here: ", why));
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
      return Refuse(fusion, i, "only scalar and splat constants are");
    case Opcode::kIota:
    case Opcode::kBroadcast:
      return absl::OkStatus();
    case Opcode::kSlice:
      return (IsLaneSlice(i) || IsTileSlice(i)) &&
                     i.operand(0)->opcode() == Opcode::kParameter
                 ? absl::OkStatus()
                 : Refuse(fusion, i, "only lanes and tiles of an operand are");
    case Opcode::kConcatenate:
      return LaneRotation(i) > 0
                 ? absl::OkStatus()
                 : Refuse(fusion, i, "only turned lanes of an operand are");
    case Opcode::kBitcast:
    case Opcode::kReshape:
      if (SameUpToDegenerateDims(i.shape(), i.operand(0)->shape())) {
        return absl::OkStatus();
      }
      return Refuse(fusion, i, "it changes more than dimensions of size 1");
    default:
      break;
  }
  if (!IsLoopElementwise(i)) return Refuse(fusion, i, "it is no vector loop");
  if (i.shape().SameDims(iteration)) return absl::OkStatus();
  // On a smaller shape: it must end in a broadcast, or in more such work.
  if (i.shape().ElementCount() > iteration.ElementCount()) {
    return Refuse(fusion, i, "it is larger than the iteration shape");
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
      return Refuse(fusion, *i, "its result is used before it is complete");
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

// The instructions of one operand's prologue; the error if it is none.
// `parameter`: one of the operand's own shape.
absl::Status CollectPrologue(const Instruction& fusion,
                             const Instruction* value, const Shape& shape,
                             const Instruction** parameter,
                             absl::flat_hash_set<const Instruction*>* seen) {
  if (!seen->insert(value).second) return absl::OkStatus();
  switch (value->opcode()) {
    case Opcode::kParameter:
      if (value->shape().SameDims(shape)) *parameter = value;
      return absl::OkStatus();
    case Opcode::kConstant:
      if (value->shape().IsScalar()) return absl::OkStatus();
      break;
    case Opcode::kIota:
      return absl::OkStatus();
    case Opcode::kTranspose: {
      const Instruction* dot = TheDot(fusion);
      if (dot == nullptr || dot->opcode() != Opcode::kConvolution ||
          !TurnsBatchIntoRows(*value)) {
        break;
      }
      return CollectPrologue(fusion, value->operand(0),
                             value->operand(0)->shape(), parameter, seen);
    }
    case Opcode::kBroadcast: {
      if (!IsPrologueBroadcast(*value) && !IsMemberColumns(*value) &&
          !IsSharedPlane(*value)) {
        return Refuse(fusion, *value, "no broadcast of a dot's prologue");
      }
      const Instruction* small = nullptr;
      return CollectPrologue(fusion, value->operand(0),
                             value->operand(0)->shape(), &small, seen);
    }
    default:
      break;
  }
  if (!IsLoopElementwise(*value) || !value->shape().SameDims(shape)) {
    return Refuse(fusion, *value, "no elementwise prologue of a dot");
  }
  for (const Instruction* operand : value->operands()) {
    RETURN_IF_ERROR(CollectPrologue(fusion, operand, shape, parameter, seen));
  }
  return absl::OkStatus();
}

}  // namespace

bool IsPrologueBroadcast(const Instruction& i) {
  const Shape& source = i.operand(0)->shape();
  const int rank = i.shape().rank();
  if (source.IsScalar()) return true;
  if (source.rank() == 1 && i.dimensions()[0] == rank - 1) {
    return source.type() == PrimitiveType::kBf16 ||
           BitWidth(source.type()) == 32;
  }
  if (source.rank() != rank - 1 || BitWidth(source.type()) != 32) return false;
  for (int d = 0; d < source.rank(); ++d) {
    if (i.dimensions()[d] != d) return false;
  }
  return true;
}

bool IsMemberColumns(const Instruction& i) {
  const int rank = i.shape().rank();
  const Shape& source = i.operand(0)->shape();
  if (source.rank() < 2 || i.dimensions().back() != rank - 1) return false;
  if (source.rank() == 2) return i.dimensions()[0] < rank - 2;
  for (int d = 0; d + 1 < source.rank(); ++d) {
    if (i.dimensions()[d] != d) return false;
  }
  return source.rank() == rank - 1;
}

bool IsSharedPlane(const Instruction& i) {
  const int rank = i.shape().rank();
  const int planes = i.operand(0)->shape().rank() - 2;
  if (planes < 0 || planes >= rank - 2) return false;
  const auto dims = i.dimensions();
  if (dims[planes] != rank - 2 || dims[planes + 1] != rank - 1) return false;
  for (int k = 1; k < planes; ++k) {
    if (dims[k] != dims[0] + k) return false;
  }
  return true;
}

bool IsProduct(const Instruction& i) {
  // A grouped convolution (a depthwise one) is vector work.
  return i.opcode() == Opcode::kDot ||
         (i.opcode() == Opcode::kConvolution &&
          i.attrs<ConvAttrs>().feature_group_count == 1);
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
      return Refuse(fusion, *root, "a reduce needs kind=kInput");
    }
    if (!root->shape().IsArray() || !root->shape().SameDims(iteration)) {
      return Refuse(fusion, *root, "a root of another shape");
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
        return Refuse(fusion, *reduce,
                      "its start is no constant or its body no one operation");
      }
      if (!reduce->operand(0)->shape().SameDims(iteration)) {
        return Refuse(fusion, *reduce, "it reduces another shape");
      }
      if (of_rows && reduce == root && IsReduceOfColumns(*reduce)) {
        of_columns = true;
        continue;
      }
      if (first == nullptr) first = reduce;
      if (reduce->dimensions() != first->dimensions()) {
        return Refuse(fusion, *reduce, "it reduces other dimensions");
      }
    } else if (!root->shape().IsArray() || !root->shape().SameDims(iteration)) {
      return Refuse(fusion, *root, "a root of another shape");
    }
  }
  for (const Instruction* i : fusion.fused()->instructions()) {
    if (!IsBroadcastAgain(*i)) continue;
    if (of_columns) {
      return Refuse(fusion, *i, "its columns are reduced as well");
    }
    if (first == nullptr) first = i;
    if (i->dimensions() != first->dimensions()) {
      return Refuse(fusion, *i, "it reduces another dimension");
    }
  }
  if (first == nullptr) {
    return Refuse(fusion, *fusion.fused()->root(), "kind=kInput has no reduce");
  }
  return CheckMembers(fusion, iteration, nullptr, {});
}

absl::Status CheckOutputFusion(const Instruction& fusion) {
  const Instruction* dot = TheDot(fusion);
  if (dot == nullptr) {
    return Refuse(fusion, *fusion.fused()->root(),
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
        return Refuse(fusion, *operand, "computed members in front of a slice");
      }
    }
    RETURN_IF_ERROR(
        CollectPrologue(fusion, operand, operand->shape(), &parameter, &seen));
    if (parameter == nullptr) {
      return Refuse(fusion, *operand, "a dot's operand that reads no array");
    }
    prologue.insert(seen.begin(), seen.end());
  }
  for (const Instruction* root : FusionRoots(fusion)) {
    if (IsRowReduce(*root, *dot)) {
      if (root->shape().type() == PrimitiveType::kF32 &&
          dot->shape().rank() == ProductBatch(*dot) + 2) {
        continue;
      }
      return Refuse(fusion, *root, "a result per row of this form");
    }
    if (IsColumnSum(*root, *dot) || IsMemberColumnReduce(*root, *dot)) continue;
    if (!root->shape().IsArray() || !root->shape().SameDims(dot->shape())) {
      return Refuse(fusion, *root, "a root of another shape than the dot's");
    }
  }
  return CheckMembers(fusion, dot->shape(), dot, prologue);
}

absl::Status CheckFusion(const Instruction& fusion) {
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
