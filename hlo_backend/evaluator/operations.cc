#include "hlo_backend/evaluator/operations.h"

#include "base/status.h"

namespace ptxla::hlo {

absl::StatusOr<const ScalarProgram*> OpContext::Program(
    const Computation& computation) {
  std::unique_ptr<ScalarProgram>& program = programs_[&computation];
  if (program == nullptr) {
    ASSIGN_OR_RETURN(ScalarProgram compiled,
                     ScalarProgram::Compile(computation, tpu_generation()));
    program = std::make_unique<ScalarProgram>(std::move(compiled));
  }
  return program.get();
}

Operation OperationOf(Opcode opcode) {
  switch (opcode) {
#define PTXLA_X(Name)   \
  case Opcode::k##Name: \
    return Eval##Name;
    PTXLA_X(Constant)
    PTXLA_X(Iota)
    PTXLA_X(Broadcast)
    PTXLA_X(Reshape)
    PTXLA_X(Bitcast)
    PTXLA_X(BitcastConvert)
    PTXLA_X(Transpose)
    PTXLA_X(Slice)
    PTXLA_X(Reverse)
    PTXLA_X(Concatenate)
    PTXLA_X(Pad)
    PTXLA_X(DynamicSlice)
    PTXLA_X(DynamicUpdateSlice)
    PTXLA_X(DynamicReshape)
    PTXLA_X(GetDimensionSize)
    PTXLA_X(SetDimensionSize)
    PTXLA_X(Gather)
    PTXLA_X(Scatter)
    PTXLA_X(Reduce)
    PTXLA_X(Map)
    PTXLA_X(ReduceWindow)
    PTXLA_X(SelectAndScatter)
    PTXLA_X(Dot)
    PTXLA_X(ScaledDot)
    PTXLA_X(StochasticConvert)
    PTXLA_X(RaggedDot)
    PTXLA_X(Convolution)
    PTXLA_X(Sort)
    PTXLA_X(TopK)
    PTXLA_X(BatchNormTraining)
    PTXLA_X(BatchNormInference)
    PTXLA_X(BatchNormGrad)
    PTXLA_X(Rng)
    PTXLA_X(RngBitGenerator)
    PTXLA_X(RngGetAndUpdateState)
    PTXLA_X(Cholesky)
    PTXLA_X(TriangularSolve)
    PTXLA_X(Fft)
    PTXLA_X(CustomCall)
#undef PTXLA_X
    default:
      return nullptr;
  }
}

absl::StatusOr<Value> EvalElementwise(OpContext& context,
                                      const ElementwiseOp& op,
                                      const Instruction& i,
                                      absl::Span<Value> operands) {
  std::array<const void*, 3> in = {};
  std::array<bool, 3> splat = {};
  bool all_splat = true;
  for (size_t k = 0; k < operands.size(); ++k) {
    in[k] = operands[k].data();
    // A scalar predicate or bound goes with arrays too.
    splat[k] = operands[k].IsSplat() || operands[k].count() == 1;
    all_splat = all_splat && splat[k];
  }
  if (all_splat) {
    uint64_t element[2] = {0, 0};
    op.Run(in, splat, element, 1);
    return Value::NewSplat(ShapeOf(i), element);
  }
  // An operand that is needed no more may take the result.
  for (size_t k = 0; k < operands.size(); ++k) {
    Value& x = operands[k];
    if (x.IsUnique() && !splat[k] &&
        x.element_bytes() == StorageBytes(i.shape().type())) {
      op.Run(in, splat, x.Mutable(), x.count());
      return x.WithShape(ShapeOf(i));
    }
  }
  Value out = context.NewArray(ShapeOf(i));
  op.Run(in, splat, out.Mutable(), out.count());
  return out;
}

absl::StatusOr<Value> ConvertTo(const Value& x, PrimitiveType type,
                                BufferPool* pool) {
  if (x.type() == type) return x;
  ASSIGN_OR_RETURN(const ElementwiseOp op,
                   ElementwiseOp::CreateConvert(x.type(), type));
  Shape shape = x.shape();
  shape.set_type(type);
  if (x.IsSplat() || x.count() == 1) {
    uint64_t element[2] = {0, 0};
    op.Run({x.data(), nullptr, nullptr}, {true, true, true}, element, 1);
    return Value::NewSplat(shape, element);
  }
  Value out = Value::NewArray(Hold(shape), pool);
  op.Run({x.data(), nullptr, nullptr}, {false, false, false}, out.Mutable(),
         out.count());
  return out;
}

}  // namespace ptxla::hlo
