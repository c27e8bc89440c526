// NestCode: values per row that the body of a loop puts on all lanes itself, as
// the TPU compiler does, so that the XLUs work under its arithmetic.
#include <algorithm>

#include "hlo_backend/lowering/fusion/nest.h"

namespace ptxla::lowering {

using codegen::Vec;
using isa::Opcode;

namespace {

// Smaller bodies would wait for the XLUs in each iteration.
constexpr int64_t kLeastTiles = 128;
constexpr int64_t kRowsOfWord = 16;  // row tiles whose values lie in one row

int RowStreams(const Geometry& g) {
  return static_cast<int>(std::count_if(
      g.streams.begin(), g.streams.end(),
      [](const Stream& s) { return s.access == Access::kLaneOfRows; }));
}

}  // namespace

// Dense arrays of one dimension, where bodies hold whole rows of 128 values.
bool NestCode::ExpandsInline(const Stream& s) const {
  const PhysicalArray& a = s.array;
  if (s.access != Access::kLaneOfRows || !s.lanes_from_rows || a.rank() > 1 ||
      s.row_axis >= 0 || e_.stages != 1 || b_.spills_allowed() || !g_.packs ||
      (a.type != hlo::PrimitiveType::kF32 &&
       a.type != hlo::PrimitiveType::kBf16)) {
    return false;
  }
  if (places_[&s - g_.streams.data()].moves) return false;
  // Of more arrays too few rows would wait in the registers that are left for
  // them (InlineRow). Behind functions of the EUP more values are alive
  // already.
  if (RowStreams(g_) > 2) return false;
  for (const ExprNode& n : e_.nodes) {
    if (n.kind != ExprNode::Kind::kOp) continue;
    if (hlo::IsTranscendental(n.instr->opcode())) return false;
    // A divisor of a row is inverted once.
    if (n.instr->opcode() == hlo::Opcode::kDivide &&
        (g_.AxesOf(e_.nodes[n.inputs[1]]) >> g_.column_axis & 1)) {
      return false;
    }
  }
  for (size_t x = 0; x < g_.axes.size(); ++x) {
    if (g_.axes[x].kind == Axis::Kind::kMajor && extent_[x] > 1) return false;
    if (g_.axes[x].kind == Axis::Kind::kMajor && s.strides[x] != 0) {
      return false;
    }
  }
  const int64_t rows = plan_.unroll[g_.row_axis];
  const int64_t columns = plan_.unroll[g_.column_axis];
  return rows * columns >= kLeastTiles && columns >= extent_[g_.column_axis] &&
         (rows % (kRowsOfWord * a.packing) == 0 ||
          rows >= extent_[g_.row_axis]);
}

std::vector<int64_t> NestCode::InlineStrides(const Stream& s) const {
  std::vector<int64_t> strides(g_.axes.size(), 0);
  strides[g_.row_axis] = isa::kRowBytes / s.array.packing / kRowsOfWord;
  return strides;
}

// Asks for rows further down too: what the XLUs give comes late. Three
// registers in 16 hold it, of all streams together; ASSUMED, a search.
Vec NestCode::InlineRow(int number, int row) {
  const int ahead = std::max(2, 3 * b_.model().vregs / (16 * RowStreams(g_)));
  const int end = std::min(region_.rows, row + ahead + 1);
  for (int r = row; r < end; ++r) {
    Vec& value = row_values_[{number, r, 0}];
    if (!value.valid()) value = PermutedRow(number, r);
  }
  return row_values_[{number, row, 0}];
}

Vec NestCode::PermutedRow(int number, int row) {
  const Stream& s = g_.streams[number];
  const Pointer& p = pointers_[stream_pointer_[number]];
  const int64_t row_bytes = isa::kRowBytes / s.array.packing;
  const int64_t group = row / kRowsOfWord;
  Vec& words = row_words_[{number, group, 0}];
  if (!words.valid()) {
    const int64_t at = p.offset + group * row_bytes;
    const Vec loaded =
        b_.LoadRow(number, ValueOf(stream_pointer_[number]),
                   static_cast<int32_t>(at / isa::kRowBytes * isa::kRowBytes));
    words = SelectRowPart(s, loaded, codegen::Sca(),
                          static_cast<int>(at / row_bytes));
  }
  Vec& index = row_index_[row % kRowsOfWord];
  if (!index.valid()) {
    index = b_.BinaryImm(Opcode::kVaddS32, row_of_sublane_,
                         static_cast<uint32_t>(8 * (row % kRowsOfWord)));
  }
  return b_.Permute(words, index);
}

}  // namespace ptxla::lowering
