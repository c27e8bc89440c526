// EmitStages: kernels of small arrays in one (analysis/stages.h).
//
// Each stage is made as the kernel that it would be by itself, with what others
// hand it in VMEM; their code is then joined (stage_linker.h).
#include <map>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/analysis/stages.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/lowering/kernel_emitter.h"
#include "hlo_backend/lowering/physical_array.h"
#include "hlo_backend/lowering/stages/stage_linker.h"

namespace ptxla::lowering {
namespace {

using hlo::Instruction;
using hlo::Shape;

// An array that an instruction of the body makes: which of its results.
using Leaf = std::pair<const Instruction*, int>;

bool IsKernel(const Instruction& i) {
  switch (i.opcode()) {
    case hlo::Opcode::kParameter:
    case hlo::Opcode::kBitcast:
    case hlo::Opcode::kGetTupleElement:
    case hlo::Opcode::kConstant:
    case hlo::Opcode::kTuple:
      return false;
    default:
      return true;
  }
}

// What a value of the body is another name of.
Leaf LeafOf(const Instruction* value) {
  int index = 0;
  while (value->opcode() == hlo::Opcode::kBitcast ||
         value->opcode() == hlo::Opcode::kGetTupleElement) {
    if (value->opcode() == hlo::Opcode::kGetTupleElement) {
      index = static_cast<int>(value->tuple_index());
    }
    value = value->operand(0);
  }
  return {value, index};
}

class StageEmitter {
 public:
  StageEmitter(const KernelContext& context, const Instruction& fusion)
      : context_(context), fusion_(fusion), apart_("stages") {}

  absl::StatusOr<isa::Kernel> Emit() {
    RETURN_IF_ERROR(hlo::CheckStagedFusion(fusion_));
    hlo::Module::ComputationMap copied;
    body_ = apart_.CloneComputation(*fusion_.fused(), "stages", &copied);
    apart_.SetEntry(body_);
    RETURN_IF_ERROR(FindPlaces());
    PutIntoSpaces();
    isa::MachineModel one_core = context_.model;
    one_core.cores = 1;
    const KernelContext stage{context_.chip, one_core, context_.cache, nullptr,
                              /*stage=*/true};
    std::vector<LinkedStage> stages;
    for (const Instruction* i : body_->PostOrder()) {
      if (!IsKernel(*i)) continue;
      ASSIGN_OR_RETURN(isa::Kernel kernel, EmitKernel(stage, *i));
      stages.push_back({std::move(kernel), PlacesOf(*i)});
    }
    ASSIGN_OR_RETURN(auto args, KernelArgs(fusion_));
    return LinkStages(context_, std::move(args), stages, handed_on_);
  }

 private:
  absl::Status FindPlaces() {
    for (int k = 0; k < body_->parameter_count(); ++k) {
      places_[{body_->parameter(k), 0}].arg = k;
    }
    const Instruction* root = body_->root();
    const bool several = root->opcode() == hlo::Opcode::kTuple;
    const int results = several ? root->operand_count() : 1;
    for (int r = 0; r < results; ++r) {
      const Leaf leaf = LeafOf(several ? root->operand(r) : root);
      StagePlace& place = places_[leaf];
      if (place.arg >= 0 || !IsKernel(*leaf.first)) {
        return absl::UnimplementedError("stages that hand on what they read");
      }
      place.arg = fusion_.operand_count() + r;
    }
    for (const Instruction* i : body_->instructions()) {
      if (!IsKernel(*i)) continue;
      for (const Instruction* o : i->operands()) {
        const Leaf leaf = LeafOf(o);
        if (!IsKernel(*leaf.first)) continue;
        StagePlace& place = places_[leaf];
        if (place.arg >= fusion_.operand_count()) {
          // Read in VMEM, although it leaves: where it waits for that.
          if (ArgSpace(ResultShape(place.arg)) != isa::Space::kVmem) {
            place.result = std::exchange(place.arg, -1);
          }
        } else if (place.scratch < 0 && place.result < 0) {
          ASSIGN_OR_RETURN(const PhysicalArray array,
                           PhysicalArray::Of(o->shape(), true));
          place.scratch = handed_on_;
          handed_on_ += RoundUpTo<int64_t>(array.bytes(), isa::kVmemAlignment);
        }
      }
    }
    return absl::OkStatus();
  }

  const Shape& ResultShape(int arg) const {
    const int r = arg - fusion_.operand_count();
    return fusion_.shape().IsTuple() ? fusion_.shape().element(r)
                                     : fusion_.shape();
  }

  int SpaceOf(const Leaf& leaf) const {
    const auto it = places_.find(leaf);
    if (it == places_.end()) return hlo::kMemoryHbm;  // a constant
    const int arg = it->second.arg;
    if (arg < 0) return hlo::kMemoryVmem;
    return arg < fusion_.operand_count()
               ? fusion_.operand(arg)->shape().memory_space()
               : ResultShape(arg).memory_space();
  }

  void PutIntoSpaces() {
    const auto put = [](Shape* shape, int space) {
      if (shape->has_layout()) shape->mutable_layout()->memory_space = space;
    };
    for (Instruction* i : body_->PostOrder()) {
      if (!i->shape().IsTuple()) {
        put(i->mutable_shape(), SpaceOf(LeafOf(i)));
      } else if (IsKernel(*i)) {
        for (int k = 0; k < i->shape().element_count_of_tuple(); ++k) {
          put(i->mutable_shape()->mutable_element(k), SpaceOf({i, k}));
        }
      }
      if (i->opcode() != hlo::Opcode::kFusion) continue;
      for (int k = 0; k < i->operand_count(); ++k) {
        *i->fused()->parameter(k)->mutable_shape() = i->operand(k)->shape();
      }
      Instruction* root = i->fused()->root();
      *root->mutable_shape() = i->shape();
      if (!i->shape().IsTuple()) continue;
      for (int k = 0; k < root->operand_count(); ++k) {
        put(root->operand(k)->mutable_shape(),
            i->shape().element(k).memory_space());
      }
    }
  }

  std::vector<StagePlace> PlacesOf(const Instruction& i) const {
    std::vector<StagePlace> result;
    const auto add = [&](const Leaf& leaf) {
      const auto it = places_.find(leaf);
      result.push_back(it == places_.end() ? StagePlace() : it->second);
      result.back().constant = leaf.first->IsConstant();
    };
    for (const Instruction* o : i.operands()) add(LeafOf(o));
    const int results =
        i.shape().IsTuple() ? i.shape().element_count_of_tuple() : 1;
    for (int k = 0; k < results; ++k) add({&i, k});
    return result;
  }

  const KernelContext& context_;
  const Instruction& fusion_;
  hlo::Module apart_;
  hlo::Computation* body_ = nullptr;
  std::map<Leaf, StagePlace> places_;
  int64_t handed_on_ = 0;
};

}  // namespace

absl::StatusOr<isa::Kernel> EmitStages(const KernelContext& context,
                                       const Instruction& i) {
  return StageEmitter(context, i).Emit();
}

}  // namespace ptxla::lowering
