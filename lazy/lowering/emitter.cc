#include "lazy/lowering/emitter.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace ptxla::lazy {

using hlo::Attributes;
using hlo::Computation;
using hlo::Instruction;
using hlo::Opcode;
using hlo::Shape;

HloEmitter::HloEmitter(const std::string& name)
    : module_(std::make_unique<hlo::Module>(name)),
      entry_(module_->AddComputation(name)) {}

Instruction* HloEmitter::AddTo(Computation* computation, Opcode op, Shape shape,
                               Operands operands, Attributes attributes,
                               absl::Span<Computation* const> called,
                               absl::string_view base) {
  char name[64];
  const absl::AlphaNum number(next_number_++);
  CHECK_LT(base.size() + number.size() + 1, sizeof(name));
  char* end = std::copy(base.begin(), base.end(), name);
  *end++ = '.';
  end = std::copy(number.Piece().begin(), number.Piece().end(), end);
  return computation->Add(op, std::move(shape), operands, std::move(attributes),
                          called, absl::string_view(name, end - name));
}

Instruction* HloEmitter::Emit(Opcode op, Shape shape, Operands operands,
                              Attributes attributes,
                              absl::Span<Computation* const> called) {
  Instruction* i = AddTo(entry_, op, std::move(shape), operands,
                         std::move(attributes), called, hlo::OpcodeName(op));
  if (metadata_) i->set_metadata(metadata_);
  return i;
}

std::unique_ptr<hlo::Module> HloEmitter::Finish(Operands results) {
  metadata_ = nullptr;
  entry_->SetRoot(Tuple(results));
  const std::string name = absl::StrCat(module_->name(), ".", next_number_++);
  entry_->set_name(name);
  module_->set_name(name);
  module_->ReserveName(name);
  module_->SetEntry(entry_);
  return std::move(module_);
}

Instruction* HloEmitter::Parameter(const TensorShape& shape) {
  const int64_t number = next_parameter_++;
  Instruction* i =
      AddTo(entry_, Opcode::kParameter, shape.ToHlo(), {},
            hlo::ParameterAttrs{number, {}}, {}, absl::StrCat("p", number));
  if (metadata_) i->set_metadata(metadata_);
  return i;
}

Instruction* HloEmitter::Constant(double value, PrimitiveType type) {
  const Shape shape = Shape::ArrayRowMajor(type, {});
  return Emit(
      Opcode::kConstant, shape, {},
      hlo::ConstantAttrs{std::make_shared<const hlo::Literal>(
          hlo::IsFloat(type)
              ? hlo::Literal::Splat(shape, value)
              : hlo::Literal::SplatInt(shape, static_cast<int64_t>(value)))});
}

Instruction* HloEmitter::ConstantInt(int64_t value, PrimitiveType type) {
  const Shape shape = Shape::ArrayRowMajor(type, {});
  return Emit(Opcode::kConstant, shape, {},
              hlo::ConstantAttrs{std::make_shared<const hlo::Literal>(
                  hlo::Literal::SplatInt(shape, value))});
}

Instruction* HloEmitter::Iota(PrimitiveType type, Dims dims,
                              int64_t dimension) {
  return Emit(Opcode::kIota, Shape::ArrayRowMajor(type, dims), {},
              hlo::IotaAttrs{dimension});
}

Instruction* HloEmitter::Unary(Opcode op, Instruction* x) {
  return Emit(op, x->shape(), {x});
}

Instruction* HloEmitter::Convert(Instruction* x, PrimitiveType type) {
  return x->shape().type() == type ? x : ConvertAlways(x, type);
}

Instruction* HloEmitter::ConvertAlways(Instruction* x, PrimitiveType type) {
  Shape shape = x->shape();
  shape.set_type(type);
  return Emit(Opcode::kConvert, std::move(shape), {x});
}

// XlaBuilder's implicit broadcasting: first to the full rank, then dimensions
// of size 1 that grow are reshaped away and broadcast again.
Instruction* HloEmitter::BroadcastTo(Instruction* x, Dims dims) {
  const int missing = static_cast<int>(dims.size()) - x->shape().rank();
  if (missing > 0) {
    DimVector sizes(dims.begin(), dims.end()), dimensions;
    for (int i = 0; i < x->shape().rank(); ++i) {
      sizes[missing + i] = x->shape().dim(i);
      dimensions.push_back(missing + i);
    }
    x = Broadcast(x, sizes, dimensions);
  }
  DimVector kept, kept_at;
  for (int i = 0; i < static_cast<int>(dims.size()); ++i) {
    if (x->shape().dim(i) != dims[i]) continue;
    kept.push_back(dims[i]);
    kept_at.push_back(i);
  }
  if (kept.size() == dims.size()) return x;
  return Broadcast(Reshape(x, kept), dims, kept_at);
}

