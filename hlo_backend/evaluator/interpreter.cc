#include "hlo_backend/evaluator/interpreter.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace ptxla::hlo {
namespace {

// "f.hlo:12: %x = dot: reason".
absl::Status Named(const absl::Status& status, const Instruction& i,
                   const Module* module) {
  std::string where;
  if (i.source_line() > 0) {
    if (module != nullptr && !module->file_name().empty()) {
      where = absl::StrCat(module->file_name(), ":");
    }
    absl::StrAppend(&where, i.source_line(), ": ");
  }
  return AddContext(status, absl::StrCat(where, "%", i.name(), " = ",
                                         OpcodeName(i.opcode())));
}

// Errors from inside a called computation name their instruction already.
bool CallsComputations(Opcode opcode) {
  return opcode == Opcode::kCall || opcode == Opcode::kFusion ||
         opcode == Opcode::kWhile || opcode == Opcode::kConditional ||
         opcode == Opcode::kAsyncStart;
}

// One device's operands are all that the result needs.
bool IsLocal(Opcode opcode) {
  return !CallsComputations(opcode) && !IsCollective(opcode);
}

template <class T>
std::vector<T> Picked(const std::vector<int>& positions,
                      const std::vector<T>& from) {
  std::vector<T> picked;
  for (int k : positions) picked.push_back(from[k]);
  return picked;
}

DeviceSet Subset(const DeviceSet& devices, const std::vector<int>& positions) {
  return {Picked(positions, devices.ids), devices.replicas, devices.partitions};
}

constexpr int kMaxDepth = 200;

}  // namespace

const Plan& Interpreter::PlanOf(const Computation& computation) {
  std::unique_ptr<Plan>& plan = plans_[&computation];
  if (plan == nullptr) {
    plan = std::make_unique<Plan>(
        MakePlan(computation, context_.tpu_generation()));
  }
  return *plan;
}

absl::StatusOr<std::vector<Value>> Interpreter::Run(
    const Computation& computation, const DeviceSet& devices,
    PerDevice arguments) {
  if (++depth_ > kMaxDepth) {
    --depth_;
    return absl::InvalidArgumentError("calls nested too deeply");
  }
  struct Leave {
    int* depth;
    ~Leave() { --*depth; }
  } leave{&depth_};
  const Plan& plan = PlanOf(computation);
  const size_t n = devices.ids.size();
  PerDevice slots(n, std::vector<Value>(plan.slots));
  PerDevice operands(n);
  for (const PlanStep& step : plan.steps) {
    if (!step.used) continue;
    const Instruction& i = *step.instruction;
    if (i.opcode() == Opcode::kParameter) {
      for (size_t k = 0; k < n; ++k) {
        slots[k][step.slot] = std::move(arguments[k][i.parameter_number()]);
      }
      continue;
    }
    if (step.take_element) {
      for (size_t k = 0; k < n; ++k) {
        Value& tuple = slots[k][step.operands[0].slot];
        slots[k][step.slot] =
            tuple.TakeElement(static_cast<int>(i.tuple_index()));
      }
      continue;
    }
    for (size_t k = 0; k < n; ++k) {
      operands[k].clear();
      for (const PlanStep::Use& use : step.operands) {
        Value& from = slots[k][use.slot];
        operands[k].push_back(use.last ? std::move(from) : from);
      }
    }
    if (IsLocal(i.opcode())) {
      for (size_t k = 0; k < n; ++k) {
        auto result =
            Local(step, devices, devices.ids[k], absl::MakeSpan(operands[k]));
        if (!result.ok()) return Named(result.status(), i, module_);
        slots[k][step.slot] = *std::move(result);
      }
      continue;
    }
    auto results = Together(i, devices, std::move(operands));
    if (!results.ok()) {
      return CallsComputations(i.opcode())
                 ? results.status()
                 : Named(results.status(), i, module_);
    }
    operands.assign(n, {});
    for (size_t k = 0; k < n; ++k) {
      slots[k][step.slot] = std::move((*results)[k]);
    }
  }
  std::vector<Value> roots;
  for (size_t k = 0; k < n; ++k) {
    roots.push_back(std::move(slots[k][plan.root_slot]));
  }
  return roots;
}

absl::StatusOr<Value> Interpreter::RunInstruction(
    const Instruction& instruction, std::vector<Value> operands) {
  DeviceSet devices;
  devices.ids = {0};
  if (!IsLocal(instruction.opcode())) {
    PerDevice all(1);
    all[0] = std::move(operands);
    ASSIGN_OR_RETURN(std::vector<Value> results,
                     Together(instruction, devices, std::move(all)));
    return std::move(results[0]);
  }
  auto result = Local(MakeStep(instruction, context_.tpu_generation()), devices,
                      0, absl::MakeSpan(operands));
  if (!result.ok()) return Named(result.status(), instruction, module_);
  return result;
}

absl::StatusOr<std::vector<Value>> Interpreter::Together(
    const Instruction& i, const DeviceSet& devices, PerDevice operands) {
  switch (i.opcode()) {
    case Opcode::kCall:
    case Opcode::kFusion:
      return Run(*i.to_apply(), devices, std::move(operands));
    case Opcode::kWhile:
      return While(i, devices, std::move(operands));
    case Opcode::kConditional:
      return Conditional(i, devices, std::move(operands));
    case Opcode::kAsyncStart:
      return AsyncStart(i, devices, std::move(operands));
    default:
      return EvalCollective(context_, i, devices, operands);
  }
}

