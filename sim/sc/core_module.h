// A TensorCore: one thread. Core 0 also walks the schedule; the others wait
// until a kernel that is split over them begins, run their share, and meet core
// 0 at the barrier.
#ifndef PTXLA_SIM_SC_CORE_MODULE_H_
#define PTXLA_SIM_SC_CORE_MODULE_H_

#include <cstdint>
#include <string>
#include <systemc>
#include <vector>

#include "absl/status/status.h"
#include "sim/core/kernel_runner.h"
#include "sim/core/recorder.h"
#include "sim/core/sequencer.h"
#include "sim/sc/dma_module.h"
#include "sim/sc/ici_module.h"

namespace ptxla::sim::sc {

// What the cores of a device share while they run a program.
struct DeviceRun {
  const DeviceModel* device = nullptr;
  Sequencer* sequencer = nullptr;
  DmaEngine* engine = nullptr;
  DmaModule* dma = nullptr;
  IciModule* ici = nullptr;
  Recorder* recorder = nullptr;
  // The kernel that runs.
  Action kernel;
  int64_t kernel_start = 0;
  int running = 0;        // cores that have not ended
  ProcessList processes;  // of the cores, by number
  sc_core::sc_event kernel_begins, kernel_ends;
  // How it ended.
  bool finished = false;
  absl::Status status;
};

class CoreModule : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(CoreModule);
  CoreModule(sc_core::sc_module_name name, int core, DeviceRun* run);

 private:
  void RunProgram();  // core 0
  void RunShares();   // the others
  // This core's share of the kernel that runs.
  void RunShare();
  void RunKernel(const Action& action, int64_t now);
  void WaitUntil(int64_t cycle);
  int64_t Now() const;

  const int core_;
  DeviceRun* run_;
};

}  // namespace ptxla::sim::sc

#endif  // PTXLA_SIM_SC_CORE_MODULE_H_
