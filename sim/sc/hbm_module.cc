#include "sim/sc/hbm_module.h"

#include <algorithm>
#include <optional>

#include "base/check.h"
#include "sim/sc/dma_extension.h"
#include "sim/sc/sim_time.h"

namespace ptxla::sim::sc {

HbmModule::HbmModule(sc_core::sc_module_name name, const DeviceModel& device,
                     DmaEngine* engine)
    : sc_core::sc_module(name), port("port"), device_(device), engine_(engine) {
  port.register_nb_transport_fw(this, &HbmModule::OnRequest);
  SC_METHOD(Serve);
  sensitive << next_;
  dont_initialize();
}

tlm::tlm_sync_enum HbmModule::OnRequest(tlm::tlm_generic_payload& payload,
                                        tlm::tlm_phase& phase,
                                        sc_core::sc_time& /*delay*/) {
  if (phase == tlm::END_RESP) return tlm::TLM_COMPLETED;
  CHECK(phase == tlm::BEGIN_REQ) << "phase " << phase;
  DmaExtension* e = nullptr;
  payload.get_extension(e);
  CHECK(e != nullptr) << "a request without the DMA extension";
  const int64_t id = engine_->Submit(NowCycle(device_.clock), e->job);
  pending_.push_back({id, &payload});
  Arm();
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}

void HbmModule::Serve() {
  engine_->AdvanceTo(NowCycle(device_.clock));
  for (size_t i = 0; i < pending_.size();) {
    const Pending p = pending_[i];
    if (engine_->DoneCycle(p.id) == kUnknownCycle) {
      ++i;
      continue;
    }
    pending_.erase(pending_.begin() + i);
    DmaExtension* e = nullptr;
    p.payload->get_extension(e);
    e->end_tick = engine_->EndTick(p.id);
    p.payload->set_response_status(tlm::TLM_OK_RESPONSE);
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    port->nb_transport_bw(*p.payload, phase, delay);
  }
  Arm();
}

// Comes back when the next transfer ends, or now if one has ended already.
void HbmModule::Arm() {
  next_.cancel();
  const bool ended =
      std::any_of(pending_.begin(), pending_.end(), [&](const Pending& p) {
        return engine_->DoneCycle(p.id) != kUnknownCycle;
      });
  if (ended) {
    next_.notify(sc_core::SC_ZERO_TIME);
  } else if (const std::optional<int64_t> at = engine_->NextEvent()) {
    if (!pending_.empty()) next_.notify(Until(*at, device_.clock));
  }
}

}  // namespace ptxla::sim::sc
