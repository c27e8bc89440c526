// From what a person calls an op to the op of the schedule that runs.
//
//   const OriginMap origins = OriginsOf(*input);   // before compilation
//   ASSIGN_OR_RETURN(FoundOp f, FindOp(scheduled, origins, record, "%dot.5"));
//   f.name   // "fusion.3"
//   f.how    // "dot.5 is inside of fusion.3"
//
// Taken are, in this order: the name of an op of the schedule, with or without
// %; the name of an instruction inside of a fusion; that of an instruction of
// the input, by the place in its text that its successors keep; a hot spot as
// the report prints it ("encoder.*.ffn matmul", "matmul"). What several ops
// come from stands for the longest. NotFound names the nearest ops on one line.
#ifndef PTXLA_DRIVER_EXPLAIN_FIND_OP_H_
#define PTXLA_DRIVER_EXPLAIN_FIND_OP_H_

#include <map>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo_backend/ir/module.h"
#include "record/run_record.pb.h"

namespace ptxla::driver {

// Line and column of the instructions of an input by name; empty where it was
// not read from text.
using OriginMap = std::map<std::string, std::pair<int, int>>;
OriginMap OriginsOf(const hlo::Module& input);

struct FoundOp {
  std::string name;
  std::string how;  // empty: asked for by name
};

absl::StatusOr<FoundOp> FindOp(const hlo::Module& scheduled,
                               const OriginMap& origins,
                               const record::ProgramRecord& program,
                               absl::string_view asked);

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_EXPLAIN_FIND_OP_H_
