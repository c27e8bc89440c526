// Executes a kernel's bundles on real data, cycle by cycle, and checks what the
// verifier proves: early pops, reads before the latency is over, slots, FIFO
// depth. A failed check is an Internal error naming code place and cycle.
//
//   Core core(machine);
//   ASSIGN_OR_RETURN(int64_t cycles,
//                    core.Run(kernel, {{a_bytes}, {b_bytes}, {out_bytes}}));
//
// Bundle semantics: all instructions of a bundle read the registers and memory
// as they were before it; results are written at its end. A DMA's data moves
// when its wait completes, so code that forgets a wait sees old data.
#ifndef PTXLA_ISA_INTERPRETER_H_
#define PTXLA_ISA_INTERPRETER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "isa/kernel.h"
#include "isa/machine_model.h"
#include "isa/timing.h"

namespace ptxla::isa {

class PeerPort;
class SemanticsTable;

struct InterpreterOptions {
  // Null: the real one. Tests pass a copy with one row replaced.
  const SemanticsTable* semantics = nullptr;
  bool check_hazards = true;
};

// An argument's memory. For HBM, CMEM and host arguments `bytes`; for VMEM and
// SMEM arguments the address in the core's own memory.
struct ArgMemory {
  absl::Span<uint8_t> bytes;
  int64_t address = 0;
};

// Decides how long DMAs take. The default takes no time. `now` counts from the
// kernel's start on this core.
class DmaClock {
 public:
  virtual ~DmaClock() = default;
  // A transfer of `box` (window) or of descriptor.Bytes() starts.
  virtual void OnStart(const DmaEvent& /*event*/, const Box& /*box*/,
                       int64_t /*now*/) {}
  // Cycle at which the wait is over; at least `now`.
  virtual int64_t OnWait(const DmaEvent& /*event*/, int64_t now) { return now; }
};

class Core {
 public:
  explicit Core(const MachineModel& machine, InterpreterOptions options = {});
  ~Core();

  // Runs one core's share of the kernel, which must pass VerifyKernel (only its
  // structure is checked again here); the cycles it took. Registers, FIFOs
  // and units start empty; VMEM and SMEM keep what they hold. `peer`: of a
  // kernel whose cores wait for one another (isa/peer_link.h).
  absl::StatusOr<int64_t> Run(const Kernel& kernel,
                              absl::Span<const ArgMemory> args, int core = 0,
                              int cores = 1, DmaClock* clock = nullptr,
                              PeerPort* peer = nullptr);

  // Memories from address 0, at least `bytes` long (they grow on demand); what
  // was never written holds 0xFF bytes (NaN).
  absl::Span<uint8_t> vmem(int64_t bytes = 0);
  absl::Span<uint8_t> smem(int64_t bytes = 0);
  int64_t bundles_executed() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ptxla::isa

#endif  // PTXLA_ISA_INTERPRETER_H_
