#include "hlo_backend/passes/layout/convolution_sums.h"

#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo_backend/analysis/fusible_reduces.h"
#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/analysis/monoid.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/control_edges.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/dimension_utils.h"

namespace ptxla::hlo {
namespace {

// Instructions between a product and a sum, at most: longer work has a kernel
// of its own.
constexpr size_t kMostWork = 24;

class Sums {
 public:
  explicit Sums(Computation* c) : c_(c) {}

  bool Run() {
    const std::vector<Instruction*> order = c_->PostOrder();
    for (size_t k = 0; k < order.size(); ++k) {
      number_[order[k]] = static_cast<int>(k);
    }
    bool changed = false;
    for (Instruction* i : order) {
      if (i->opcode() == Opcode::kReduce) changed |= Place(i);
    }
    return changed;
  }

 private:
  // Sums of the rows of a matrix.
  static bool IsCandidate(const Instruction& i) {
    return i.operand_count() == 2 && !i.shape().has_layout() &&
           !HasControlEdges(i) && IsFusibleReduce(i) &&
           i.shape().type() == PrimitiveType::kF32 &&
           *MonoidOf(*i.to_apply()) == Opcode::kAdd &&
           i.operand(0)->shape().rank() == 2 && i.dimensions().size() == 1 &&
           i.dimensions()[0] == 0;
  }

  // The convolution that the value is, its dimensions but the last one merged.
  static Instruction* ConvolutionOf(const Instruction& value) {
    if (value.opcode() != Opcode::kReshape) return nullptr;
    Instruction* c = value.operand(0);
    if (c->opcode() != Opcode::kConvolution || !IsProduct(*c)) return nullptr;
    const int rank = c->shape().rank();
    const auto& dims = c->attrs<ConvAttrs>().dims;
    const bool rows_and_columns = rank > 2 && dims.output_batch == rank - 2 &&
                                  dims.output_feature == rank - 1;
    return rows_and_columns && value.shape().rank() == 2 &&
                   c->shape().dim(rank - 1) == value.shape().dim(1)
               ? c
               : nullptr;
  }

  bool Place(Instruction* sum) {
    if (!IsCandidate(*sum)) return false;
    work_.clear();
    last_ = nullptr;
    if (!Collect(sum->operand(0)) || last_ == nullptr ||
        last_->opcode() != Opcode::kConvolution) {
      return false;
    }
    const DimVector& dims = last_->shape().dims();
    const int rank = static_cast<int>(dims.size());
    DimensionsAttrs rows;
    for (int d = 0; d + 1 < rank; ++d) rows.dimensions.push_back(d);
    Builder b(c_);
    b.set_metadata(sum->shared_metadata());
    Instruction* value =
        c_->AddLike(*sum, sum->shape(),
                    {InDims(sum->operand(0), dims, b), sum->operand(1)});
    value->set_attributes(rows);
    c_->Replace(sum, value);
    return true;
  }

  // The elementwise work that makes the value, and the last product that it
  // reads; false: too much.
  bool Collect(Instruction* value) {
    if (Instruction* conv = ConvolutionOf(*value)) {
      Meet(conv);
      return true;
    }
    if (!value->IsElementwise() || value->shape().rank() != 2) {
      if (value->opcode() == Opcode::kDot) Meet(value);
      return true;
    }
    for (const Instruction* w : work_) {
      if (w == value) return true;
    }
    if (work_.size() == kMostWork) return false;
    work_.push_back(value);
    for (Instruction* o : value->operands()) {
      if (!Collect(o)) return false;
    }
    return true;
  }

  void Meet(Instruction* product) {
    if (last_ == nullptr || number_[last_] < number_[product]) last_ = product;
  }

  Instruction* InDims(Instruction* value, const DimVector& dims, Builder& b) {
    Instruction*& made = made_[{value, last_}];
    if (made != nullptr) return made;
    const Shape shape = Shape::Array(value->shape().type(), dims);
    const auto columns = static_cast<int64_t>(dims.size()) - 1;
    Instruction* result = nullptr;
    if (value->opcode() == Opcode::kReshape &&
        value->operand(0)->shape().dims() == dims) {
      result = value->operand(0);
    } else if (value->shape().IsScalar()) {
      result = value;
    } else if (value->opcode() == Opcode::kBroadcast &&
               value->operand(0)->shape().IsScalar()) {
      result = b.BroadcastScalar(value->operand(0), dims);
    } else if (value->opcode() == Opcode::kBroadcast &&
               value->dimensions().size() == 1 && value->dimensions()[0] == 1) {
      result = b.Broadcast(value->operand(0), dims, {columns});
    } else if (value->IsElementwise() && value->shape().rank() == 2) {
      std::vector<Instruction*> operands;
      for (Instruction* o : value->operands()) {
        operands.push_back(InDims(o, dims, b));
      }
      result = c_->AddLike(*value, shape, operands);
    } else {
      result = b.Reshape(value, dims);
    }
    made_[{value, last_}] = result;
    return result;
  }

  Computation* c_;
  absl::flat_hash_map<const Instruction*, int> number_;
  std::vector<Instruction*> work_;  // behind the sum
  Instruction* last_ = nullptr;     // product
  // A value with the dimensions of a convolution.
  absl::flat_hash_map<std::pair<const Instruction*, const Instruction*>,
                      Instruction*>
      made_;
};

}  // namespace

absl::StatusOr<bool> ConvolutionSumsPass::Run(Module* module,
                                              const PassContext&) {
  if (module->config().is_scheduled) return false;
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    if (!Sums(c).Run()) continue;
    c->RemoveDead();
    changed = true;
  }
  return changed;
}

}  // namespace ptxla::hlo
