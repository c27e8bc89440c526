// RunSystemC with a memory of the caller's choice, for whoever has a DRAM model
// with a TLM-2.0 target socket.
#ifndef PTXLA_SIM_SC_RUN_POD_H_
#define PTXLA_SIM_SC_RUN_POD_H_

#include "absl/status/status.h"
#include "sim/sc/pod_module.h"

namespace ptxla::sim::sc {

// `bind_memory` runs during elaboration.
absl::Status RunPod(const DeviceModel& device, Sequencer* sequencer,
                    DmaEngine* dma, Recorder* recorder,
                    const MemoryBinder& bind_memory);

}  // namespace ptxla::sim::sc

#endif  // PTXLA_SIM_SC_RUN_POD_H_
