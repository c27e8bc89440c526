// X64Eliminator: what calls a computation on elements, and arrays of words.
#include <algorithm>
#include <cstdint>
#include <optional>

#include "hlo_backend/analysis/monoid.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/x64/x64_eliminator.h"

namespace ptxla::hlo {

// A reduce of two arrays whose body works on pairs.
absl::StatusOr<X64Pair> X64Eliminator::Reduced(Instruction* i) {
  const std::optional<Opcode> op = MonoidOf(*i->to_apply());
  const PrimitiveType type = i->shape().type();
  const bool is_float = type == PrimitiveType::kF64;
  if (i->operand_count() != 2 || !op.has_value()) return Refuse(*i);
  if (IsComplex(type)) return ReducedComplex(i, *op);
  if (!is_float) {
    if (const auto whole = ReducedWords(i, *op)) return *whole;
  }
  Builder body(i->parent()->module()->AddComputation(
      absl::StrCat("x64_", OpcodeName(*op))));
  X64Math math(&body);
  X64Functions more(&body);
  const Shape word = Shape::Scalar(X64HalfType(type));
  const X64Pair x = {body.Parameter(0, word), body.Parameter(1, word)};
  const X64Pair y = {body.Parameter(2, word), body.Parameter(3, word)};
  X64Pair r;
  switch (*op) {
    case Opcode::kAdd:
      r = is_float ? math.FloatAdd(x, y) : math.Add(x, y);
      break;
    case Opcode::kMultiply:
      r = is_float ? math.FloatMultiply(x, y) : math.Multiply(x, y);
      break;
    case Opcode::kMaximum:
    case Opcode::kMinimum: {
      const CompareDirection wins = *op == Opcode::kMaximum
                                        ? CompareDirection::kGe
                                        : CompareDirection::kLe;
      r = is_float
              ? more.FloatSelect(x, y, wins)
              : math.Select(math.Compare(x, y, wins, IsSigned(type)), x, y);
      break;
    }
    default:
      if (is_float) return Refuse(*i);
      r = math.Bitwise(*op, x, y);
  }
  body.computation()->SetRoot(body.Tuple({r.low, r.high}));
  const X64Pair value = PairOf(i->operand(0)), start = PairOf(i->operand(1));
  Instruction* both =
      b_.ReduceMany({value.low, value.high}, {start.low, start.high},
                    i->dimensions(), body.computation());
  return X64Pair{b_.GetTupleElement(both, 0), b_.GetTupleElement(both, 1)};
}

// Sums by pieces of 16 or 8 bits, whose sums fit into words; extremes by the
// high words, then by the low ones of those that have it; bits word by word.
// Nothing: a product, or too many elements.
std::optional<X64Pair> X64Eliminator::ReducedWords(Instruction* i, Opcode op) {
  const PrimitiveType u32 = PrimitiveType::kU32;
  const X64Pair x = PairOf(i->operand(0)), start = PairOf(i->operand(1));
  const Shape& shape = x.low->shape();
  const DimVector dims(i->dimensions().begin(), i->dimensions().end());
  const DimVector kept = Others(shape.rank(), dims);
  const X64Pair from = Spread(start, *i);
  const auto word = [&](uint32_t value, const Instruction* like) {
    Instruction* c = b_.Constant(Literal::Scalar<uint32_t>(value));
    return like->shape().IsScalar()
               ? c
               : b_.BroadcastScalar(c, like->shape().dims());
  };
  const auto reduce = [&](Instruction* value, Opcode with, int64_t init) {
    const PrimitiveType type = value->shape().type();
    return b_.Reduce(value, b_.ConstantScalar(type, init), dims,
                     b_.Scalar2(with, type));
  };
  if (op == Opcode::kAnd || op == Opcode::kOr || op == Opcode::kXor) {
    Computation* body = b_.Scalar2(op, u32);
    return X64Pair{b_.Reduce(x.low, start.low, dims, body),
                   b_.Reduce(x.high, start.high, dims, body)};
  }
  if (op == Opcode::kMaximum || op == Opcode::kMinimum) {
    const bool is_signed = IsSigned(i->shape().type());
    const bool most = op == Opcode::kMaximum;
    const PrimitiveType type = is_signed ? PrimitiveType::kS32 : u32;
    Instruction* high =
        is_signed ? b_.BitcastConvert(x.high, Shape::Array(type, shape.dims()))
                  : x.high;
    const int64_t lowest_high = is_signed ? INT32_MIN : int64_t{0};
    const int64_t highest_high = is_signed ? INT32_MAX : int64_t{UINT32_MAX};
    const int64_t worst = most ? lowest_high : highest_high;
    Instruction* best = reduce(high, op, worst);
    Instruction* hit = b_.Compare(high, b_.Broadcast(best, shape.dims(), kept),
                                  CompareDirection::kEq);
    const int64_t lowest = most ? int64_t{0} : int64_t{UINT32_MAX};
    Instruction* low = reduce(
        b_.Select(hit, x.low, word(static_cast<uint32_t>(lowest), x.low)), op,
        lowest);
    if (is_signed) {
      best = b_.BitcastConvert(best, Shape::Array(u32, best->shape().dims()));
    }
    const X64Pair found = {low, best};
    return math_.Select(
        math_.Compare(found, from,
                      most ? CompareDirection::kGe : CompareDirection::kLe,
                      is_signed),
        found, from);
  }
  const int64_t count =
      shape.ElementCount() / std::max<int64_t>(1, i->shape().ElementCount());
  const int bits = count <= 65536 ? 16 : 8;
  if (op != Opcode::kAdd || count > (int64_t{1} << 24)) return std::nullopt;
  X64Pair sum = from;
  for (int k = 0; k < 64 / bits; ++k) {
    Instruction* half = k * bits < 32 ? x.low : x.high;
    const int within = k * bits % 32;
    Instruction* piece = b_.And(
        b_.ShiftRightLogical(half, word(static_cast<uint32_t>(within), half)),
        word((1u << bits) - 1, half));
    Instruction* part = reduce(piece, Opcode::kAdd, 0);
    const auto moved = [&](int left) {
      return left == 0 ? part
             : left > 0
                 ? b_.ShiftLeft(part, word(static_cast<uint32_t>(left), part))
                 : b_.ShiftRightLogical(
                       part, word(static_cast<uint32_t>(-left), part));
    };
    X64Pair value;
    if (k * bits < 32) {
      value.low = moved(within);
      value.high = within == 0 ? word(0, part) : moved(within - 32);
    } else {
      value = {word(0, part), moved(within)};
    }
    sum = math_.Add(sum, value);
  }
  return sum;
}

// A scatter that puts the updates in place, on each half; one that adds complex
// numbers, on each part.
absl::StatusOr<X64Pair> X64Eliminator::Scattered(Instruction* i) {
  const Instruction* result = i->to_apply()->root();
  if (i->operand_count() != 3) return Refuse(*i);
  const PrimitiveType half = X64HalfType(i->shape().type());
  Computation* body;
  if (result->opcode() == Opcode::kParameter &&
      result->parameter_number() == 1) {
    Builder assign(i->parent()->module()->AddComputation("x64_assign"));
    assign.Parameter(0, Shape::Scalar(half));
    body = assign.computation();
    body->SetRoot(assign.Parameter(1, Shape::Scalar(half)));
  } else if (IsComplex(i->shape().type()) &&
             MonoidOf(*i->to_apply()) == Opcode::kAdd) {
    body = b_.Scalar2(Opcode::kAdd, half);
  } else {
    return Refuse(*i);
  }
  Instruction* indices = Index(i->operand(1));
  const X64Pair value = PairOf(i->operand(0)), update = PairOf(i->operand(2));
  const ScatterAttrs& attrs = i->attrs<ScatterAttrs>();
  return X64Pair{b_.Scatter({value.low}, indices, {update.low}, body, attrs),
                 b_.Scatter({value.high}, indices, {update.high}, body, attrs)};
}

// Halves are operands of their own; the comparator puts them together, and is
// freed of 64-bit values like any computation.
absl::StatusOr<bool> X64Eliminator::Sorted(Instruction* i) {
  const Computation& from = *i->to_apply();
  Builder to(c_->module()->AddComputation(absl::StrCat(from.name(), "_x64")));
  absl::flat_hash_map<const Instruction*, Instruction*> made;
  std::vector<Instruction*> operands;
  std::vector<int> first;  // sorted array of each operand
  int parameter = 0;
  for (int k = 0; k < i->operand_count(); ++k) {
    Instruction* x = i->operand(k);
    first.push_back(static_cast<int>(operands.size()));
    const PrimitiveType type = x->shape().type();
    if (!IsX64(x->shape())) {
      operands.push_back(x);
      for (int side = 0; side < 2; ++side) {
        made[from.parameter(2 * k + side)] =
            to.Parameter(parameter++, Shape::Scalar(type));
      }
      continue;
    }
    const X64Pair pair = PairOf(x);
    operands.push_back(pair.low);
    operands.push_back(pair.high);
    const Shape half = Shape::Scalar(X64HalfType(type));
    Instruction* low[2] = {to.Parameter(parameter, half),
                           to.Parameter(parameter + 1, half)};
    Instruction* high[2] = {to.Parameter(parameter + 2, half),
                            to.Parameter(parameter + 3, half)};
    parameter += 4;
    for (int side = 0; side < 2; ++side) {
      made[from.parameter(2 * k + side)] = to.CustomCall(
          kX64Combine, {low[side], high[side]}, Shape::Scalar(type));
    }
  }
  for (const Instruction* f : from.PostOrder()) {
    if (f->opcode() == Opcode::kParameter) continue;
    std::vector<Instruction*> values;
    for (const Instruction* o : f->operands()) values.push_back(made.at(o));
    made[f] = to.computation()->AddLike(*f, f->shape(), values);
  }
  to.computation()->SetRoot(made.at(from.root()));
  X64Eliminator inside(to.computation());
  for (const auto& [parameter_of, value] : made) {
    if (value->opcode() == Opcode::kCustomCall && value->operand_count() == 2) {
      inside.pairs_[value] = {value->operand(0), value->operand(1)};
      inside.whole_[value] = value;
    }
  }
  RETURN_IF_ERROR(inside.Run().status());
  const auto& attrs = i->attrs<SortAttrs>();
  Instruction* sorted =
      b_.Sort(operands, attrs.dimension, attrs.is_stable, to.computation());
  const auto array = [&](int k) {
    return operands.size() == 1 ? sorted : b_.GetTupleElement(sorted, k);
  };
  std::vector<Instruction*> results;
  for (int k = 0; k < i->operand_count(); ++k) {
    const Shape& shape = i->operand(k)->shape();
    results.push_back(
        IsX64(shape)
            ? b_.CustomCall(kX64Combine, {array(first[k]), array(first[k] + 1)},
                            shape)
            : array(first[k]));
  }
  if (results.size() > 1) {
    c_->Replace(i, b_.Tuple(results));
    return true;
  }
  // A lone 64-bit array.
  pairs_[i] = {array(0), array(1)};
  return true;
}

// Between 64-bit integers and arrays of their words, the low one first.
absl::StatusOr<bool> X64Eliminator::Words(Instruction* i) {
  Instruction* x = i->operand(0);
  const PrimitiveType narrow =
      IsX64(i->shape()) ? x->shape().type() : i->shape().type();
  if (BitWidth(narrow) != 32 || x->shape().type() == PrimitiveType::kF64 ||
      i->shape().type() == PrimitiveType::kF64) {
    return Refuse(*i);
  }
  const auto as = [&](Instruction* v, PrimitiveType type) {
    return v->shape().type() == type
               ? v
               : b_.BitcastConvert(v, Shape::Array(type, v->shape().dims()));
  };
  if (IsX64(i->shape())) {
    const int last = x->shape().rank() - 1;
    DimVector begin(x->shape().rank(), 0), end = x->shape().dims();
    Instruction* halves[2];
    for (int h = 0; h < 2; ++h) {
      begin[last] = h;
      end[last] = h + 1;
      halves[h] = as(b_.Reshape(b_.Slice(x, begin, end), i->shape().dims()),
                     PrimitiveType::kU32);
    }
    SetPair(i, {halves[0], halves[1]});
    return true;
  }
  const X64Pair pair = PairOf(x);
  DimVector dims = x->shape().dims();
  dims.push_back(1);
  Instruction* words =
      b_.Concatenate({b_.Reshape(pair.low, dims), b_.Reshape(pair.high, dims)},
                     static_cast<int64_t>(dims.size()) - 1);
  c_->Replace(i, as(words, narrow));
  return true;
}
}  // namespace ptxla::hlo
