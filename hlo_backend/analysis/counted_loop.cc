#include "hlo_backend/analysis/counted_loop.h"

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {
namespace {

constexpr int64_t kMostIterations = int64_t{1} << 16;

using Number = std::optional<int64_t>;

// As the type holds it: cut to its width, with or without a sign.
Number Cut(int64_t value, PrimitiveType type) {
  const int bits = BitWidth(type);
  if (type == PrimitiveType::kPred) return value != 0 ? 1 : 0;
  if (!IsInteger(type) || bits > 64) return {};
  if (bits == 64) return value;
  const int64_t mask = (int64_t{1} << bits) - 1;
  value &= mask;
  const bool negative = IsSigned(type) && (value >> (bits - 1)) != 0;
  return negative ? value - mask - 1 : value;
}

bool Compares(CompareDirection direction, int64_t a, int64_t b,
              PrimitiveType type) {
  const auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  const bool less = IsSigned(type) ? a < b : ua < ub;
  switch (direction) {
    case CompareDirection::kEq:
      return a == b;
    case CompareDirection::kNe:
      return a != b;
    case CompareDirection::kLt:
      return less;
    case CompareDirection::kLe:
      return less || a == b;
    case CompareDirection::kGt:
      return !less && a != b;
    case CompareDirection::kGe:
      return !less;
  }
  return false;
}

// Scalars of one computation, given those of its parameters. Numbers of a tuple
// are those of its elements.
class Scalars {
 public:
  using Tuple = std::vector<Number>;

  explicit Scalars(const std::vector<Tuple>& parameters)
      : parameters_(parameters) {}

  Number Of(const Instruction& i) {
    const Tuple all = All(i);
    return all.size() == 1 ? all[0] : Number();
  }

  Tuple All(const Instruction& i) {
    const auto known = known_.find(&i);
    if (known != known_.end()) return known->second;
    Tuple all = Compute(i);
    known_[&i] = all;
    return all;
  }

 private:
  Tuple Compute(const Instruction& i) {
    if (i.shape().IsArray() && !i.shape().IsScalar()) return {Number()};
    switch (i.opcode()) {
      case Opcode::kParameter: {
        const auto n = static_cast<size_t>(i.parameter_number());
        return n < parameters_.size() ? parameters_[n] : Tuple();
      }
      case Opcode::kTuple: {
        Tuple all;
        for (const Instruction* o : i.operands()) all.push_back(Of(*o));
        return all;
      }
      case Opcode::kGetTupleElement: {
        const Tuple all = All(*i.operand(0));
        const auto k = static_cast<size_t>(i.tuple_index());
        return {k < all.size() ? all[k] : Number()};
      }
      case Opcode::kFusion:
      case Opcode::kCall: {
        std::vector<Tuple> arguments;
        for (const Instruction* o : i.operands()) arguments.push_back(All(*o));
        return Scalars(arguments).All(*i.to_apply()->root());
      }
      case Opcode::kOptimizationBarrier:
        return All(*i.operand(0));
      default:
        return {i.shape().IsArray() ? Scalar(i) : Number()};
    }
  }

  Number Scalar(const Instruction& i) {
    const PrimitiveType type = i.shape().type();
    if (i.IsConstant()) {
      const bool counts = IsInteger(type) || type == PrimitiveType::kPred;
      return counts && !i.literal().IsElided() ? Number(i.literal().GetInt(0))
                                               : Number();
    }
    if (!i.IsElementwise() && i.opcode() != Opcode::kBitcast &&
        i.opcode() != Opcode::kReshape) {
      return {};
    }
    int64_t x[3] = {};
    if (i.operand_count() < 1 || i.operand_count() > 3) return {};
    for (int k = 0; k < i.operand_count(); ++k) {
      const Number o = Of(*i.operand(k));
      if (!o.has_value()) return {};
      x[k] = *o;
    }
    const auto u = [](int64_t v) { return static_cast<uint64_t>(v); };
    switch (i.opcode()) {
      case Opcode::kCopy:
      case Opcode::kBitcast:
      case Opcode::kBitcastConvert:
      case Opcode::kConvert:
      case Opcode::kReshape:
        return Cut(x[0], type);
      case Opcode::kAdd:
        return Cut(static_cast<int64_t>(u(x[0]) + u(x[1])), type);
      case Opcode::kSubtract:
        return Cut(static_cast<int64_t>(u(x[0]) - u(x[1])), type);
      case Opcode::kMultiply:
        return Cut(static_cast<int64_t>(u(x[0]) * u(x[1])), type);
      case Opcode::kAnd:
        return Cut(x[0] & x[1], type);
      case Opcode::kOr:
        return Cut(x[0] | x[1], type);
      case Opcode::kXor:
        return Cut(x[0] ^ x[1], type);
      case Opcode::kNot:
        return type == PrimitiveType::kPred ? Number(x[0] == 0)
                                            : Cut(~x[0], type);
      case Opcode::kSelect:
        return x[0] != 0 ? x[1] : x[2];
      case Opcode::kCompare:
        return Compares(i.attrs<CompareAttrs>().direction, x[0], x[1],
                        i.operand(0)->shape().type())
                   ? 1
                   : 0;
      default:
        return {};
    }
  }

  const std::vector<Tuple>& parameters_;
  absl::flat_hash_map<const Instruction*, Tuple> known_;
};

}  // namespace

std::optional<int64_t> CountByRunning(const Instruction& loop) {
  const std::vector<Scalars::Tuple> none;
  std::vector<Scalars::Tuple> state = {Scalars(none).All(*loop.operand(0))};
  for (int64_t n = 0; n <= kMostIterations; ++n) {
    const Number goes_on = Scalars(state).Of(*loop.while_condition()->root());
    if (!goes_on.has_value()) return {};
    if (*goes_on == 0) return n;
    state = {Scalars(state).All(*loop.while_body()->root())};
  }
  return {};
}

}  // namespace ptxla::hlo
