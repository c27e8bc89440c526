// Convenient making of instructions with inferred shapes, for tests, lazy
// lowering and passes.
//
//   Module m("f");
//   Builder b(m.AddComputation("main"));
//   Instruction* x = b.Parameter(0, Shape::Array(kF32, {8, 128}), "x");
//   Instruction* w = b.Parameter(1, Shape::Array(kF32, {128, 64}), "w");
//   Instruction* y = b.Tanh(b.MatMul(x, w));
//   Instruction* sum = b.Reduce(y, b.Zero(kF32), {1}, b.Scalar2(kAdd, kF32));
//   b.computation()->SetRoot(sum);
//   m.SetEntry(b.computation());
//
// In a computation that was empty, the last instruction made is the root until
// SetRoot says otherwise. Wrong shapes are our own bug: CHECK fails with the
// rule (use Make() with a Status where the user can cause them). Every
// instruction gets the current metadata, see set_metadata().
#ifndef PTXLA_HLO_BACKEND_IR_BUILDER_H_
#define PTXLA_HLO_BACKEND_IR_BUILDER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo_backend/ir/module.h"

namespace ptxla::hlo {

class Builder {
 public:
  using Dims = absl::Span<const int64_t>;
  using Operands = absl::Span<Instruction* const>;

  explicit Builder(Computation* computation)
      : computation_(computation),
        moves_root_(computation->instruction_count() == 0) {}

  Computation* computation() const { return computation_; }
  Module* module() const { return computation_->module(); }
  void set_metadata(std::shared_ptr<const Metadata> metadata) {
    metadata_ = std::move(metadata);
  }

  // Any opcode; the shape is inferred. `declared` is needed where it cannot
  // be (see shape_inference.h). Make returns the error, Emit CHECK-fails.
  absl::StatusOr<Instruction*> Make(Opcode opcode, Operands operands,
                                    Attributes attributes = {},
                                    absl::Span<Computation* const> called = {},
                                    const Shape* declared = nullptr);
  Instruction* Emit(Opcode opcode, Operands operands,
                    Attributes attributes = {},
                    absl::Span<Computation* const> called = {},
                    const Shape* declared = nullptr);

  // Leaves.
  Instruction* Parameter(int64_t number, const Shape& shape,
                         absl::string_view name = "");
  Instruction* Constant(Literal literal);
  Instruction* ConstantScalar(PrimitiveType type, double value);
  Instruction* Zero(PrimitiveType type) { return ConstantScalar(type, 0); }
  Instruction* One(PrimitiveType type) { return ConstantScalar(type, 1); }
  // The value that leaves max (min) alone: -inf, or the lowest integer.
  Instruction* MinValue(PrimitiveType type);
  Instruction* MaxValue(PrimitiveType type);
  Instruction* Iota(const Shape& shape, int64_t dimension);

