// Code with virtual registers to isa::Code: schedules each block, gives its
// locals registers, and writes bundles; idle cycles become `nop n`.
//
// Equal blocks are scheduled once: a BlockCache lives as long as one Lower()
// call, because layers of a network differ in their buffers, not their loops.
//
// A block that does not fit the registers is spilled where its code allows it
// (spill.h): scheduled with several numbers of registers, the shortest wins.
#ifndef PTXLA_HLO_BACKEND_LOWERING_CODEGEN_EMIT_H_
#define PTXLA_HLO_BACKEND_LOWERING_CODEGEN_EMIT_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "hlo_backend/lowering/codegen/schedule.h"
#include "hlo_backend/lowering/codegen/spill.h"
#include "hlo_backend/lowering/codegen/vcode.h"
#include "isa/code.h"
#include "isa/machine_model.h"

namespace ptxla::codegen {

class BlockCache {
 public:
  explicit BlockCache(const isa::MachineModel& model) : model_(model) {}
  const isa::MachineModel& model() const { return model_; }

  struct Entry {
    isa::Block block;
    SpillUse spill;
  };
  // The bundles of a block of `code`. ResourceExhausted: does not fit the
  // registers. Unimplemented: the chip lacks an instruction.
  absl::StatusOr<const Entry*> Get(const VNode& block, const Code& code);
  int64_t hits() const { return hits_; }
  int64_t size() const { return static_cast<int64_t>(blocks_.size()); }

 private:
  absl::StatusOr<Entry> Make(const VNode& block, const Code& code) const;

  const isa::MachineModel& model_;
  absl::flat_hash_map<uint64_t, std::unique_ptr<Entry>> blocks_;
  int64_t hits_ = 0;
};

// `use` (may be null): what spilling took is added to it.
absl::StatusOr<isa::Code> EmitCode(const Code& code, BlockCache* cache,
                                   SpillUse* use = nullptr);

// Cycles of the code without DMA stalls, every When taken: what the tile
// search needs before bundles are wanted.
absl::StatusOr<int64_t> CyclesOf(const Code& code, BlockCache* cache,
                                 SpillUse* use = nullptr);

// Registers that globals leave to the locals of a block.
RegisterBudget BudgetOf(
    const std::array<uint64_t, isa::kNumRegClasses>& globals,
    const isa::MachineModel& model);

}  // namespace ptxla::codegen

#endif  // PTXLA_HLO_BACKEND_LOWERING_CODEGEN_EMIT_H_
