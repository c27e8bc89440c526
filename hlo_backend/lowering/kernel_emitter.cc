#include "hlo_backend/lowering/kernel_emitter.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/analysis/buffer_plan.h"
#include "hlo_backend/analysis/custom_call_cost.h"
#include "hlo_backend/analysis/data_movement.h"
#include "hlo_backend/analysis/filled_scatter.h"
#include "hlo_backend/analysis/stages.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/ir/ragged_call.h"
#include "hlo_backend/lowering/custom_calls/pallas_call.h"
#include "hlo_backend/lowering/fusion/scalar_fusion.h"
#include "hlo_backend/lowering/movement/scatter.h"
#include "hlo_backend/lowering/physical_array.h"
#include "hlo_backend/lowering/pooling/pooling.h"
#include "hlo_backend/lowering/products/ragged_product.h"
#include "hlo_backend/lowering/sorting/sort_kernel.h"

namespace ptxla::lowering {
namespace {

using hlo::Instruction;

void AppendLeaves(const hlo::Shape& shape,
                  std::vector<const hlo::Shape*>* leaves) {
  if (!shape.IsTuple()) {
    if (shape.IsArray()) leaves->push_back(&shape);
    return;
  }
  for (const hlo::Shape& element : shape.elements()) {
    AppendLeaves(element, leaves);
  }
}

bool HasReduce(const Instruction& fusion) {
  for (const Instruction* i : fusion.fused()->instructions()) {
    if (i->opcode() == hlo::Opcode::kReduce) return true;
  }
  return false;
}

}  // namespace

isa::Space ArgSpace(const hlo::Shape& shape) {
  switch (shape.memory_space()) {
    case hlo::kMemoryVmem:
      return isa::Space::kVmem;
    case hlo::kMemoryCmem:
      return isa::Space::kCmem;
    case hlo::kMemorySmem:
      return isa::Space::kSmem;
    case hlo::kMemoryHost:
      return isa::Space::kHost;
    default:
      return isa::Space::kHbm;
  }
}

std::vector<const hlo::Shape*> KernelLeaves(const Instruction& i) {
  std::vector<const hlo::Shape*> leaves;
  for (const Instruction* operand : i.operands()) {
    AppendLeaves(operand->shape(), &leaves);
  }
  AppendLeaves(i.shape(), &leaves);
  return leaves;
}

absl::StatusOr<std::vector<isa::KernelArg>> KernelArgs(const Instruction& i) {
  std::vector<isa::KernelArg> args;
  const std::vector<const hlo::Shape*> leaves = KernelLeaves(i);
  std::vector<const hlo::Shape*> results;
  AppendLeaves(i.shape(), &results);
  const size_t num_inputs = leaves.size() - results.size();
  for (size_t k = 0; k < leaves.size(); ++k) {
    const bool input = k < num_inputs;
    isa::KernelArg arg;
    arg.name = absl::StrCat(input ? "in" : "out", input ? k : k - num_inputs);
    arg.space = ArgSpace(*leaves[k]);
    arg.direction = input ? isa::Direction::kIn : isa::Direction::kOut;
    ASSIGN_OR_RETURN(const PhysicalArray array,
                     PhysicalArray::Of(*leaves[k], true), _ << i.name());
    arg.bytes = array.bytes();
    args.push_back(std::move(arg));
  }
  return args;
}

bool CopiesThroughVmem(const Instruction& copy) {
  const hlo::Shape& from = copy.operand(0)->shape();
  const hlo::Shape& to = copy.shape();
  if (copy.opcode() != hlo::Opcode::kCopy || !to.IsArray() || to.IsScalar()) {
    return false;
  }
  if (from.memory_space() != hlo::kMemoryHbm ||
      to.memory_space() != hlo::kMemoryHbm ||
      from.layout().minor_to_major != to.layout().minor_to_major ||
      from.layout().tiles != to.layout().tiles) {
    return false;
  }
  switch (to.type()) {
    case hlo::PrimitiveType::kF32:
    case hlo::PrimitiveType::kBf16:
    case hlo::PrimitiveType::kS32:
    case hlo::PrimitiveType::kU32:
      return true;
    default:
      return false;
  }
}

namespace {

bool HasEmptyArray(const Instruction& i) {
  const auto empty = [](const hlo::Shape& shape) {
    bool found = false;
    hlo::ForEachLeaf(shape,
                     [&](const hlo::Shape& leaf, const hlo::ShapeIndex&) {
                       found |= leaf.IsArray() && leaf.ElementCount() == 0;
                     });
    return found;
  };
  return empty(i.shape()) ||
         std::any_of(i.operands().begin(), i.operands().end(),
                     [&](const Instruction* o) { return empty(o->shape()); });
}

absl::StatusOr<isa::Kernel> Emit(const KernelContext& context,
                                 const Instruction& i) {
  // A call may have arguments that it does without.
  if (i.opcode() != hlo::Opcode::kCustomCall && HasEmptyArray(i)) {
    return absl::UnimplementedError(absl::StrCat(
        "%", i.name(), ": arrays without elements have no kernel"));
  }
  switch (i.opcode()) {
    case hlo::Opcode::kFusion:
      switch (i.fusion_kind()) {
        case hlo::FusionKind::kOutput:
          return IsConvolution(i) ? EmitConvolution(context, i)
                                  : EmitProduct(context, i);
        case hlo::FusionKind::kCustom:
          if (hlo::IsFilledScatter(i)) return EmitFilledScatter(context, i);
          return hlo::IsStagedFusion(i) ? EmitStages(context, i)
                                        : EmitProductChain(context, i);
        case hlo::FusionKind::kInput:
        case hlo::FusionKind::kLoop:
          if (hlo::IsMovementFusion(i)) return EmitMovement(context, i);
          return HasReduce(i) ? EmitReduceFusion(context, i)
                              : EmitLoopFusion(context, i);
        default:
          break;
      }
      break;
    case hlo::Opcode::kDot:
      return EmitProduct(context, i);
    case hlo::Opcode::kConvolution:
      return EmitConvolution(context, i);
    case hlo::Opcode::kSort:
      return EmitSort(context, i);
    case hlo::Opcode::kReduce:
      return EmitReduceFusion(context, i);
    case hlo::Opcode::kReduceWindow:
    case hlo::Opcode::kSelectAndScatter:
      return EmitPooling(context, i);
    case hlo::Opcode::kCustomCall:
      if (i.attrs<hlo::CustomCallAttrs>().target == kPallasTarget) {
        return EmitPallasCall(context, i);
      }
      if (hlo::RaggedCall::Of(i)) return EmitRaggedProduct(context, i);
      if (hlo::IsForeignAttention(i)) {
        return EmitEstimate(context, i, "the call of another accelerator");
      }
      return absl::UnimplementedError(
          absl::StrCat("custom call \"", i.attrs<hlo::CustomCallAttrs>().target,
                       "\" is not lowered"));
    case hlo::Opcode::kBroadcast:
    case hlo::Opcode::kIota:
      return EmitLoopFusion(context, i);
    default:
      break;
  }
  if (i.opcode() == hlo::Opcode::kBitcastConvert &&
      i.shape().rank() != i.operand(0)->shape().rank()) {
    return absl::UnimplementedError(
        absl::StrCat("%", i.name(), ": a bitcast-convert of ",
                     i.operand(0)->shape().ToString(), " to another width"));
  }
  if (i.IsElementwise() &&
      (i.opcode() != hlo::Opcode::kCopy || CopiesThroughVmem(i))) {
    return EmitLoopFusion(context, i);
  }
  return EmitMovement(context, i);
}

// What lies in SMEM is read word by word: vectors are not loaded from there,
// nor do DMAs of kernels start or end there.
absl::Status CheckSmemIsReadByWords(const Instruction& i,
                                    const isa::Kernel& kernel) {
  const auto in_smem = [&](int arg) {
    return arg >= 0 && kernel.args[arg].space == isa::Space::kSmem;
  };
  bool otherwise = false;
  for (const isa::Window& w : kernel.windows) {
    otherwise |= in_smem(w.arg) && w.space != isa::Space::kSmem;
  }
  for (const isa::DmaDescriptor& d : kernel.descriptors) {
    otherwise |= in_smem(d.src_arg) || in_smem(d.dst_arg);
  }
  if (!otherwise) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat(
      "%", i.name(), ": this form of kernel does not read scalars in SMEM"));
}

}  // namespace

absl::StatusOr<isa::Kernel> EmitKernel(const KernelContext& context,
                                       const Instruction& i) {
  if (IsScalarKernel(i)) return EmitScalarKernel(context, i);
  ASSIGN_OR_RETURN(isa::Kernel kernel, Emit(context, i));
  RETURN_IF_ERROR(CheckSmemIsReadByWords(i, kernel));
  return kernel;
}

int InPlaceOperand(const Instruction& i) { return hlo::InPlaceOperand(i); }

}  // namespace ptxla::lowering
