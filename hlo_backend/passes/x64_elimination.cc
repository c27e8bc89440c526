#include "hlo_backend/passes/x64_elimination.h"

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/status.h"
#include "absl/strings/str_cat.h"
#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/analysis/trip_count.h"
#include "hlo_backend/ir/verifier.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/x64_pairs.h"

namespace ptxla::hlo {
namespace {

bool HasX64(const Shape& shape) {
  bool has = false;
  ForEachLeaf(
      shape, [&](const Shape& leaf, const ShapeIndex&) { has |= IsX64(leaf); });
  return has;
}

// One computation at a time. Every 64-bit value has a pair, every pair that
// someone needs whole is combined; both on demand.
class Eliminator {
 public:
  explicit Eliminator(Computation* c) : c_(c), b_(c), math_(&b_) {}

  absl::StatusOr<bool> Run() {
    bool changed = false;
    for (Instruction* i : c_->PostOrder()) {
      bool touches = HasX64(i->shape());
      for (const Instruction* o : i->operands()) touches |= IsX64(o->shape());
      if (!touches || i->opcode() == Opcode::kParameter) continue;
      b_.set_metadata(i->shared_metadata());
      ASSIGN_OR_RETURN(const bool this_one, Visit(i));
      changed |= this_one;
    }
    if (Instruction* root = c_->root(); pairs_.contains(root)) {
      c_->SetRoot(Combined(root));
      changed = true;
    }
    if (changed) c_->RemoveDead();
    return changed;
  }

 private:
  absl::Status Refuse(const Instruction& i) {
    return absl::UnimplementedError(
        absl::StrCat(Describe(i), ": no 32-bit form of this 64-bit operation"));
  }

  Instruction* Split(Instruction* whole, const char* target) {
    return b_.CustomCall(target, {whole},
                         Shape::Array(X64HalfType(whole->shape().type()),
                                      whole->shape().dims()));
  }

  X64Pair PairOf(Instruction* i) {
    auto it = pairs_.find(i);
    if (it != pairs_.end()) return it->second;
    const X64Pair pair = {Split(i, kX64SplitLow), Split(i, kX64SplitHigh)};
    pairs_[i] = pair;
    whole_[i] = i;
    return pair;
  }

  Instruction* Combined(Instruction* i) {
    auto [it, inserted] = whole_.emplace(i, nullptr);
    if (inserted) {
      const X64Pair pair = pairs_.at(i);
      it->second =
          b_.CustomCall(kX64Combine, {pair.low, pair.high}, i->shape());
    }
    return it->second;
  }

  // The s32 value of an index.
  Instruction* Index(Instruction* i) {
    return IsX64(i->shape())
               ? math_.ToNarrow(PairOf(i), PrimitiveType::kS32, true)
               : i;
  }

  // The same instruction on one of the halves.
  Instruction* Like(const Instruction& i, absl::Span<Instruction* const> ops) {
    return c_->AddLike(
        i, Shape::Array(X64HalfType(i.shape().type()), i.shape().dims()), ops);
  }

  // Instructions that move 64-bit elements about: `values` operands are split,
  // the others are indices.
  X64Pair Move(const Instruction& i, int values) {
    std::vector<Instruction*> low, high;
    for (int k = 0; k < i.operand_count(); ++k) {
      if (k < values) {
        const X64Pair pair = PairOf(i.operand(k));
        low.push_back(pair.low);
        high.push_back(pair.high);
      } else {
        Instruction* index = Index(i.operand(k));
        low.push_back(index);
        high.push_back(index);
      }
    }
    return {Like(i, low), Like(i, high)};
  }

  // i takes the whole arrays: tuples, loops, foreign calls, random state.
  bool TakeWhole(Instruction* i) {
    bool changed = false;
    for (int k = 0; k < i->operand_count(); ++k) {
      Instruction* o = i->operand(k);
      if (!IsX64(o->shape()) || !pairs_.contains(o)) continue;
      Instruction* whole = Combined(o);
      if (whole == o) continue;
      i->ReplaceOperand(k, whole);
      changed = true;
    }
    return changed;
  }

