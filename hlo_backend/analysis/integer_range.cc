#include "hlo_backend/analysis/integer_range.h"

#include <algorithm>
#include <limits>

#include "absl/container/flat_hash_map.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/ir/literal.h"

namespace ptxla::hlo {
namespace {

// Constants of more elements, and longer chains, are not looked through.
constexpr int64_t kMostElements = 1 << 16;
constexpr int kMostDepth = 64;

IntegerRange AllOf(PrimitiveType type) {
  const int bits = BitWidth(type);
  if (type == PrimitiveType::kPred) return {0, 1};
  if (!IsInteger(type) || bits > 32) {
    return {std::numeric_limits<int64_t>::min(),
            std::numeric_limits<int64_t>::max()};
  }
  if (IsSigned(type)) {
    return {-(int64_t{1} << (bits - 1)), (int64_t{1} << (bits - 1)) - 1};
  }
  return {0, (int64_t{1} << bits) - 1};
}

IntegerRange Union(const IntegerRange& a, const IntegerRange& b) {
  return {std::min(a.least, b.least), std::max(a.most, b.most)};
}

class Ranges {
 public:
  IntegerRange Of(const Instruction& x, int depth) {
    if (!x.shape().IsArray()) return AllOf(PrimitiveType::kF32);
    const IntegerRange all = AllOf(x.shape().type());
    if (depth > kMostDepth || all.least < std::numeric_limits<int32_t>::min()) {
      return all;
    }
    if (const auto known = known_.find(&x); known != known_.end()) {
      return known->second;
    }
    const IntegerRange r = From(x, depth + 1);
    // What wraps around may be anything.
    return known_[&x] = r.Within(all.least, all.most) ? r : all;
  }

 private:
  IntegerRange From(const Instruction& x, int depth) {
    const auto of = [&](int k) { return Of(*x.operand(k), depth); };
    switch (x.opcode()) {
      case Opcode::kConstant:
        return OfConstant(x);
      case Opcode::kIota:
        return {
            0, x.shape().dim(static_cast<int>(x.attrs<IotaAttrs>().dimension)) -
                   1};
      case Opcode::kBitcast:
      case Opcode::kBroadcast:
      case Opcode::kConvert:
      case Opcode::kCopy:
      case Opcode::kDynamicSlice:
      case Opcode::kGather:
      case Opcode::kReshape:
      case Opcode::kReverse:
      case Opcode::kSlice:
      case Opcode::kTranspose:
        return SameType(*x.operand(0), x) ? of(0) : AllOf(x.shape().type());
      case Opcode::kCopyDone:
        return Of(*x.operand(0)->operand(0), depth);
      case Opcode::kPad:
        return Union(of(0), of(1));
      case Opcode::kSelect:
        return Union(of(1), of(2));
      case Opcode::kConcatenate: {
        IntegerRange r = of(0);
        for (int k = 1; k < x.operand_count(); ++k) r = Union(r, of(k));
        return r;
      }
      case Opcode::kMinimum:
        return Smaller(of(0), of(1));
      case Opcode::kMaximum:
        return Larger(of(0), of(1));
      case Opcode::kClamp:
        return Smaller(Larger(of(0), of(1)), of(2));
      case Opcode::kAdd:
        return {of(0).least + of(1).least, of(0).most + of(1).most};
      case Opcode::kSubtract:
        return {of(0).least - of(1).most, of(0).most - of(1).least};
      case Opcode::kMultiply:
        return Times(of(0), of(1));
      case Opcode::kRemainder:
        if (of(0).least < 0 || of(1).least <= 0) break;
        return {0, std::min(of(0).most, of(1).most - 1)};
      case Opcode::kFusion:
        return Of(*x.called()[0]->root(), depth);
      case Opcode::kGetTupleElement:
        return OfElement(*x.operand(0), static_cast<int>(x.tuple_index()),
                         depth);
      case Opcode::kParameter:
        return OfParameter(x, depth);
      default:
        break;
    }
    return AllOf(x.shape().type());
  }

  // Integers keep their values in wider types; in others a range that fits is
  // kept (Of() looks).
  static bool SameType(const Instruction& from, const Instruction& to) {
    return from.shape().IsArray() &&
           (from.shape().type() == to.shape().type() ||
            (to.opcode() == Opcode::kConvert &&
             IsInteger(from.shape().type()) && IsInteger(to.shape().type())));
  }

  static IntegerRange Smaller(const IntegerRange& a, const IntegerRange& b) {
    return {std::min(a.least, b.least), std::min(a.most, b.most)};
  }
  static IntegerRange Larger(const IntegerRange& a, const IntegerRange& b) {
    return {std::max(a.least, b.least), std::max(a.most, b.most)};
  }
  static IntegerRange Times(const IntegerRange& a, const IntegerRange& b) {
    // Of larger ones the product wraps around, whatever it is.
    constexpr int64_t kMost = int64_t{1} << 31;
    if (!a.Within(-kMost, kMost) || !b.Within(-kMost, kMost)) {
      return AllOf(PrimitiveType::kF32);
    }
    const auto [least, most] = std::minmax({a.least * b.least, a.least * b.most,
                                            a.most * b.least, a.most * b.most});
    return {least, most};
  }

  static IntegerRange OfConstant(const Instruction& x) {
    const Literal& literal = x.literal();
    if (literal.ElementCount() == 0 || literal.ElementCount() > kMostElements) {
      return AllOf(x.shape().type());
    }
    IntegerRange r = {literal.GetInt(0), literal.GetInt(0)};
    for (int64_t k = 1; k < literal.ElementCount(); ++k) {
      r = Union(r, {literal.GetInt(k), literal.GetInt(k)});
    }
    return r;
  }

  IntegerRange OfElement(const Instruction& tuple, int k, int depth) {
    const Instruction* values = &tuple;
    if (tuple.opcode() == Opcode::kFusion) values = tuple.called()[0]->root();
    return values->opcode() == Opcode::kTuple
               ? Of(*values->operand(k), depth)
               : AllOf(tuple.shape().element(k).type());
  }

  // Of a fusion's body.
  IntegerRange OfParameter(const Instruction& x, int depth) {
    const auto callers = x.parent()->callers();
    return callers.size() == 1 && callers[0]->opcode() == Opcode::kFusion
               ? Of(*callers[0]->operand(
                        static_cast<int>(x.parameter_number())),
                    depth)
               : AllOf(x.shape().type());
  }

  absl::flat_hash_map<const Instruction*, IntegerRange> known_;
};

}  // namespace

IntegerRange RangeOf(const Instruction& x) { return Ranges().Of(x, 0); }

}  // namespace ptxla::hlo
