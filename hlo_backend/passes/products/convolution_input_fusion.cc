#include "hlo_backend/passes/products/convolution_input_fusion.h"

#include <vector>

#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/analysis/turned_input.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/passes/control_edges.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/memory/memory_places.h"

namespace ptxla::hlo {
namespace {

bool IsForward(const Instruction& convolution) {
  const ConvDims& d = convolution.attrs<ConvAttrs>().dims;
  const auto spatial = static_cast<int64_t>(d.input_spatial.size());
  return IsProduct(convolution) && d.input_batch == spatial &&
         d.input_feature == spatial + 1;
}

// The transpose that the kernel may take in, or null.
Instruction* TransposeOf(const Instruction& kernel) {
  const Instruction* convolution = ConvolutionOf(kernel);
  if (convolution == nullptr || !IsForward(*convolution)) return nullptr;
  Instruction* transpose = nullptr;
  if (convolution == &kernel) {
    transpose = kernel.operand(0);
  } else {
    const ConvolutionSource inside = InputSource(*convolution);
    if (inside.turned || inside.value->opcode() != Opcode::kParameter ||
        inside.value->user_count() != 1) {
      return nullptr;
    }
    transpose =
        kernel.operand(static_cast<int>(inside.value->parameter_number()));
  }
  if (!TurnsBatchIntoRows(*transpose) || transpose->user_count() != 1 ||
      transpose->IsRoot() || kernel.OperandUses(transpose) != 1 ||
      HasControlEdges(*transpose) || HasControlEdges(kernel)) {
    return nullptr;
  }
  return transpose;
}

void TakeIn(Instruction* transpose, Instruction* kernel) {
  Computation* c = kernel->parent();
  if (kernel->opcode() == Opcode::kConvolution) {
    const auto metadata = kernel->shared_metadata();
    c->CreateFusion({transpose, kernel}, FusionKind::kOutput,
                    "convolution_fusion")
        ->set_metadata(metadata);
    return;
  }
  const int n = kernel->OperandIndex(transpose);
  Computation* body = kernel->fused();
  Instruction* parameter = body->parameter(n);
  const Shape turned = parameter->shape();
  *parameter->mutable_shape() = transpose->operand(0)->shape();
  const std::vector<Instruction*> users(parameter->users().begin(),
                                        parameter->users().end());
  Instruction* inside = body->AddLike(*transpose, turned, {parameter});
  for (Instruction* user : users) {
    for (int k = 0; k < user->operand_count(); ++k) {
      if (user->operand(k) == parameter) user->ReplaceOperand(k, inside);
    }
  }
  kernel->ReplaceOperand(n, transpose->operand(0));
  c->Remove(transpose);
}

}  // namespace

absl::StatusOr<bool> ConvolutionInputFusionPass::Run(Module* module,
                                                     const PassContext&) {
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    for (Instruction* i : c->PostOrder()) {
      Instruction* transpose = TransposeOf(*i);
      if (transpose == nullptr) continue;
      TakeIn(transpose, i);
      changed = true;
    }
  }
  return changed;
}

}  // namespace ptxla::hlo
