// Which ready instruction of a block is issued first.
//
//   IssueRanks ranks(IssueOrder::kHeight, instrs, registers, graph, model);
//   ranks.rank_of[i]     // 0: the most urgent
#ifndef PTXLA_HLO_BACKEND_LOWERING_CODEGEN_ISSUE_ORDER_H_
#define PTXLA_HLO_BACKEND_LOWERING_CODEGEN_ISSUE_ORDER_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "hlo_backend/lowering/codegen/dependences.h"
#include "hlo_backend/lowering/codegen/vcode.h"
#include "isa/machine_model.h"

namespace ptxla::codegen {

enum class IssueOrder : uint8_t {
  // On the longest path: copies of a formula go through it side by side.
  kHeight,
  // Copies one behind the other, each as far as the units are taken by those
  // before it: few values are alive at once, and units that the formula uses
  // at different times work at the same time.
  kStaggered,
  // The same, and what a copy needs late comes late: beside a result of the XLU
  // that takes a hundred cycles nothing is loaded that meets it behind.
  kLate,
  // As late as what it leads to allows, but for accumulators: copies that add
  // to
  // them are not as far apart as the way through all of them is long.
  kDue,
  kSource,  // as written
  // As written, and nothing goes before its turn that takes registers from what
  // is to come (safe_order.h).
  kSafe,
};

struct IssueRanks {
  // `stretch`: of kStaggered, kLate and kDue, in percent: so many times the
  // distance between copies at which the units are full.
  IssueRanks(IssueOrder order, absl::Span<const VInstr> instrs,
             absl::Span<const VRegister> registers, const Graph& graph,
             const isa::MachineModel& model, int stretch = 100);

  std::vector<int> rank_of, instr_of;  // each the inverse of the other
  // Per instruction the first cycle that it may go in.
  std::vector<int> earliest;
};

// Cycles for which the fullest slot or unit is taken: no order is shorter.
int64_t SlotBound(absl::Span<const VInstr> instrs, const Graph& graph,
                  const isa::MachineModel& model);

}  // namespace ptxla::codegen

#endif  // PTXLA_HLO_BACKEND_LOWERING_CODEGEN_ISSUE_ORDER_H_
