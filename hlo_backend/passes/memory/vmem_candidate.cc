#include "hlo_backend/passes/memory/vmem_candidate.h"

#include <algorithm>

#include "hlo_backend/analysis/element_gather.h"
#include "hlo_backend/passes/memory/memory_space.h"
#include "hlo_backend/passes/memory/vmem_kernels.h"
#include "memory_model/table_rows.h"

namespace ptxla::hlo {

ElementReads ElementReads::Of(const chips::ChipSpec& chip) {
  const auto per_second =
      static_cast<double>(chip.hbm_bandwidth_per_device().count());
  const auto row =
      static_cast<double>(memory::TableRows{1, 1, 0}.ByTransfers(chip).count());
  ElementReads e;
  e.transfer = static_cast<int64_t>(row * 1e-12 * per_second);
  e.least_table = chip.vmem().scoped_limit.count() / 2;
  return e;
}

int64_t Candidate::Saved() const { return (1 + reads) * bytes + transfers; }

double Candidate::Worth() const {
  return (1 + reads + static_cast<double>(transfers) / bytes) / steps;
}

bool Candidate::CollectReads(const Instruction* value,
                             const Positions& positions,
                             const ElementReads& elements) {
  if (value->IsRoot()) return false;
  for (const Instruction* user : value->users()) {
    const bool updates = UpdatesInPlace(*user, *value);
    if (updates && !MayLieInVmem(*user)) return false;
    // A scalar is read from SMEM.
    if (user->opcode() == Opcode::kBitcast && user->shape().IsScalar()) {
      return false;
    }
    if ((user->opcode() == Opcode::kBitcast || updates) &&
        !CollectReads(user, positions, elements)) {
      return false;
    }
    if (user->opcode() == Opcode::kBitcast) continue;
    if (!ReadsInVmem(*user, *value)) return false;
    last = std::max(last, positions.at(user));
    if (GathersElements(*user) && user->operand(0) == value &&
        bytes > elements.least_table) {
      transfers += user->shape().ElementCount() * elements.transfer;
    }
    ++reads;
  }
  return true;
}

}  // namespace ptxla::hlo
