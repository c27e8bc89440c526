// Configuration to RunRecord: the one function that runs things, for the
// commands and tests.
//
//   RunRequest request;
//   request.hlo = "add.hlo";
//   request.topology = "v6e-1";
//   ASSIGN_OR_RETURN(Prediction p, Predict(request));
//   p.record.step_time().value_ps();
//
// A run that does not fit the chip is a Prediction too: its record has the
// memory, no step time, and the status RESOURCE_EXHAUSTED with the message
// that PyTorch/XLA would give. Every other failure is an error, marked with
// its stage (stage.h).
#ifndef PTXLA_DRIVER_PREDICTION_H_
#define PTXLA_DRIVER_PREDICTION_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "driver/run_request.h"
#include "record/device_trace.pb.h"
#include "record/explanation.pb.h"
#include "record/run_record.pb.h"

namespace ptxla::driver {

struct Prediction {
  record::RunRecord record;
  std::string timeline;  // trace-event JSON, if it was asked for
  // The device's trace of each program, in the order of record.programs.
  std::vector<record::DeviceTrace> traces;
  // With RunRequest::verify a line per program.
  std::vector<std::string> verifications;
  // With RunRequest::explain, of an op of the steady step's program.
  std::optional<record::Explanation> explanation;
};

absl::StatusOr<Prediction> Predict(const RunRequest& request);

// "0.1.0".
const char* Version();

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_PREDICTION_H_
