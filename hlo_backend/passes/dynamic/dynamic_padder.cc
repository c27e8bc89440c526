#include "hlo_backend/passes/dynamic/dynamic_padder.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/ir/module.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/dynamic/padded_forms.h"

namespace ptxla::hlo {
namespace {

// Sets sizes, or is an array with some. A tuple that is given is none: its
// elements are taken from it.
bool IsDynamic(const Instruction& i) {
  if (i.opcode() == Opcode::kParameter && i.shape().IsTuple()) return false;
  return i.opcode() == Opcode::kSetDimensionSize ||
         i.opcode() == Opcode::kDynamicReshape || i.shape().HasDynamicDims();
}

bool AnySizes(const std::vector<PaddedArray>& leaves) {
  return std::any_of(leaves.begin(), leaves.end(),
                     [](const PaddedArray& x) { return x.AnyDynamic(); });
}

class Padder {
 public:
  explicit Padder(Computation* c) : computation_(*c), b_(c) {}

  absl::StatusOr<bool> Run() {
    bool changed = computation_.RemoveDead() > 0;
    for (Instruction* i : computation_.PostOrder()) {
      const bool meets = std::any_of(
          i->operands().begin(), i->operands().end(),
          [&](const Instruction* x) { return padded_.contains(x); });
      if (!meets && !IsDynamic(*i)) continue;
      b_.set_metadata(i->shared_metadata());
      ASSIGN_OR_RETURN(std::vector<PaddedArray> form, Form(*i));
      changed = true;
      if (i->shape().HasDynamicDims() || AnySizes(form)) {
        padded_[i] = std::move(form);
      } else {
        // Of known size again: whoever reads it sees nothing else.
        const PaddedArray* next = form.data();
        computation_.Replace(i, Assembled(i->shape(), next));
      }
    }
    const auto root = padded_.find(computation_.root());
    if (root != padded_.end()) RETURN_IF_ERROR(SetRoot(root->second));
    if (changed) computation_.RemoveDead();
    return changed;
  }

 private:
  // The arrays and tokens of a value, in order.
  std::vector<PaddedArray> Leaves(Instruction* x) {
    const auto found = padded_.find(x);
    if (found != padded_.end()) return found->second;
    if (!x->shape().IsTuple()) return {Whole(x)};
    std::vector<PaddedArray> leaves;
    for (int k = 0; k < x->shape().element_count_of_tuple(); ++k) {
      const std::vector<PaddedArray> part =
          Leaves(b_.builder().GetTupleElement(x, k));
      leaves.insert(leaves.end(), part.begin(), part.end());
    }
    return leaves;
  }

  std::vector<PaddedArray> Element(const Instruction& i) {
    const int index = static_cast<int>(i.attrs<TupleIndexAttrs>().index);
    const Shape& tuple = i.operand(0)->shape();
    int64_t first = 0;
    for (int k = 0; k < index; ++k) first += tuple.element(k).LeafCount();
    const std::vector<PaddedArray> all = Leaves(i.operand(0));
    return {all.begin() + first,
            all.begin() + first + tuple.element(index).LeafCount()};
  }

  PaddedResults Form(Instruction& i) {
    if (i.opcode() == Opcode::kGetTupleElement &&
        padded_.contains(i.operand(0))) {
      return Element(i);
    }
    if (i.opcode() == Opcode::kTuple) {
      std::vector<PaddedArray> all;
      for (Instruction* x : i.operands()) {
        const std::vector<PaddedArray> part = Leaves(x);
        all.insert(all.end(), part.begin(), part.end());
      }
      return all;
    }
    if (i.opcode() == Opcode::kOptimizationBarrier) return Barrier(i);
    if (IsGiven(i)) {
      return std::vector<PaddedArray>{
          Whole(b_.builder().Bitcast(&i, Bounds(i.shape())))};
    }
    std::vector<PaddedArray> operands;
    for (Instruction* x : i.operands()) {
      if (!x->shape().IsTuple()) {
        operands.push_back(Leaves(x)[0]);
      } else if (padded_.contains(x)) {
        return Refused(i, UnknownPadded());
      } else {
        operands.push_back(Whole(x));
      }
    }
    PaddedResults form = PaddedForm(i, operands, &b_);
    return form.ok() ? form : Refused(i, form.status());
  }

  // In front of the data.
  std::vector<PaddedArray> Barrier(const Instruction& i) {
    std::vector<PaddedArray> leaves = Leaves(i.operand(0));
    Builder& make = b_.builder();
    Instruction* all = make.OptimizationBarrier(make.Tuple(DataOf(leaves)));
    for (size_t k = 0; k < leaves.size(); ++k) {
      leaves[k].data = make.GetTupleElement(all, static_cast<int64_t>(k));
    }
    return leaves;
  }

  // What comes from outside of the program.
  bool IsGiven(const Instruction& i) const {
    const Instruction* from = &i;
    while (from->opcode() == Opcode::kGetTupleElement) from = from->operand(0);
    return i.shape().IsArray() && from->opcode() == Opcode::kParameter &&
           computation_.IsEntry();
  }

  static absl::Status Refused(const Instruction& i, const absl::Status& why) {
    return absl::Status(
        why.code(), absl::StrCat("%", i.name(), " (", OpcodeName(i.opcode()),
                                 ") ", why.message()));
  }

  // Zeros where nothing counts.
  Instruction* WithSizes(const PaddedArray& x, const Shape& shape) {
    Builder& make = b_.builder();
    Instruction* array = b_.Filled(x, make.Zero(x.data->shape().type()),
                                   Others(x.data->shape().rank(), {}));
    for (int d = 0; d < shape.rank(); ++d) {
      if (!shape.is_dynamic_dim(d)) continue;
      const DimensionsAttrs dimension = {{d}};
      array = make.Emit(Opcode::kSetDimensionSize, {array, b_.SizeOf(x, d)},
                        dimension);
    }
    return array;
  }

  // A value of this shape from the leaves at `next`.
  Instruction* Assembled(const Shape& shape, const PaddedArray*& next) {
    if (!shape.IsTuple()) {
      const PaddedArray& leaf = *next++;
      return shape.IsArray() ? WithSizes(leaf, shape) : leaf.data;
    }
    std::vector<Instruction*> elements;
    for (const Shape& element : shape.elements()) {
      elements.push_back(Assembled(element, next));
    }
    return b_.builder().Tuple(elements);
  }

  absl::Status SetRoot(const std::vector<PaddedArray>& leaves) {
    const Instruction& root = *computation_.root();
    if (!computation_.IsEntry() && root.shape().HasDynamicDims()) {
      return Refused(root, absl::UnimplementedError(
                               "of dynamic size leaves its computation"));
    }
    b_.set_metadata(root.shared_metadata());
    const PaddedArray* next = leaves.data();
    computation_.SetRoot(Assembled(root.shape(), next));
    return absl::OkStatus();
  }

  Computation& computation_;
  PaddedBuilder b_;
  absl::flat_hash_map<const Instruction*, std::vector<PaddedArray>> padded_;
};

}  // namespace

absl::StatusOr<bool> DynamicPadderPass::Run(Module* module,
                                            const PassContext&) {
  bool changed = false;
  for (Computation* c : module->computations()) {
    ASSIGN_OR_RETURN(const bool padded, Padder(c).Run());
    changed |= padded;
  }
  return changed;
}

}  // namespace ptxla::hlo
