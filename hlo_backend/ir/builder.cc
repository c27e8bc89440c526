#include "hlo_backend/ir/builder.h"

#include "base/check.h"
#include "base/status.h"
#include "hlo_backend/ir/shape_inference.h"

namespace ptxla::hlo {

absl::StatusOr<Instruction*> Builder::Make(
    Opcode opcode, Operands operands, Attributes attributes,
    absl::Span<Computation* const> called, const Shape* declared) {
  if (std::holds_alternative<std::monostate>(attributes)) {
    attributes = DefaultAttributes(opcode);
  }
  absl::InlinedVector<const Shape*, 4> shapes;
  for (const Instruction* o : operands) shapes.push_back(&o->shape());
  ASSIGN_OR_RETURN(Shape shape,
                   InferShape(opcode, shapes, attributes, called, declared),
                   _ << OpcodeName(opcode));
  Instruction* i = computation_->Add(opcode, std::move(shape), operands,
                                     std::move(attributes), called);
  if (metadata_) i->set_metadata(metadata_);
  if (moves_root_ && !computation_->root_is_set_) computation_->root_ = i;
  return i;
}

Instruction* Builder::Emit(Opcode opcode, Operands operands,
                           Attributes attributes,
                           absl::Span<Computation* const> called,
                           const Shape* declared) {
  auto made = Make(opcode, operands, std::move(attributes), called, declared);
  CHECK(made.ok()) << made.status().message() << " in " << computation_->name();
  return *made;
}

Instruction* Builder::Parameter(int64_t number, const Shape& shape,
                                absl::string_view name) {
  Instruction* i =
      Emit(Opcode::kParameter, {}, ParameterAttrs{number, {}}, {}, &shape);
  if (!name.empty()) i->set_name(module()->UniqueName(name));
  return i;
}

Instruction* Builder::Constant(Literal literal) {
  return Emit(
      Opcode::kConstant, {},
      ConstantAttrs{std::make_shared<const Literal>(std::move(literal))});
}

Instruction* Builder::ConstantScalar(PrimitiveType type, double value) {
  return Constant(Literal::Splat(Shape::Scalar(type), value));
}

namespace {

double Infinity() { return std::numeric_limits<double>::infinity(); }

}  // namespace

// Conversion saturates integers, and gives the largest number where the type
// has no infinity.
Instruction* Builder::MinValue(PrimitiveType type) {
  return ConstantScalar(type, -Infinity());
}
Instruction* Builder::MaxValue(PrimitiveType type) {
  return ConstantScalar(type, Infinity());
}

Instruction* Builder::Iota(const Shape& shape, int64_t dimension) {
  return Emit(Opcode::kIota, {}, IotaAttrs{dimension}, {}, &shape);
}

Instruction* Builder::Compare(Instruction* x, Instruction* y,
                              CompareDirection direction) {
  return Emit(Opcode::kCompare, {x, y},
              CompareAttrs{direction, CompareType::kDefault});
}

Instruction* Builder::Convert(Instruction* x, PrimitiveType type) {
  Shape shape = x->shape();
  shape.clear_layout();
  shape.set_type(type);
  return Emit(Opcode::kConvert, {x}, {}, {}, &shape);
}

Instruction* Builder::BitcastConvert(Instruction* x, const Shape& shape) {
  return Emit(Opcode::kBitcastConvert, {x}, {}, {}, &shape);
}

Instruction* Builder::ReducePrecision(Instruction* x, int exponent,
                                      int mantissa) {
  return Emit(Opcode::kReducePrecision, {x},
              ReducePrecisionAttrs{exponent, mantissa});
}

Instruction* Builder::Tuple(Operands elements) {
  return Emit(Opcode::kTuple, elements);
}

Instruction* Builder::GetTupleElement(Instruction* tuple, int64_t index) {
  return Emit(Opcode::kGetTupleElement, {tuple}, TupleIndexAttrs{index});
}

Instruction* Builder::RngBitGenerator(Instruction* state, const Shape& bits,
                                      RngAlgorithm algorithm) {
  Shape state_shape = state->shape();
  state_shape.clear_layout();
  const Shape shape = Shape::Tuple({state_shape, bits});
  return Emit(Opcode::kRngBitGenerator, {state},
              RngBitGeneratorAttrs{algorithm}, {}, &shape);
}

Instruction* Builder::Rng(Instruction* a, Instruction* b, const Shape& shape,
                          RngDistribution distribution) {
  return Emit(Opcode::kRng, {a, b}, RngAttrs{distribution}, {}, &shape);
}

Instruction* Builder::Call(Computation* callee, Operands operands) {
  return Emit(Opcode::kCall, operands, {}, {callee});
}

Instruction* Builder::Map(Operands xs, Computation* fn) {
  DimensionsAttrs attrs;
  for (int i = 0; i < xs[0]->shape().rank(); ++i) {
    attrs.dimensions.push_back(i);
  }
  return Emit(Opcode::kMap, xs, attrs, {fn});
}

Instruction* Builder::While(Instruction* init, Computation* condition,
                            Computation* body) {
  return Emit(Opcode::kWhile, {init}, {}, {body, condition});
}

Instruction* Builder::Conditional(Instruction* selector,
                                  Operands branch_operands,
                                  absl::Span<Computation* const> branches) {
  std::vector<Instruction*> operands = {selector};
  operands.insert(operands.end(), branch_operands.begin(),
                  branch_operands.end());
  return Emit(Opcode::kConditional, operands, {}, branches);
}

Instruction* Builder::CustomCall(absl::string_view target, Operands operands,
                                 const Shape& shape) {
  CustomCallAttrs attrs;
  attrs.target = std::string(target);
  return Emit(Opcode::kCustomCall, operands,
              Boxed<CustomCallAttrs>(std::move(attrs)), {}, &shape);
}

Instruction* Builder::AllReduce(Operands xs, Computation* combine,
                                CollectiveAttrs attrs) {
  return Emit(Opcode::kAllReduce, xs, Boxed<CollectiveAttrs>(std::move(attrs)),
              {combine});
}

Instruction* Builder::AllGather(Instruction* x, const Shape& shape,
                                int64_t dimension, CollectiveAttrs attrs) {
  attrs.dimension = dimension;
  return Emit(Opcode::kAllGather, {x}, Boxed<CollectiveAttrs>(std::move(attrs)),
              {}, &shape);
}

Instruction* Builder::ReduceScatter(Instruction* x, const Shape& shape,
                                    int64_t dimension, Computation* combine,
                                    CollectiveAttrs attrs) {
  attrs.dimension = dimension;
  return Emit(Opcode::kReduceScatter, {x},
              Boxed<CollectiveAttrs>(std::move(attrs)), {combine}, &shape);
}

Computation* Builder::Scalar2(Opcode op, PrimitiveType type) {
  Computation*& made = scalar2_[{static_cast<int>(op), static_cast<int>(type)}];
  if (made != nullptr) return made;
  made = module()->AddComputation(
      absl::StrCat(OpcodeName(op), "_", PrimitiveTypeName(type)));
  Builder b(made);
  Instruction* x = b.Parameter(0, Shape::Scalar(type), "x");
  Instruction* y = b.Parameter(1, Shape::Scalar(type), "y");
  made->SetRoot(b.Binary(op, x, y));
  return made;
}

}  // namespace ptxla::hlo
