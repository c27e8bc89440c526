#include "hlo_backend/lowering/sorting/sort_order.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/numerics/bits.h"
#include "base/status.h"
#include "hlo_backend/ir/computation.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Mask;
using codegen::Vec;
using hlo::Instruction;
using isa::Opcode;

uint32_t RegisterImage(const Instruction& i) {
  const hlo::Literal& literal = i.literal();
  return hlo::IsFloat(i.shape().type())
             ? numerics::FloatBits(static_cast<float>(literal.GetDouble(0)))
             : static_cast<uint32_t>(literal.GetInt(0));
}

bool IsTotalOrder(const Instruction& i) {
  return i.opcode() == hlo::Opcode::kCompare &&
         i.attrs<hlo::CompareAttrs>().type == hlo::CompareType::kTotalOrder &&
         hlo::IsFloat(i.operand(0)->shape().type());
}

}  // namespace

SortOrder::SortOrder(const SortProblem& problem, CodeBuilder* b)
    : problem_(problem), b_(*b), reads_(problem.carried(), false) {
  const hlo::Computation& comparator = *problem.sort->to_apply();
  for (const Instruction* i : comparator.PostOrder()) {
    body_.push_back(i);
    if (!problem.key.has_value() && i->opcode() == hlo::Opcode::kParameter &&
        (i->user_count() > 0 || i == comparator.root())) {
      reads_[i->parameter_number() / 2] = true;
    }
  }
  if (problem.key.has_value()) {
    reads_.resize(problem.compared(), true);
    if (!problem.has_key_beside()) reads_[problem.key->array] = true;
  }
  if (problem.tie >= 0) reads_[problem.tie] = true;
  if (problem.pads()) reads_[problem.position] = true;
}

void SortOrder::StartBlock() {
  constants_.clear();
  known_.clear();
}

Vec SortOrder::TotalOrderKey(Vec v) {
  Value& key = known_[{-1, v.id}];
  if (!key.vec.valid()) key.vec = EmitTotalOrderKey(b_, v);
  return key.vec;
}

absl::StatusOr<Value> SortOrder::Make(const Instruction& i,
                                      absl::Span<const Value> inputs) {
  if (i.opcode() == hlo::Opcode::kConstant) {
    Value& value = constants_[&i];
    if (!value.vec.valid() && !value.mask.valid()) {
      if (i.shape().type() == hlo::PrimitiveType::kPred) {
        const int set = i.literal().GetInt(0) != 0 ? 1 : 0;
        value = Value::Of(b_.Range(0, 128 * set, 0, 8 * set));
      } else {
        value = Value::Of(b_.Imm(RegisterImage(i)));
      }
    }
    return value;
  }
  // The same of the same registers, for operations without attributes that
  // matter here.
  std::vector<int64_t> key = {static_cast<int64_t>(i.opcode()),
                              static_cast<int64_t>(i.shape().type())};
  if (i.opcode() == hlo::Opcode::kCompare) {
    const auto& attrs = i.attrs<hlo::CompareAttrs>();
    key.push_back(static_cast<int64_t>(attrs.direction));
    key.push_back(static_cast<int64_t>(attrs.type));
  } else if (i.opcode() == hlo::Opcode::kReducePrecision) {
    key.push_back(i.attrs<hlo::ReducePrecisionAttrs>().mantissa_bits);
    key.push_back(i.attrs<hlo::ReducePrecisionAttrs>().exponent_bits);
  }
  for (size_t k = 0; k < inputs.size(); ++k) {
    key.push_back(
        static_cast<int64_t>(i.operand(static_cast<int>(k))->shape().type()));
    key.push_back(inputs[k].vec.id);
    key.push_back(inputs[k].mask.id);
  }
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  Value value;
  if (IsTotalOrder(i)) {
    static constexpr Opcode kS32[] = {Opcode::kVcmpEqS32, Opcode::kVcmpNeS32,
                                      Opcode::kVcmpGeS32, Opcode::kVcmpGtS32,
                                      Opcode::kVcmpLeS32, Opcode::kVcmpLtS32};
    const auto direction = i.attrs<hlo::CompareAttrs>().direction;
    value = Value::Of(b_.Compare(kS32[static_cast<int>(direction)],
                                 TotalOrderKey(inputs[0].vec),
                                 TotalOrderKey(inputs[1].vec)));
  } else {
    ASSIGN_OR_RETURN(value, EmitElementwise(b_, i, inputs));
  }
  known_[key] = value;
  return value;
}

absl::StatusOr<Value> SortOrder::Compare(absl::Span<const Vec> x,
                                         absl::Span<const Vec> y) {
  absl::flat_hash_map<const Instruction*, Value> values;
  for (const Instruction* i : body_) {
    if (i->opcode() == hlo::Opcode::kParameter) {
      const int64_t n = i->parameter_number();
      values[i] = Value::Of(n % 2 == 0 ? x[n / 2] : y[n / 2]);
      continue;
    }
    if (!i->IsElementwise() && !i->IsConstant()) {
      return absl::UnimplementedError(
          absl::StrCat("%", problem_.sort->name(), ": a comparator with ",
                       hlo::OpcodeName(i->opcode())));
    }
    std::vector<Value> inputs;
    for (const Instruction* o : i->operands()) inputs.push_back(values.at(o));
    ASSIGN_OR_RETURN(values[i], Make(*i, inputs));
  }
  return values.at(body_.back());
}