Instruction* HloEmitter::Binary(Opcode op, Instruction* a, Instruction* b) {
  if (a->shape().SameDims(b->shape())) return Emit(op, a->shape(), {a, b});
  const DimVector dims = BroadcastDims(a->shape().dims(), b->shape().dims());
  if (Dims(a->shape().dims()) != Dims(dims)) a = BroadcastTo(a, dims);
  if (Dims(b->shape().dims()) != Dims(dims)) b = BroadcastTo(b, dims);
  return Emit(op, Shape::ArrayRowMajor(a->shape().type(), dims), {a, b});
}

Instruction* HloEmitter::PromotedBinary(Opcode op, Instruction* a,
                                        Instruction* b) {
  const PrimitiveType type = PromoteTypes(a->shape().type(), b->shape().type());
  a = Convert(a, type);
  return Binary(op, a, Convert(b, type));
}

Instruction* HloEmitter::Compare(hlo::CompareDirection direction,
                                 Instruction* a, Instruction* b) {
  if (!a->shape().SameDims(b->shape())) {
    const DimVector dims = BroadcastDims(a->shape().dims(), b->shape().dims());
    if (Dims(a->shape().dims()) != Dims(dims)) a = BroadcastTo(a, dims);
    if (Dims(b->shape().dims()) != Dims(dims)) b = BroadcastTo(b, dims);
  }
  Shape shape = a->shape();
  shape.set_type(PrimitiveType::kPred);
  return Emit(Opcode::kCompare, std::move(shape), {a, b},
              hlo::CompareAttrs{direction, hlo::CompareType::kDefault});
}

Instruction* HloEmitter::Select(Instruction* condition, Instruction* a,
                                Instruction* b) {
  Shape shape = condition->shape();
  shape.set_type(a->shape().type());
  return Emit(Opcode::kSelect, std::move(shape), {condition, a, b});
}

Instruction* HloEmitter::Broadcast(Instruction* x, Dims dims, Dims dimensions) {
  return Emit(Opcode::kBroadcast, Shape::ArrayRowMajor(x->shape().type(), dims),
              {x},
              hlo::DimensionsAttrs{{dimensions.begin(), dimensions.end()}});
}

Instruction* HloEmitter::Expand(Instruction* x, Dims dims) {
  const int rank = static_cast<int>(dims.size());
  if (x->shape().rank() < rank) {
    DimVector padded(rank - x->shape().rank(), 1);
    padded.insert(padded.end(), x->shape().dims().begin(),
                  x->shape().dims().end());
    x = Reshape(x, padded);
  }
  DimVector in_dims, kept, kept_at, identity;
  bool grows = false;
  for (int i = 0; i < rank; ++i) {
    const int64_t size = x->shape().dim(i);
    identity.push_back(i);
    in_dims.push_back(size);
    if (size == dims[i]) {
      kept.push_back(size);
      kept_at.push_back(i);
    } else {
      grows = true;
    }
  }
  x = Broadcast(x, in_dims, identity);
  if (!grows) return x;
  return Broadcast(Reshape(x, kept), dims, kept_at);
}

Instruction* HloEmitter::Reshape(Instruction* x, Dims dims) {
  return Emit(Opcode::kReshape, Shape::ArrayRowMajor(x->shape().type(), dims),
              {x});
}

Instruction* HloEmitter::Transpose(Instruction* x, Dims permutation) {
  TensorShape shape(x->shape().type(), x->shape().dims());
  shape.set_minor_to_major(x->shape().layout().minor_to_major);
  return Emit(Opcode::kTranspose, shape.Transposed(permutation).ToHlo(), {x},
              hlo::DimensionsAttrs{{permutation.begin(), permutation.end()}});
}

Instruction* HloEmitter::Slice(Instruction* x, Dims starts, Dims limits) {
  DimVector dims(starts.size());
  hlo::SliceAttrs attrs;
  for (size_t i = 0; i < dims.size(); ++i) dims[i] = limits[i] - starts[i];
  attrs.starts.assign(starts.begin(), starts.end());
  attrs.limits.assign(limits.begin(), limits.end());
  attrs.strides.assign(starts.size(), 1);
  return Emit(Opcode::kSlice, Shape::ArrayRowMajor(x->shape().type(), dims),
              {x}, hlo::Boxed<hlo::SliceAttrs>(std::move(attrs)));
}

