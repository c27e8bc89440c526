// A compiled module with the time of each of its kernels: one side of a
// comparison of two compilers.
//
//   ASSIGN_OR_RETURN(TimedSchedule s, TimeSchedule(std::move(module), slice));
//   s.kernels[0].facts.root, s.kernels[0].time_ps
//
// A module that is scheduled for a TPU keeps its kernels: where several of
// ours stand for one of its fusions (passes/scheduled/fusion_splitter.h), their
// times are summed. Other modules are compiled by our passes first.
#ifndef PTXLA_DRIVER_PARITY_TIMED_SCHEDULE_H_
#define PTXLA_DRIVER_PARITY_TIMED_SCHEDULE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "chips/topology.h"
#include "driver/parity/kernel_facts.h"
#include "hlo_backend/compiler/compiler.h"
#include "hlo_backend/ir/module.h"

namespace ptxla::driver {

struct TimedKernel {
  // Of the schedule; its root is WorkOf(). Steps, bundles, costs are not set.
  KernelFacts facts;
  std::string result;   // "bf16[8,512]", "(f32[8], f32[8], ...)"
  int64_t time_ps = 0;  // of all its executions
  int64_t executions = 0;
  int parts = 0;  // kernels of ours that stand for it
  // What the compiler that scheduled it thought; 0: it does not say.
  int64_t estimated_cycles = 0;
};

struct TimedSchedule {
  std::vector<TimedKernel> kernels;  // in the order of the schedule
  // Of what is no kernel (waits for copies, collectives ...), by opcode.
  std::map<std::string, int64_t> others_ps;
  int64_t total_ps = 0;
  int64_t peak_bytes = 0;  // of HBM
  // Fusions of the schedule that several kernels stand for.
  std::vector<std::string> taken_apart;
};

// Errors are marked with their stage (stage.h).
absl::StatusOr<TimedSchedule> TimeSchedule(
    std::unique_ptr<hlo::Module> module, const chips::Slice& slice,
    const hlo::CompileOptions& options = {});

// Spearman's: of the times of an execution with `estimated_cycles`, over the
// kernels that say any; nullopt of fewer than three.
std::optional<double> RankCorrelation(const TimedSchedule& schedule);

// Of two lists of the same length; equal values share their mean rank. 0 if all
// of one list are equal.
double RankCorrelation(const std::vector<double>& a,
                       const std::vector<double>& b);

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_PARITY_TIMED_SCHEDULE_H_