bool SortOrder::MakesNumbers() const {
  return !problem_.key.has_value() &&
         std::any_of(body_.begin(), body_.end(), [](const Instruction* i) {
           return i->opcode() != hlo::Opcode::kParameter && !i->IsConstant() &&
                  i->shape().type() != hlo::PrimitiveType::kPred;
         });
}

absl::Status SortOrder::AddKey(std::vector<Vec>* x) {
  const std::optional<SortKey>& key = problem_.key;
  if (!key.has_value() || (key->is_value && !key->total_order)) {
    return absl::OkStatus();
  }
  known_.clear();
  Vec made = (*x)[key->array];
  if (key->Beside()) {
    absl::flat_hash_map<const Instruction*, Value> values;
    for (const Instruction* i : body_) {
      if (i->opcode() == hlo::Opcode::kParameter) {
        values[i] = Value::Of((*x)[i->parameter_number() / 2]);
        continue;
      }
      std::vector<Value> inputs;
      for (const Instruction* o : i->operands()) inputs.push_back(values.at(o));
      ASSIGN_OR_RETURN(values[i], Make(*i, inputs));
      if (i == key->of_first) break;
    }
    made = values.at(key->of_first).vec;
  }
  if (key->total_order) made = EmitTotalOrderKey(b_, made);
  if (key->Beside()) {
    x->push_back(made);
  } else {
    (*x)[key->array] = made;
  }
  return absl::OkStatus();
}

void SortOrder::RemoveKey(std::vector<Vec>* x) {
  const std::optional<SortKey>& key = problem_.key;
  if (!key.has_value()) return;
  if (key->Beside()) {
    x->pop_back();
    return;
  }
  Vec& value = (*x)[key->array];
  // The key's key is the value.
  if (key->total_order) value = EmitTotalOrderKey(b_, value);
}

// (A NaN that a partial order compares has no place, in HLO either.)
Mask SortOrder::CompareKeys(Vec x, Vec y, bool or_equal) {
  static constexpr Opcode kF32[] = {Opcode::kVcmpLtF32, Opcode::kVcmpGtF32,
                                    Opcode::kVcmpLeF32, Opcode::kVcmpGeF32};
  static constexpr Opcode kS32[] = {Opcode::kVcmpLtS32, Opcode::kVcmpGtS32,
                                    Opcode::kVcmpLeS32, Opcode::kVcmpGeS32};
  static constexpr Opcode kU32[] = {Opcode::kVcmpLtU32, Opcode::kVcmpGtU32,
                                    Opcode::kVcmpLeU32, Opcode::kVcmpGeU32};
  const SortKey& key = *problem_.key;
  const hlo::PrimitiveType type = key.of_first->shape().type();
  const Opcode* table = key.total_order || hlo::IsSigned(type) ? kS32
                        : hlo::IsFloat(type)                   ? kF32
                                                               : kU32;
  if (key.swapped) std::swap(x, y);
  const int more = key.direction == hlo::CompareDirection::kGt ? 1 : 0;
  return b_.Compare(table[more + (or_equal ? 2 : 0)], x, y);
}

absl::StatusOr<Mask> SortOrder::Before(absl::Span<const Vec> x,
                                       absl::Span<const Vec> y) {
  known_.clear();
  Mask before, not_behind;
  if (problem_.key.has_value()) {
    const int at =
        problem_.has_key_beside() ? problem_.carried() : problem_.key->array;
    before = CompareKeys(x[at], y[at], /*or_equal=*/false);
    if (problem_.tie >= 0) {
      not_behind = CompareKeys(x[at], y[at], /*or_equal=*/true);
    }
  } else {
    ASSIGN_OR_RETURN(const Value less, Compare(x, y));
    before = less.mask;
    if (problem_.tie >= 0) {
      ASSIGN_OR_RETURN(const Value more, Compare(y, x));
      not_behind = b_.MaskNot(more.mask);
    }
  }
  if (problem_.tie >= 0) {
    const Mask first =
        b_.Compare(Opcode::kVcmpLtS32, x[problem_.tie], y[problem_.tie]);
    before = b_.MaskBinary(Opcode::kVmor, before,
                           b_.MaskBinary(Opcode::kVmand, not_behind, first));
  }
  if (problem_.pads()) {
    const uint32_t length = static_cast<uint32_t>(problem_.length);
    const Mask real =
        b_.CompareImm(Opcode::kVcmpLtS32, x[problem_.position], length);
    const Mask pad =
        b_.CompareImm(Opcode::kVcmpGeS32, y[problem_.position], length);
    before = b_.MaskBinary(Opcode::kVmand, real,
                           b_.MaskBinary(Opcode::kVmor, before, pad));
  }
  return before;
}

}  // namespace ptxla::lowering
