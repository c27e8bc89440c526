#include "hlo_backend/passes/layout/compact_entry.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/analysis/vector_loops.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/ir/fingerprint.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/layout/dimension_order.h"
#include "hlo_backend/passes/x64/x64_elimination.h"

namespace ptxla::hlo {
namespace {

DimVector MajorToMinor(const Layout& layout) {
  return DimVector(layout.minor_to_major.rbegin(),
                   layout.minor_to_major.rend());
}

// Dimensions from major to minor in which an array of the entry will lie.
DimVector EntryOrder(const Shape& shape, const Shape& header, int generation) {
  if (shape.ElementCount() == 0 || shape.HasDynamicDims()) {
    return Identity(shape.rank());
  }
  if (header.has_layout() && !header.layout().tiles.empty()) {
    return MajorToMinor(header.layout());
  }
  return MajorToMinor(CompactTpuLayout(shape, generation));
}

Shape WithOrder(const Shape& shape, const DimVector& order) {
  Shape result = Shape::Array(shape.type(), shape.dims());
  Layout layout = Layout::RowMajor(shape.rank());
  layout.minor_to_major.assign(order.rbegin(), order.rend());
  result.set_layout(std::move(layout));
  return result;
}

// The row-major array whose dimensions are those of `shape` in this order.
Shape AsItLies(const Shape& shape, const DimVector& order) {
  return WithOrder(Shape::Array(shape.type(), Permuted(shape.dims(), order)),
                   Identity(shape.rank()));
}

// The calls that take 64-bit arrays apart and put them together name memory, so
// they do so of arrays as they lie.
bool IsX64Split(const Instruction& i) {
  if (i.opcode() != Opcode::kCustomCall) return false;
  const std::string& target = i.attrs<CustomCallAttrs>().target;
  return target == kX64SplitLow || target == kX64SplitHigh;
}

class Compacter {
 public:
  Compacter(Module* module, int generation)
      : entry_(module->entry()),
        header_(*module->mutable_config()->entry_layout),
        b_(entry_),
        generation_(generation) {}

  void Run() {
    for (int p = 0; p < entry_->parameter_count(); ++p) {
      Parameter(entry_->parameter(p), &header_.parameters[p]);
    }
    Instruction* root = entry_->root();
    if (root->shape().IsArray()) {
      entry_->SetRoot(Result(root, &header_.result));
      return;
    }
    if (root->opcode() != Opcode::kTuple) return;
    for (int k = 0; k < root->operand_count(); ++k) {
      Shape* shape = header_.result.mutable_element(k);
      if (!shape->IsArray()) continue;
      Instruction* value = Result(root->operand(k), shape);
      if (value != root->operand(k)) root->ReplaceOperand(k, value);
    }
  }

 private:
  void Parameter(Instruction* parameter, Shape* header) {
    if (!parameter->shape().IsArray()) return;
    const Shape shape = parameter->shape();
    const DimVector order = EntryOrder(shape, *header, generation_);
    SetOrder(header, order);
    if (IsIdentityMapping(order)) return;
    *parameter->mutable_shape() = WithOrder(shape, order);
    if (parameter->user_count() == 0) return;
    Instruction* as_it_lies =
        entry_->Add(Opcode::kBitcast, AsItLies(shape, order), {parameter});
    GiveDims(parameter, as_it_lies, Inverse(order));
  }

  // Whoever reads the parameter reads a transpose of the array as it lies.
  void GiveDims(Instruction* parameter, Instruction* as_it_lies,
                const DimVector& permutation) {
    std::vector<Instruction*> users;
    for (Instruction* user : parameter->users()) {
      // A parameter that is a result is handed on as it is.
      const bool is_result = user->IsRoot() && user->opcode() == Opcode::kTuple;
      if (user != as_it_lies && !is_result) users.push_back(user);
    }
    Instruction* logical = nullptr;
    for (Instruction* user : users) {
      if (IsX64Split(*user)) {
        const Shape plane =
            Shape::Array(user->shape().type(), as_it_lies->shape().dims());
        Instruction* split = entry_->AddLike(*user, plane, {as_it_lies});
        entry_->Replace(user, b_.Transpose(split, permutation));
        continue;
      }
      if (logical == nullptr) logical = b_.Transpose(as_it_lies, permutation);
      parameter->ReplaceUseIn(user, logical);
    }
  }

  // What stands for a result.
  Instruction* Result(Instruction* value, Shape* header) {
    const Shape shape = value->shape();
    const DimVector order = EntryOrder(shape, *header, generation_);
    SetOrder(header, order);
    if (IsIdentityMapping(order)) return value;
    const Shape wanted = WithOrder(shape, order);
    if (value->opcode() == Opcode::kParameter && value->shape() == wanted) {
      return value;
    }
    Instruction* as_it_lies = nullptr;
    if (IsX64Combine(*value)) {
      std::vector<Instruction*> halves;
      for (Instruction* half : value->operands()) {
        halves.push_back(b_.Transpose(half, order));
      }
      as_it_lies = entry_->AddLike(
          *value, Shape::Array(shape.type(), Permuted(shape.dims(), order)),
          halves);
    } else {
      as_it_lies = b_.Transpose(value, order);
    }
    return entry_->Add(Opcode::kBitcast, wanted, {as_it_lies});
  }

  static void SetOrder(Shape* header, const DimVector& order) {
    header->mutable_layout()->minor_to_major.assign(order.rbegin(),
                                                    order.rend());
  }

  Computation* entry_;
  ProgramShape& header_;
  Builder b_;
  int generation_;
};

}  // namespace

bool NamesParameterAsItLies(const Instruction& i) {
  if (IsX64Split(i)) return NamesParameterAsItLies(*i.operand(0));
  if (i.opcode() == Opcode::kReshape &&
      i.operand(0)->opcode() == Opcode::kBitcast &&
      SameUpToDegenerateDims(i.shape(), i.operand(0)->shape())) {
    return NamesParameterAsItLies(*i.operand(0));
  }
  return i.opcode() == Opcode::kBitcast &&
         i.operand(0)->opcode() == Opcode::kParameter &&
         i.operand(0)->shape().has_layout();
}

absl::StatusOr<bool> CompactEntryPass::Run(Module* module,
                                           const PassContext& context) {
  if (module->config().is_scheduled) return false;
  auto& header = module->mutable_config()->entry_layout;
  if (!header.has_value()) header = module->entry()->program_shape();
  // What lies so already changes the header alone.
  const uint64_t before = FingerprintOf(*module);
  Compacter(module, context.chip->generation()).Run();
  module->entry()->RemoveDead();
  return FingerprintOf(*module) != before;
}

}  // namespace ptxla::hlo
