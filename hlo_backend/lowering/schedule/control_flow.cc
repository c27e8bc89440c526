#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/analysis/trip_count.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/ir/verifier.h"
#include "hlo_backend/lowering/schedule/lowerer.h"

namespace ptxla::lowering {

using hlo::Computation;
using hlo::Instruction;

absl::Status Lowerer::While(const Instruction& i, isa::Schedule* schedule) {
  isa::While loop;
  if (const auto count = hlo::TripCountOf(i)) {
    loop.trips = count->count;
    loop.reason = count->reason;
    loop.basis = count->induction_index >= 0 ? isa::TripCount::kDerived
                                             : isa::TripCount::kStatic;
  } else if (options_.assumed_trip_count > 0) {
    loop.trips = options_.assumed_trip_count;
    loop.basis = isa::TripCount::kAssumed;
    loop.reason = "assumed: --trip-count";
  } else {
    return absl::UnimplementedError(
        absl::StrCat(hlo::Describe(i),
                     ": how often it runs depends on data (--trip-count N "
                     "assumes a number)"));
  }
  ASSIGN_OR_RETURN(loop.predicate, PlaceOf(i.while_condition()->root(), 0));
  RETURN_IF_ERROR(LowerComputation(*i.while_condition(), &loop.condition));
  RETURN_IF_ERROR(LowerComputation(*i.while_body(), &loop.body));
  schedule->push_back({InfoOf(i), std::move(loop)});
  return absl::OkStatus();
}

absl::Status Lowerer::Conditional(const Instruction& i,
                                  isa::Schedule* schedule) {
  isa::Conditional branch;
  ASSIGN_OR_RETURN(branch.selector, PlaceOf(i.operand(0), 0));
  branch.by_pred = i.operand(0)->shape().type() == hlo::PrimitiveType::kPred;
  branch.reason = "first branch";
  for (const Computation* c : i.called()) {
    branch.branches.emplace_back();
    RETURN_IF_ERROR(LowerComputation(*c, &branch.branches.back()));
  }
  schedule->push_back({InfoOf(i), std::move(branch)});
  return absl::OkStatus();
}

}  // namespace ptxla::lowering
