#include "hlo_backend/passes/layout/movement_shaper.h"

#include <algorithm>
#include <vector>

#include "base/units.h"
#include "chips/compiler_policy.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/layout/dilated_pads.h"
#include "hlo_backend/passes/layout/dimension_order.h"
#include "hlo_backend/passes/layout/dropped_lanes.h"
#include "hlo_backend/passes/layout/picked_planes.h"
#include "hlo_backend/passes/layout/strided_slices.h"
#include "hlo_backend/passes/layout/transposed.h"
#include "hlo_backend/passes/layout/update_parts.h"

namespace ptxla::hlo {
namespace {

constexpr int64_t kManyElements = int64_t{1} << 20;
// Of VMEM for a part of an update, ASSUMED: with it go what it is blended into
// and the tiles around both.
constexpr int64_t kUpdateShare = 8;

// Rows of a tile, of which one word of a sublane holds 32 / bits.
int64_t TileRows(int bits) { return 8 * 32 / bits; }

// Narrow elements that change places inside of words or between lanes.
bool NeedsWords(const Instruction& i) {
  const PrimitiveType type = i.shape().type();
  const int bits = BitWidth(type);
  if (i.opcode() != Opcode::kTranspose || i.shape().rank() < 2 ||
      IsComplex(type) || (bits != 8 && bits != 16) ||
      type == PrimitiveType::kBf16 || i.shape().ElementCount() < kManyLanes) {
    return false;
  }
  const auto dims = i.dimensions();
  const int rank = i.shape().rank();
  const bool lanes = dims[rank - 1] != rank - 1;
  return lanes || (bits == 8 && dims[rank - 2] != rank - 2);
}

Instruction* AsWords(Instruction* i) {
  Builder b(i->parent());
  b.set_metadata(i->shared_metadata());
  const PrimitiveType type = i->shape().type();
  const PrimitiveType wide = IsFloat(type) ? PrimitiveType::kF32 : kS32;
  Instruction* words = b.Convert(i->operand(0), wide);
  words = i->opcode() == Opcode::kTranspose
              ? b.Transpose(words, i->dimensions())
              : b.Reshape(words, i->shape().dims());
  return b.Convert(words, type);
}

bool IsNarrow(const Shape& shape) {
  const int bits = BitWidth(shape.type());
  return !IsComplex(shape.type()) && (bits == 8 || bits == 16);
}

// Rows of one narrow element become lanes; or rows that are not whole ones of
// lanes a line, or the other way round, so many that no two blocks are alike.
bool IsNarrowReflow(const Instruction& i) {
  if (i.opcode() != Opcode::kReshape || !IsNarrow(i.shape())) return false;
  const Shape& from = i.operand(0)->shape();
  const int rank = i.shape().rank();
  const int64_t elements = i.shape().ElementCount();
  if (rank > 0 && from.rank() == rank + 1 && from.dim(rank) == 1) {
    return elements >= kManyLanes && from.dim(rank - 1) > 1;
  }
  const auto ragged = [](const Shape& line, const Shape& rows) {
    return line.rank() == 1 && rows.rank() > 1 &&
           rows.dim(rows.rank() - 1) % 128 != 0;
  };
  return elements >= kManyElements &&
         (ragged(from, i.shape()) || ragged(i.shape(), from));
}

// [..., r, a, b] and [..., r, a b], in one direction or the other, whose r rows
// are no whole tiles: the dimension of r, or -1. Rows beyond the last tile
// would be pieces of every block.
int RaggedRows(const Instruction& i) {
  if (i.opcode() != Opcode::kReshape ||
      i.shape().ElementCount() < kManyElements) {
    return -1;
  }
  const Shape& from = i.operand(0)->shape();
  const Shape& few = from.rank() < i.shape().rank() ? from : i.shape();
  const Shape& many = from.rank() < i.shape().rank() ? i.shape() : from;
  const int rows = few.rank() - 2;
  if (rows < 0 || many.rank() <= few.rank() ||
      many.dim(many.rank() - 1) == few.dim(rows + 1)) {
    return -1;
  }
  for (int d = 0; d <= rows; ++d) {
    if (few.dim(d) != many.dim(d)) return -1;
  }
  const int bits = BitWidth(few.type());
  if (bits != 8 && bits != 16 && bits != 32) return -1;
  return few.dim(rows) % TileRows(bits) == 0 ? -1 : rows;
}

Instruction* InWholeTiles(Instruction* i, int rows) {
  Builder b(i->parent());
  b.set_metadata(i->shared_metadata());
  Instruction* x = i->operand(0);
  const int64_t more =
      RoundUpTo(x->shape().dim(rows), TileRows(BitWidth(x->shape().type()))) -
      x->shape().dim(rows);
  std::vector<PaddingDim> padding(x->shape().rank());
  padding[rows].high = more;
  const DimVector result = i->shape().dims();
  DimVector whole = result;
  whole[rows] += more;
  Instruction* padded =
      b.Pad(x, b.ConstantScalar(x->shape().type(), 0), padding);
  return b.Slice(b.Reshape(padded, whole), DimVector(result.size(), 0), result);
}

// Planes of one are none: a reshape that regroups the others has kernels of
// fewer dimensions. Null: it has no such planes, or only they change.
Instruction* WithoutPlanesOfOne(Instruction* i) {
  const Shape &from = i->operand(0)->shape(), &to = i->shape();
  const DimVector in = DropOuterUnitDims(from.dims()),
                  out = DropOuterUnitDims(to.dims());
  if ((in == from.dims() && out == to.dims()) ||
      DropUnitDims(from.dims()) == DropUnitDims(to.dims())) {
    return nullptr;
  }
  Builder b(i->parent());
  b.set_metadata(i->shared_metadata());
  Instruction* x = i->operand(0);
  if (in != from.dims()) x = b.Reshape(x, in);
  x = b.Reshape(x, out);
  return out == to.dims() ? x : b.Reshape(x, to.dims());
}

// Lanes become rows of one element.
bool IsColumn(const Instruction& i) {
  if (i.opcode() != Opcode::kReshape) return false;
  const Shape& from = i.operand(0)->shape();
  const int rank = i.shape().rank();
  if (rank < 2 || from.rank() != rank - 1 || i.shape().dim(rank - 1) != 1 ||
      i.shape().dim(rank - 2) < 2) {
    return false;
  }
  for (int d = 0; d + 1 < rank; ++d) {
    if (from.dim(d) != i.shape().dim(d)) return false;
  }
  return true;
}

Instruction* Column(Instruction* i) {
  Builder b(i->parent());
  b.set_metadata(i->shared_metadata());
  const int rank = i->shape().rank();
  DimVector dims = i->operand(0)->shape().dims(), order;
  dims.insert(dims.end() - 1, 1);
  for (int d = 0; d + 2 < rank; ++d) order.push_back(d);
  order.push_back(rank - 1);
  order.push_back(rank - 2);
  return b.Transpose(b.Reshape(i->operand(0), dims), order);
}

// What leads to planes, or from them, meets what the program has there: the
// order between the two may be one whose tiles are nearly empty.
bool IsSecondTranspose(const Instruction& i) {
  return i.opcode() == Opcode::kTranspose &&
         i.operand(0)->opcode() == Opcode::kTranspose &&
         !i.operand(0)->shape().has_layout();
}

Instruction* AsOne(Instruction* i) {
  Builder b(i->parent());
  b.set_metadata(i->shared_metadata());
  return Transposed(&b, i->operand(0), i->dimensions());
}

// All that is reversed lies whole in each of several steps of a kernel, so that
// full rows change places while they are copied: windows in and out, two slots
// of each, and a strip between them, two where rows do not fill their tiles.
// Rows of few lanes are mostly padding.
bool FitsOneStep(const Instruction& reverse, const PassContext& context) {
  constexpr int64_t kSlots = 4;
  const Shape& shape = reverse.shape();
  const auto& dims = shape.dims();
  const auto& reversed = reverse.dimensions();
  const int64_t outermost = *std::min_element(reversed.begin(), reversed.end());
  const DimVector whole(dims.begin() + outermost, dims.end());
  if (context.chip == nullptr || dims.back() < kLanes ||
      Product(whole) == shape.ElementCount()) {
    return false;
  }
  const bool is_ragged =
      dims[dims.size() - 2] % TileRows(BitWidth(shape.type())) != 0;
  const int64_t bytes =
      TpuBytes(Shape::Array(shape.type(), whole), GenerationOf(context)) *
      (kSlots + (is_ragged ? 2 : 1));
  return static_cast<double>(bytes) <=
         chips::CompilerPolicy(*context.chip, "reversed_rows_vmem_share") *
             static_cast<double>(context.chip->vmem().scoped_limit.count());
}

// Lanes are turned round where they are (lowering/movement/lane_reverse.h),
// unless most of them are padding or rows are too long. ASSUMED.
bool FillLanes(const Shape& shape) {
  constexpr int64_t kLeast = 64, kMost = 65536;
  return shape.dims().back() >= kLeast && shape.dims().back() <= kMost;
}

// A line, as rows of 128 that are turned and change places. What fills the last
// row is in front then.
Instruction* ReversedLine(Instruction* i) {
  if (i->shape().ElementCount() < kManyElements) return nullptr;
  Builder b(i->parent());
  b.set_metadata(i->shared_metadata());
  const int64_t n = i->shape().dim(0), all = RoundUpTo(n, kManyLanes);
  Instruction* x = i->operand(0);
  if (all > n) {
    x = b.Pad(x, b.Zero(x->shape().type()), {PaddingDim{0, all - n, 0}});
  }
  x = b.Reverse(b.Reshape(x, {all / kLanes, kLanes}), {0, 1});
  x = b.Reshape(x, {all});
  return all == n ? x : b.Slice(x, {all - n}, {all});
}

Instruction* Reversed(Instruction* i, const PassContext& context) {
  if (i->shape().rank() == 1) return ReversedLine(i);
  const int generation = GenerationOf(context);
  const int64_t rows = i->shape().rank() - 2;
  Builder b(i->parent());
  b.set_metadata(i->shared_metadata());
  Instruction* x = i->operand(0);
  DimVector rest;
  bool picks = false;
  for (int64_t d : i->dimensions()) {
    const int64_t n = i->shape().dim(static_cast<int>(d));
    const bool stays = d == rows && FitsOneStep(*i, context);
    if (!MovesMany(*i, d) || n == 1 || stays) {
      rest.push_back(d);
      continue;
    }
    if (d == rows + 1 && FillLanes(i->shape())) {
      if (i->dimensions().size() == 1) return nullptr;
      x = b.Reverse(x, {d});
    } else {
      x = PickedPlanes(b, x, d, n - 1, -1, n, generation);
    }
    picks = true;
  }
  if (!picks) return nullptr;
  return rest.empty() ? x : b.Reverse(x, rest);
}

// Rows or lanes that are put together one by one (the states of a network that
// a program unrolls): each would be a row of every tile. As planes they lie
// side by side, and are turned once.
Instruction* Stacked(Instruction* i) {
  // ASSUMED: two tiles of rows, and of elements what makes a pass of their own
  // worth while.
  constexpr int kFewest = 16;
  constexpr int64_t kFewestElements = kManyElements / 16;
  const int rank = i->shape().rank();
  const auto d = static_cast<int>(i->dimensions()[0]);
  if (d == 0 || d < rank - 2 || i->operand_count() < kFewest ||
      i->shape().ElementCount() < kFewestElements ||
      std::any_of(
          i->operands().begin(), i->operands().end(),
          [d](const Instruction* x) { return x->shape().dim(d) != 1; }) ||
      std::any_of(i->users().begin(), i->users().end(),
                  [](const Instruction* user) {
                    return user->opcode() == Opcode::kDot;
                  })) {
    return nullptr;
  }
  Builder b(i->parent());
  b.set_metadata(i->shared_metadata());
  DimVector plane = i->shape().dims(), order;
  plane.erase(plane.begin() + d);
  plane.insert(plane.begin(), 1);
  for (int k = 0; k < rank; ++k)
    order.push_back(k == d ? 0 : k < d ? k + 1 : k);
  std::vector<Instruction*> planes;
  for (Instruction* x : i->operands()) planes.push_back(b.Reshape(x, plane));
  return b.Transpose(b.Concatenate(planes, 0), order);
}

Instruction* Shaped(Instruction* i, const PassContext& context) {
  if (NeedsWords(*i)) return AsWords(i);
  if (IsNarrowReflow(*i)) return AsWords(i);
  if (const int rows = RaggedRows(*i); rows >= 0) return InWholeTiles(i, rows);
  if (IsColumn(*i)) return Column(i);
  if (IsSecondTranspose(*i)) return AsOne(i);
  if (i->opcode() == Opcode::kReshape) return WithoutPlanesOfOne(i);
  if (i->opcode() == Opcode::kConcatenate) return Stacked(i);
  if (i->opcode() == Opcode::kReverse) return Reversed(i, context);
  if (i->opcode() == Opcode::kSlice) return StridedSlice(i, context);
  if (i->opcode() == Opcode::kPad) return DilatedPad(i, context);
  if (i->opcode() == Opcode::kDynamicUpdateSlice && context.chip != nullptr) {
    return UpdateInParts(
        i, std::min(chips::WholePolicy(*context.chip, "update_box"),
                    context.chip->vmem().scoped_limit.count() / kUpdateShare));
  }
  return nullptr;
}

}  // namespace

absl::StatusOr<bool> MovementShaperPass::Run(Module* module,
                                             const PassContext& context) {
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    changed |= TransposeDroppedLanes(c);
    // What one rule makes may be another's; each makes fewer dimensions or
    // smaller steps, and three rounds are more than any chain of them needs.
    bool more = true;
    for (int round = 0; round < 3 && more; ++round) {
      more = false;
      for (Instruction* i : c->PostOrder()) {
        if (!i->shape().IsArray() || i->shape().has_layout()) continue;
        Instruction* value = Shaped(i, context);
        if (value == nullptr) continue;
        c->Replace(i, value);
        more = changed = true;
      }
    }
    if (changed) c->RemoveDead();
  }
  return changed;
}

}  // namespace ptxla::hlo
