// One function per opcode family: the value of an instruction from the values
// of its operands. `operands` may be consumed (a value that nobody else holds
// is changed in place). Errors do not name the instruction; the caller does.
#ifndef PTXLA_HLO_BACKEND_EVALUATOR_OPERATIONS_H_
#define PTXLA_HLO_BACKEND_EVALUATOR_OPERATIONS_H_

#include <memory>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo_backend/evaluator/evaluator.h"
#include "hlo_backend/evaluator/scalar_program.h"
#include "hlo_backend/evaluator/value.h"

namespace ptxla::hlo {

// What operations share during the life of an evaluator.
class OpContext {
 public:
  explicit OpContext(EvaluatorOptions options) : options_(options) {}

  const EvaluatorOptions& options() const { return options_; }
  // 0 in plain mode.
  int tpu_generation() const {
    return options_.tpu_mode ? options_.tpu_generation : 0;
  }
  // Compiled once. The pointer is stable.
  absl::StatusOr<const ScalarProgram*> Program(const Computation& computation);
  BufferPool* pool() const { return pool_.get(); }
  // An array of any content, for a result that is written wholly.
  Value NewArray(ShapeRef shape) const {
    return Value::NewArray(std::move(shape), pool_.get());
  }
  // State of rng-get-and-update-state; it begins as that of XLA's CPU backend.
  uint64_t rng_state = 117515157;

 private:
  EvaluatorOptions options_;
  absl::flat_hash_map<const Computation*, std::unique_ptr<ScalarProgram>>
      programs_;
  std::shared_ptr<BufferPool> pool_ = std::make_shared<BufferPool>();
};

using Operation = absl::StatusOr<Value> (*)(OpContext& context,
                                            const Instruction& instruction,
                                            absl::Span<Value> operands);

// The function of an opcode; nullptr for control flow, calls, tuples and
// collectives (evaluator.cc, collectives.cc), elementwise opcodes, and what is
// not supported.
Operation OperationOf(Opcode opcode);

#define PTXLA_OPERATION(Name)                                                \
  absl::StatusOr<Value> Eval##Name(OpContext& context, const Instruction& i, \
                                   absl::Span<Value> operands);
// data_movement.cc
PTXLA_OPERATION(Constant)
PTXLA_OPERATION(Iota)
PTXLA_OPERATION(Broadcast)
PTXLA_OPERATION(Reshape)
PTXLA_OPERATION(Bitcast)
PTXLA_OPERATION(BitcastConvert)
PTXLA_OPERATION(Transpose)
PTXLA_OPERATION(Slice)
PTXLA_OPERATION(Reverse)
PTXLA_OPERATION(Concatenate)
// The operands behind each other in dimension `d` of the result of `i`.
Value ConcatenateAlong(OpContext& context, const Instruction& i, int64_t d,
                       absl::Span<Value> operands);
PTXLA_OPERATION(Pad)
// dynamic_slices.cc
PTXLA_OPERATION(DynamicSlice)
PTXLA_OPERATION(DynamicUpdateSlice)
// dynamic_sizes.cc
PTXLA_OPERATION(DynamicReshape)
PTXLA_OPERATION(GetDimensionSize)
PTXLA_OPERATION(SetDimensionSize)
// gather_scatter.cc
PTXLA_OPERATION(Gather)
PTXLA_OPERATION(Scatter)
// reduce.cc
PTXLA_OPERATION(Reduce)
PTXLA_OPERATION(Map)
// windows.cc
PTXLA_OPERATION(ReduceWindow)
PTXLA_OPERATION(SelectAndScatter)
// dot.cc, ragged_dot.cc, convolution.cc
PTXLA_OPERATION(Dot)
PTXLA_OPERATION(ScaledDot)
PTXLA_OPERATION(RaggedDot)
PTXLA_OPERATION(Convolution)
// sort.cc
PTXLA_OPERATION(Sort)
PTXLA_OPERATION(TopK)
// batch_norm.cc
PTXLA_OPERATION(BatchNormTraining)
PTXLA_OPERATION(BatchNormInference)
PTXLA_OPERATION(BatchNormGrad)
// random_operations.cc
PTXLA_OPERATION(Rng)
PTXLA_OPERATION(RngBitGenerator)
PTXLA_OPERATION(RngGetAndUpdateState)
// stochastic_convert.cc
PTXLA_OPERATION(StochasticConvert)
// linear_algebra.cc, fft.cc
PTXLA_OPERATION(Cholesky)
PTXLA_OPERATION(TriangularSolve)
PTXLA_OPERATION(Fft)
// custom_call.cc
PTXLA_OPERATION(CustomCall)
#undef PTXLA_OPERATION

// An elementwise instruction.
absl::StatusOr<Value> EvalElementwise(OpContext& context,
                                      const ElementwiseOp& op,
                                      const Instruction& i,
                                      absl::Span<Value> operands);
// The elements of `x` in another type, rounded as HLO's convert.
absl::StatusOr<Value> ConvertTo(const Value& x, PrimitiveType type,
                                BufferPool* pool = nullptr);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_EVALUATOR_OPERATIONS_H_