Instruction* HloEmitter::Concatenate(Operands xs, int64_t dimension) {
  DimVector dims = xs[0]->shape().dims();
  dims[dimension] = 0;
  for (const Instruction* x : xs) dims[dimension] += x->shape().dim(dimension);
  return Emit(Opcode::kConcatenate,
              Shape::ArrayRowMajor(xs[0]->shape().type(), dims), xs,
              hlo::DimensionsAttrs{{dimension}});
}

Instruction* HloEmitter::Tuple(Operands xs) {
  std::vector<Shape> shapes;
  shapes.reserve(xs.size());
  for (const Instruction* x : xs) shapes.push_back(x->shape());
  return Emit(Opcode::kTuple, Shape::Tuple(std::move(shapes)), xs);
}

Instruction* HloEmitter::GetTupleElement(Instruction* tuple, int64_t index) {
  return Emit(Opcode::kGetTupleElement, tuple->shape().element(index), {tuple},
              hlo::TupleIndexAttrs{index});
}

Computation* HloEmitter::BinaryComputation(Opcode op, PrimitiveType operands,
                                           PrimitiveType result,
                                           Attributes attributes,
                                           absl::string_view name,
                                           absl::string_view x,
                                           absl::string_view y) {
  Computation* c =
      module_->AddComputation(absl::StrCat(name, ".", next_number_++));
  const Shape scalar = Shape::ArrayRowMajor(operands, {});
  Instruction* a = AddTo(c, Opcode::kParameter, scalar, {},
                         hlo::ParameterAttrs{0, {}}, {}, x);
  Instruction* b = AddTo(c, Opcode::kParameter, scalar, {},
                         hlo::ParameterAttrs{1, {}}, {}, y);
  c->SetRoot(AddTo(c, op, Shape::ArrayRowMajor(result, {}), {a, b},
                   std::move(attributes), {}, hlo::OpcodeName(op)));
  return c;
}

Computation* HloEmitter::Combiner(Opcode op, PrimitiveType type,
                                  absl::string_view name, absl::string_view x,
                                  absl::string_view y) {
  return BinaryComputation(op, type, type, {}, name, x, y);
}

Computation* HloEmitter::Comparer(hlo::CompareDirection direction,
                                  PrimitiveType type, absl::string_view name,
                                  absl::string_view x, absl::string_view y) {
  return BinaryComputation(
      Opcode::kCompare, type, PrimitiveType::kPred,
      hlo::CompareAttrs{direction, hlo::CompareType::kDefault}, name, x, y);
}

Instruction* HloEmitter::Reduce(Opcode op, Instruction* x, Instruction* init,
                                Dims dimensions) {
  Computation* combiner = Combiner(
      op, x->shape().type(),
      op == Opcode::kMaximum ? "MaxComputation" : "AddComputation", "x", "y");
  DimVector dims;
  for (int i = 0; i < x->shape().rank(); ++i) {
    if (std::find(dimensions.begin(), dimensions.end(), i) ==
        dimensions.end()) {
      dims.push_back(x->shape().dim(i));
    }
  }
  return Emit(
      Opcode::kReduce, Shape::ArrayRowMajor(x->shape().type(), dims), {x, init},
      hlo::DimensionsAttrs{{dimensions.begin(), dimensions.end()}}, {combiner});
}

Instruction* HloEmitter::Dot(Instruction* a, Instruction* b) {
  hlo::DotAttrs attrs;
  const int batch = a->shape().rank() - 2;
  DimVector dims;
  for (int i = 0; i < batch; ++i) {
    attrs.lhs_batch.push_back(i);
    attrs.rhs_batch.push_back(i);
    dims.push_back(a->shape().dim(i));
  }
  attrs.lhs_contracting = {batch + 1};
  attrs.rhs_contracting = {batch};
  dims.push_back(a->shape().dim(batch));
  dims.push_back(b->shape().dim(batch + 1));
  return Emit(Opcode::kDot, Shape::ArrayRowMajor(a->shape().type(), dims),
              {a, b}, hlo::Boxed<hlo::DotAttrs>(std::move(attrs)));
}

}  // namespace ptxla::lazy
