// The slice: the one chip that stands for all, because every chip of a slice
// does the same in a symmetric place.
#ifndef PTXLA_SIM_SC_POD_MODULE_H_
#define PTXLA_SIM_SC_POD_MODULE_H_

#include <memory>
#include <systemc>
#include <vector>

#include "sim/sc/core_module.h"
#include "sim/sc/dma_module.h"
#include "sim/sc/hbm_module.h"
#include "sim/sc/ici_module.h"

namespace ptxla::sim::sc {

class PodModule : public sc_core::sc_module {
 public:
  PodModule(sc_core::sc_module_name name, const DeviceModel& device,
            DmaEngine* engine, Sequencer* sequencer, Recorder* recorder);

  const DeviceRun& run() const { return run_; }

 private:
  DmaModule dma_;
  HbmModule hbm_;
  IciModule ici_;
  DeviceRun run_;
  std::vector<std::unique_ptr<CoreModule>> cores_;
};

}  // namespace ptxla::sim::sc

#endif  // PTXLA_SIM_SC_POD_MODULE_H_
