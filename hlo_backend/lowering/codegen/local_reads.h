// How often each local register of a block is read: of one block, whatever
// order its instructions are tried in.
//
//   const LocalReads reads(instrs, registers);
//   std::vector<int> to_come = reads.count;
//   --to_come[reg - reads.range.first];
#ifndef PTXLA_HLO_BACKEND_LOWERING_CODEGEN_LOCAL_READS_H_
#define PTXLA_HLO_BACKEND_LOWERING_CODEGEN_LOCAL_READS_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "hlo_backend/lowering/codegen/dependences.h"
#include "hlo_backend/lowering/codegen/local_registers.h"
#include "hlo_backend/lowering/codegen/vcode.h"

namespace ptxla::codegen {

struct LocalReads {
  RegisterRange range;
  std::vector<int> count;  // of each register, from range.first on
  int32_t first_written = INT32_MAX, last_written = -1;  // none: last < first

  LocalReads(absl::Span<const VInstr> instrs,
             absl::Span<const VRegister> registers)
      : range(instrs), count(range.size(), 0) {
    const LocalRegisters locals(registers);
    for (const VInstr& v : instrs) {
      locals.ForEachRead(v, [&](int32_t reg) { ++count[reg - range.first]; });
      if (!locals.Writes(v)) continue;
      first_written = std::min(first_written, v.dst);
      last_written = std::max(last_written, v.dst);
    }
  }
};

// Calls fn(reg) for each register that the instruction reads and nobody will
// again; `to_come` has the reads that are still to come, from register `first`
// on.
template <class Fn>
void ForEachLastRead(const LocalRegisters& locals, const VInstr& v,
                     int32_t first, const std::vector<int>& to_come, Fn fn) {
  int32_t seen[5];
  int num_seen = 0;
  locals.ForEachRead(v, [&](int32_t reg) {
    seen[num_seen++] = reg;
    const auto uses = std::count(seen, seen + num_seen, reg);
    if (to_come[reg - first] == uses) fn(reg);
  });
}

}  // namespace ptxla::codegen

#endif  // PTXLA_HLO_BACKEND_LOWERING_CODEGEN_LOCAL_READS_H_
