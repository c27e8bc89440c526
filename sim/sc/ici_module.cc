#include "sim/sc/ici_module.h"

#include "sim/sc/sim_time.h"

namespace ptxla::sim::sc {

IciModule::IciModule(sc_core::sc_module_name name, const DeviceModel& device)
    : sc_core::sc_module(name), device_(device) {}

void IciModule::AwaitCollective(int64_t cycle) {
  ended_.notify(Until(cycle, device_.clock));
  sc_core::wait(ended_);
}

}  // namespace ptxla::sim::sc
