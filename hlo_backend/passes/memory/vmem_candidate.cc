#include "hlo_backend/passes/memory/vmem_candidate.h"

#include <algorithm>

#include "hlo_backend/analysis/element_gather.h"
#include "hlo_backend/passes/memory/memory_space.h"
#include "hlo_backend/passes/memory/vmem_kernels.h"

namespace ptxla::hlo {
namespace {

// Of HBM's time, what the transfer of the row of an element takes: a descriptor
// of 17 ns on v5e, more bytes on chips with faster memory.
constexpr int64_t kBytesOfTransfer = int64_t{14} << 10;
// Smaller tables a kernel brings to VMEM itself, about (gather_elements.cc).
constexpr int64_t kBytesOfTable = int64_t{8} << 20;

}  // namespace

int64_t Candidate::Saved() const {
  return (1 + reads) * bytes + elements * kBytesOfTransfer;
}

double Candidate::Worth() const {
  const double of_elements =
      static_cast<double>(elements * kBytesOfTransfer) / bytes;
  return (1 + reads + of_elements) / steps;
}

bool Candidate::CollectReads(const Instruction* value,
                             const Positions& positions) {
  if (value->IsRoot()) return false;
  for (const Instruction* user : value->users()) {
    const bool updates = UpdatesInPlace(*user, *value);
    if (updates && !MayLieInVmem(*user)) return false;
    // A scalar is read from SMEM.
    if (user->opcode() == Opcode::kBitcast && user->shape().IsScalar()) {
      return false;
    }
    if ((user->opcode() == Opcode::kBitcast || updates) &&
        !CollectReads(user, positions)) {
      return false;
    }
    if (user->opcode() == Opcode::kBitcast) continue;
    if (!ReadsInVmem(*user, *value)) return false;
    last = std::max(last, positions.at(user));
    if (GathersElements(*user) && user->operand(0) == value &&
        bytes > kBytesOfTable) {
      elements += user->shape().ElementCount();
    }
    ++reads;
  }
  return true;
}

}  // namespace ptxla::hlo
