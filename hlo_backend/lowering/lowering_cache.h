// What is kept from one Lower() to the next of the same chip and options, in
// the rounds of one module and over the programs of a run: schedules of blocks,
// and kernels that were made and have no program.
//
//   LoweringCache cache(model);
//   options.cache = &cache;
//   ASSIGN_OR_RETURN(isa::Program p, Lower(*module, placement, chip, options));
//   cache.Keep(std::move(p.kernels));   // the module is to be lowered again
#ifndef PTXLA_HLO_BACKEND_LOWERING_LOWERING_CACHE_H_
#define PTXLA_HLO_BACKEND_LOWERING_LOWERING_CACHE_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo_backend/lowering/codegen/block_cache.h"
#include "isa/kernel.h"
#include "isa/machine_model.h"

namespace ptxla::lowering {

class LoweringCache {
 public:
  explicit LoweringCache(const isa::MachineModel& model) : blocks_(model) {}

  codegen::BlockCache* blocks() { return &blocks_; }

  // Of equal ones the first. Their fingerprints are set.
  void Keep(std::vector<isa::Kernel> kernels) {
    for (isa::Kernel& k : kernels) {
      const uint64_t key = k.fingerprint;
      kernels_.try_emplace(key, std::move(k));
    }
  }

  // It is no longer kept.
  std::optional<isa::Kernel> Take(uint64_t fingerprint) {
    const auto it = kernels_.find(fingerprint);
    if (it == kernels_.end()) return std::nullopt;
    std::optional<isa::Kernel> kernel = std::move(it->second);
    kernels_.erase(it);
    return kernel;
  }

 private:
  codegen::BlockCache blocks_;
  absl::flat_hash_map<uint64_t, isa::Kernel> kernels_;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_LOWERING_CACHE_H_
