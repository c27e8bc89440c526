#include "hlo_backend/passes/fusion/scatter_fill.h"

#include <algorithm>
#include <string>
#include <vector>

#include "hlo_backend/analysis/filled_scatter.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/passes/control_edges.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/memory/memory_space_assignment.h"

namespace ptxla::hlo {
namespace {

// Blocks of a table are about this large, at least.
constexpr int64_t kLeastBlockBytes = int64_t{1} << 20;
// The part of a kernel's VMEM that a table may have beside the windows of
// updates.
constexpr int64_t kTableShare = 4;

// Fewer rows are added in flight in less time than the last block takes to be
// stored, which nothing hides.
constexpr int64_t kLeastUpdateRows = 64;

// Row numbers, the list of rows of each block and its head lie in SMEM.
bool ListsFit(const Instruction& scatter, const chips::ChipSpec& chip) {
  const Shape& indices = scatter.operand(1)->shape();
  const int64_t entry = 4 + (indices.rank() == 1 ? 4 : 32);
  const int64_t rows = scatter.operand(2)->shape().dim(0) + 8;
  const int64_t blocks = PaddedBytes(scatter.shape()) / kLeastBlockBytes + 2;
  return rows * entry + blocks * 32 <= chip.smem().count();
}

// Nobody outside takes the table, and it fits beside the VMEM of kernels.
bool StaysOnChip(const Instruction& scatter, const chips::ChipSpec& chip) {
  if (scatter.IsRoot() ||
      PaddedBytes(scatter.shape()) > WholeRoomForResidents(chip)) {
    return false;
  }
  return std::none_of(
      scatter.users().begin(), scatter.users().end(),
      [](const Instruction* user) { return user->opcode() == Opcode::kTuple; });
}

// The instruction that rounds the sums, and nobody reads them otherwise.
Instruction* RoundingOf(const Instruction& scatter,
                        const chips::ChipSpec& chip) {
  constexpr int kPackedRegisters = 4;  // generation that has them
  if (scatter.user_count() != 1 || scatter.IsRoot() ||
      scatter.shape().type() != PrimitiveType::kF32 ||
      chip.generation() < kPackedRegisters) {
    return nullptr;
  }
  Instruction* user = *scatter.users().begin();
  const bool rounds = user->opcode() == Opcode::kConvert &&
                      user->shape().type() == PrimitiveType::kBf16 &&
                      !HasControlEdges(*user);
  return rounds ? user : nullptr;
}

}  // namespace

absl::StatusOr<bool> ScatterFillPass::Run(Module* module,
                                          const PassContext& context) {
  if (module->config().is_scheduled || context.chip == nullptr) return false;
  const chips::ChipSpec& chip = *context.chip;
  const int64_t in_vmem =
      chip.vmem().scoped_limit.count() / kTableShare * (kTableShare - 1);
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    // A fusion takes instructions away, but no other scatter.
    std::vector<Instruction*> scatters;
    for (Instruction* i : c->PostOrder()) {
      if (ScattersIntoOneValue(*i)) scatters.push_back(i);
    }
    for (Instruction* scatter : scatters) {
      if (HasControlEdges(*scatter) || HasControlEdges(*scatter->operand(0)))
        continue;
      // On the chip two cores fill it in half the time that the one takes that
      // adds to it.
      const bool stays = StaysOnChip(*scatter, chip);
      if (stays && chip.core().cores_in_use > 1) continue;
      const bool lists = ListsFit(*scatter, chip);
      const bool resident = stays || PaddedBytes(scatter->shape()) <= in_vmem;
      if (!lists && PaddedBytes(scatter->shape()) > in_vmem) continue;
      Instruction* rounding =
          lists && !resident ? RoundingOf(*scatter, chip) : nullptr;
      if (!resident && rounding == nullptr &&
          scatter->operand(2)->shape().dim(0) < kLeastUpdateRows) {
        continue;
      }
      // Its own value, whoever else fills an array with it.
      Instruction* value =
          c->AddLike(*scatter->operand(0)->operand(0),
                     scatter->operand(0)->operand(0)->shape(), {});
      Instruction* filled = c->AddLike(*scatter->operand(0),
                                       scatter->operand(0)->shape(), {value});
      scatter->ReplaceOperand(0, filled);
      const auto metadata = scatter->shared_metadata();
      std::vector<Instruction*> group = {value, filled, scatter};
      if (rounding != nullptr) group.push_back(rounding);
      Instruction* fusion =
          c->CreateFusion(group, FusionKind::kCustom, "scatter_fusion");
      fusion->set_backend_config(std::string(kFilledScatterConfig),
                                 /*is_json=*/false);
      if (metadata != nullptr) fusion->set_metadata(metadata);
      changed = true;
    }
    if (changed) c->RemoveDead();
  }
  return changed;
}

}  // namespace ptxla::hlo