  // Elementwise.
  Instruction* Unary(Opcode op, Instruction* x) { return Emit(op, {x}); }
  Instruction* Binary(Opcode op, Instruction* x, Instruction* y) {
    return Emit(op, {x, y});
  }
#define PTXLA_X(name) \
  Instruction* name(Instruction* x) { return Emit(Opcode::k##name, {x}); }
  PTXLA_X(Abs)
  PTXLA_X(Ceil)
  PTXLA_X(Copy)
  PTXLA_X(Cos)
  PTXLA_X(Erf)
  PTXLA_X(Exp)
  PTXLA_X(Expm1)
  PTXLA_X(Floor)
  PTXLA_X(IsFinite)
  PTXLA_X(Log)
  PTXLA_X(Log1p)
  PTXLA_X(Logistic)
  PTXLA_X(Negate)
  PTXLA_X(Not)
  PTXLA_X(Rsqrt)
  PTXLA_X(Sign)
  PTXLA_X(Sin)
  PTXLA_X(Sqrt)
  PTXLA_X(Tanh)
#undef PTXLA_X
#define PTXLA_X(name)                                 \
  Instruction* name(Instruction* x, Instruction* y) { \
    return Emit(Opcode::k##name, {x, y});             \
  }
  PTXLA_X(Add)
  PTXLA_X(And)
  PTXLA_X(Divide)
  PTXLA_X(Maximum)
  PTXLA_X(Minimum)
  PTXLA_X(Multiply)
  PTXLA_X(Or)
  PTXLA_X(Power)
  PTXLA_X(Remainder)
  PTXLA_X(ShiftLeft)
  PTXLA_X(ShiftRightArithmetic)
  PTXLA_X(ShiftRightLogical)
  PTXLA_X(Subtract)
  PTXLA_X(Xor)
#undef PTXLA_X
  Instruction* Compare(Instruction* x, Instruction* y,
                       CompareDirection direction);
  Instruction* Select(Instruction* pred, Instruction* on_true,
                      Instruction* on_false) {
    return Emit(Opcode::kSelect, {pred, on_true, on_false});
  }
  Instruction* Clamp(Instruction* low, Instruction* x, Instruction* high) {
    return Emit(Opcode::kClamp, {low, x, high});
  }
  Instruction* Convert(Instruction* x, PrimitiveType type);
  Instruction* BitcastConvert(Instruction* x, const Shape& shape);
  Instruction* ReducePrecision(Instruction* x, int exponent, int mantissa);

  // Shape and data movement.
  // Operand dimension i becomes dimension dimensions[i] of the result.
  Instruction* Broadcast(Instruction* x, Dims result_dims, Dims dimensions);
  Instruction* BroadcastScalar(Instruction* x, Dims result_dims);
  Instruction* Reshape(Instruction* x, Dims dims);
  Instruction* Bitcast(Instruction* x, const Shape& shape);
  Instruction* Transpose(Instruction* x, Dims permutation);
  Instruction* Reverse(Instruction* x, Dims dimensions);
  Instruction* Concatenate(Operands xs, int64_t dimension);
  Instruction* Slice(Instruction* x, Dims starts, Dims limits,
                     Dims strides = {});  // {}: all 1
  Instruction* DynamicSlice(Instruction* x, Operands starts, Dims sizes);
  Instruction* DynamicUpdateSlice(Instruction* x, Instruction* update,
                                  Operands starts);
  Instruction* Pad(Instruction* x, Instruction* value,
                   absl::Span<const PaddingDim> padding);
  Instruction* Gather(Instruction* x, Instruction* indices, GatherAttrs attrs);
  Instruction* Scatter(Operands operands, Instruction* indices,
                       Operands updates, Computation* combine,
                       ScatterAttrs attrs);
  Instruction* Tuple(Operands elements);
  Instruction* GetTupleElement(Instruction* tuple, int64_t index);

  // Products and reductions.
  Instruction* Dot(Instruction* lhs, Instruction* rhs, DotAttrs attrs);
  // [.., m, k] x [.., k, n]: leading dimensions are batch.
  Instruction* MatMul(Instruction* lhs, Instruction* rhs);
  Instruction* Convolution(Instruction* input, Instruction* kernel,
                           ConvAttrs attrs);
  Instruction* Reduce(Instruction* x, Instruction* init, Dims dimensions,
                      Computation* combine);
  Instruction* ReduceMany(Operands xs, Operands inits, Dims dimensions,
                          Computation* combine);
  Instruction* ReduceWindow(Operands xs, Operands inits, Window window,
                            Computation* combine);
  Instruction* SelectAndScatter(Instruction* x, Instruction* source,
                                Instruction* init, Window window,
                                Computation* select, Computation* scatter);
  Instruction* Sort(Operands xs, int64_t dimension, bool is_stable,
                    Computation* compare);
  Instruction* BatchNormTraining(Instruction* x, Instruction* scale,
                                 Instruction* offset, float epsilon,
                                 int64_t feature_index);
  Instruction* BatchNormInference(Instruction* x, Instruction* scale,
                                  Instruction* offset, Instruction* mean,
                                  Instruction* variance, float epsilon,
                                  int64_t feature_index);
  Instruction* BatchNormGrad(Instruction* x, Instruction* scale,
                             Instruction* mean, Instruction* variance,
                             Instruction* grad, float epsilon,
                             int64_t feature_index);

  // Random numbers. The result of RngBitGenerator is (state, bits).
  Instruction* RngBitGenerator(Instruction* state, const Shape& bits,
                               RngAlgorithm algorithm);
  Instruction* Rng(Instruction* a, Instruction* b, const Shape& shape,
                   RngDistribution distribution);

  // Calls and control flow.
  Instruction* Call(Computation* callee, Operands operands);
  Instruction* Map(Operands xs, Computation* fn);
  Instruction* While(Instruction* init, Computation* condition,
                     Computation* body);
  Instruction* Conditional(Instruction* selector, Operands branch_operands,
                           absl::Span<Computation* const> branches);
  Instruction* CustomCall(absl::string_view target, Operands operands,
                          const Shape& shape);
  Instruction* OptimizationBarrier(Instruction* x) {
    return Emit(Opcode::kOptimizationBarrier, {x});
  }
  Instruction* AfterAll(Operands tokens) {
    return Emit(Opcode::kAfterAll, tokens);
  }

  // Collectives. One operand gives an array, several a tuple.
  Instruction* AllReduce(Operands xs, Computation* combine,
                         CollectiveAttrs attrs = {});
  Instruction* AllGather(Instruction* x, const Shape& shape, int64_t dimension,
                         CollectiveAttrs attrs = {});
  Instruction* ReduceScatter(Instruction* x, const Shape& shape,
                             int64_t dimension, Computation* combine,
                             CollectiveAttrs attrs = {});

  // The computation `(x, y) -> op(x, y)` on scalars of this type, made once
  // per module and builder.
  Computation* Scalar2(Opcode op, PrimitiveType type);

 private:
  Computation* computation_;
  bool moves_root_;
  std::shared_ptr<const Metadata> metadata_;
  absl::flat_hash_map<std::pair<int, int>, Computation*> scalar2_;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_IR_BUILDER_H_
