// Operands of a loop that begin inside of tiles (hlo::IsShift): a step takes
// what its block needs of the arrays, through windows of their own, and moves
// it into scratch, where it lies as the block's other tiles do. The loop reads
// it from there.
//
//   subtract(slice(x, [1:4096]), slice(x, [0:4095]))     // x is read, not
//   stored
#ifndef PTXLA_HLO_BACKEND_LOWERING_FUSION_SHIFTED_STREAMS_H_
#define PTXLA_HLO_BACKEND_LOWERING_FUSION_SHIFTED_STREAMS_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo_backend/lowering/fusion/nest.h"
#include "hlo_backend/lowering/movement/box_parts.h"

namespace ptxla::lowering {

class ShiftedStream {
 public:
  // Of stream `number` of `g`, the geometry of the fusion `i`: sets its place,
  // adds windows and scratch. Unimplemented: parts of a form that no box has.
  static absl::StatusOr<ShiftedStream> Of(const hlo::Instruction& i,
                                          const Expression& e,
                                          const Geometry& g, int number,
                                          const NestPlan& plan, Place* place,
                                          Tiling* tiling);

  // The code, before the step's loops.
  void Fill(codegen::CodeBuilder& b) const;

 private:
  explicit ShiftedStream(BoxParts parts) : parts_(std::move(parts)) {}
  int64_t Arrange(const Geometry& g, const std::vector<BoxCut>& cuts,
                  const PhysicalArray& a, Place* place);

  BoxParts parts_;
  Strips strips_;  // but for the address
  int64_t scratch_ = 0;
  int space_ = 0;                 // of the first source
  std::optional<uint32_t> fill_;  // what a pad puts around, as a word
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_FUSION_SHIFTED_STREAMS_H_
