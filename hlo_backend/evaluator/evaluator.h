// Computes what an HLO module means, on literals: the numeric judge of passes,
// lowering and simulator, the executor behind small models that really train,
// and constant folding.
//
//   ASSIGN_OR_RETURN(Literal y, Evaluate(*module, {x, w}));
//
//   EvaluatorOptions tpu;
//   tpu.tpu_mode = true;
//   Evaluator evaluator(module.get(), tpu);  // plans once
//   for (int step = 0; step < 100; ++step) {
//     ASSIGN_OR_RETURN(Literal out, evaluator.Run(inputs));
//   }
//
// Plain mode is the reference: every instruction rounds to its result type
// once, sums of floats are kept in double, dots of narrow floats in float.
//
// TPU mode does what the chip does, so that the bundle interpreter can be held
// to tight tolerances: f32 operands of dot and convolution are rounded to bf16
// at DEFAULT precision and split into two bf16 parts at HIGH (HIGHEST: f32),
// and transcendental functions are composed from those of the transcendental
// unit (base/numerics/recipes.h).
//
// Both modes give the same bits on every machine. Not part of an HLO module's
// meaning, and chosen here: rng_default is the simulated hardware's generator
// (base/numerics/random.h), `rng` draws from a stream seeded by
// EvaluatorOptions::seed, tokens are empty.
//
// Errors: InvalidArgument for arguments that do not fit the parameters,
// Unimplemented "12: %x = ... : reason" for what cannot be evaluated (custom
// calls, infeed, elided constants), FailedPrecondition for a while that does
// not end. The line is that of the text it was parsed from.
#ifndef PTXLA_HLO_BACKEND_EVALUATOR_EVALUATOR_H_
#define PTXLA_HLO_BACKEND_EVALUATOR_EVALUATOR_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo_backend/ir/module.h"

namespace ptxla::hlo {

struct EvaluatorOptions {
  bool tpu_mode = false;
  // 2 to 7 (v5e and v5p: 5): whose transcendental unit TPU mode has.
  int tpu_generation = 6;
  // What `constant({...})` becomes.
  enum class Elided { kError, kZero, kIota };
  Elided elided = Elided::kError;
  // The stream of `rng` (not of rng-bit-generator, whose state is an operand).
  uint64_t seed = 0;
  int64_t max_while_iterations = 100'000'000;
  // A collective whose groups name devices that are not evaluated takes them
  // to hold the same values as the device that asks (one device standing for
  // a symmetric slice). Otherwise it is an error.
  bool mirror_missing_devices = false;
};

// Plans a module once and runs it many times. The module must outlive the
// evaluator and not change. One run at a time.
class Evaluator {
 public:
  explicit Evaluator(const Module* module, EvaluatorOptions options = {});
  ~Evaluator();
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  // One literal per parameter of the entry, in order. A tuple result is a
  // tuple literal.
  absl::StatusOr<Literal> Run(absl::Span<const Literal> arguments);

  // `arguments[d]` are those of device d = replica * num_partitions +
  // partition. All devices run in step and meet in collectives.
  absl::StatusOr<std::vector<Literal>> RunDevices(
      absl::Span<const std::vector<Literal>> arguments);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// The same for one run.
absl::StatusOr<Literal> Evaluate(const Module& module,
                                 absl::Span<const Literal> arguments,
                                 const EvaluatorOptions& options = {});

// The value of one instruction from the values of its operands: for constant
// folding.
absl::StatusOr<Literal> EvaluateInstruction(
    const Instruction& instruction, absl::Span<const Literal* const> operands,
    const EvaluatorOptions& options = {});

// Random arguments for a module, the same for a seed everywhere: floats
// uniform in [-1, 1), integers small and not negative (in bounds as indices of
// most programs), pred fair. A parameter of 0-d float is in [0.5, 1).
std::vector<Literal> RandomArguments(const Module& module, uint64_t seed);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_EVALUATOR_EVALUATOR_H_