  // Indices become s32, the rest stays.
  bool NarrowIndices(Instruction* i, int first, int count) {
    bool changed = false;
    for (int k = first; k < first + count; ++k) {
      if (!IsX64(i->operand(k)->shape())) continue;
      i->ReplaceOperand(k, Index(i->operand(k)));
      changed = true;
    }
    return changed;
  }

  void SetPair(Instruction* i, X64Pair pair) { pairs_[i] = pair; }

  absl::StatusOr<bool> Visit(Instruction* i);
  absl::StatusOr<X64Pair> Value(Instruction* i);
  absl::StatusOr<X64Pair> FloatValue(Instruction* i);
  absl::StatusOr<X64Pair> Reduced(Instruction* i);
  absl::StatusOr<X64Pair> Scattered(Instruction* i);

  Computation* c_;
  Builder b_;
  X64Math math_;
  absl::flat_hash_map<Instruction*, X64Pair> pairs_;
  absl::flat_hash_map<Instruction*, Instruction*> whole_;
};

absl::StatusOr<bool> Eliminator::Visit(Instruction* i) {
  switch (i->opcode()) {
    case Opcode::kTuple:
    case Opcode::kWhile:
    case Opcode::kConditional:
    case Opcode::kCall:
    case Opcode::kCustomCall:
    case Opcode::kRngBitGenerator:
    case Opcode::kOptimizationBarrier:
      // Results of 64 bits stay whole; who reads them splits them.
      return TakeWhole(i);
    case Opcode::kGetTupleElement:
      return false;
    case Opcode::kGather:
      if (IsX64(i->shape())) break;
      return NarrowIndices(i, 1, 1);
    case Opcode::kScatter:
      if (HasX64(i->shape())) break;
      return NarrowIndices(i, i->operand_count() / 2, 1);
    case Opcode::kDynamicSlice:
      if (IsX64(i->shape())) break;
      return NarrowIndices(i, 1, i->operand_count() - 1);
    case Opcode::kDynamicUpdateSlice:
      if (IsX64(i->shape())) break;
      return NarrowIndices(i, 2, i->operand_count() - 2);
    case Opcode::kConvert:
      if (!IsX64(i->shape())) {
        Instruction* x = i->operand(0);
        const X64Pair pair = PairOf(x);
        const PrimitiveType to = i->shape().type();
        Instruction* value;
        if (x->shape().type() != PrimitiveType::kF64) {
          value = math_.ToNarrow(pair, to, IsSigned(x->shape().type()));
        } else {
          value =
              to == PrimitiveType::kF32 ? pair.high : b_.Convert(pair.high, to);
        }
        c_->Replace(i, value);
        return true;
      }
      break;
    case Opcode::kCompare: {
      const PrimitiveType type = i->operand(0)->shape().type();
      const CompareDirection direction = i->attrs<CompareAttrs>().direction;
      const X64Pair x = PairOf(i->operand(0)), y = PairOf(i->operand(1));
      c_->Replace(i, type == PrimitiveType::kF64
                         ? math_.FloatCompare(x, y, direction)
                         : math_.Compare(x, y, direction, IsSigned(type)));
      return true;
    }
    default:
      break;
  }
  if (!IsX64(i->shape())) return Refuse(*i);
  ASSIGN_OR_RETURN(const X64Pair pair, Value(i));
  SetPair(i, pair);
  return true;
}

absl::StatusOr<X64Pair> Eliminator::Value(Instruction* i) {
  const bool is_float = i->shape().type() == PrimitiveType::kF64;
  auto pair = [&](int k) { return PairOf(i->operand(k)); };
  switch (i->opcode()) {
    case Opcode::kConstant:
      return math_.Constant(i->literal());
    case Opcode::kIota: {
      Instruction* low = Like(*i, {});
      Instruction* zero =
          b_.BroadcastScalar(b_.Zero(low->shape().type()), low->shape().dims());
      return is_float ? X64Pair{zero, low} : X64Pair{low, zero};
    }
    case Opcode::kBroadcast:
    case Opcode::kReshape:
    case Opcode::kTranspose:
    case Opcode::kSlice:
    case Opcode::kReverse:
    case Opcode::kCopy:
      return Move(*i, 1);
    case Opcode::kPad:
      return Move(*i, 2);
    case Opcode::kConcatenate:
      return Move(*i, i->operand_count());
    case Opcode::kGather:
    case Opcode::kDynamicSlice:
      return Move(*i, 1);
    case Opcode::kDynamicUpdateSlice:
      return Move(*i, 2);
    case Opcode::kSelect:
      return X64Pair{c_->AddLike(*i, pair(1).low->shape(),
                                 {i->operand(0), pair(1).low, pair(2).low}),
                     c_->AddLike(*i, pair(1).low->shape(),
                                 {i->operand(0), pair(1).high, pair(2).high})};
    case Opcode::kReduce:
      return Reduced(i);
    case Opcode::kScatter:
      return Scattered(i);
    default:
      break;
  }
  if (is_float) return FloatValue(i);
  const bool is_signed = IsSigned(i->shape().type());
  switch (i->opcode()) {
    case Opcode::kConvert:
      if (!IsX64(i->operand(0)->shape())) {
        return math_.FromNarrow(i->operand(0));
      }
      if (i->operand(0)->shape().type() == PrimitiveType::kF64) {
        return Refuse(*i);
      }
      return pair(0);
    case Opcode::kAdd:
      return math_.Add(pair(0), pair(1));
    case Opcode::kSubtract:
      return math_.Subtract(pair(0), pair(1));
    case Opcode::kMultiply:
      return math_.Multiply(pair(0), pair(1));
    case Opcode::kNegate:
      return math_.Negate(pair(0));
    case Opcode::kAbs:
      return is_signed ? math_.Abs(pair(0)) : pair(0);
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
      return math_.Bitwise(i->opcode(), pair(0), pair(1));
    case Opcode::kNot:
      return math_.Not(pair(0));
    case Opcode::kShiftLeft:
    case Opcode::kShiftRightLogical:
    case Opcode::kShiftRightArithmetic:
      return math_.Shift(i->opcode(), pair(0), pair(1));
    case Opcode::kMaximum:
    case Opcode::kMinimum: {
      const CompareDirection wins = i->opcode() == Opcode::kMaximum
                                        ? CompareDirection::kGe
                                        : CompareDirection::kLe;
      Instruction* first = math_.Compare(pair(0), pair(1), wins, is_signed);
      return math_.Select(first, pair(0), pair(1));
    }
    default:
      return Refuse(*i);
  }
}

absl::StatusOr<X64Pair> Eliminator::FloatValue(Instruction* i) {
  auto pair = [&](int k) { return PairOf(i->operand(k)); };
  switch (i->opcode()) {
    case Opcode::kConvert: {
      Instruction* x = i->operand(0);
      // 32-bit integers need more bits than one f32 has.
      if (IsX64(x->shape()) || BitWidth(x->shape().type()) > 16) {
        if (x->shape().type() != PrimitiveType::kF32) return Refuse(*i);
      }
      Instruction* high = x->shape().type() == PrimitiveType::kF32
                              ? x
                              : b_.Convert(x, PrimitiveType::kF32);
      Instruction* zero = b_.Zero(PrimitiveType::kF32);
      if (!high->shape().IsScalar()) {
        zero = b_.BroadcastScalar(zero, high->shape().dims());
      }
      return X64Pair{zero, high};
    }
    case Opcode::kAdd:
      return math_.FloatAdd(pair(0), pair(1));
    case Opcode::kSubtract:
      return math_.FloatAdd(pair(0), math_.FloatNegate(pair(1)));
    case Opcode::kMultiply:
      return math_.FloatMultiply(pair(0), pair(1));
    case Opcode::kNegate:
      return math_.FloatNegate(pair(0));
    default:
      return Refuse(*i);
  }
}

// A reduce of two arrays whose body works on pairs.
absl::StatusOr<X64Pair> Eliminator::Reduced(Instruction* i) {
  const std::optional<Opcode> op = MonoidOf(*i->to_apply());
  const PrimitiveType type = i->shape().type();
  if (i->operand_count() != 2 || !op.has_value() ||
      type == PrimitiveType::kF64) {
    return Refuse(*i);
  }
  Builder body(i->parent()->module()->AddComputation(
      absl::StrCat("x64_", OpcodeName(*op))));
  X64Math math(&body);
  const Shape word = Shape::Scalar(PrimitiveType::kU32);
  const X64Pair x = {body.Parameter(0, word), body.Parameter(1, word)};
  const X64Pair y = {body.Parameter(2, word), body.Parameter(3, word)};
  X64Pair r;
  switch (*op) {
    case Opcode::kAdd:
      r = math.Add(x, y);
      break;
    case Opcode::kMultiply:
      r = math.Multiply(x, y);
      break;
    case Opcode::kMaximum:
    case Opcode::kMinimum:
      r = math.Select(
          math.Compare(x, y,
                       *op == Opcode::kMaximum ? CompareDirection::kGe
                                               : CompareDirection::kLe,
                       IsSigned(type)),
          x, y);
      break;
    default:
      r = math.Bitwise(*op, x, y);
  }
  body.computation()->SetRoot(body.Tuple({r.low, r.high}));
  const X64Pair value = PairOf(i->operand(0)), start = PairOf(i->operand(1));
  Instruction* both =
      b_.ReduceMany({value.low, value.high}, {start.low, start.high},
                    i->dimensions(), body.computation());
  return X64Pair{b_.GetTupleElement(both, 0), b_.GetTupleElement(both, 1)};
}

// A scatter that puts the updates in place, on each half.
absl::StatusOr<X64Pair> Eliminator::Scattered(Instruction* i) {
  const Instruction* result = i->to_apply()->root();
  if (i->operand_count() != 3 || result->opcode() != Opcode::kParameter ||
      result->parameter_number() != 1) {
    return Refuse(*i);
  }
  const PrimitiveType half = X64HalfType(i->shape().type());
  Builder body(i->parent()->module()->AddComputation("x64_assign"));
  body.Parameter(0, Shape::Scalar(half));
  body.computation()->SetRoot(body.Parameter(1, Shape::Scalar(half)));
  Instruction* indices = Index(i->operand(1));
  const X64Pair value = PairOf(i->operand(0)), update = PairOf(i->operand(2));
  const ScatterAttrs& attrs = i->attrs<ScatterAttrs>();
  return X64Pair{
      b_.Scatter({value.low}, indices, {update.low}, body.computation(), attrs),
      b_.Scatter({value.high}, indices, {update.high}, body.computation(),
                 attrs)};
}

// A 64-bit counter is two words afterwards, which nobody recognises: how often
// its loop runs is written down before.
bool NoteTripCounts(Module* module) {
  bool changed = false;
  for (Computation* c : module->computations()) {
    for (Instruction* i : c->instructions()) {
      if (i->opcode() != Opcode::kWhile || !HasX64(i->shape()) ||
          !i->backend_config().empty()) {
        continue;
      }
      const auto count = TripCountOf(*i);
      if (!count.has_value()) continue;
      i->set_backend_config(absl::StrCat("{\"known_trip_count\":{\"n\":\"",
                                         count->count, "\"}}"));
      changed = true;
    }
  }
  return changed;
}

}  // namespace

absl::StatusOr<bool> X64EliminationPass::Run(Module* module,
                                             const PassContext&) {
  bool changed = NoteTripCounts(module);
  // Bodies of reduces and the like are rewritten by their callers.
  for (Computation* c : ControlComputations(*module)) {
    ASSIGN_OR_RETURN(const bool this_one, Eliminator(c).Run());
    changed |= this_one;
  }
  if (changed) module->RemoveUnusedComputations();
  return changed;
}

}  // namespace ptxla::hlo
