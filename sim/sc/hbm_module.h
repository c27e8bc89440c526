// The memories of a chip as a TLM-2.0 target. It answers each request when the
// bandwidth that the streams share has served it; all arithmetic is in
// DmaEngine. Another target may be bound in its place.
#ifndef PTXLA_SIM_SC_HBM_MODULE_H_
#define PTXLA_SIM_SC_HBM_MODULE_H_

#include <cstdint>
#include <systemc>
#include <tlm>
#include <vector>

#include "sim/core/dma_engine.h"
#include "tlm_utils/simple_target_socket.h"

namespace ptxla::sim::sc {

class HbmModule : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(HbmModule);
  // `engine` outlives the module; others may submit to it too.
  HbmModule(sc_core::sc_module_name name, const DeviceModel& device,
            DmaEngine* engine);

  tlm_utils::simple_target_socket<HbmModule> port;

 private:
  struct Pending {
    int64_t id;  // of the engine
    tlm::tlm_generic_payload* payload;
  };

  tlm::tlm_sync_enum OnRequest(tlm::tlm_generic_payload& payload,
                               tlm::tlm_phase& phase, sc_core::sc_time& delay);
  void Serve();
  void Arm();

  const DeviceModel& device_;
  DmaEngine* engine_;
  std::vector<Pending> pending_;
  sc_core::sc_event next_;
};

}  // namespace ptxla::sim::sc

#endif  // PTXLA_SIM_SC_HBM_MODULE_H_
