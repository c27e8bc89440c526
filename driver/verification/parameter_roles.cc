#include "driver/verification/parameter_roles.h"

#include <algorithm>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "hlo_backend/ir/computation.h"

namespace ptxla::driver {
namespace {

using hlo::Instruction;
using hlo::Opcode;
using hlo::PrimitiveType;

// Passes the value of an operand on, element by element.
bool Forwards(Opcode opcode) {
  switch (opcode) {
    case Opcode::kBitcast:
    case Opcode::kBroadcast:
    case Opcode::kConcatenate:
    case Opcode::kConvert:
    case Opcode::kCopy:
    case Opcode::kReshape:
    case Opcode::kReverse:
    case Opcode::kSlice:
    case Opcode::kTranspose:
      return true;
    default:
      return false;
  }
}

// An instruction that an iota reaches unchanged: how many numbers it holds.
std::optional<int64_t> IotaExtent(const Instruction* i) {
  while (Forwards(i->opcode()) && i->operand_count() == 1) i = i->operand(0);
  if (i->opcode() != Opcode::kIota) return std::nullopt;
  const int64_t d = i->attrs<hlo::IotaAttrs>().dimension;
  return i->shape().dim(static_cast<int>(d));
}

// Everything that a parameter reaches by forwarding, into called computations.
class Reach {
 public:
  explicit Reach(const Instruction* parameter) { Visit(parameter); }

  std::optional<int64_t> bound;  // of indices
  bool broadcast = false, scales = false, weight = false;
  bool data = false;    // left side of a dot first
  bool sliced = false;  // a slice per round of a loop

 private:
  void Bound(int64_t n) {
    bound = std::min(bound.value_or(n), std::max<int64_t>(n, 1));
  }

  void Visit(const Instruction* value) {
    if (!seen_.insert(value).second) return;
    for (const Instruction* user : value->users()) {
      for (int k = 0; k < user->operand_count(); ++k) {
        if (user->operand(k) == value) Use(*value, *user, k);
      }
    }
  }

  // Of what loops carry: element `k` of a tuple.
  void VisitElement(const Instruction* tuple, int64_t k) {
    for (const Instruction* user : tuple->users()) {
      if (user->opcode() == Opcode::kGetTupleElement) {
        if (user->tuple_index() == k) Visit(user);
      } else if (user->opcode() == Opcode::kWhile &&
                 seen_.insert(user).second) {
        VisitElement(user->while_body()->parameter(0), k);
        VisitElement(user->while_condition()->parameter(0), k);
        seen_.erase(user);
      }
    }
  }

  void Use(const Instruction& value, const Instruction& user, int k) {
    switch (user.opcode()) {
      case Opcode::kTuple:
        VisitElement(&user, k);
        return;
      case Opcode::kGather:
        if (k == 0) weight = true;
        if (k == 1) Gather(user);
        return;
      case Opcode::kScatter:
        if (k == user.operand_count() / 2) Scatter(user);
        return;
      case Opcode::kDynamicSlice:
        if (k >= 1) {
          Bound(Room(user, user.shape(), k - 1));
        } else {
          sliced = true;
          Visit(&user);
        }
        return;
      case Opcode::kDynamicUpdateSlice:
        if (k >= 2) Bound(Room(user, user.operand(1)->shape(), k - 2));
        return;
      case Opcode::kCompare:
        if (const auto n = IotaExtent(user.operand(1 - k))) Bound(*n);
        return;
      case Opcode::kDot:
        if (!weight && !data) (k == 0 ? data : weight) = true;
        return;
      case Opcode::kMultiply:
        scales |= broadcast_here_.contains(&value);
        return;
      case Opcode::kSelect:
        if (k > 0) Visit(&user);
        return;
      case Opcode::kAdd:
      case Opcode::kClamp:
      case Opcode::kMaximum:
        // Indices are shifted and clamped on their way.
        if (!hlo::IsFloat(value.shape().type())) Visit(&user);
        return;
      case Opcode::kFusion:
      case Opcode::kCall:
        Visit(user.called()[0]->parameter(k));
        return;
      default:
        break;
    }
    if (!Forwards(user.opcode())) return;
    if (broadcast_here_.contains(&value)) broadcast_here_.insert(&user);
    if (user.opcode() == Opcode::kBroadcast &&
        user.shape().rank() > value.shape().rank()) {
      broadcast = true;
      broadcast_here_.insert(&user);
    }
    Visit(&user);
  }

  static int64_t Room(const Instruction& i, const hlo::Shape& part, int d) {
    return i.operand(0)->shape().dim(d) - part.dim(d) + 1;
  }

