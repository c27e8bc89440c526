#include "hlo_backend/lowering/products/result_store.h"

#include <algorithm>
#include <limits>

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Pred;
using codegen::Vec;
using isa::Opcode;

ResultStore ResultStore::Of(const MatrixView& view, const isa::Window& window,
                            int number, const std::vector<int64_t>& grid,
                            int space, CodeBuilder* b) {
  ResultStore s;
  s.place_ = PlaceOf(view, window, number, space, b);
  s.resident_ = view.resident;
  const int64_t tile_sublanes = view.tile_bytes / isa::kRowBytes;
  s.narrow_rows_ = static_cast<int>(std::min<int64_t>(4, tile_sublanes));
  if (!view.resident) return s;
  s.tile_sublanes_ =
      static_cast<int>(std::min<int64_t>(isa::kSublanes, tile_sublanes));
  for (int d = 0; d < 3; ++d) {
    const isa::WindowDim& dim = window.dims[d];
    if (dim.grid_dim < 0) {  // one plane for the whole batch
      s.extent_[d] = std::numeric_limits<int64_t>::max();
      continue;
    }
    s.block_[d] = dim.block;
    s.extent_[d] = dim.extent;
    s.steps_[d] = grid[dim.grid_dim];
    if (s.steps_[d] * dim.block <= dim.extent) continue;
    const codegen::Sca index = b->NewSca();
    b->GridIndex(index, dim.grid_dim);
    s.guards_[1 << d] = b->Promote(b->SCompareImm(
        Opcode::kScmpNe, index, static_cast<int32_t>(s.steps_[d] - 1)));
  }
  for (int set = 1; set < 8; ++set) {
    const int low = set & -set;
    const Pred one = s.guards_[low], rest = s.guards_[set ^ low];
    if (set == low || !one.valid() || !rest.valid()) continue;
    const Pred both = b->NewPred();
    codegen::VInstr v;
    v.op = Opcode::kPand;
    v.dst = both.id;
    v.a = one.id;
    v.b = rest.id;
    b->Emit(v);
    s.guards_[set] = b->Promote(both);
  }
  return s;
}

int ResultStore::Lacking(int64_t batch, int64_t row, int64_t col) const {
  if (!resident_) return 0;
  int lacking = 0;
  const int64_t at[3] = {batch, row / place_.tile_rows, col / isa::kLanes};
  for (int d = 0; d < 3; ++d) {
    if ((steps_[d] - 1) * block_[d] + at[d] >= extent_[d]) lacking |= 1 << d;
  }
  return lacking;
}

void ResultStore::Emit(CodeBuilder* b, int32_t offset, Vec words, int lo,
                       int hi, int64_t stride, int lacking) const {
  if (lo >= hi) return;
  const bool masked = lo > 0 || hi < isa::kSublanes;
  codegen::VInstr v;
  v.space = static_cast<int16_t>(place_.space);
  v.a = place_.base.id;
  v.b = words.id;
  v.imm = offset;
  const auto mask = [&] { return b->Range(0, isa::kLanes, lo, hi).id; };
  if (stride > 0) {
    v.op = masked ? Opcode::kVstStrMsk : Opcode::kVstStr;
    v.imm2 = static_cast<int32_t>(stride);
    v.c = isa::kSublanes / 2;
    if (masked) v.dst = mask();
  } else {
    v.op = masked ? Opcode::kVstMsk : Opcode::kVst;
    if (masked) v.c = mask();
  }
  if (lacking != 0) v.guard = guards_[lacking].id;
  b->Emit(v);
}

void ResultStore::Words(CodeBuilder* b, int64_t batch, int64_t row, int64_t col,
                        const std::vector<Vec>& tiles) const {
  for (size_t i = 0; i < tiles.size(); ++i) {
    const int64_t at = row + static_cast<int64_t>(i) * place_.tile_rows;
    if (IsBeyondBlock(at)) return;
    Emit(b, static_cast<int32_t>(place_.Offset(batch, at, col)), tiles[i], 0,
         tile_sublanes_, 0, Lacking(batch, at, col));
  }
}

void ResultStore::Packed(CodeBuilder* b, int64_t batch, int64_t row,
                         int64_t col, Vec words) const {
  constexpr int kHalf = isa::kSublanes / 2;
  const auto offset = static_cast<int32_t>(place_.Offset(batch, row, col));
  const int upper = Lacking(batch, row, col);
  const int lower = Lacking(batch, row + place_.tile_rows, col);
  const bool half = IsBeyondBlock(row + place_.tile_rows);
  if (upper == lower && tile_sublanes_ >= kHalf && !half) {
    Emit(b, offset, words, 0, isa::kSublanes, place_.row_pitch, upper);
    return;
  }
  const int sublanes = std::min(kHalf, tile_sublanes_);
  Emit(b, offset, words, 0, sublanes, 0, upper);
  if (half) return;
  Emit(b, offset, words, kHalf, kHalf + sublanes, place_.row_pitch, lower);
}

void ResultStore::Bytes(CodeBuilder* b, int64_t batch, int64_t row, int64_t col,
                        Vec words) const {
  const int first = static_cast<int>(row % place_.tile_rows / 4);
  Emit(b, static_cast<int32_t>(place_.Offset(batch, row, col)), words, 0,
       std::clamp(tile_sublanes_ - first, 0, 4), 0, Lacking(batch, row, col));
}

}  // namespace ptxla::lowering
