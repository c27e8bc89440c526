// The workloads that come with the tool, as values that can be changed field by
// field.
//
//   ASSIGN_OR_RETURN(WorkloadSpec spec, FindWorkload("bert"));
//   RETURN_IF_ERROR(SetField("layers=2", &spec));
//   RETURN_IF_ERROR(CheckSpec(spec));
#ifndef PTXLA_WORKLOADS_SPEC_H_
#define PTXLA_WORKLOADS_SPEC_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "workloads/workload.pb.h"

namespace ptxla::workloads {

// In the order of the list that users see.
std::vector<std::string> WorkloadNames();

// NotFound with "did you mean".
absl::StatusOr<WorkloadSpec> FindWorkload(absl::string_view name);

// "key=value". The key is a field ("dropout"), a path ("bert.hidden"), or the
// last part of a path of the spec's own model ("hidden"). A repeated field
// takes a list: "widths=784,512,10". Setting one of global_batch and
// batch_per_chip unsets the other. InvalidArgument or NotFound, with "did you
// mean".
absl::Status SetField(absl::string_view assignment, WorkloadSpec* spec);

// InvalidArgument naming the field for what cannot be run as it is (a hidden
// size that its heads do not divide), Unimplemented for a phase, type or
// optimizer that is known but not supported.
absl::Status CheckSpec(const WorkloadSpec& spec);

}  // namespace ptxla::workloads

#endif  // PTXLA_WORKLOADS_SPEC_H_
