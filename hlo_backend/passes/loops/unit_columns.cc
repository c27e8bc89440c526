#include "hlo_backend/passes/loops/unit_columns.h"

#include <vector>

#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/loops/loop_elements.h"

namespace ptxla::hlo {
namespace {

// Without its last dimensions of one element, two at least are left.
Shape WithoutColumns(const Shape& shape) {
  if (!shape.IsArray()) return shape;
  int rank = shape.rank();
  while (rank > 0 && shape.dim(rank - 1) == 1) --rank;
  if (rank < 2) return shape;
  DimVector dims(shape.dims().begin(), shape.dims().begin() + rank);
  return Shape::Array(shape.type(), dims);
}

class ColumnLoop {
 public:
  explicit ColumnLoop(Instruction* loop)
      : loop_(loop),
        body_(loop->while_body()),
        condition_(loop->while_condition()) {}

  bool Run() {
    if (!CanChange()) return false;
    std::vector<Shape> shapes;
    bool any = false;
    for (int k = 0; k < loop_->shape().element_count_of_tuple(); ++k) {
      const Shape& element = loop_->shape().element(k);
      shapes.push_back(WithoutColumns(element));
      narrow_.push_back(shapes.back() != element);
      any |= narrow_.back();
    }
    if (!any) return false;
    body_ = OwnCalled(loop_, body_);
    condition_ = OwnCalled(loop_, condition_);
    const Shape state = Shape::Tuple(shapes);
    ReadNarrow(body_->parameter(0), state);
    ReadNarrow(condition_->parameter(0), state);
    body_->SetRoot(Narrowed(body_->root(), state));
    body_->RemoveDead();
    condition_->RemoveDead();
    Instruction* narrow = loop_->parent()->AddLike(
        *loop_, state, {Narrowed(loop_->operand(0), state)});
    narrow->clear_sharding();
    Builder b(loop_->parent());
    const std::vector<Instruction*> results(loop_->users().begin(),
                                            loop_->users().end());
    for (Instruction* result : results) {
      Instruction* value = b.GetTupleElement(narrow, result->tuple_index());
      if (narrow_[result->tuple_index()]) {
        value = b.Reshape(value, result->shape().dims());
      }
      loop_->parent()->Replace(result, value);
    }
    loop_->parent()->Remove(loop_);
    return true;
  }

 private:
  bool CanChange() const {
    return loop_->shape().IsTuple() &&
           loop_->operand(0)->opcode() == Opcode::kTuple &&
           body_->root()->opcode() == Opcode::kTuple &&
           body_->root()->user_count() == 0 && IsOnlyTakenApart(*loop_) &&
           IsOnlyTakenApart(*body_->parameter(0)) &&
           IsOnlyTakenApart(*condition_->parameter(0));
  }

  // The tuple with the elements as the narrow state has them.
  Instruction* Narrowed(Instruction* tuple, const Shape& state) const {
    Builder b(tuple->parent());
    std::vector<Instruction*> elements;
    for (int k = 0; k < tuple->operand_count(); ++k) {
      Instruction* value = tuple->operand(k);
      if (narrow_[k]) value = Narrow(value, state.element(k), &b);
      elements.push_back(value);
    }
    return b.Tuple(elements);
  }

  static Instruction* Narrow(Instruction* x, const Shape& shape, Builder* b) {
    if (x->opcode() == Opcode::kReshape && x->operand(0)->shape() == shape) {
      return x->operand(0);
    }
    return b->Reshape(x, shape.dims());
  }

  void ReadNarrow(Instruction* parameter, const Shape& state) {
    std::vector<Instruction*> elements;
    for (Instruction* element : parameter->users()) {
      if (narrow_[element->tuple_index()]) elements.push_back(element);
    }
    *parameter->mutable_shape() = state;
    Builder b(parameter->parent());
    for (Instruction* element : elements) {
      Instruction* value = b.GetTupleElement(parameter, element->tuple_index());
      const std::vector<Instruction*> readers(element->users().begin(),
                                              element->users().end());
      for (Instruction* reader : readers) {
        Instruction* part = Part(*reader, element, value, &b);
        if (part != nullptr) parameter->parent()->Replace(reader, part);
      }
      parameter->parent()->Replace(element,
                                   b.Reshape(value, element->shape().dims()));
    }
  }

  // A slice or an update of `wide`, of the narrow value; null if the reader is
  // something else.
  static Instruction* Part(const Instruction& reader, const Instruction* wide,
                           Instruction* narrow, Builder* b) {
    const bool slice = reader.opcode() == Opcode::kDynamicSlice;
    const bool update = reader.opcode() == Opcode::kDynamicUpdateSlice;
    if ((!slice && !update) || reader.operand(0) != wide) return nullptr;
    const int first = slice ? 1 : 2, rank = narrow->shape().rank();
    if (reader.operand_count() != first + wide->shape().rank()) return nullptr;
    const auto begin = reader.operands().begin() + first;
    const std::vector<Instruction*> starts(begin, begin + rank);
    const Shape& shape = (slice ? reader : *reader.operand(1)).shape();
    const DimVector dims(shape.dims().begin(), shape.dims().begin() + rank);
    Instruction* part = slice ? b->DynamicSlice(narrow, starts, dims)
                              : b->DynamicUpdateSlice(
                                    narrow,
                                    Narrow(reader.operand(1),
                                           Shape::Array(shape.type(), dims), b),
                                    starts);
    return b->Reshape(part, reader.shape().dims());
  }

  Instruction* loop_;
  Computation *body_, *condition_;
  std::vector<bool> narrow_;
};

}  // namespace

absl::StatusOr<bool> UnitColumnsPass::Run(Module* module, const PassContext&) {
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    std::vector<Instruction*> loops;
    for (Instruction* i : c->instructions()) {
      if (i->opcode() == Opcode::kWhile) loops.push_back(i);
    }
    for (Instruction* i : loops) changed |= ColumnLoop(i).Run();
  }
  if (changed) {
    module->RemoveUnusedComputations();
    module->Compact();
  }
  return changed;
}

}  // namespace ptxla::hlo
