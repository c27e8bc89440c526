// Parts of a sum that two cores made, each over its own grid steps: both send
// their part to the other one, and both add the two up, so that each has the
// whole (libtpu calls it the all-reduce of a megacore).
//
//   PeerParts parts = PeerParts::Add(scratch, bytes, &tiling);
//   // in the last step, where the part lies in scratch:
//   parts.Send(b);
//   RETURN_IF_ERROR(parts.Combine(b, [&](Vec mine, Vec other) { … }));
#ifndef PTXLA_HLO_BACKEND_LOWERING_PEER_PARTS_H_
#define PTXLA_HLO_BACKEND_LOWERING_PEER_PARTS_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo_backend/lowering/codegen/builder.h"
#include "hlo_backend/lowering/kernel_plan.h"

namespace ptxla::lowering {

class PeerParts {
 public:
  // Of `bytes` (checked: whole registers) of the tiling's scratch, from
  // `scratch` on. What comes from the other core lies in scratch of its own, of
  // as many bytes; `repeats`, dimensions of the tiling's grid each index of
  // which has an exchange of its own, doubles that: the other core may send its
  // next part while its last one is read.
  static PeerParts Add(int64_t scratch, int64_t bytes, Tiling* tiling,
                       const std::vector<int>& repeats = {});

  // Of no bytes: nothing is sent.
  bool any() const { return bytes_ > 0; }
  void Send(codegen::CodeBuilder& b) const;
  using Operation = std::function<absl::StatusOr<codegen::Vec>(
      codegen::Vec mine, codegen::Vec other)>;
  // Waits for the other part and puts both together, where the own one lies.
  // The error of `operation`.
  absl::Status Combine(codegen::CodeBuilder& b,
                       const Operation& operation) const;
  // The same for code that puts them together itself: the wait, and where the
  // other part lies, in codegen::kPeerSpace. After the wait the own part may be
  // overwritten, too.
  void Await(codegen::CodeBuilder& b) const;
  void AddressTo(codegen::Sca to, codegen::CodeBuilder& b) const;

 private:
  struct Repeat {
    int dim = 0;
    int64_t bound = 1;
  };
  std::vector<Repeat> repeats_;  // outer to inner
  int64_t scratch_ = 0, inbox_ = 0, bytes_ = 0;
  int descriptor_ = 0, semaphore_ = 0;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_PEER_PARTS_H_
