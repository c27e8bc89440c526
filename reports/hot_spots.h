// Where the time of a program goes: its ops, grouped so that the same work in
// every layer is one line, forward and backward together.
//
//   the products of encoder.3.ffn and encoder.4.ffn become
//       {layer "encoder.*.ffn", name "matmul", count 12}
#ifndef PTXLA_REPORTS_HOT_SPOTS_H_
#define PTXLA_REPORTS_HOT_SPOTS_H_

#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "record/run_record.pb.h"

namespace ptxla::reports {

struct HotSpot {
  std::string name;   // the kind of work (op_label.h)
  std::string layer;  // numbers replaced by *; may be empty
  std::string bound;  // what bounds most of the group's time
  int64_t count = 0;
  Picoseconds time;
  bool estimated = false;
  // Mean over the ops of that bound, weighted by time; unset if none has one.
  std::optional<double> fraction_of_peak;
};

// Longest first; ties by name.
std::vector<HotSpot> HotSpots(const record::ProgramRecord& program);

}  // namespace ptxla::reports

#endif  // PTXLA_REPORTS_HOT_SPOTS_H_
