// Which instructions of a block may go before their turn, so that all others
// still find registers: if the rest follows as it was written, it keeps within
// them at each instruction (the banker's rule).
//
// Vector registers alone are counted. What a unit gives takes its registers
// when the unit is asked, so that it can be taken out whatever came between;
// results of the transpose unit, 16 at once and in their order, when they are
// taken out.
//
//   SafeOrder safe(instrs, registers, reads, graph, 64);
//   if (safe.Allows(i)) safe.Issue(i);
#ifndef PTXLA_HLO_BACKEND_LOWERING_CODEGEN_SAFE_ORDER_H_
#define PTXLA_HLO_BACKEND_LOWERING_CODEGEN_SAFE_ORDER_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "base/range_maximum.h"
#include "hlo_backend/lowering/codegen/dependences.h"
#include "hlo_backend/lowering/codegen/local_reads.h"
#include "hlo_backend/lowering/codegen/local_registers.h"

namespace ptxla::codegen {

class SafeOrder {
 public:
  // Of `limit` vector registers. All but `reads` must outlive this.
  SafeOrder(absl::Span<const VInstr> instrs,
            absl::Span<const VRegister> registers, const LocalReads& reads,
            const Graph& graph, int limit);

  bool Allows(int i);
  void Issue(int i);

 private:
  void CountValues();
  void CountWritten();
  // To the registers in use behind instructions `from` to `to` - 1.
  void Add(int from, int to, int registers);
  // The registers that i reads last, in dying_.
  void FindDying(int i);

  absl::Span<const VInstr> instrs_;
  const Graph& graph_;
  const LocalRegisters locals_;
  const int32_t first_;
  const int limit_;
  std::vector<int> values_;     // that take a register as it is issued
  std::vector<int> reads_;      // still to come, by register from first_ on
  std::vector<int> last_read_;  // the instruction, as written
  // Registers in use behind each instruction, if all that is not issued follows
  // as written.
  RangeMaximum live_;
  std::vector<bool> issued_;
  int turn_ = 0;  // the first that is still to come
  // Since something was issued none of these and behind was allowed.
  int refused_;
  std::vector<int32_t> dying_;
};

// Does what the node pushes keep its registers, or come from such a push?
bool KeepsRegisters(const Node& node);

}  // namespace ptxla::codegen

#endif  // PTXLA_HLO_BACKEND_LOWERING_CODEGEN_SAFE_ORDER_H_
