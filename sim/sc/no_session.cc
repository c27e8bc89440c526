// Stands for sim/sc in a build without SystemC.
#include "sim/sc/session.h"
#include "sim/simulator.h"

namespace ptxla::sim {

bool HasSystemC() { return false; }

namespace sc {

absl::Status RunSystemC(const DeviceModel&, Sequencer*, DmaEngine*, Recorder*) {
  return absl::UnimplementedError("this build has no SystemC");
}

}  // namespace sc
}  // namespace ptxla::sim
