#include "hlo_backend/analysis/fusion_rules.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "base/status.h"
#include "hlo_backend/analysis/extremum_position.h"
#include "hlo_backend/analysis/product_batch.h"
#include "hlo_backend/analysis/product_chain.h"
#include "hlo_backend/analysis/stages.h"
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
      return IsLaneSlice(i) && i.operand(0)->opcode() == Opcode::kParameter
                 ? absl::OkStatus()
                 : Refuse(fusion, i, "only lanes of an operand are");
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
    case Opcode::kBroadcast: {
      if (!IsPrologueBroadcast(*value) && !IsMemberColumns(*value)) {
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

const Instruction* TheDot(const Instruction& fusion) {
  const Instruction* dot = nullptr;
  for (const Instruction* i : fusion.fused()->instructions()) {
    if (!IsProduct(*i)) continue;
    if (dot != nullptr) return nullptr;
    dot = i;
  }
  return dot;
}

bool IsPredConstant(const Instruction& i, bool value) {
  return i.opcode() == Opcode::kConstant && i.shape().IsScalar() &&
         i.shape().type() == PrimitiveType::kPred &&
         (i.literal().GetInt(0) != 0) == value;
}

// A logical value that is only said another way: x != false, or x ? true :
// false, as PyTorch/XLA's all() and any() have it.
const Instruction* BehindTruth(const Instruction* i) {
  while (true) {
    if (i->opcode() == Opcode::kCompare &&
        i->operand(0)->shape().type() == PrimitiveType::kPred &&
        i->attrs<CompareAttrs>().direction == CompareDirection::kNe &&
        IsPredConstant(*i->operand(1), false)) {
      i = i->operand(0);
    } else if (i->opcode() == Opcode::kSelect &&
               IsPredConstant(*i->operand(1), true) &&
               IsPredConstant(*i->operand(2), false)) {
      i = i->operand(0);
    } else {
      return i;
    }
  }
}

bool Has64BitOrComplex(const Instruction& i) {
  auto bad = [](const Shape& s) {
    return !s.IsArray() || IsComplex(s.type()) || BitWidth(s.type()) > 32;
  };
  if (bad(i.shape())) return true;
  for (const Instruction* operand : i.operands()) {
    if (bad(operand->shape())) return true;
  }
  return false;
}

}  // namespace

bool IsLaneSlice(const Instruction& i) {
  constexpr int64_t kLanes = 128;
  if (i.opcode() != Opcode::kSlice) return false;
  const Shape &from = i.operand(0)->shape(), &to = i.shape();
  const int minor = to.rank() - 1;
  const auto row_major = [](const Shape& s) {
    return !s.has_layout() || s.layout().IsRowMajor();
  };
  if (minor < 1 || from.dim(minor) > kLanes || !row_major(from) ||
      !row_major(to) ||
      (to.type() != PrimitiveType::kF32 && to.type() != PrimitiveType::kBf16)) {
    return false;
  }
  const SliceAttrs& attrs = i.attrs<SliceAttrs>();
  for (int d = 0; d < minor; ++d) {
    if (to.dim(d) != from.dim(d)) return false;
  }
  return attrs.strides.empty() || attrs.strides[minor] == 1;
}

bool IsLoopElementwise(const Instruction& i) {
  if (!i.IsElementwise() || Has64BitOrComplex(i)) return false;
  switch (i.opcode()) {
    case Opcode::kCopy:  // moves data, possibly to another layout
    case Opcode::kStochasticConvert:
      return false;
    case Opcode::kSelect:
      return i.operand(0)->shape().SameDims(i.shape());
    case Opcode::kClamp:
      return i.operand(0)->shape().SameDims(i.shape()) &&
             i.operand(2)->shape().SameDims(i.shape());
    case Opcode::kBitcastConvert:
      return i.operand(0)->shape().SameDims(i.shape());
    default:
      return true;
  }
}

std::optional<Opcode> MonoidOf(const Computation& body) {
  const Instruction* root = BehindTruth(body.root());
  if (body.parameter_count() != 2 || root->operand_count() != 2) return {};
  const Instruction* a = BehindTruth(root->operand(0));
  const Instruction* b = BehindTruth(root->operand(1));
  if (a->opcode() != Opcode::kParameter || b->opcode() != Opcode::kParameter ||
      a == b) {
    return {};
  }
  switch (root->opcode()) {
    case Opcode::kAdd:
    case Opcode::kMultiply:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
      return root->opcode();
    default:
      return {};
  }
}

bool IsFusibleReduce(const Instruction& reduce) {
  if (reduce.opcode() != Opcode::kReduce || reduce.operand_count() != 2 ||
      !reduce.shape().IsArray() || Has64BitOrComplex(reduce)) {
    return false;
  }
  // In a body the start may be a parameter; outside it is the constant itself.
  return reduce.operand(1)->IsConstant() &&
         MonoidOf(*reduce.to_apply()).has_value();
}

bool IsRowReduce(const Instruction& i, const Instruction& dot) {
  if (!IsFusibleReduce(i)) return false;
  const Opcode op = *MonoidOf(*i.to_apply());
  const bool logical = i.shape().type() == PrimitiveType::kPred &&
                       (op == Opcode::kAnd || op == Opcode::kOr);
  // Of bf16 numbers only what needs no rounding.
  const bool exact = i.shape().type() == PrimitiveType::kBf16 &&
                     (op == Opcode::kMaximum || op == Opcode::kMinimum);
  return (logical || exact || i.shape().type() == PrimitiveType::kF32) &&
         i.operand(0)->shape().SameDims(dot.shape()) &&
         i.dimensions().size() == 1 &&
         i.dimensions()[0] == dot.shape().rank() - 1;
}

bool IsColumnSum(const Instruction& i, const Instruction& product) {
  const int rank = product.shape().rank();
  if (!IsFusibleReduce(i) || rank < 2 ||
      i.shape().type() != PrimitiveType::kF32 ||
      *MonoidOf(*i.to_apply()) != Opcode::kAdd ||
      !i.operand(0)->shape().SameDims(product.shape()) ||
      i.dimensions().size() != static_cast<size_t>(rank - 1)) {
    return false;
  }
  for (int64_t d : i.dimensions()) {
    if (d == rank - 1) return false;
  }
  if (product.opcode() == Opcode::kDot) return ProductBatch(product) == 0;
  const auto& dims = product.attrs<ConvAttrs>().dims;
  return dims.output_feature == rank - 1 && dims.output_batch == rank - 2;
}

bool IsMemberColumnReduce(const Instruction& i, const Instruction& dot) {
  const int rank = dot.shape().rank();
  return dot.opcode() == Opcode::kDot && IsFusibleReduce(i) && rank > 2 &&
         rank == ProductBatch(dot) + 2 &&
         i.shape().type() == PrimitiveType::kF32 &&
         i.operand(0)->shape().SameDims(dot.shape()) &&
         i.dimensions().size() == 1 && i.dimensions()[0] == rank - 2;
}

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

bool SameUpToDegenerateDims(const Shape& a, const Shape& b) {
  DimVector x, y;
  for (int64_t d : a.dims()) {
    if (d != 1) x.push_back(d);
  }
  for (int64_t d : b.dims()) {
    if (d != 1) y.push_back(d);
  }
  return x == y;
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

const Instruction* StoredReduce(const Instruction& value) {
  if (value.opcode() == Opcode::kReduce) return &value;
  if (value.opcode() != Opcode::kConvert ||
      value.shape().type() != PrimitiveType::kBf16) {
    return nullptr;
  }
  const Instruction& reduce = *value.operand(0);
  const bool only =
      reduce.opcode() == Opcode::kReduce && reduce.shape().IsArray() &&
      reduce.shape().type() == PrimitiveType::kF32 && reduce.user_count() == 1;
  return only ? &reduce : nullptr;
}

bool IsProduct(const Instruction& i) {
  // A grouped convolution (a depthwise one) is vector work.
  return i.opcode() == Opcode::kDot ||
         (i.opcode() == Opcode::kConvolution &&
          i.attrs<ConvAttrs>().feature_group_count == 1);
}

bool IsDataMovement(const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::kCopy:
    case Opcode::kReshape:
    case Opcode::kBitcast:
    case Opcode::kTranspose:
    case Opcode::kBroadcast:
    case Opcode::kSlice:
    case Opcode::kReverse:
    case Opcode::kConcatenate:
    case Opcode::kPad:
      return true;
    default:
      return false;
  }
}

bool IsMovementFusion(const Instruction& fusion) {
  bool moves = false, reshapes = false, repeats = false;
  for (const Instruction* i : fusion.fused()->instructions()) {
    if (i->opcode() == Opcode::kParameter) continue;
    if (!IsDataMovement(*i)) return false;
    // A plain loop may hold the others. Dimensions of size 1 alone may move
    // rows to lanes, which no loop does.
    const bool reshape =
        i->opcode() == Opcode::kReshape &&
        SameUpToDegenerateDims(i->shape(), i->operand(0)->shape());
    reshapes |= reshape;
    repeats |= i->opcode() == Opcode::kBroadcast;
    moves |= i->opcode() != Opcode::kBroadcast &&
             i->opcode() != Opcode::kBitcast && !reshape;
  }
  return moves || (reshapes && !repeats);
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

bool IsBroadcastAgain(const Instruction& reduce) {
  if (!IsFusibleReduce(reduce) || reduce.dimensions().size() != 1) return false;
  const Shape& rows = reduce.operand(0)->shape();
  const Opcode op = *MonoidOf(*reduce.to_apply());
  // Of bf16 numbers only what needs no rounding.
  const bool exact = reduce.shape().type() == PrimitiveType::kBf16 &&
                     (op == Opcode::kMaximum || op == Opcode::kMinimum);
  const int64_t over = reduce.dimensions()[0];
  if (reduce.user_count() == 0 ||
      (reduce.shape().type() != PrimitiveType::kF32 && !exact)) {
    return false;
  }
  const auto broadcast = [&](const Instruction* user) {
    if (user->opcode() != Opcode::kBroadcast || !user->shape().SameDims(rows)) {
      return false;
    }
    const auto dims = user->dimensions();
    for (int d = 0; d < rows.rank() - 1; ++d) {
      if (dims[d] != d + (d >= over ? 1 : 0)) return false;
    }
    return true;
  };
  const auto all_broadcast = [&](const Instruction& i) {
    return !i.IsRoot() && i.user_count() > 0 &&
           std::all_of(i.users().begin(), i.users().end(), broadcast);
  };
  return !reduce.IsRoot() &&
         std::all_of(reduce.users().begin(), reduce.users().end(),
                     [&](const Instruction* user) {
                       return broadcast(user) ||
                              (user->opcode() == Opcode::kConvert &&
                               all_broadcast(*user));
                     });
}

absl::Status CheckInputFusion(const Instruction& fusion) {
  const Shape& iteration = IterationShape(fusion);
  const Instruction* first = nullptr;
  for (const Instruction* root : FusionRoots(fusion)) {
    if (const Instruction* reduce = StoredReduce(*root)) {
      if (!IsFusibleReduce(*reduce)) {
        return Refuse(fusion, *reduce,
                      "its start is no constant or its body no one operation");
      }
      if (!reduce->operand(0)->shape().SameDims(iteration)) {
        return Refuse(fusion, *reduce, "it reduces another shape");
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
  return IsStagedFusion(fusion) ? CheckStagedFusion(fusion)
                                : CheckChainFusion(fusion);
}

}  // namespace ptxla::hlo
