// Runs plans on several devices in step. All devices of a run execute the same
// instruction before any goes on, so that a collective finds the operands of
// every participant; where a condition divides them, each side runs alone.
#ifndef PTXLA_HLO_BACKEND_EVALUATOR_INTERPRETER_H_
#define PTXLA_HLO_BACKEND_EVALUATOR_INTERPRETER_H_

#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "hlo_backend/evaluator/collectives.h"
#include "hlo_backend/evaluator/operations.h"
#include "hlo_backend/evaluator/plan.h"

namespace ptxla::hlo {

// "f.hlo:12: %x = dot: reason".
absl::Status AtInstruction(const absl::Status& status, const Instruction& i,
                           const Module* module);

class Interpreter {
 public:
  Interpreter(const Module* module, EvaluatorOptions options)
      : module_(module), context_(options) {}

  // arguments[k] are those of the k-th device of `devices`. One result each.
  absl::StatusOr<std::vector<Value>> Run(
      const Computation& computation, const DeviceSet& devices,
      std::vector<std::vector<Value>> arguments);

  // One instruction that is not a parameter, on device 0.
  absl::StatusOr<Value> RunInstruction(const Instruction& instruction,
                                       std::vector<Value> operands);

 private:
  using PerDevice = std::vector<std::vector<Value>>;

  // What concerns all devices: calls, control flow, collectives.
  absl::StatusOr<std::vector<Value>> Together(const Instruction& i,
                                              const DeviceSet& devices,
                                              PerDevice operands);
  // Everything else.
  absl::StatusOr<Value> Local(const PlanStep& step, const DeviceSet& devices,
                              int64_t device, absl::Span<Value> operands);
  // The same where every element of the operands counts.
  absl::StatusOr<Value> Static(const PlanStep& step, const DeviceSet& devices,
                               int64_t device, absl::Span<Value> operands);
  absl::StatusOr<std::vector<Value>> While(const Instruction& i,
                                           const DeviceSet& devices,
                                           PerDevice operands);
  absl::StatusOr<std::vector<Value>> Conditional(const Instruction& i,
                                                 const DeviceSet& devices,
                                                 PerDevice operands);
  absl::StatusOr<std::vector<Value>> Scan(const Instruction& i,
                                          const DeviceSet& devices,
                                          PerDevice operands);
  absl::StatusOr<std::vector<Value>> AsyncStart(const Instruction& i,
                                                const DeviceSet& devices,
                                                PerDevice operands);
  const Plan& PlanOf(const Computation& computation);

  const Module* module_;
  OpContext context_;
  absl::flat_hash_map<const Computation*, std::unique_ptr<Plan>> plans_;
  int depth_ = 0;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_EVALUATOR_INTERPRETER_H_