  void Gather(const Instruction& i) {
    const auto& attrs = i.attrs<hlo::GatherAttrs>();
    for (const int64_t d : attrs.start_index_map) {
      Bound(i.operand(0)->shape().dim(static_cast<int>(d)) -
            attrs.slice_sizes[d] + 1);
    }
  }

  void Scatter(const Instruction& i) {
    const auto& attrs = i.attrs<hlo::ScatterAttrs>();
    for (const int64_t d : attrs.scatter_dims_to_operand_dims) {
      Bound(i.operand(0)->shape().dim(static_cast<int>(d)));
    }
  }

  absl::flat_hash_set<const Instruction*> seen_, broadcast_here_;
};

// Values that must not be negative, from their uses backwards.
class Positive {
 public:
  explicit Positive(const hlo::Module& module) {
    for (const hlo::Computation* c : module.computations()) {
      for (const Instruction* i : c->instructions()) {
        for (const hlo::Computation* called : i->called()) {
          callers_[called].push_back(i);
        }
      }
    }
    for (const hlo::Computation* c : module.computations()) {
      for (const Instruction* i : c->instructions()) {
        switch (i->opcode()) {
          case Opcode::kSqrt:
          case Opcode::kRsqrt:
          case Opcode::kLog:
          case Opcode::kPower:
            Need(i->operand(0));
            break;
          case Opcode::kBatchNormInference:
            Need(i->operand(4));
            break;
          case Opcode::kBatchNormGrad:
            Need(i->operand(3));
            break;
          default:
            break;
        }
      }
    }
  }

  bool contains(const Instruction* i) const { return needed_.contains(i); }

 private:
  void Need(const Instruction* value) {
    if (!needed_.insert(value).second) return;
    switch (value->opcode()) {
      case Opcode::kMultiply:
        if (value->operand(0) == value->operand(1)) return;
        break;
      case Opcode::kAdd:
      case Opcode::kDivide:
      case Opcode::kMaximum:
      case Opcode::kSqrt:
        break;
      case Opcode::kDynamicSlice:
        Need(value->operand(0));
        return;
      case Opcode::kGetTupleElement:
        NeedCarried(*value);
        return;
      case Opcode::kParameter: {
        const auto it = callers_.find(value->parent());
        if (it == callers_.end()) return;
        for (const Instruction* caller : it->second) {
          if (caller->opcode() != Opcode::kFusion &&
              caller->opcode() != Opcode::kCall) {
            continue;
          }
          Need(caller->operand(static_cast<int>(value->parameter_number())));
        }
        return;
      }
      default:
        if (!Forwards(value->opcode())) return;
    }
    for (const Instruction* operand : value->operands()) Need(operand);
  }

  // What a loop's state starts from.
  void NeedCarried(const Instruction& element) {
    const Instruction* state = element.operand(0);
    if (state->opcode() != Opcode::kParameter) return;
    for (const Instruction* loop : callers_[state->parent()]) {
      if (loop->opcode() != Opcode::kWhile ||
          loop->operand(0)->opcode() != Opcode::kTuple) {
        continue;
      }
      Need(loop->operand(0)->operand(static_cast<int>(element.tuple_index())));
    }
  }

  absl::flat_hash_map<const hlo::Computation*, std::vector<const Instruction*>>
      callers_;
  absl::flat_hash_set<const Instruction*> needed_;
};

ParameterRole RoleOf(const Instruction* parameter, const Positive& positive) {
  const hlo::Shape& shape = parameter->shape();
  if (!shape.IsArray() || shape.type() == PrimitiveType::kPred) return {};
  const Reach reach(parameter);
  if (!hlo::IsFloat(shape.type())) {
    if (reach.bound) return {ParameterRole::kIndex, *reach.bound};
    return {shape.rank() == 0 ? ParameterRole::kScalar : ParameterRole::kFlag};
  }
  if (shape.rank() == 0) return {ParameterRole::kScalar};
  if (positive.contains(parameter)) return {ParameterRole::kPositive};
  if (reach.weight) return {ParameterRole::kWeight};
  const int rank = shape.rank() - (reach.sliced ? 1 : 0);
  if (reach.data || rank > 1 || !reach.broadcast) return {};
  return {reach.scales ? ParameterRole::kScale : ParameterRole::kBias};
}

}  // namespace

std::vector<ParameterRole> RolesOf(const hlo::Module& module) {
  const Positive positive(module);
  std::vector<ParameterRole> roles;
  for (const Instruction* p : module.entry()->parameters()) {
    roles.push_back(RoleOf(p, positive));
  }
  return roles;
}

}  // namespace ptxla::driver
