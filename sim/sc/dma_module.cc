#include "sim/sc/dma_module.h"

#include "base/check.h"
#include "sim/sc/sim_time.h"

namespace ptxla::sim::sc {

DmaModule::DmaModule(sc_core::sc_module_name name, const DeviceModel& device)
    : sc_core::sc_module(name), memory("memory"), device_(device) {
  memory.register_nb_transport_bw(this, &DmaModule::OnResponse);
}

DmaModule::~DmaModule() {
  // The payload must not delete an extension that lives beside it.
  for (auto& request : pool_) {
    request->payload.clear_extension<DmaExtension>();
  }
}

int64_t DmaModule::Submit(int64_t /*cycle*/, const DmaJob& job) {
  if (free_.empty()) {
    pool_.push_back(std::make_unique<Request>());
    free_.push_back(pool_.back().get());
    free_.back()->payload.set_extension(&free_.back()->extension);
  }
  Request* request = free_.back();
  free_.pop_back();
  DmaExtension& e = request->extension;
  e.job = job;
  e.transfer = static_cast<int64_t>(done_cycle_.size());
  e.end_tick = -1;
  done_cycle_.push_back(kUnknownCycle);
  tlm::tlm_generic_payload& payload = request->payload;
  payload.set_command(job.write ? tlm::TLM_WRITE_COMMAND
                                : tlm::TLM_READ_COMMAND);
  payload.set_data_length(static_cast<unsigned>(job.bytes));
  payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  const int64_t id = e.transfer;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  if (memory->nb_transport_fw(payload, phase, delay) == tlm::TLM_COMPLETED) {
    End(request, delay);
  }
  return id;
}

tlm::tlm_sync_enum DmaModule::OnResponse(tlm::tlm_generic_payload& payload,
                                         tlm::tlm_phase& phase,
                                         sc_core::sc_time& delay) {
  if (phase == tlm::END_REQ) return tlm::TLM_ACCEPTED;
  CHECK(phase == tlm::BEGIN_RESP) << "phase " << phase;
  DmaExtension* extension = nullptr;
  payload.get_extension(extension);
  for (auto& request : pool_) {
    if (&request->extension == extension) {
      End(request.get(), delay);
      break;
    }
  }
  phase = tlm::END_RESP;
  return tlm::TLM_COMPLETED;
}

void DmaModule::End(Request* request, const sc_core::sc_time& delay) {
  const DmaExtension& e = request->extension;
  int64_t end_tick = e.end_tick;
  if (end_tick < 0) {
    const Picoseconds at(
        static_cast<int64_t>((sc_core::sc_time_stamp() + delay).value()));
    end_tick = ToTicks(at, device_.clock);
  }
  done_cycle_[e.transfer] = CycleAtOrAfter(
      end_tick + device_.latency_ticks[static_cast<int>(e.job.memory)]);
  free_.push_back(request);
  ended_.notify();
}

void DmaModule::AwaitEnd(int64_t id) {
  while (done_cycle_[id] == kUnknownCycle) sc_core::wait(ended_);
}

}  // namespace ptxla::sim::sc
