// What our DMA engines tell our memory beside the TLM payload. A memory model
// from outside may ignore it: it has command and length, and the time of its
// response is taken as the end of the transfer.
#ifndef PTXLA_SIM_SC_DMA_EXTENSION_H_
#define PTXLA_SIM_SC_DMA_EXTENSION_H_

#include <cstdint>
#include <tlm>

#include "sim/core/dma_engine.h"

namespace ptxla::sim::sc {

struct DmaExtension : tlm::tlm_extension<DmaExtension> {
  DmaJob job;
  int64_t transfer = 0;   // number given by the DMA module
  int64_t end_tick = -1;  // filled in by HbmModule: the exact end

  tlm::tlm_extension_base* clone() const override {
    return new DmaExtension(*this);
  }
  void copy_from(const tlm::tlm_extension_base& other) override {
    *this = static_cast<const DmaExtension&>(other);
  }
};

}  // namespace ptxla::sim::sc

#endif  // PTXLA_SIM_SC_DMA_EXTENSION_H_
