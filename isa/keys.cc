#include "isa/keys.h"

namespace ptxla::isa {
namespace {

#define X(name, text) text,
constexpr absl::string_view kSlotNames[] = {PTXLA_ISA_SLOTS(X)};
constexpr absl::string_view kLatencyNames[] = {PTXLA_ISA_LATENCIES(X)};
constexpr absl::string_view kIntervalNames[] = {PTXLA_ISA_INTERVALS(X)};
constexpr absl::string_view kUnitNames[] = {PTXLA_ISA_UNITS(X)};
constexpr absl::string_view kFifoNames[] = {PTXLA_ISA_FIFOS(X)};
#undef X

}  // namespace

absl::string_view Name(Slot key) { return kSlotNames[static_cast<int>(key)]; }
absl::string_view Name(LatencyKey key) {
  return kLatencyNames[static_cast<int>(key)];
}
absl::string_view Name(IntervalKey key) {
  return kIntervalNames[static_cast<int>(key)];
}
absl::string_view Name(ExecUnit key) {
  return kUnitNames[static_cast<int>(key)];
}
absl::string_view Name(Fifo key) { return kFifoNames[static_cast<int>(key)]; }

}  // namespace ptxla::isa
