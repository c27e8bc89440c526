// Our compiler beside the TPU's: per program the same kernels or not, and for
// the kernels that both have, where their operands lie, how many grid steps
// they take and how long one is.
//
//   ParityOptions options;
//   options.programs = "measured/programs";
//   ASSIGN_OR_RETURN(Parity p, CompareCompilers("v6e.csv", options));
//   p.total.programs, p.total.SameKernels()
#ifndef PTXLA_DRIVER_PARITY_PARITY_H_
#define PTXLA_DRIVER_PARITY_PARITY_H_

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "driver/parity/kernel_facts.h"

namespace ptxla::driver {

struct ParityOptions {
  // Folder of the programs that the table names; "": the folder "programs"
  // beside that of the table.
  std::string programs;
  std::vector<std::string> only;  // programs whose name begins so; empty: all
  int threads = 2;
};

// A kernel that both compilers have.
struct KernelPair {
  std::string theirs, ours;
  int64_t operand_bytes = 0, same_space_bytes = 0;
  int64_t their_steps = 0, our_steps = 0;
  // Our cost with their number of steps over that with ours, less 1; nullopt
  // where no tiling of ours has that number.
  std::optional<double> cost_of_their_steps;
  double their_bundles = 0, our_bundles = 0;  // KernelFacts::bundles
  // "in1 bf16[2048,8192]: VMEM there, HBM here".
  std::vector<std::string> spaces;

  bool StepsKnown() const { return their_steps > 0 && our_steps > 0; }
  bool SameSteps() const { return StepsKnown() && their_steps == our_steps; }
  bool AsGoodSteps() const {
    return SameSteps() || (StepsKnown() && cost_of_their_steps &&
                           *cost_of_their_steps <= 0.03);
  }
};

struct ProgramParity {
  std::string program, block;  // block: the folder, or "all"
  std::string failed;          // why there is nothing of ours
  std::vector<KernelPair> pairs;
  std::vector<std::string> only_theirs, only_ours;  // "reduce(f32[8,64])"
  int64_t their_prefetched = 0, our_prefetched = 0;
  int64_t their_operand_bytes = 0;  // of all kernels
  MemoryFacts their_memory, our_memory;
  int64_t their_kernels = 0, our_kernels = 0;  // that work

  // Up to a few scalars.
  bool SamePrefetch() const {
    const int64_t more = std::max(their_prefetched, our_prefetched);
    const int64_t less = std::min(their_prefetched, our_prefetched);
    return failed.empty() && more - less <= std::max<int64_t>(4096, more / 100);
  }
  bool SameKernels() const {
    return failed.empty() && only_theirs.empty() && only_ours.empty();
  }
};

struct ParitySummary {
  std::string block;
  int programs = 0, same_kernels = 0, failed = 0;
  int64_t kernels = 0, matched = 0;  // of theirs
  int64_t operand_bytes = 0;         // of all their kernels
  int64_t matched_bytes = 0, same_space_bytes = 0;
  int same_prefetch = 0;  // programs
  int64_t steps_known = 0, same_steps = 0, as_good_steps = 0;
  // |ours / theirs - 1| of the static bundles, where the number of steps is the
  // same; -1: none.
  int64_t bundles_known = 0;
  double bundles_median = -1, bundles_p90 = -1;
  // The same of the bundles of all steps, however many there are; -1: none.
  double all_bundles_median = -1;
};

struct Parity {
  std::string chip;
  std::vector<ProgramParity> programs;  // as in the table
  std::vector<ParitySummary> blocks;
  ParitySummary total;
};

// Pure: what `theirs` and `ours` have in common.
ProgramParity Compare(const ProgramFacts& theirs, const ProgramFacts& ours);

absl::StatusOr<Parity> CompareCompilers(const std::string& csv,
                                        const ParityOptions& options);

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_PARITY_PARITY_H_
