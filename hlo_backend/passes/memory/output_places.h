// What of a scheduled computation's outputs lies where it must
// (output_homes.h), and which need a copy to get there: those made while the
// old value at their place is still read, and those whose memory is not the
// computation's own.
//
//   OutputPlaces outputs(c, HomesOfOutputs(c), kept, copies);
//   outputs.NeedsCopy(c.root()->operand(1), outputs.Home(1))
#ifndef PTXLA_HLO_BACKEND_PASSES_MEMORY_OUTPUT_PLACES_H_
#define PTXLA_HLO_BACKEND_PASSES_MEMORY_OUTPUT_PLACES_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "hlo_backend/ir/computation.h"
#include "hlo_backend/passes/memory/kept_elements.h"
#include "hlo_backend/passes/memory/memory_places.h"
#include "hlo_backend/passes/memory/output_homes.h"
#include "hlo_backend/passes/memory/scheduled_copies.h"

namespace ptxla::hlo {

// Asks of the computation as it is, with the copies so far.
class OutputPlaces {
 public:
  // All must outlive it.
  OutputPlaces(const Computation& c, OutputHomes homes,
               const KeptElements& kept, const ScheduledCopies& copies)
      : c_(c), homes_(std::move(homes)), kept_(kept), copies_(copies) {}

  // Where output `k` must lie; no maker: in memory of its own.
  MemoryPlace Home(int k) const {
    return k < static_cast<int>(homes_.size()) ? homes_[k] : MemoryPlace();
  }
  bool IsOutput(const MemoryPlace& place) const;
  // `update`, perhaps updated in place later, is (a half of) an output whose
  // memory is that place.
  bool IsHomeOf(const MemoryPlace& place, const Instruction* update) const;
  // The place is the home of another output than k, which changes it.
  bool IsOverwritten(const MemoryPlace& place, int k) const;
  // `value`, an output, cannot be made at `home`.
  bool NeedsCopy(const Instruction* value, const MemoryPlace& home) const;

 private:
  const Instruction* Output(size_t k) const;
  std::vector<MemoryPlace> PartsOf(const Instruction* value) const;
  bool HalfNeedsCopy(const Instruction* combine, int k, MemoryPlace home) const;
  bool IsCopiedLater(const MemoryPlace& home, const Instruction* copy) const;
  bool ReadsFar(const Instruction& operand, const MemoryPlace& home,
                const MemoryPlace& made) const;
  bool IsMadeTooEarly(const MemoryPlace& place, const MemoryPlace& home) const;

  const Computation& c_;
  const OutputHomes homes_;
  const KeptElements& kept_;
  const ScheduledCopies& copies_;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_MEMORY_OUTPUT_PLACES_H_
