// The links of a chip. Their arithmetic is in interconnect/ and the sequencer;
// the module makes the end of a collective an event that a core can wait for.
#ifndef PTXLA_SIM_SC_ICI_MODULE_H_
#define PTXLA_SIM_SC_ICI_MODULE_H_

#include <cstdint>
#include <systemc>

#include "sim/core/device_model.h"

namespace ptxla::sim::sc {

class IciModule : public sc_core::sc_module {
 public:
  IciModule(sc_core::sc_module_name name, const DeviceModel& device);

  // Called by a thread: returns when the collective that ends at `cycle` has
  // ended.
  void AwaitCollective(int64_t cycle);

 private:
  const DeviceModel& device_;
  sc_core::sc_event ended_;
};

}  // namespace ptxla::sim::sc

#endif  // PTXLA_SIM_SC_ICI_MODULE_H_
