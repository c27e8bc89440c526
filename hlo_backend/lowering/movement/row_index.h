// The indices of a gather or scatter in SMEM, and where a row of a tiled array
// of 32-bit elements lies.
#ifndef PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_ROW_INDEX_H_
#define PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_ROW_INDEX_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/lowering/kernel_plan.h"
#include "hlo_backend/lowering/physical_array.h"

namespace ptxla::lowering {

class RowIndex {
 public:
  // [N], or [N, 1]: one 32-bit integer for each of N rows. Unimplemented:
  // others.
  static absl::StatusOr<RowIndex> Of(const hlo::Instruction& indices);
  // Those of a gather, which may be known to be inside of its table
  // (analysis/bounded_rows.h).
  static absl::StatusOr<RowIndex> OfGather(const hlo::Instruction& gather);

  // Steps of `rows` rows follow: with none behind the last index, those that
  // are known to be inside are not clamped.
  void SetSteps(int64_t rows, int64_t steps) {
    inside_ = marked_ && rows * steps == count_;
  }

  // Adds the window that brings the indices of a step's `rows` rows to SMEM.
  int AddWindow(int arg, int64_t rows, int64_t steps, Tiling* tiling) const;
  // SMEM bytes of the indices of `rows` rows in a slot.
  int64_t SlotBytes(int64_t rows) const;
  // Index number `n` of the step, clamped to [0, bound).
  codegen::Sca Load(codegen::CodeBuilder& b, codegen::Sca window,
                    codegen::Sca n, int64_t bound) const;
  // As it is.
  codegen::Sca LoadRaw(codegen::CodeBuilder& b, codegen::Sca window,
                       codegen::Sca n) const;
  // The same for several neighbours: LoadRaw() of `n` + `beyond`, with the
  // address of that of `n`.
  codegen::Sca AddressOf(codegen::CodeBuilder& b, codegen::Sca window,
                         codegen::Sca n) const;
  codegen::Sca LoadAt(codegen::CodeBuilder& b, codegen::Sca address,
                      int beyond) const;
  // The same, clamped to [0, bound), which those of a marked gather are
  // already.
  codegen::Sca ClampedAt(codegen::CodeBuilder& b, codegen::Sca address,
                         int beyond, int64_t bound) const;

 private:
  bool column_ = false;  // [N, 1]: an element every 512 bytes
  bool unsigned_ = false;
  bool marked_ = false, inside_ = false;  // known to be; all that are loaded
  int64_t count_ = 0;
};

// Offset of row `r`: tiles of `tile_rows` rows (a power of two), `pitch` bytes
// apart, 512 bytes a row. In units of 2^shift bytes, of an array its
// place_shift().
codegen::Sca RowOffset(codegen::CodeBuilder& b, codegen::Sca r,
                       int64_t tile_rows, int64_t pitch, int shift = 0);
codegen::Sca RowOffset(codegen::CodeBuilder& b, codegen::Sca r,
                       const PhysicalArray& array);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_ROW_INDEX_H_
