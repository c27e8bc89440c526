// The memories of one device with real contents, for fidelity bundle: a program
// runs on them bundle by bundle and leaves its outputs there.
//
//   ProgramData data(program, slice);
//   RETURN_IF_ERROR(data.SetParameter(0, bytes));    // logical, row major
//   SimOptions o; o.fidelity = Fidelity::kBundle; o.data = &data;
//   ASSIGN_OR_RETURN(auto trace, Simulate(program, slice, o));
//   ASSIGN_OR_RETURN(auto out, data.Output(0));
//
// A buffer in VMEM is in the VMEM of every core of a megacore device, as the
// TPU compiler's memory spaces on v5p have it; what the cores exchange at the
// barrier takes no time of its own.
#ifndef PTXLA_SIM_CORE_PROGRAM_DATA_H_
#define PTXLA_SIM_CORE_PROGRAM_DATA_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "chips/topology.h"
#include "isa/interpreter.h"
#include "isa/program.h"
#include "sim/core/bundle_trace.h"

namespace ptxla::sim {

class ProgramData;

// Looks at the memories of a device around each kernel. An error ends the run.
class KernelObserver {
 public:
  virtual ~KernelObserver() = default;
  // `call` is an entry of the program's schedule.
  virtual absl::Status Before(const isa::Call& call, ProgramData* data) = 0;
  virtual absl::Status After(const isa::Call& call, ProgramData* data) = 0;
};

struct ProgramDataOptions {
  isa::InterpreterOptions interpreter;
  // What memory and the padding of parameters hold at first. 0xFF is NaN: a
  // kernel that lets it into its results is wrong.
  uint8_t fill = 0;
  KernelObserver* observer = nullptr;  // null: none
};

class ProgramData {
 public:
  // Memory holds `fill`, and the program's constants. `program` outlives this.
  ProgramData(const isa::Program& program, const chips::Slice& slice,
              const ProgramDataOptions& options = {});

  // Parameter and output leaves as logical arrays: dense, row major, whole
  // bytes per element. InvalidArgument: wrong number of bytes, or no such leaf.
  absl::Status SetParameter(int index, absl::Span<const uint8_t> logical);
  absl::StatusOr<std::vector<uint8_t>> Output(int index);

  // Memory of a buffer from slice.offset on. Valid until the next kernel runs.
  absl::Span<uint8_t> At(const isa::BufferSlice& slice, int64_t bytes);

  // Where the arguments of a call lie now, one for each.
  std::vector<isa::BufferSlice> PlacesOf(const isa::Call& call);

  // What a program does with data.
  absl::StatusOr<std::vector<BundleTrace>> Execute(const isa::Call& call,
                                                   const KernelPlan& plan,
                                                   const DeviceModel& device);
  void Copy(const isa::CopyStart& copy);
  absl::StatusOr<int> Select(const isa::Conditional& branch);
  // Unimplemented: other devices' data are not there, so only a collective of
  // one device has the result that it should have. Where time alone is asked
  // for, this device's data stand for all.
  absl::Status CheckCollective(const isa::CollectiveStart& start) const;
  void Collect(const isa::CollectiveStart& start);

 private:
  absl::StatusOr<std::vector<BundleTrace>> Run(const isa::Call& call,
                                               const KernelPlan& plan,
                                               const DeviceModel& device);

  const isa::Program& program_;
  const ProgramDataOptions options_;
  std::vector<std::unique_ptr<isa::Core>> cores_;
  // By isa::Space; VMEM and SMEM are in the cores.
  std::vector<uint8_t> memory_[5];
};

}  // namespace ptxla::sim

#endif  // PTXLA_SIM_CORE_PROGRAM_DATA_H_
