// The slice: the one chip that stands for all, because every chip of a slice
// does the same in a symmetric place. Its memory is HbmModule, or any other
// TLM-2.0 target that speaks the base protocol without blocking: then the DMAs
// of kernels and copies take as long as that target says (plus the latency of
// the chip file), at fidelities tile and bundle.
#ifndef PTXLA_SIM_SC_POD_MODULE_H_
#define PTXLA_SIM_SC_POD_MODULE_H_

#include <functional>
#include <memory>
#include <systemc>
#include <vector>

#include "sim/sc/core_module.h"
#include "sim/sc/dma_module.h"
#include "sim/sc/hbm_module.h"
#include "sim/sc/ici_module.h"

namespace ptxla::sim::sc {

// Creates a memory and binds its target socket to the DMA engines' initiator.
// What it creates must live as long as the module that it returns.
using MemoryBinder = std::function<std::unique_ptr<sc_core::sc_module>(
    tlm_utils::simple_initiator_socket<DmaModule>& dma)>;

class PodModule : public sc_core::sc_module {
 public:
  PodModule(sc_core::sc_module_name name, const DeviceModel& device,
            DmaEngine* engine, Sequencer* sequencer, Recorder* recorder,
            const MemoryBinder& bind_memory = {});

  const DeviceRun& run() const { return run_; }

 private:
  DmaModule dma_;
  std::unique_ptr<HbmModule> hbm_;
  std::unique_ptr<sc_core::sc_module> other_memory_;
  IciModule ici_;
  DeviceRun run_;
  std::vector<std::unique_ptr<CoreModule>> cores_;
};

}  // namespace ptxla::sim::sc

#endif  // PTXLA_SIM_SC_POD_MODULE_H_
