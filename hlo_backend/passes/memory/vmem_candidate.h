// An array that a kernel makes, as one that may lie in VMEM: how long it is
// read, and what of HBM's time that saves.
//
//   Candidate c;
//   c.maker = subtract; c.bytes = PaddedBytes(subtract->shape());
//   if (c.CollectReads(subtract, positions, ElementReads::Of(chip)))
//     ... c.Saved() ...
#ifndef PTXLA_HLO_BACKEND_PASSES_MEMORY_VMEM_CANDIDATE_H_
#define PTXLA_HLO_BACKEND_PASSES_MEMORY_VMEM_CANDIDATE_H_

#include <cstdint>
#include <vector>

#include "chips/chip_spec.h"
#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/passes/memory/memory_places.h"

namespace ptxla::hlo {

// What lies in the same place before or behind an array.
struct Neighbour {
  int number = -1;          // of the candidate that it is
  bool is_in_vmem = false;  // already
  // `chosen`: candidates that are to be in VMEM, by number.
  bool IsInVmem(const std::vector<bool>& chosen) const {
    return is_in_vmem || (number >= 0 && chosen[number]);
  }
};

// What kernels do with a table in HBM of which they pick single elements
// (lowering/movement/gather_elements.cc).
struct ElementReads {
  // Bytes that HBM would move while the transfer of one element's row lasts
  // (memory_model/table_rows.h).
  int64_t transfer = 0;
  // Smaller tables they bring to VMEM whole, about.
  int64_t least_table = 0;
  static ElementReads Of(const chips::ChipSpec& chip);
};

struct Candidate {
  Instruction* maker = nullptr;
  int64_t index = -1;
  int number = 0;  // in the order of the schedule
  Neighbour before, behind;
  int first = 0, last = 0;  // positions
  int64_t bytes = 0;
  int reads = 0;
  int64_t transfers = 0;  // bytes, of the elements that are picked from it
  int steps = 1;          // from first to last, without what takes no time

  // HBM's time saved, in bytes that it moves meanwhile; per byte and step.
  int64_t Saved() const;
  double Worth() const;

  // `bytes` is known. Everything that reads one place, through bitcasts and
  // what is updated in it. False if something other than a kernel does.
  bool CollectReads(const Instruction* value, const Positions& positions,
                    const ElementReads& elements);
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_MEMORY_VMEM_CANDIDATE_H_
