// One run of a kernel on one core: walks the grid, executes the bundles of its
// steps cycle by cycle, and answers what instructions ask about the kernel
// (interpreter.h makes one for each Core::Run).
//
//   KernelRun run(kernel, args, core, cores, machine, semantics,
//                 check_hazards, &context, &clock, peer);
//   context.kernel = &run;
//   ASSIGN_OR_RETURN(const int64_t cycles, run.Run());
#ifndef PTXLA_ISA_KERNEL_RUN_H_
#define PTXLA_ISA_KERNEL_RUN_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "isa/dma_state.h"
#include "isa/grid.h"
#include "isa/interpreter.h"
#include "isa/pipeline.h"
#include "isa/semantics/context.h"
#include "isa/semantics/table.h"

namespace ptxla::isa {

class KernelRun : public KernelEnvironment {
 public:
  // All must outlive it. `context`: memories large enough for the kernel and
  // its arguments. `peer`: null if the kernel sends nothing to another core.
  KernelRun(const Kernel& kernel, absl::Span<const ArgMemory> args, int core,
            int cores, const MachineModel& machine,
            const SemanticsTable& semantics, bool check_hazards,
            ExecContext* context, DmaClock* clock, PeerPort* peer);

  // The cycles it took. Internal names the place and the cycle of a check that
  // failed.
  absl::StatusOr<int64_t> Run();

  int64_t bundles() const { return bundles_; }

  // --- KernelEnvironment
  int64_t GridIndex(int dim) override { return walk_.index()[dim]; }
  int64_t WindowAddress(int window) override;
  int64_t WindowLength(int window, int dim) override {
    return walk_.CurrentBox(window).size[dim];
  }
  int64_t ArgAddress(int arg) override { return args_[arg].address; }
  int64_t ScratchAddress() override { return kernel_.scratch_offset; }
  absl::Status StartWindow(int window) override;
  absl::Status WaitWindow(int window) override;
  absl::Status StartDescriptor(int descriptor, int64_t source,
                               int64_t destination) override;
  absl::Status WaitSemaphore(int semaphore, int64_t bytes) override;
  absl::Status Signal(int semaphore, int64_t bytes) override;

 private:
  enum class Phase { kEntry, kStep, kExit };

  int64_t UnclampedStart(const Window& w) const;
  absl::Status StartTransfer(int window, int64_t number, const Box& box);
  void StallUntil(int64_t cycle);

  absl::Status RunPhase(Phase phase, const Code& code);
  absl::Status RunCode(const Code& code);
  absl::Status RunLoop(const Loop& loop);
  absl::Status RunBlock(const Block& block);
  absl::Status RunBundle(absl::Span<const Instr> bundle);
  bool GuardHolds(const Instr& i) const;
  void Execute(const Instr& i) {
    if (GuardHolds(i)) semantics_.Get(i.op)(*context_, i);
  }

  const Kernel& kernel_;
  absl::Span<const ArgMemory> args_;
  const MachineModel& machine_;
  const SemanticsTable& semantics_;
  const bool check_hazards_;
  ExecContext* context_;
  DmaClock* clock_;
  GridWalk walk_;
  Pipeline pipeline_;
  DmaState dma_;
  std::vector<int64_t> last_transfer_;
  Phase phase_ = Phase::kEntry;
  int64_t now_ = 0;
  int64_t stalled_ = 0;
  int64_t bundles_ = 0;
};

}  // namespace ptxla::isa

#endif  // PTXLA_ISA_KERNEL_RUN_H_
