#include "hlo_backend/analysis/stages.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {
namespace {

bool IsArrayOrArrays(const Shape& shape) {
  if (!shape.IsTuple()) return shape.IsArray();
  return std::all_of(shape.elements().begin(), shape.elements().end(),
                     [](const Shape& element) { return element.IsArray(); });
}

// Names a value, or is one that kernels take as it is.
bool IsPlumbing(const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::kParameter:
    case Opcode::kBitcast:
    case Opcode::kGetTupleElement:
      return true;
    case Opcode::kConstant:
      return i.shape().IsScalar();
    case Opcode::kTuple:
      return i.IsRoot();
    default:
      return false;
  }
}

}  // namespace

bool IsStagedFusion(const Instruction& i) {
  return i.opcode() == Opcode::kFusion &&
         i.fusion_kind() == FusionKind::kCustom &&
         i.backend_config() == kStagesConfig;
}

bool MayBeStage(const Instruction& kernel) {
  if (!IsArrayOrArrays(kernel.shape())) return false;
  for (const Instruction* o : kernel.operands()) {
    if (!o->shape().IsArray()) return false;
  }
  switch (kernel.opcode()) {
    case Opcode::kFusion:
      return kernel.fusion_kind() == FusionKind::kLoop ||
             kernel.fusion_kind() == FusionKind::kInput;
    case Opcode::kBroadcast:
    case Opcode::kIota:
    case Opcode::kReduce:
    case Opcode::kDynamicSlice:
      return true;
    case Opcode::kBitcast:
      return false;
    default:
      return IsDataMovement(kernel) || kernel.IsElementwise();
  }
}

absl::Status CheckStagedFusion(const Instruction& fusion) {
  for (const Instruction* i : fusion.fused()->instructions()) {
    if (IsPlumbing(*i)) continue;
    if (!MayBeStage(*i)) {
      return absl::UnimplementedError(
          absl::StrCat("%", i->name(), " is no stage of %", fusion.name()));
    }
    if (i->opcode() != Opcode::kFusion) continue;
    const absl::Status stage = CheckFusion(*i);
    if (!stage.ok()) return stage;
  }
  return absl::OkStatus();
}

}  // namespace ptxla::hlo
