// Another memory behind the DMA engines: any TLM-2.0 target will do.
#include <memory>
#include <systemc>
#include <tlm>
#include <vector>

#include "gtest/gtest.h"
#include "sim/core/recorder.h"
#include "sim/core/sequencer.h"
#include "sim/sc/run_pod.h"
#include "sim/sc/sim_time.h"
#include "tests/sim/test_programs.h"
#include "tlm_utils/peq_with_get.h"
#include "tlm_utils/simple_target_socket.h"

namespace ptxla::sim::sc {
namespace {

// Serves each request after a fixed time, all at once; knows no extension.
class FixedLatencyMemory : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(FixedLatencyMemory);
  FixedLatencyMemory(sc_core::sc_module_name name, sc_core::sc_time latency,
                     int* requests, int64_t* bytes)
      : sc_core::sc_module(name),
        port("port"),
        latency_(latency),
        queue_("queue"),
        requests_(requests),
        bytes_(bytes) {
    port.register_nb_transport_fw(this, &FixedLatencyMemory::OnRequest);
    SC_METHOD(Respond);
    sensitive << queue_.get_event();
    dont_initialize();
  }

  tlm_utils::simple_target_socket<FixedLatencyMemory> port;

 private:
  tlm::tlm_sync_enum OnRequest(tlm::tlm_generic_payload& payload,
                               tlm::tlm_phase& phase, sc_core::sc_time&) {
    ++*requests_;
    *bytes_ += payload.get_data_length();
    queue_.notify(payload, latency_);
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
  }
  void Respond() {
    while (tlm::tlm_generic_payload* payload = queue_.get_next_transaction()) {
      tlm::tlm_phase phase = tlm::BEGIN_RESP;
      sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
      payload->set_response_status(tlm::TLM_OK_RESPONSE);
      port->nb_transport_bw(*payload, phase, delay);
    }
  }

  const sc_core::sc_time latency_;
  tlm_utils::peq_with_get<tlm::tlm_generic_payload> queue_;
  int* requests_;
  int64_t* bytes_;
};

struct Outcome {
  int64_t cycles = 0;
  int requests = 0;
  int64_t bytes = 0;
};

Outcome RunWith(double latency_ns) {
  isa::Program p;
  StreamKernel s;
  s.grid = {10};
  s.compute = 100;
  s.outputs = 0;
  AddKernel(&p, MakeStreamKernel(s));
  const chips::Slice slice = TestSlice("unit");
  const DeviceModel device(slice);
  DmaEngine dma(device);
  KernelCache cache(p, device, true);
  Recorder recorder;
  Sequencer sequencer(p, device, KernelDetail::kEvents, true, &dma, &cache,
                      &recorder);
  Outcome outcome;
  const absl::Status status =
      RunPod(device, &sequencer, &dma, &recorder,
             [&](tlm_utils::simple_initiator_socket<DmaModule>& socket) {
               auto memory = std::make_unique<FixedLatencyMemory>(
                   "dram", sc_core::sc_time(latency_ns, sc_core::SC_NS),
                   &outcome.requests, &outcome.bytes);
               socket.bind(memory->port);
               return memory;
             });
  EXPECT_TRUE(status.ok()) << status;
  outcome.cycles = recorder.end;
  return outcome;
}

TEST(TlmTarget, AnotherMemoryDecidesHowLongTransfersTake) {
  // The unit chip has a clock of 1 GHz and a latency of one cycle. A step asks
  // for the next block, and waits for its own: compute-bound, 10 steps of 102
  // cycles and the first block.
  const Outcome fast = RunWith(10);
  EXPECT_EQ(fast.requests, 10);
  EXPECT_EQ(fast.bytes, 10 * 65536);
  EXPECT_NEAR(fast.cycles, 10 * 102 + 12, 5);
  // Latency-bound: two blocks are under way at any time.
  const Outcome slow = RunWith(1000);
  EXPECT_NEAR(slow.cycles, 10 * (1000 + 102) / 2, 600);
}

}  // namespace
}  // namespace ptxla::sim::sc
