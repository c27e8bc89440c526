// The machine without SystemC: one loop that lets time pass as the sequencer
// and the DMA engine say.
#ifndef PTXLA_SIM_CORE_PLAIN_ENGINE_H_
#define PTXLA_SIM_CORE_PLAIN_ENGINE_H_

#include "absl/status/status.h"
#include "sim/core/dma_engine.h"
#include "sim/core/recorder.h"
#include "sim/core/sequencer.h"

namespace ptxla::sim {

absl::Status RunPlain(Sequencer* sequencer, DmaEngine* dma, Recorder* recorder);

}  // namespace ptxla::sim

#endif  // PTXLA_SIM_CORE_PLAIN_ENGINE_H_