absl::StatusOr<Value> Interpreter::Local(const PlanStep& step,
                                         const DeviceSet& devices,
                                         int64_t device,
                                         absl::Span<Value> operands) {
  const Instruction& i = *step.instruction;
  if (step.elementwise.has_value()) {
    return EvalElementwise(context_, *step.elementwise, i, operands);
  }
  RETURN_IF_ERROR(step.refusal);
  switch (i.opcode()) {
    case Opcode::kTuple:
      return Value::NewTuple(
          ShapeOf(i), std::vector<Value>(operands.begin(), operands.end()));
    case Opcode::kGetTupleElement:
      return operands[0].TakeElement(static_cast<int>(i.tuple_index()));
    case Opcode::kCopy:
    case Opcode::kAddDependency:
    case Opcode::kOptimizationBarrier:
    case Opcode::kDomain:
    case Opcode::kAllReduceDone:
      return operands[0].WithShape(ShapeOf(i));
    case Opcode::kAfterAll:
      return Value::Token();
    case Opcode::kReplicaId: {
      const uint32_t id = static_cast<uint32_t>(device / devices.partitions);
      return Value::NewSplat(ShapeOf(i), &id);
    }
    case Opcode::kPartitionId: {
      const uint32_t id = static_cast<uint32_t>(device % devices.partitions);
      return Value::NewSplat(ShapeOf(i), &id);
    }
    case Opcode::kCopyStart: {
      const uint64_t zero[2] = {0, 0};
      return Value::NewTuple(
          ShapeOf(i), {operands[0].WithShape(i.shape().element(0)), operands[0],
                       Value::NewSplat(i.shape().element(2), zero)});
    }
    case Opcode::kCopyDone:
      return operands[0].TakeElement(0);
    case Opcode::kAllGatherDone:
    case Opcode::kCollectivePermuteDone:
    case Opcode::kAsyncDone:
      return operands[0].TakeElement(1);
    case Opcode::kAsyncUpdate:
      return operands[0];
    default:
      break;
  }
  if (const Operation operation = OperationOf(i.opcode())) {
    return operation(context_, i, operands);
  }
  return absl::UnimplementedError(
      absl::StrCat("no evaluation of ", OpcodeName(i.opcode())));
}

absl::StatusOr<std::vector<Value>> Interpreter::While(const Instruction& i,
                                                      const DeviceSet& devices,
                                                      PerDevice operands) {
  std::vector<Value> states;
  std::vector<int> active;
  for (size_t k = 0; k < operands.size(); ++k) {
    states.push_back(std::move(operands[k][0]));
    active.push_back(static_cast<int>(k));
  }
  DeviceSet set = devices;
  for (int64_t iteration = 0;; ++iteration) {
    PerDevice arguments;
    for (int k : active) arguments.push_back({states[k]});
    ASSIGN_OR_RETURN(const std::vector<Value> go,
                     Run(*i.while_condition(), set, std::move(arguments)));
    std::vector<int> going;
    for (size_t k = 0; k < active.size(); ++k) {
      if (*go[k].data() != 0) going.push_back(active[k]);
    }
    if (going.empty()) return states;
    if (iteration >= context_.options().max_while_iterations) {
      return Named(absl::FailedPreconditionError(absl::StrCat(
                       "still running after ", iteration, " iterations")),
                   i, module_);
    }
    if (going.size() < active.size()) {
      active = std::move(going);
      set = Subset(devices, active);
    }
    arguments.clear();
    for (int k : active) {
      arguments.emplace_back();
      arguments.back().push_back(std::move(states[k]));
    }
    ASSIGN_OR_RETURN(std::vector<Value> next,
                     Run(*i.while_body(), set, std::move(arguments)));
    for (size_t k = 0; k < active.size(); ++k) {
      states[active[k]] = std::move(next[k]);
    }
  }
}

absl::StatusOr<std::vector<Value>> Interpreter::Conditional(
    const Instruction& i, const DeviceSet& devices, PerDevice operands) {
  const int branches = static_cast<int>(i.called().size());
  std::vector<Value> results(operands.size());
  for (int branch = 0; branch < branches; ++branch) {
    std::vector<int> here;
    PerDevice arguments;
    for (size_t k = 0; k < operands.size(); ++k) {
      const Value& selector = operands[k][0];
      int64_t chosen = selector.Integer(0);
      if (selector.type() == PrimitiveType::kPred) {
        chosen = chosen != 0 ? 0 : 1;
      } else if (chosen < 0 || chosen >= branches) {
        chosen = branches - 1;
      }
      if (chosen != branch) continue;
      here.push_back(static_cast<int>(k));
      arguments.emplace_back();
      arguments.back().push_back(std::move(operands[k][branch + 1]));
    }
    if (here.empty()) continue;
    ASSIGN_OR_RETURN(
        std::vector<Value> values,
        Run(*i.called()[branch], Subset(devices, here), std::move(arguments)));
    for (size_t k = 0; k < here.size(); ++k) {
      results[here[k]] = std::move(values[k]);
    }
  }
  return results;
}

// ((operands), results, context...): the work is done at the start.
absl::StatusOr<std::vector<Value>> Interpreter::AsyncStart(
    const Instruction& i, const DeviceSet& devices, PerDevice operands) {
  ASSIGN_OR_RETURN(std::vector<Value> values,
                   Run(*i.called()[0], devices, operands));
  for (size_t k = 0; k < values.size(); ++k) {
    std::vector<Value> parts = {
        Value::NewTuple(i.shape().element(0), std::move(operands[k])),
        std::move(values[k])};
    const uint64_t zero[2] = {0, 0};
    for (int j = 2; j < i.shape().element_count_of_tuple(); ++j) {
      parts.push_back(Value::NewSplat(i.shape().element(j), zero));
    }
    values[k] = Value::NewTuple(ShapeOf(i), std::move(parts));
  }
  return values;
}

}  // namespace ptxla::hlo
