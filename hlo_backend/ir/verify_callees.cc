#include "hlo_backend/ir/verify_callees.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {
namespace {

template <class... Parts>
absl::Status Fail(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

// Types that a reducer's parameter may have for a value of type `value`.
bool Takes(PrimitiveType parameter, PrimitiveType value) {
  return parameter == value || (IsFloat(parameter) && IsFloat(value));
}

// `c` takes scalars of these types and returns `results` of the first ones.
absl::Status CheckScalars(const Computation& c,
                          const std::vector<PrimitiveType>& parameters,
                          size_t results) {
  if (c.parameter_count() != static_cast<int>(parameters.size())) {
    return Fail(c.name(), " takes ", c.parameter_count(), " parameters, not ",
                parameters.size());
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Shape& s = c.parameter(static_cast<int>(i))->shape();
    if (!s.IsScalar() || !Takes(s.type(), parameters[i])) {
      return Fail("parameter ", i, " of ", c.name(), " is ", s.ToString(),
                  ", not ", PrimitiveTypeName(parameters[i]), "[]");
    }
  }
  const Shape& root = c.root()->shape();
  const auto parts =
      root.IsTuple() ? root.elements() : absl::MakeConstSpan(&root, 1);
  if (parts.size() != results) {
    return Fail(c.name(), " returns ", root.ToString(), ", not ", results,
                results == 1 ? " scalar" : " scalars");
  }
  for (const Shape& s : parts) {
    if (!s.IsScalar()) {
      return Fail(c.name(), " returns ", root.ToString(), ", not scalars");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckCompare(const Instruction& i, const Computation& c,
                          int operands) {
  std::vector<PrimitiveType> types;
  for (int n = 0; n < operands; ++n) {
    types.insert(types.end(), 2, i.operand(n)->shape().type());
  }
  RETURN_IF_ERROR(CheckScalars(c, types, 1));
  if (c.root()->shape().type() != PrimitiveType::kPred) {
    return Fail(c.name(), " returns ", c.root()->shape().ToString(),
                ", not pred[]");
  }
  return absl::OkStatus();
}

// N accumulators, then N values.
absl::Status CheckReducer(const Instruction& i, const Computation& c, int n) {
  std::vector<PrimitiveType> types;
  for (int round = 0; round < 2; ++round) {
    for (int k = 0; k < n; ++k) {
      types.push_back(i.operand(k)->shape().type());
    }
  }
  return CheckScalars(c, types, n);
}

absl::Status CheckGroups(const CollectiveAttrs& a) {
  if (a.groups.list() == nullptr) return absl::OkStatus();
  absl::flat_hash_set<int64_t> seen;
  for (const auto& group : *a.groups.list()) {
    for (int64_t id : group) {
      if (id < 0) return Fail("replica_groups= has a negative device");
      if (!seen.insert(id).second) {
        return Fail("replica_groups= has device ", id, " twice");
      }
    }
  }
  return absl::OkStatus();
}

absl::Status CheckPairs(const PermuteAttrs& a) {
  // Several pairs from one source are a broadcast that the in-place form may
  // have; a target has one source.
  if (!a.slice_sizes.empty()) return absl::OkStatus();
  absl::flat_hash_set<int64_t> sources, targets;
  for (const auto& [source, target] : a.source_target_pairs) {
    if (source < 0 || target < 0) {
      return Fail("source_target_pairs= has a negative device");
    }
    if (!sources.insert(source).second) {
      return Fail("source_target_pairs= has source ", source, " twice");
    }
    if (!targets.insert(target).second) {
      return Fail("source_target_pairs= has target ", target, " twice");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckCount(const Instruction& i, size_t want) {
  if (i.called().size() == want) return absl::OkStatus();
  return Fail("calls ", i.called().size(), " computations, not ", want);
}

}  // namespace

absl::Status VerifyCallees(const Instruction& i) {
  if (const auto* a = i.attrs_if<CollectiveAttrs>()) {
    RETURN_IF_ERROR(CheckGroups(*a));
  }
  if (const auto* a = i.attrs_if<PermuteAttrs>()) {
    RETURN_IF_ERROR(CheckPairs(*a));
  }
  for (const Computation* c : i.called()) {
    if (c->root() == nullptr) return Fail(c->name(), " has no root");
  }
  switch (i.opcode()) {
    case Opcode::kReduce:
    case Opcode::kReduceWindow:
      RETURN_IF_ERROR(CheckCount(i, 1));
      return CheckReducer(i, *i.to_apply(), i.operand_count() / 2);
    case Opcode::kAllReduce:
    case Opcode::kAllReduceStart:
    case Opcode::kReduceScatter:
      RETURN_IF_ERROR(CheckCount(i, 1));
      return i.operand(0)->shape().IsArray() ? CheckReducer(i, *i.to_apply(), 1)
                                             : absl::OkStatus();
    case Opcode::kScatter: {
      RETURN_IF_ERROR(CheckCount(i, 1));
      return CheckReducer(i, *i.to_apply(), i.operand_count() / 2);
    }
    case Opcode::kSelectAndScatter:
      RETURN_IF_ERROR(CheckCount(i, 2));
      RETURN_IF_ERROR(CheckCompare(i, *i.select(), 1));
      return CheckReducer(i, *i.scatter(), 1);
    case Opcode::kSort:
      RETURN_IF_ERROR(CheckCount(i, 1));
      return CheckCompare(i, *i.to_apply(), i.operand_count());
    case Opcode::kMap: {
      RETURN_IF_ERROR(CheckCount(i, 1));
      std::vector<PrimitiveType> types;
      for (const Instruction* o : i.operands()) {
        types.push_back(o->shape().type());
      }
      return CheckScalars(*i.to_apply(), types, 1);
    }
    case Opcode::kAsyncStart:
      return CheckCount(i, 1);
    default:
      return absl::OkStatus();
  }
}

}  // namespace ptxla::hlo
