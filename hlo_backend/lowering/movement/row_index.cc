#include "hlo_backend/lowering/movement/row_index.h"

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/analysis/bounded_rows.h"
#include "hlo_backend/lowering/codegen/spaces.h"
#include "hlo_backend/lowering/movement/start_index.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Sca;
using isa::Opcode;

// SMEM bytes of an index of a [N, 1] array: a DMA granule.
constexpr int64_t kColumnStride = 32;

}  // namespace

absl::StatusOr<RowIndex> RowIndex::Of(const hlo::Instruction& indices) {
  const hlo::Shape& shape = indices.shape();
  RowIndex r;
  const bool word = hlo::BitWidth(shape.type()) == 32;
  r.unsigned_ = shape.type() == hlo::PrimitiveType::kU32;
  if (word && shape.rank() == 1) {
    r.count_ = shape.dim(0);
    return r;
  }
  if (word && shape.rank() == 2 && shape.dim(1) == 1) {
    r.column_ = true;
    r.count_ = shape.dim(0);
    return r;
  }
  return absl::UnimplementedError(absl::StrCat(
      "%", indices.name(), ": indices of shape ", shape.ToString()));
}

absl::StatusOr<RowIndex> RowIndex::OfGather(const hlo::Instruction& gather) {
  ASSIGN_OR_RETURN(RowIndex r, Of(*gather.operand(1)));
  r.marked_ = hlo::IsMarkedBounded(gather);
  return r;
}

int RowIndex::AddWindow(int arg, int64_t rows, int64_t steps,
                        Tiling* tiling) const {
  isa::Window w;
  w.arg = arg;
  w.space = isa::Space::kSmem;
  isa::WindowDim dim;
  if (column_) {
    dim.block = rows;
    dim.extent = count_;
    dim.hbm_stride = isa::kRowBytes;
    dim.vmem_stride = kColumnStride;
    w.inner_bytes = kColumnStride;
  } else {
    // 1-D words lie one after another; 32 bytes are a granule.
    dim.block = CeilOfRatio<int64_t>(rows, 8);
    dim.extent = CeilOfRatio<int64_t>(count_, 8);
    dim.hbm_stride = dim.vmem_stride = kColumnStride;
    w.inner_bytes = kColumnStride;
  }
  w.slot_bytes = SlotBytes(rows);
  dim.grid_dim = steps > 1 ? 0 : -1;
  w.dims = {dim};
  w.slots = steps > 1 ? 2 : 1;
  tiling->windows.push_back(std::move(w));
  return static_cast<int>(tiling->windows.size()) - 1;
}

int64_t RowIndex::SlotBytes(int64_t rows) const {
  return (column_ ? rows : CeilOfRatio<int64_t>(rows, 8)) * kColumnStride;
}

Sca RowIndex::AddressOf(CodeBuilder& b, Sca window, Sca n) const {
  return b.SAdd(window, b.SBinaryImm(Opcode::kSshll, n, column_ ? 5 : 2));
}

Sca RowIndex::LoadAt(CodeBuilder& b, Sca address, int beyond) const {
  return b.SLoad(codegen::kRowIndexSpace, address, beyond * (column_ ? 32 : 4));
}

Sca RowIndex::LoadRaw(CodeBuilder& b, Sca window, Sca n) const {
  return LoadAt(b, AddressOf(b, window, n), 0);
}

Sca RowIndex::Load(CodeBuilder& b, Sca window, Sca n, int64_t bound) const {
  return ClampedAt(b, AddressOf(b, window, n), 0, bound);
}

Sca RowIndex::ClampedAt(CodeBuilder& b, Sca address, int beyond,
                        int64_t bound) const {
  Sca raw = LoadAt(b, address, beyond);
  if (inside_) return raw;
  if (unsigned_) raw = SaturatedToSigned(b, raw);
  return b.SBinaryImm(Opcode::kSmin, b.SBinaryImm(Opcode::kSmax, raw, 0),
                      static_cast<int32_t>(bound - 1));
}

Sca RowOffset(CodeBuilder& b, Sca r, int64_t tile_rows, int64_t pitch,
              int shift) {
  const auto in_units = [&](Sca rows) {
    return shift == 9 ? rows : b.SBinaryImm(Opcode::kSshll, rows, 9 - shift);
  };
  // Rows of one tile across lie one after another.
  if (pitch == tile_rows * isa::kRowBytes) return in_units(r);
  int of_tile = 0;
  while ((int64_t{1} << of_tile) < tile_rows) ++of_tile;
  const Sca tile = b.SBinaryImm(Opcode::kSshrl, r, of_tile);
  const Sca row =
      b.SBinaryImm(Opcode::kSand, r, static_cast<int32_t>(tile_rows - 1));
  return b.SAdd(b.SMulImm(tile, static_cast<int32_t>(pitch >> shift)),
                in_units(row));
}

Sca RowOffset(CodeBuilder& b, Sca r, const PhysicalArray& array) {
  return RowOffset(b, r, array.tile_rows, array.row_stride(),
                   array.place_shift());
}

}  // namespace ptxla::lowering
