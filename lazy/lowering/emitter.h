// Writes HLO as XLA's XlaBuilder and torch_xla's helpers do: names numbered in
// order of emission, layouts by XLA's shape inference, implicit broadcasting as
// explicit reshape and broadcast instructions.
//
//   HloEmitter e("IrToHlo");
//   Instruction* x = e.Parameter(shape);               // p0.1
//   Instruction* y = e.Binary(Opcode::kAdd, x, e.Constant(1, type));
//   // constant.2, broadcast.3, add.4
#ifndef PTXLA_LAZY_LOWERING_EMITTER_H_
#define PTXLA_LAZY_LOWERING_EMITTER_H_

#include <memory>
#include <string>

#include "absl/types/span.h"
#include "hlo_backend/ir/module.h"
#include "lazy/tensor_shape.h"

namespace ptxla::lazy {

class HloEmitter {
 public:
  using Dims = absl::Span<const int64_t>;
  using Operands = absl::Span<hlo::Instruction* const>;

  explicit HloEmitter(const std::string& name);

  // What the next instructions carry; may be null.
  void set_metadata(std::shared_ptr<const hlo::Metadata> metadata) {
    metadata_ = std::move(metadata);
  }
  // The root tuple, the final names, the entry. Ends the emitter's use.
  std::unique_ptr<hlo::Module> Finish(Operands results);

  // The next parameter.
  hlo::Instruction* Parameter(const TensorShape& shape);
  hlo::Instruction* Constant(double value, PrimitiveType type);
  hlo::Instruction* ConstantInt(int64_t value, PrimitiveType type);
  hlo::Instruction* Iota(PrimitiveType type, Dims dims, int64_t dimension);

  hlo::Instruction* Unary(hlo::Opcode op, hlo::Instruction* x);
  // Nothing when the type is this one already.
  hlo::Instruction* Convert(hlo::Instruction* x, PrimitiveType type);
  hlo::Instruction* ConvertAlways(hlo::Instruction* x, PrimitiveType type);
  // The narrower operand is broadcast: a scalar, dimensions of size 1, or
  // missing major dimensions.
  hlo::Instruction* Binary(hlo::Opcode op, hlo::Instruction* a,
                           hlo::Instruction* b);
  // Converts to the promoted type first.
  hlo::Instruction* PromotedBinary(hlo::Opcode op, hlo::Instruction* a,
                                   hlo::Instruction* b);
  hlo::Instruction* Compare(hlo::CompareDirection direction,
                            hlo::Instruction* a, hlo::Instruction* b);
  hlo::Instruction* Select(hlo::Instruction* condition, hlo::Instruction* a,
                           hlo::Instruction* b);

  // Dimension i of x becomes `dimensions[i]` of the result.
  hlo::Instruction* Broadcast(hlo::Instruction* x, Dims dims, Dims dimensions);
  hlo::Instruction* BroadcastScalar(hlo::Instruction* x, Dims dims) {
    return Broadcast(x, dims, {});
  }
  // at::expand: reshape to the result's rank, then BroadcastInDim, which
  // drops dimensions of size 1 that grow.
  hlo::Instruction* Expand(hlo::Instruction* x, Dims dims);
  hlo::Instruction* Reshape(hlo::Instruction* x, Dims dims);
  hlo::Instruction* Transpose(hlo::Instruction* x, Dims permutation);
  hlo::Instruction* Slice(hlo::Instruction* x, Dims starts, Dims limits);
  hlo::Instruction* Concatenate(Operands xs, int64_t dimension);
  hlo::Instruction* Tuple(Operands xs);
  hlo::Instruction* GetTupleElement(hlo::Instruction* tuple, int64_t index);

  // Over a computation of its own: kAdd, kMaximum ...
  hlo::Instruction* Reduce(hlo::Opcode op, hlo::Instruction* x,
                           hlo::Instruction* init, Dims dimensions);
  // [m,k] x [k,n], or with one leading batch dimension.
  hlo::Instruction* Dot(hlo::Instruction* a, hlo::Instruction* b);
  // A new scalar computation (x, y) -> op(x, y).
  hlo::Computation* Combiner(hlo::Opcode op, PrimitiveType type,
                             absl::string_view name, absl::string_view x,
                             absl::string_view y);
  // A new scalar computation (x, y) -> pred of a comparison.
  hlo::Computation* Comparer(hlo::CompareDirection direction,
                             PrimitiveType type, absl::string_view name,
                             absl::string_view x, absl::string_view y);
  // Any other instruction; the shape has its layout.
  hlo::Instruction* Emit(hlo::Opcode op, hlo::Shape shape, Operands operands,
                         hlo::Attributes attributes = {},
                         absl::Span<hlo::Computation* const> called = {});

 private:
  // (x, y) -> op(x, y).
  hlo::Computation* BinaryComputation(hlo::Opcode op, PrimitiveType operands,
                                      PrimitiveType result,
                                      hlo::Attributes attributes,
                                      absl::string_view name,
                                      absl::string_view x, absl::string_view y);
  hlo::Instruction* AddTo(hlo::Computation* computation, hlo::Opcode op,
                          hlo::Shape shape, Operands operands,
                          hlo::Attributes attributes,
                          absl::Span<hlo::Computation* const> called,
                          absl::string_view base);
  hlo::Instruction* BroadcastTo(hlo::Instruction* x, Dims dims);

  std::unique_ptr<hlo::Module> module_;
  hlo::Computation* entry_;
  std::shared_ptr<const hlo::Metadata> metadata_;
  int64_t next_number_ = 1;
  int64_t next_parameter_ = 0;
};

}  // namespace ptxla::lazy

#endif  // PTXLA_LAZY_LOWERING_EMITTER_H_
