// Scheduled HLO to isa::Program: one kernel per instruction that computes,
// plumbing (tuples, bitcasts) resolved to buffer slices, asynchronous copies,
// collectives and control flow as schedule entries.
//
//   ASSIGN_OR_RETURN(isa::Program p,
//                    Lower(*module, placement, chip, LoweringOptions()));
//
// Kernels are deduplicated by hlo::KernelFingerprint before bundles are made:
// equal layers share theirs. Arrays lie in memory as their layouts say; every
// array of the module must have a layout with tiles (hlo::WithTpuLayout).
//
// Unimplemented names the instruction and its line, unless unknown_ops is
// kEstimate: then the instruction becomes a kernel that takes the time of its
// roofline and computes nothing; its OpInfo and note say so.
#ifndef PTXLA_HLO_BACKEND_LOWERING_LOWERING_H_
#define PTXLA_HLO_BACKEND_LOWERING_LOWERING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "chips/chip_spec.h"
#include "hlo_backend/ir/module.h"
#include "hlo_backend/lowering/earlier_programs.h"
#include "isa/machine_model.h"
#include "isa/program.h"

namespace ptxla::lowering {

class KnownInstructions;
class LoweringCache;

// Where the value of each array leaf lies. Made by the compiler from its buffer
// plan (hlo_backend/analysis/buffer_plan.h).
struct Placement {
  std::vector<isa::Buffer> buffers;
  // (instruction, leaf number in ForEachLeaf order) -> place.
  absl::flat_hash_map<std::pair<const hlo::Instruction*, int>, isa::BufferSlice>
      places;

  const isa::BufferSlice* Find(const hlo::Instruction* i, int leaf) const {
    const auto it = places.find({i, leaf});
    return it == places.end() ? nullptr : &it->second;
  }
};

struct LoweringOptions {
  enum class UnknownOps : uint8_t { kRefuse, kEstimate };
  UnknownOps unknown_ops = UnknownOps::kRefuse;
  // Trip count of a while whose own is not known; 0: refuse.
  int64_t assumed_trip_count = 0;
  // Prove every kernel with isa::VerifyKernel: in tests and ptxla-opt.
  bool verify = false;
  // A kernel that one of them has is taken from there. Null: there are none.
  EarlierPrograms earlier;
  // Of the same chip and options (lowering_cache.h); null: nothing is kept. Not
  // used before `earlier` has answered.
  LoweringCache* cache = nullptr;
  // Of the same module, in which nothing but memory spaces has changed since
  // (known_instructions.h); null: nothing is kept.
  KnownInstructions* known = nullptr;
};

struct LoweringStats {
  int64_t instructions = 0;  // that became calls
  int64_t kernels = 0;
  int64_t blocks_scheduled = 0, blocks_reused = 0;
  std::vector<std::string> estimated;  // names of estimated instructions
  // When Lower() fails for want of kernels: hlo::KernelFingerprint of those
  // that cannot be made, and the others, for LoweringCache::Keep.
  std::vector<uint64_t> refused;
  std::vector<isa::Kernel> made;
};

// Why a kernel is an estimate; "" for one that computes.
absl::string_view EstimateReason(const isa::Kernel& kernel);

// How an array lies in memory, by the layout of its shape.
isa::TiledLayout TiledLayoutOf(const hlo::Shape& shape);

absl::StatusOr<isa::Program> Lower(const hlo::Module& module,
                                   const Placement& placement,
                                   const chips::ChipSpec& chip,
                                   const LoweringOptions& options,
                                   LoweringStats* stats = nullptr);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_LOWERING_H_
