#include "hlo_backend/evaluator/interpreter.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/evaluator/coverage.h"
#include "hlo_backend/evaluator/dynamic_sizes.h"

namespace ptxla::hlo {
namespace {

// Errors from inside a called computation name their instruction already.
bool CallsComputations(Opcode opcode) {
  return opcode == Opcode::kCall || opcode == Opcode::kFusion ||
         opcode == Opcode::kWhile || opcode == Opcode::kConditional ||
         opcode == Opcode::kScan || opcode == Opcode::kAsyncStart;
}

// One device's operands are all that the result needs.
bool IsLocal(Opcode opcode) {
  return !CallsComputations(opcode) && !IsCollective(opcode);
}

constexpr int kMaxDepth = 200;

}  // namespace

absl::Status AtInstruction(const absl::Status& status, const Instruction& i,
                           const Module* module) {
  std::string where;
  if (i.source_line() > 0) {
    if (module != nullptr && !module->file_name().empty()) {
      where = absl::StrCat(module->file_name(), ":");
    }
    absl::StrAppend(&where, i.source_line(), ":", i.source_column(), ": ");
  }
  return AddContext(status, absl::StrCat(where, "%", i.name(), " = ",
                                         OpcodeName(i.opcode())));
}

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
        if (!result.ok()) return AtInstruction(result.status(), i, module_);
        slots[k][step.slot] = *std::move(result);
      }
      continue;
    }
    auto results = Together(i, devices, std::move(operands));
    if (!results.ok()) {
      return CallsComputations(i.opcode())
                 ? results.status()
                 : AtInstruction(results.status(), i, module_);
    }
    operands.assign(n, {});
    for (size_t k = 0; k < n; ++k) {
      slots[k][step.slot] = std::move((*results)[k]);
    }
  }
  std::vector<Value> roots;
  roots.reserve(n);
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
  if (!result.ok()) return AtInstruction(result.status(), instruction, module_);
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
    case Opcode::kScan:
      return Scan(i, devices, std::move(operands));
    case Opcode::kAsyncStart:
      return AsyncStart(i, devices, std::move(operands));
    default:
      return EvalCollective(context_, i, devices, operands);
  }
}

namespace {

// Moves numbers as they are. TPU compilers write some that store them in
// another float type: a pad of f32 that is bf16.
bool OnlyMoves(const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::kBroadcast:
    case Opcode::kConcatenate:
    case Opcode::kPad:
    case Opcode::kReverse:
    case Opcode::kSlice:
    case Opcode::kTranspose:
      return IsFloat(i.shape().type());
    default:
      return false;
  }
}

}  // namespace

absl::StatusOr<Value> Interpreter::Local(const PlanStep& step,
                                         const DeviceSet& devices,
                                         int64_t device,
                                         absl::Span<Value> operands) {
  if (!AnyDynamic(operands)) return Static(step, devices, device, operands);
  return EvalDynamic(*step.instruction, operands, [&](absl::Span<Value> all) {
    return Static(step, devices, device, all);
  });
}

absl::StatusOr<Value> Interpreter::Static(const PlanStep& step,
                                          const DeviceSet& devices,
                                          int64_t device,
                                          absl::Span<Value> operands) {
  const Instruction& i = *step.instruction;
  if (step.elementwise.has_value()) {
    return EvalElementwise(context_, *step.elementwise, i, operands);
  }
  RETURN_IF_ERROR(step.refusal);
  for (Value& operand : operands) {
    if (!OnlyMoves(i)) break;
    if (operand.type() == i.shape().type()) continue;
    ASSIGN_OR_RETURN(operand, ConvertTo(operand.Dense(), i.shape().type()));
  }
  switch (i.opcode()) {
    case Opcode::kTuple:
      return Value::NewTuple(
          ShapeOf(i), std::vector<Value>(operands.begin(), operands.end()));
    case Opcode::kGetTupleElement:
      return operands[0].TakeElement(static_cast<int>(i.tuple_index()));
    case Opcode::kCopy:
      // TPU compilers write copies to another float type.
      if (operands[0].shape().IsArray() &&
          operands[0].shape().type() != i.shape().type()) {
        ASSIGN_OR_RETURN(const Value rounded,
                         ConvertTo(operands[0].Dense(), i.shape().type()));
        return rounded.WithShape(ShapeOf(i));
      }
      return operands[0].WithShape(ShapeOf(i));
    case Opcode::kAddDependency:
    case Opcode::kOptimizationBarrier:
    case Opcode::kDomain:
    case Opcode::kAllReduceDone:
      return operands[0].WithShape(ShapeOf(i));
    case Opcode::kAfterAll:
    // What leaves the module has been sent, to nobody.
    case Opcode::kOutfeed:
    case Opcode::kSendDone:
      return Value::Token();
    case Opcode::kSend: {
      const uint64_t zero[2] = {0, 0};
      return Value::NewTuple(
          ShapeOf(i),
          {operands[0].WithShape(i.shape().element(0)),
           Value::NewSplat(i.shape().element(1), zero), Value::Token()});
    }
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
  const absl::string_view reason = WhyNotEvaluated(i.opcode());
  return absl::UnimplementedError(reason.empty() ? "no evaluation" : reason);
}

}  // namespace ptxla::hlo
