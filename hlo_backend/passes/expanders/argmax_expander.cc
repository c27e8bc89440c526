#include "hlo_backend/passes/expanders/argmax_expander.h"

#include <cmath>
#include <limits>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/expanders/reduce_start.h"
#include "hlo_backend/passes/simplify/fold_element.h"

namespace ptxla::hlo {
namespace {

struct Pair {
  double value;
  int64_t index;
};

// What the body makes of (a, b); nothing if it cannot be evaluated.
std::optional<Pair> Evaluate(const Computation& body, Pair a, Pair b) {
  const Instruction* root = body.root();
  if (root->opcode() != Opcode::kTuple || root->operand_count() != 2 ||
      body.parameter_count() != 4) {
    return {};
  }
  absl::flat_hash_map<const Instruction*, Literal> values;
  for (const Instruction* i : body.PostOrder()) {
    if (i == root) break;
    if (i->opcode() == Opcode::kParameter) {
      const int64_t n = i->parameter_number();
      const Pair& p = n < 2 ? a : b;
      values[i] = n % 2 == 0 ? Literal::Splat(i->shape(), p.value)
                             : Literal::SplatInt(i->shape(), p.index);
      continue;
    }
    if (i->IsConstant()) {
      values[i] = i->literal();
      continue;
    }
    if (!i->shape().IsScalar()) return {};
    std::vector<const Literal*> operands;
    for (const Instruction* o : i->operands()) {
      auto it = values.find(o);
      if (it == values.end()) return {};
      operands.push_back(&it->second);
    }
    Literal result(i->shape());
    result.mutable_bytes();
    if (!FoldElement(*i, operands, 0, &result)) return {};
    values[i] = std::move(result);
  }
  auto value = values.find(root->operand(0));
  auto index = values.find(root->operand(1));
  if (value == values.end() || index == values.end()) return {};
  return Pair{value->second.GetDouble(0), index->second.GetInt(0)};
}

bool Gives(const Computation& body, Pair a, Pair b, Pair expected) {
  const auto result = Evaluate(body, a, b);
  if (!result.has_value() || result->index != expected.index) return false;
  return std::isnan(expected.value) ? std::isnan(result->value)
                                    : result->value == expected.value;
}

// The larger (sign 1) or smaller (-1) value first, then the smaller index.
bool TakesFirst(const Computation& body, int sign, bool floats) {
  const Pair low{-2.0 * sign, 3}, high{5.0 * sign, 7}, also{5.0 * sign, 9};
  bool yes = Gives(body, low, high, high) && Gives(body, high, low, high) &&
             Gives(body, high, also, high) && Gives(body, also, high, high);
  if (!floats) return yes;
  const Pair nan{std::numeric_limits<double>::quiet_NaN(), 8};
  if (!yes) return false;
  // NaN before all others; or what a comparison makes of it, which depends on
  // the order of the elements: then NaN first is as good as any.
  const bool first = Gives(body, nan, low, nan) && Gives(body, low, nan, nan);
  const bool second = Gives(body, nan, low, low) && Gives(body, low, nan, nan);
  const bool stays = Gives(body, nan, low, nan) && Gives(body, low, nan, low);
  return first || second || stays;
}

// `index` counts along the reduced dimension.
bool IsIotaAlong(const Instruction* index, int64_t dim) {
  if (index->opcode() == Opcode::kReshape) {
    // Of one row.
    const Instruction* iota = index->operand(0);
    return iota->opcode() == Opcode::kIota &&
           index->shape().dim(dim) == index->shape().ElementCount() &&
           iota->shape().dim(iota->attrs<IotaAttrs>().dimension) ==
               index->shape().ElementCount();
  }
  if (index->opcode() == Opcode::kIota) {
    return index->attrs<IotaAttrs>().dimension == dim;
  }
  if (index->opcode() != Opcode::kBroadcast) return false;
  const Instruction* iota = index->operand(0);
  if (iota->opcode() != Opcode::kIota) return false;
  return index->dimensions()[iota->attrs<IotaAttrs>().dimension] == dim;
}

// A start that no element beats, and one that ties with the best, have a
// position of their own. A neutral one ties with elements that are all alike,
// the first of which is at 0.
bool StartHasPosition(const Instruction& best, const Instruction& position) {
  return !StartIsNeutral(best) || !position.IsConstant() ||
         position.literal().GetInt(0) < 0;
}

Instruction* Expand(Instruction* i) {
  if (i->operand_count() != 4 || i->dimensions().size() != 1) return nullptr;
  Instruction* x = i->operand(0);
  Instruction* index = i->operand(1);
  const int64_t dim = i->dimensions()[0];
  const PrimitiveType type = x->shape().type();
  const PrimitiveType index_type = index->shape().type();
  if ((index_type != kS32 && index_type != PrimitiveType::kS64) ||
      IsComplex(type) || !IsIotaAlong(index, dim) ||
      !i->operand(2)->IsConstant() || x->shape().dim(dim) == 0) {
    return nullptr;
  }
  const bool floats = IsFloat(type);
  const bool most = TakesFirst(*i->to_apply(), 1, floats);
  if (!most && !TakesFirst(*i->to_apply(), -1, floats)) return nullptr;
  Builder b(i->parent());
  b.set_metadata(i->shared_metadata());
  DimVector kept;
  for (int64_t d = 0; d < x->shape().rank(); ++d) {
    if (d != dim) kept.push_back(d);
  }
  // Both reduces are to see the same values: what is computed in 16 bits has
  // more where it is used than where it is stored.
  const bool bf16 = type == PrimitiveType::kBf16;
  if ((bf16 || type == PrimitiveType::kF16) &&
      x->opcode() != Opcode::kParameter) {
    const int exponent = bf16 ? 8 : 5, mantissa = bf16 ? 7 : 10;
    x = b.ReducePrecision(x, exponent, mantissa);
  }
  Instruction* best =
      b.Reduce(x, i->operand(2), {dim},
               b.Scalar2(most ? Opcode::kMaximum : Opcode::kMinimum, type));
  Instruction* hit = b.Compare(x, b.Broadcast(best, x->shape().dims(), kept),
                               CompareDirection::kEq);
  if (floats) hit = b.Or(hit, b.Compare(x, x, CompareDirection::kNe));
  // Positions are words, whatever the program counts in: no array is longer.
  if (index_type != kS32) {
    index = b.Iota(Shape::Array(kS32, x->shape().dims()), dim);
  }
  Instruction* last =
      b.ConstantScalar(kS32, std::numeric_limits<int32_t>::max());
  Instruction* where =
      b.Select(hit, index, b.BroadcastScalar(last, x->shape().dims()));
  Instruction* position =
      b.Reduce(where, last, {dim}, b.Scalar2(Opcode::kMinimum, kS32));
  if (index_type != kS32) {
    position = b.Convert(position, index_type);
    last = b.Convert(last, index_type);
  }
  Instruction *start = i->operand(2), *start_position = i->operand(3);
  if (StartHasPosition(*best, *start_position)) {
    const DimVector& dims = best->shape().dims();
    auto all = [&](Instruction* x) { return b.BroadcastScalar(x, dims); };
    Instruction* tie = b.Compare(best, all(start), CompareDirection::kEq);
    if (floats)
      tie = b.Or(tie, all(b.Compare(start, start, CompareDirection::kNe)));
    position =
        b.Minimum(position, b.Select(tie, all(start_position), all(last)));
  }
  // A value that TPU compilers narrow is rounded once, behind.
  const PrimitiveType narrow = i->shape().element(0).type();
  if (narrow != type) best = b.Convert(best, narrow);
  return b.Tuple({best, position});
}

}  // namespace

absl::StatusOr<bool> ArgmaxExpanderPass::Run(Module* module,
                                             const PassContext&) {
  bool changed = false;
  for (Computation* c : module->computations()) {
    for (Instruction* i : c->PostOrder()) {
      if (i->opcode() != Opcode::kReduce) continue;
      Instruction* expanded = Expand(i);
      if (expanded == nullptr) continue;
      c->Replace(i, expanded);
      changed = true;
    }
  }
  return changed;
}

}  // namespace ptxla::hlo
