// NestCode: how rows of arrays are read into all sublanes, and single elements
// into all of a register.
#include "base/units.h"
#include "hlo_backend/lowering/fusion/f16_conversion.h"
#include "hlo_backend/lowering/fusion/nest.h"
#include "hlo_backend/lowering/fusion/row_place.h"

namespace ptxla::lowering {

using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

// Of an array of one dimension: the tile of the column, or the element that an
// index chooses.
Vec NestCode::MakeElements(int number, Sca start, int column) {
  const Stream& s = g_.streams[number];
  const PhysicalArray& a = s.array;
  const int64_t offset = pointers_[stream_pointer_[number]].offset;
  Vec words;
  if (s.lane_axis >= 0) {
    // Element number = index of the axis: row index / 128.
    const Sca at = Coordinate(s.lane_axis, 0);
    const Sca r = b_.SBinaryImm(Opcode::kSshrl, at, 7);
    const int shift = a.packing_log2();
    const Sca row_word = shift ? b_.SBinaryImm(Opcode::kSshrl, r, shift) : r;
    const Sca base = b_.SAdd(start, b_.SMulImm(row_word, 512));
    words = b_.LoadRow(number, base, static_cast<int32_t>(offset));
    words = SelectRowPart(s, words, a.packing > 1 ? r : Sca(), 0);
    const Sca lane = b_.SBinaryImm(Opcode::kSand, at, 127);
    return b_.BroadcastLane(words, lane);
  }
  const int64_t at = offset + column * places_[number].StrideOf(g_.column_axis);
  words = b_.LoadRow(number, start, static_cast<int32_t>(at / 512 * 512));
  words = SelectRowPart(s, words, Sca(), column % a.packing);
  if (s.access == Access::kSplat) words = b_.BroadcastLane(words, 0);
  return words;
}

// Once in a block, whatever columns it is read for.
const NestCode::RowStart& NestCode::StartOfRow(int number, Sca start) {
  const Stream& s = g_.streams[number];
  const int64_t offset = pointers_[coordinate_pointer_[s.row_axis]].offset;
  RowStart& r = row_starts_[{number, offset}];
  if (r.block == b_.block_number() && r.start == start.id) return r;
  r.block = b_.block_number();
  r.start = start.id;
  r.row = Coordinate(s.row_axis, 0);
  r.base = PlaceOfRow(b_, s.array, start, r.row, places_[number].row_stride);
  return r;
}

// The same of the tile that a row begins.
Sca NestCode::StartOfTile(int number, Sca start) {
  const Stream& s = g_.streams[number];
  RowStart& r = tile_starts_[number];
  if (r.block == b_.block_number() && r.start == start.id) return r.base;
  r.block = b_.block_number();
  r.start = start.id;
  const Sca tile =
      b_.SBinaryImm(Opcode::kSshrl, ValueOf(coordinate_pointer_[s.row_axis]),
                    CeilLog2(s.array.tile_rows));
  r.base = b_.SAdd(
      start,
      b_.SMulImm(tile, static_cast<int32_t>(places_[number].row_stride)));
  return r.base;
}

// A row of the array: the one that the column tile names (dense 1-D arrays),
// or that a major index chooses.
Vec NestCode::MakeRow(int number, Sca start, int column) {
  const Stream& s = g_.streams[number];
  const Place& place = places_[number];
  const PhysicalArray& a = s.array;
  if (a.rank() <= 1) return MakeElements(number, start, column);
  Sca base = start;
  int64_t offset = pointers_[stream_pointer_[number]].offset;
  Sca row_index;
  int row_part = 0;
  if (s.row_axis >= 0 && BeginsTiles(s.row_axis, a.tile_rows)) {
    // Whole tiles are walked: only which one is a question.
    const int number_of = coordinate_pointer_[s.row_axis];
    const int64_t at = pointers_[number_of].offset;
    const int64_t in_tile = (at % a.tile_rows + a.tile_rows) % a.tile_rows;
    offset += (at - in_tile) / a.tile_rows * place.row_stride +
              in_tile / a.packing * 512;
    row_part = static_cast<int>(in_tile % a.packing);
    if (!StaysAtZero(s.row_axis)) base = StartOfTile(number, start);
  } else if (s.row_axis >= 0) {
    const RowStart& at = StartOfRow(number, start);
    base = at.base;
    row_index = at.row;
  }
  offset += s.access == Access::kRowOfLanes
                ? column * place.StrideOf(g_.column_axis)
                : 0;
  if (s.lane_axis >= 0) {
    const Sca at = Coordinate(s.lane_axis, 0);
    const Sca tile = b_.SBinaryImm(Opcode::kSshrl, at, 7);
    base =
        b_.SAdd(base, b_.SMulImm(tile, static_cast<int32_t>(a.tile_bytes())));
    Vec words = b_.LoadRow(number, base, static_cast<int32_t>(offset));
    words = SelectRowPart(s, words, row_index, row_part);
    return b_.BroadcastLane(words, b_.SBinaryImm(Opcode::kSand, at, 127));
  }
  Vec words = b_.LoadRow(number, base, static_cast<int32_t>(offset));
  words = SelectRowPart(s, words, row_index, row_part);
  if (s.access == Access::kSplat) words = b_.BroadcastLane(words, 0);
  return words;
}

}  // namespace ptxla::lowering
