#include "sim/sc/session.h"

#include <memory>
#include <systemc>

#include "absl/strings/str_cat.h"
#include "sim/sc/pod_module.h"
#include "sim/sc/run_pod.h"
#include "sim/simulator.h"

// The SystemC library's own main() calls this; a program with a main() of its
// own never does.
int sc_main(int, char*[]) { return 0; }

namespace ptxla::sim {

bool HasSystemC() { return true; }

namespace sc {
namespace {

// A simulation context of its own for each run, so that runs do not see each
// other's modules, time or errors. The kernel keeps the current context in two
// global variables; they are put back at the end.
class Context {
 public:
  Context()
      : current_(sc_core::sc_curr_simcontext),
        global_(sc_core::sc_default_global_context),
        own_(std::make_unique<sc_core::sc_simcontext>()) {
    sc_core::sc_curr_simcontext = own_.get();
    sc_core::sc_default_global_context = own_.get();
  }
  ~Context() {
    own_.reset();
    sc_core::sc_curr_simcontext = current_;
    sc_core::sc_default_global_context = global_;
  }

 private:
  sc_core::sc_simcontext* current_;
  sc_core::sc_simcontext* global_;
  std::unique_ptr<sc_core::sc_simcontext> own_;
};

absl::Status FromReport(const sc_core::sc_report& report) {
  return absl::InternalError(
      absl::StrCat("SystemC: ", report.get_msg_type(), ": ", report.get_msg()));
}

}  // namespace

absl::Status RunSystemC(const DeviceModel& device, Sequencer* sequencer,
                        DmaEngine* dma, Recorder* recorder) {
  return RunPod(device, sequencer, dma, recorder, {});
}

absl::Status RunPod(const DeviceModel& device, Sequencer* sequencer,
                    DmaEngine* dma, Recorder* recorder,
                    const MemoryBinder& bind_memory) {
  const Context context;
  sc_core::sc_report_handler::set_actions(sc_core::SC_INFO,
                                          sc_core::SC_DO_NOTHING);
  sc_core::sc_report_handler::set_actions(sc_core::SC_WARNING,
                                          sc_core::SC_DO_NOTHING);
  sc_core::sc_report_handler::set_actions(sc_core::SC_ERROR, sc_core::SC_THROW);
  // The kernel reports its errors as exceptions; they end here.
  try {
    const auto pod = std::make_unique<PodModule>("pod", device, dma, sequencer,
                                                 recorder, bind_memory);
    sc_core::sc_start();
    if (!pod->run().status.ok()) return pod->run().status;
    if (!pod->run().finished) {
      return absl::FailedPreconditionError(
          absl::StrCat("deadlock: ", sequencer->WhatItWaitsFor(),
                       " and nothing is under way"));
    }
  } catch (const sc_core::sc_report& report) {
    return FromReport(report);
  }
  return absl::OkStatus();
}

}  // namespace sc
}  // namespace ptxla::sim
