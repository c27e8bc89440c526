#include "hlo_backend/analysis/product_chain.h"

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/analysis/member_rows.h"
#include "hlo_backend/analysis/product_batch.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/ir/dimensions.h"

namespace ptxla::hlo {
namespace {

bool IsProductKernel(const Instruction& i) {
  return i.opcode() == Opcode::kDot ||
         (i.opcode() == Opcode::kFusion &&
          i.fusion_kind() == FusionKind::kOutput && DotOf(i) != nullptr);
}

bool ReducesRows(const Instruction& kernel) {
  for (const Instruction* i : kernel.fused()->instructions()) {
    if (i->opcode() == Opcode::kReduce) return true;
  }
  return false;
}

// What a dot's operand is, behind conversions that the arrays make anyway.
const Instruction* SourceOf(const Instruction& dot, int operand) {
  const Instruction* source = dot.operand(operand);
  while (source->opcode() == Opcode::kConvert && source->user_count() == 1) {
    source = source->operand(0);
  }
  return source;
}

// The operand of the kernel's dot that is `value` as it is, or -1.
int OperandThatIs(const Instruction& value, const Instruction& kernel) {
  const Instruction& dot = *DotOf(kernel);
  for (int o = 0; o < 2; ++o) {
    const Instruction* source = dot.operand(o);
    if (kernel.opcode() == Opcode::kFusion) {
      source = SourceOf(dot, o);
      if (source->opcode() != Opcode::kParameter || source->user_count() != 1) {
        continue;
      }
      source = kernel.operand(static_cast<int>(source->parameter_number()));
    }
    if (source == &value) return o;
  }
  return -1;
}

}  // namespace

const Instruction* DotOf(const Instruction& kernel) {
  if (kernel.opcode() == Opcode::kDot) return &kernel;
  if (kernel.opcode() != Opcode::kFusion) return nullptr;
  for (const Instruction* i : kernel.fused()->instructions()) {
    if (i->opcode() == Opcode::kDot) return i;
  }
  return nullptr;
}

bool ReadsPlanes(const Instruction& kernel) {
  const Instruction& dot = *DotOf(kernel);
  for (int o = 0; o < 2; ++o) {
    if (MembersInRows(dot.operand(o)->shape(), OperandBatch(dot, o))) {
      return false;
    }
  }
  return true;
}

int GoesOnWithRows(const Instruction& rows, const Instruction& product) {
  if (!IsProductKernel(rows) || rows.opcode() != Opcode::kFusion ||
      !IsProductKernel(product) || !ReducesRows(rows) ||
      !IsRowMajor(rows.shape()) || !IsRowMajor(product.shape()) ||
      !ReadsPlanes(rows) || !ReadsPlanes(product) ||
      product.OperandUses(&rows) != 1 ||
      (product.opcode() == Opcode::kFusion && ReducesRows(product))) {
    return -1;
  }
  const Instruction &scores = *DotOf(rows), &dot = *DotOf(product);
  const int operand = OperandThatIs(rows, product);
  if (operand < 0 || ProductBatch(dot) != ProductBatch(scores) ||
      !rows.shape().SameDims(scores.shape()) ||
      (operand == 1 && SharingMembers(dot) > 1)) {
    return -1;
  }
  const DotAttrs& attrs = dot.attrs<DotAttrs>();
  const auto& contracted =
      operand == 0 ? attrs.lhs_contracting : attrs.rhs_contracting;
  const bool along_rows =
      contracted.size() == 1 && contracted[0] == rows.shape().rank() - 1;
  return along_rows ? operand : -1;
}

std::optional<ProductChain> ProductChain::Of(const Instruction& fusion) {
  ProductChain chain;
  chain.product = fusion.fused()->root();
  for (Instruction* i : fusion.fused()->instructions()) {
    if (i->opcode() == Opcode::kParameter || i == chain.product) continue;
    if (chain.rows != nullptr || i->opcode() != Opcode::kFusion) {
      return std::nullopt;
    }
    chain.rows = i;
  }
  if (chain.rows == nullptr) return std::nullopt;
  chain.operand = GoesOnWithRows(*chain.rows, *chain.product);
  if (chain.operand < 0 || chain.rows->user_count() != 1) return std::nullopt;
  return chain;
}

absl::Status CheckChainFusion(const Instruction& fusion) {
  const auto chain = ProductChain::Of(fusion);
  if (!chain) {
    return absl::UnimplementedError(absl::StrCat(
        "%", fusion.name(), ": kind=kCustom is not a chain of two products"));
  }
  RETURN_IF_ERROR(CheckOutputFusion(*chain->rows));
  return chain->product->opcode() == Opcode::kFusion
             ? CheckOutputFusion(*chain->product)
             : absl::OkStatus();
}

bool IsChainFusion(const Instruction& i) {
  return i.opcode() == Opcode::kFusion &&
         i.fusion_kind() == FusionKind::kCustom && CheckChainFusion(i).ok();
}

}  // namespace ptxla::hlo
