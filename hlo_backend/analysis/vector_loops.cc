#include "hlo_backend/analysis/vector_loops.h"

#include <algorithm>

#include "hlo_backend/analysis/data_movement.h"
#include "hlo_backend/analysis/tiled_layout.h"

namespace ptxla::hlo {

bool IsLoopElementwise(const Instruction& i) {
  if (!i.IsElementwise() || !HasVectorTypes(i)) return false;
  switch (i.opcode()) {
    case Opcode::kCopy:  // moves data, possibly to another layout
    case Opcode::kStochasticConvert:
      return false;
    case Opcode::kSelect:
      return i.operand(0)->shape().SameDims(i.shape());
    case Opcode::kClamp:
      return i.operand(0)->shape().SameDims(i.shape()) &&
             i.operand(2)->shape().SameDims(i.shape());
    case Opcode::kBitcastConvert:
      return i.operand(0)->shape().SameDims(i.shape());
    default:
      return true;
  }
}

bool HasVectorTypes(const Instruction& i) {
  const auto fits = [](const Shape& s) {
    return s.IsArray() && !IsComplex(s.type()) && BitWidth(s.type()) <= 32;
  };
  return fits(i.shape()) &&
         std::all_of(i.operands().begin(), i.operands().end(),
                     [&](const Instruction* o) { return fits(o->shape()); });
}

bool IsLaneSlice(const Instruction& i) {
  if (i.opcode() != Opcode::kSlice) return false;
  const Shape &from = i.operand(0)->shape(), &to = i.shape();
  const int minor = to.rank() - 1;
  const auto row_major = [](const Shape& s) {
    return !s.has_layout() || s.layout().IsRowMajor();
  };
  if (minor < 1 || from.dim(minor) > kLanes || !row_major(from) ||
      !row_major(to) ||
      (to.type() != PrimitiveType::kF32 && to.type() != PrimitiveType::kBf16)) {
    return false;
  }
  const SliceAttrs& attrs = i.attrs<SliceAttrs>();
  for (int d = 0; d < minor; ++d) {
    if (to.dim(d) != from.dim(d)) return false;
  }
  return attrs.strides.empty() || attrs.strides[minor] == 1;
}

bool IsTileSlice(const Instruction& i) {
  if (i.opcode() != Opcode::kSlice || !HasVectorTypes(i)) return false;
  const Shape &from = i.operand(0)->shape(), &to = i.shape();
  const int rank = to.rank();
  if (rank < 2 || BitWidth(to.type()) < 8) return false;
  for (const Shape* s : {&from, &to}) {
    if (!s->has_layout() || !s->layout().IsRowMajor() ||
        s->layout().tiles.empty() ||
        s->layout().tiles[0].dimensions.size() != 2) {
      return false;
    }
  }
  const auto& tile = from.layout().tiles[0].dimensions;
  if (tile[1] != kLanes || to.layout().tiles[0].dimensions != tile)
    return false;
  const SliceAttrs& attrs = i.attrs<SliceAttrs>();
  for (size_t d = 0; d < attrs.strides.size(); ++d) {
    if (attrs.strides[d] != 1) return false;
  }
  // A lone row or column would be one of a tile that holds others.
  for (int d = rank - 2; d < rank; ++d) {
    const int64_t unit = tile[d - (rank - 2)];
    if (attrs.starts[d] % unit != 0) return false;
    if (to.dim(d) == 1 && from.dim(d) != 1) return false;
  }
  return true;
}

int LaneRotation(const Instruction& i) {
  if (i.opcode() != Opcode::kConcatenate || i.operand_count() != 2 ||
      i.dimensions()[0] != i.shape().rank() - 1 ||
      !IsLaneSlice(*i.operand(0)) || !IsLaneSlice(*i.operand(1))) {
    return 0;
  }
  const Instruction* x = i.operand(0)->operand(0);
  const auto start = [&](int k) {
    return i.operand(k)->attrs<SliceAttrs>().starts.back();
  };
  if (x != i.operand(1)->operand(0) || !x->shape().SameDims(i.shape()) ||
      start(1) != 0 || i.operand(1)->shape().dims().back() != start(0)) {
    return 0;
  }
  return static_cast<int>(start(0));
}

bool IsShift(const Instruction& i) {
  return MovesInOrder(i) && HasVectorTypes(i) &&
         (BitWidth(i.shape().type()) == 16 || BitWidth(i.shape().type()) == 32);
}

bool IsShiftedOperand(const Instruction& i) {
  if (!IsShift(i)) return false;
  const Shape& shape = i.shape();
  if (shape.rank() == 1) return true;
  const auto& minors = shape.layout().minor_to_major;
  const auto& tiles = shape.layout().tiles;
  return !tiles.empty() && tiles[0].dimensions.size() == 2 &&
         tiles[0].dimensions[0] % kTileRows == 0 && shape.dim(minors[0]) > 1 &&
         shape.dim(minors[1]) > 1;
}

bool SameUpToDegenerateDims(const Shape& a, const Shape& b) {
  DimVector x, y;
  for (int64_t d : a.dims()) {
    if (d != 1) x.push_back(d);
  }
  for (int64_t d : b.dims()) {
    if (d != 1) y.push_back(d);
  }
  return x == y;
}

}  // namespace ptxla::hlo
