// Bundles of blocks, each made once.
//
// Equal blocks are scheduled once: layers of a network differ in their buffers,
// not their loops, and a kernel whose arrays come to VMEM keeps most of its.
//
//   BlockCache cache(model);
//   ASSIGN_OR_RETURN(const BlockCache::Entry* e, cache.Get(block, code));
//   e->block.Cycles()
#ifndef PTXLA_HLO_BACKEND_LOWERING_CODEGEN_BLOCK_CACHE_H_
#define PTXLA_HLO_BACKEND_LOWERING_CODEGEN_BLOCK_CACHE_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "hlo_backend/lowering/codegen/spill.h"
#include "hlo_backend/lowering/codegen/vcode.h"
#include "isa/code.h"
#include "isa/machine_model.h"

namespace ptxla::codegen {

// May be used by several threads. Two that want the same block at once both
// schedule it, to the same bundles.
class BlockCache {
 public:
  explicit BlockCache(const isa::MachineModel& model) : model_(model) {}
  BlockCache(const BlockCache&) = delete;
  BlockCache& operator=(const BlockCache&) = delete;
  const isa::MachineModel& model() const { return model_; }

  struct Entry {
    isa::Block block;
    SpillUse spill;
  };
  // The bundles of a block of `code`. ResourceExhausted: does not fit the
  // registers. Unimplemented: the chip lacks an instruction.
  absl::StatusOr<const Entry*> Get(const VNode& block, const Code& code);
  int64_t hits() const { return hits_; }
  int64_t size() const;

 private:
  absl::StatusOr<Entry> Make(const VNode& block, const Code& code) const;

  // Threads seldom meet in one of so many.
  static constexpr int kParts = 16;
  struct Part {
    mutable absl::Mutex mutex;
    // Blocks that do not fit are asked for again, too.
    absl::flat_hash_map<uint64_t, std::unique_ptr<const absl::StatusOr<Entry>>>
        blocks ABSL_GUARDED_BY(mutex);
  };

  const isa::MachineModel model_;
  std::array<Part, kParts> parts_;
  std::atomic<int64_t> hits_{0};
};

}  // namespace ptxla::codegen

#endif  // PTXLA_HLO_BACKEND_LOWERING_CODEGEN_BLOCK_CACHE_H_
