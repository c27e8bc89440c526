#include "sim/sc/pod_module.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace ptxla::sim::sc {

PodModule::PodModule(sc_core::sc_module_name name, const DeviceModel& device,
                     DmaEngine* engine, Sequencer* sequencer,
                     Recorder* recorder, const MemoryBinder& bind_memory)
    : sc_core::sc_module(name), dma_("dma", device), ici_("ici", device) {
  if (bind_memory) {
    other_memory_ = bind_memory(dma_.memory);
  } else {
    hbm_ = std::make_unique<HbmModule>("hbm", device, engine);
    dma_.memory.bind(hbm_->port);
  }
  run_.device = &device;
  run_.sequencer = sequencer;
  run_.engine = engine;
  run_.dma = &dma_;
  run_.ici = &ici_;
  run_.recorder = recorder;
  sequencer->set_port(&dma_);
  for (int core = 0; core < device.cores; ++core) {
    cores_.push_back(std::make_unique<CoreModule>(
        absl::StrCat("core", core).c_str(), core, &run_));
  }
}

}  // namespace ptxla::sim::sc
