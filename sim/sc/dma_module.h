// The DMA engines of a chip: they turn what cores hand over into TLM-2.0
// transactions (base protocol, non-blocking) and tell the cores when a transfer
// has ended.
#ifndef PTXLA_SIM_SC_DMA_MODULE_H_
#define PTXLA_SIM_SC_DMA_MODULE_H_

#include <cstdint>
#include <memory>
#include <systemc>
#include <tlm>
#include <vector>

#include "sim/core/dma_engine.h"
#include "sim/sc/dma_extension.h"
#include "tlm_utils/simple_initiator_socket.h"

namespace ptxla::sim::sc {

class DmaModule : public sc_core::sc_module, public DmaPort {
 public:
  DmaModule(sc_core::sc_module_name name, const DeviceModel& device);
  ~DmaModule() override;

  tlm_utils::simple_initiator_socket<DmaModule> memory;

  int64_t Submit(int64_t cycle, const DmaJob& job) override;
  int64_t DoneCycle(int64_t id) const override { return done_cycle_[id]; }

  // Called by a thread: returns when the end of the transfer is known.
  void AwaitEnd(int64_t id);

 private:
  struct Request {
    tlm::tlm_generic_payload payload;
    DmaExtension extension;
  };

  tlm::tlm_sync_enum OnResponse(tlm::tlm_generic_payload& payload,
                                tlm::tlm_phase& phase, sc_core::sc_time& delay);
  void End(Request* request, const sc_core::sc_time& delay);

  const DeviceModel& device_;
  std::vector<int64_t> done_cycle_;
  std::vector<std::unique_ptr<Request>> pool_;  // all requests ever made
  std::vector<Request*> free_;
  sc_core::sc_event ended_;
};

}  // namespace ptxla::sim::sc

#endif  // PTXLA_SIM_SC_DMA_MODULE_H_
