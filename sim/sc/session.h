// The SystemC machine as one call. This header knows no SystemC, so that only
// sim/sc/*.cc and the module headers beside it do.
#ifndef PTXLA_SIM_SC_SESSION_H_
#define PTXLA_SIM_SC_SESSION_H_

#include "absl/status/status.h"
#include "sim/core/device_model.h"
#include "sim/core/dma_engine.h"
#include "sim/core/recorder.h"
#include "sim/core/sequencer.h"

namespace ptxla::sim::sc {

// Elaborates a pod with the one chip that stands for all, runs it, and takes it
// down again. Errors of the SystemC kernel, and processes that wait for ever,
// come back as a Status. One session at a time; not from several threads.
absl::Status RunSystemC(const DeviceModel& device, Sequencer* sequencer,
                        DmaEngine* dma, Recorder* recorder);

}  // namespace ptxla::sim::sc

#endif  // PTXLA_SIM_SC_SESSION_H_
