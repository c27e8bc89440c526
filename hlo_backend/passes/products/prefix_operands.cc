#include "hlo_backend/passes/products/prefix_operands.h"

#include <algorithm>
#include <vector>

#include "base/units.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/builder.h"

namespace ptxla::hlo {
namespace {

// Tiles of a front for each that is behind it, at least; ASSUMED.
constexpr int64_t kMostBehind = 4;

struct Front {
  Instruction* slice = nullptr;
  std::vector<Instruction*> conversions;  // of it, the last first
};

// Other dimensions alone, in whole tiles.
bool ReshapesRows(const Instruction& i) {
  if (i.opcode() != Opcode::kReshape || i.shape().has_layout()) return false;
  const DimVector &to = i.shape().dims(), &from = i.operand(0)->shape().dims();
  if (to.size() < 2 || from.size() < 2 || to.back() != from.back()) {
    return false;
  }
  const int64_t rows = to[to.size() - 2], before = from[from.size() - 2];
  return rows == before || (rows % kTileRows == 0 && before % kTileRows == 0);
}

bool IsFrontOfRows(const Instruction& i) {
  if (i.opcode() != Opcode::kSlice) return false;
  const auto& attrs = i.attrs<SliceAttrs>();
  const Shape& from = i.operand(0)->shape();
  for (int d = 0; d < from.rank(); ++d) {
    const bool whole = i.shape().dim(d) == from.dim(d);
    if (attrs.starts[d] != 0 || attrs.strides[d] != 1) return false;
    if (whole == (d == from.rank() - 1)) return false;
  }
  // Few tiles are behind.
  const int64_t tiles = CeilOfRatio(i.shape().dims().back(), kLanes);
  return kMostBehind * (CeilOfRatio(from.dims().back(), kLanes) - tiles) <=
         tiles;
}

// Behind reshapes.
Instruction* MakerOf(Instruction* rows) {
  while (ReshapesRows(*rows)) rows = rows->operand(0);
  return rows;
}

bool DotsAloneRead(const Instruction& i) {
  return !i.IsRoot() && std::all_of(i.users().begin(), i.users().end(),
                                    [](const Instruction* user) {
                                      return user->opcode() == Opcode::kDot;
                                    });
}

Front FrontOf(Instruction* operand) {
  Front front;
  for (Instruction* i = operand;
       i->user_count() == 1 || (i == operand && DotsAloneRead(*i));
       i = i->operand(0)) {
    if (IsFrontOfRows(*i)) {
      // What only lies there is read where it lies anyway.
      if (MakerOf(i->operand(0))->IsElementwise()) front.slice = i;
      return front;
    }
    if (i->opcode() == Opcode::kConvert) {
      front.conversions.push_back(i);
    } else if (!ReshapesRows(*i)) {
      return front;
    }
  }
  return front;
}

// `operand` of the whole row, with zeros behind the front. A reshape comes
// last: in front of it is what makes the row.
Instruction* WholeRow(const Front& front, const Instruction& operand,
                      Builder& b) {
  Instruction* x = MakerOf(front.slice->operand(0));
  for (size_t k = front.conversions.size(); k-- > 0;) {
    x = b.Convert(x, front.conversions[k]->shape().type());
  }
  const int64_t row = x->shape().dims().back();
  const DimVector dims(x->shape().dims().begin(), x->shape().dims().end());
  Instruction* column = b.Iota(Shape::Array(PrimitiveType::kS32, {row}), 0);
  Instruction* end = b.BroadcastScalar(
      b.ConstantScalar(PrimitiveType::kS32,
                       static_cast<double>(front.slice->shape().dims().back())),
      {row});
  Instruction* in_front =
      b.Broadcast(b.Compare(column, end, CompareDirection::kLt), dims,
                  {static_cast<int64_t>(dims.size()) - 1});
  Instruction* zero =
      b.BroadcastScalar(b.ConstantScalar(x->shape().type(), 0), dims);
  x = b.Select(in_front, x, zero);
  DimVector result(operand.shape().dims().begin(),
                   operand.shape().dims().end());
  result.back() = row;
  return result == dims ? x : b.Reshape(x, result);
}

}  // namespace

Instruction* PrefixOperands::RowsFor(Instruction* operand) {
  const auto known = rows_.find(operand);
  if (known != rows_.end()) return known->second;
  const Front front = FrontOf(operand);
  if (front.slice == nullptr) return nullptr;
  Builder b(operand->parent());
  b.set_metadata(operand->shared_metadata());
  return rows_[operand] = WholeRow(front, *operand, b);
}

Instruction* PrefixOperands::Replaced(Instruction* dot) {
  const auto& attrs = dot->attrs<DotAttrs>();
  if (attrs.lhs_contracting.size() != 1) return dot;
  for (const int side : {0, 1}) {
    Instruction* operand = dot->operand(side);
    Instruction* other = dot->operand(1 - side);
    const int minor = operand->shape().rank() - 1;
    const DimVector& batch = side == 0 ? attrs.lhs_batch : attrs.rhs_batch;
    const bool sums =
        (side == 0 ? attrs.lhs_contracting : attrs.rhs_contracting)[0] == minor;
    // The other one is copied to have zeros behind its end; or the result.
    const Shape& copied = sums ? other->shape() : dot->shape();
    if (operand == other || minor < 0 ||
        std::count(batch.begin(), batch.end(), minor) > 0 ||
        copied.ByteSize() > operand->shape().ByteSize() / 2) {
      continue;
    }
    Instruction* rows = RowsFor(operand);
    if (rows == nullptr) continue;
    const int64_t row = rows->shape().dim(minor);
    Builder b(dot->parent());
    b.set_metadata(dot->shared_metadata());
    Shape shape = dot->shape();
    if (sums) {
      PadAttrs pad;
      pad.dims.resize(other->shape().rank());
      pad.dims[(side == 0 ? attrs.rhs_contracting : attrs.lhs_contracting)[0]]
          .high = row - operand->shape().dim(minor);
      other =
          b.Pad(other, b.ConstantScalar(other->shape().type(), 0), pad.dims);
    } else {
      // The last free dimension of its side.
      const int place = side == 0 ? minor - 1 : shape.rank() - 1;
      DimVector dims(shape.dims().begin(), shape.dims().end());
      dims[place] = row;
      shape = Shape::Array(shape.type(), dims);
    }
    Instruction* whole = dot->parent()->AddLike(
        *dot, shape,
        side == 0 ? std::vector<Instruction*>{rows, other}
                  : std::vector<Instruction*>{other, rows});
    const DimVector starts(dot->shape().rank(), 0);
    dot->parent()->Replace(
        dot, sums ? whole
                  : b.Slice(whole, starts,
                            DimVector(dot->shape().dims().begin(),
                                      dot->shape().dims().end())));
    return whole;
  }
  return dot;
}

}  // namespace ptxla::hlo
