#include "memory_model/table_rows.h"

#include "memory_model/hbm.h"

namespace ptxla::memory {
namespace {

constexpr int64_t kPieceBytes = 512;  // a row of a tile: 128 words
constexpr int64_t kPiecesOfRegister = 8;
// VLIW bundles of a row, and of each of its registers: about what our own
// gathers take (lowering/movement/gather.cc); ASSUMED of all chips.
constexpr int64_t kBundles = 2;

}  // namespace

Picoseconds TableRows::Copy(const chips::ChipSpec& chip) const {
  return HbmModel(chip).Busy({Bytes(table_bytes), false, Bytes(0), 0});
}

Picoseconds TableRows::ByTransfers(const chips::ChipSpec& chip) const {
  const Picoseconds row = HbmModel(chip).Busy(
      {Bytes(pieces * kPieceBytes), false, Bytes(kPieceBytes), 0});
  return Picoseconds(row.count() * rows);
}

Picoseconds TableRows::ByRegisters(const chips::ChipSpec& chip) const {
  const int64_t registers = CeilOfRatio(pieces, kPiecesOfRegister);
  return chip.core().clock.ToTime(Cycles(rows * kBundles * (1 + registers)));
}

}  // namespace ptxla::memory
