#include "hlo_backend/analysis/filled_scatter.h"

#include "absl/strings/str_cat.h"
#include "hlo_backend/analysis/table_columns.h"
#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {

bool IsFilledScatter(const Instruction& i) {
  return i.opcode() == Opcode::kFusion &&
         i.fusion_kind() == FusionKind::kCustom &&
         i.backend_config() == kFilledScatterConfig;
}

bool ScattersIntoOneValue(const Instruction& i) {
  if (i.opcode() != Opcode::kScatter || i.operand_count() != 3 ||
      i.shape().rank() != 2 || BitWidth(i.shape().type()) != 32 ||
      i.operand(1) == i.operand(2) || ScattersColumns(i)) {
    return false;
  }
  const Instruction& table = *i.operand(0);
  return table.opcode() == Opcode::kBroadcast &&
         table.operand(0)->opcode() == Opcode::kConstant &&
         table.operand(0)->shape().IsScalar();
}

absl::Status CheckFilledScatter(const Instruction& fusion) {
  const Instruction& root = ScatterOf(fusion);
  const auto is = [&](int operand) {
    return root.operand(operand)->opcode() == Opcode::kParameter &&
           root.operand(operand)->parameter_number() == operand - 1;
  };
  const PrimitiveType stored = fusion.shape().type();
  const bool rounds = stored == PrimitiveType::kBf16 &&
                      root.shape().type() == PrimitiveType::kF32;
  if ((stored != root.shape().type() && !rounds) ||
      !ScattersIntoOneValue(root) || fusion.operand_count() != 2 || !is(1) ||
      !is(2)) {
    return absl::UnimplementedError(absl::StrCat(
        "%", fusion.name(), ": not a scatter of rows into one value"));
  }
  return absl::OkStatus();
}

const Instruction& ScatterOf(const Instruction& fusion) {
  const Instruction* root = fusion.fused()->root();
  return root->opcode() == Opcode::kConvert ? *root->operand(0) : *root;
}

}  // namespace ptxla::hlo
