// TileFormula: what it reads beside the sums.
#include <algorithm>

#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/fusion/f16_conversion.h"
#include "hlo_backend/lowering/narrow_type.h"
#include "hlo_backend/lowering/products/epilogue_types.h"
#include "hlo_backend/lowering/products/tile_formula.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Sca;
using codegen::Vec;
using hlo::PrimitiveType;
using isa::Opcode;

absl::StatusOr<TileFormula::Leaf> TileFormula::DescribeLeaf(int number) const {
  const ExprNode& node = e_.nodes[number];
  const hlo::Shape& shape = node.instr->shape();
  if (!IsTileType(shape.type()))
    return RefuseInEpilogue(*node.instr, "a narrow operand");
  Leaf leaf;
  leaf.node = number;
  ASSIGN_OR_RETURN(leaf.view, MatrixView::Of(shape));
  const int minor = e_.space.rank() - 1;
  if (node.depends == 0) {
    leaf.form = Form::kScalar;
    return leaf;
  }
  if (shape.rank() == 1 && node.map[0] == minor) {
    leaf.form = Form::kColumns;
    ASSIGN_OR_RETURN(leaf.array, PhysicalArray::Of(shape));
    return leaf;
  }
  ASSIGN_OR_RETURN(const PhysicalArray array, PhysicalArray::Of(shape));
  const bool per_row =
      minor > 0 && std::count(node.map.begin(), node.map.end(), minor) == 0 &&
      std::count(node.map.begin(), node.map.end(), minor - 1) > 0;
  if (per_row) {
    return DescribeRows(number, array);
  }
  ASSIGN_OR_RETURN(const bool shared, DescribeShared(node, array, &leaf));
  if (shared) return leaf;
  // A tile of the product's own shape: the same dimensions in the same order.
  bool same = array.rank() == e_.space.rank() && array.sizes == e_.space.sizes;
  for (int d = 0; same && d < array.rank(); ++d) {
    same = array.sizes[d] == 1 || node.map[array.dims[d]] == d;
  }
  same = same && (member_rows_ == 0 || leaf.view.FoldPlanes());
  if (!same) return RefuseInEpilogue(*node.instr, "an operand of this form");
  leaf.form = Form::kTile;
  return leaf;
}

// Row and column numbers of the step's first tile, where iotas ask for them.
void TileFormula::StartIotas(CodeBuilder& b) {
  const int minor = e_.space.rank() - 1;
  const auto first = [&](int grid_dim, int64_t block) {
    const Sca index = b.NewSca();
    b.GridIndex(index, grid_dim);
    return b.Splat(b.SMulImm(index, static_cast<int32_t>(block)));
  };
  row_numbers_ = column_numbers_ = {};
  for (const ExprNode& node : e_.nodes) {
    if (node.kind != ExprNode::Kind::kIota) continue;
    if (node.iota_dim == minor && !column_numbers_.valid()) {
      column_numbers_ = b.GlobalVec();
      Vec lanes = b.BinaryImm(Opcode::kVand, b.LaneSequence(), 127);
      if (column_steps_ > 1) {
        lanes = b.Binary(Opcode::kVaddS32, lanes,
                         first(column_grid_, column_block_));
      }
      b.Move(column_numbers_, lanes);
    } else if (node.iota_dim == minor - 1 && !row_numbers_.valid()) {
      row_numbers_ = b.GlobalVec();
      Vec rows = b.BinaryImm(Opcode::kVshrl, b.LaneSequence(), 7);
      if (grid_[row_grid_] > 1) {
        rows = b.Binary(Opcode::kVaddS32, rows, first(row_grid_, row_block_));
      }
      b.Move(row_numbers_, rows);
    }
  }
}

absl::StatusOr<Value> TileFormula::Iota(const ExprNode& node, int tile,
                                        const Position& at) {
  const int minor = e_.space.rank() - 1;
  const bool columns = node.iota_dim == minor;
  // Rows of several dimensions count on where one of them begins anew.
  const bool rows = node.iota_dim == minor - 1 && !folded_ && !windowed_;
  if ((!columns && !rows) ||
      (node.type != PrimitiveType::kS32 && node.type != PrimitiveType::kU32)) {
    return RefuseInEpilogue(*node.instr, "an iota of this form");
  }
  const int64_t first = columns ? at.col : at.row + 8 * tile;
  const Vec numbers = columns ? column_numbers_ : row_numbers_;
  if (first == 0) return Value::Of(numbers);
  return Value::Of(
      b_->BinaryImm(Opcode::kVaddS32, numbers, static_cast<uint32_t>(first)));
}

Vec TileFormula::FirstOfWords(PrimitiveType type, Vec words) const {
  CodeBuilder& b = *b_;
  if (type == PrimitiveType::kBf16) {
    return b.BinaryImm(Opcode::kVshll, words, 16);
  }
  if (type == PrimitiveType::kF16) return WidenF16(b, words);
  if (!IsByte(type)) return words;
  return b.BinaryImm(
      type == PrimitiveType::kS8 ? Opcode::kVshra : Opcode::kVshrl,
      b.BinaryImm(Opcode::kVshll, words, 24), 24);
}

Value TileFormula::FromWords(PrimitiveType type, Vec words) const {
  if (type != PrimitiveType::kPred) return Value::Of(words);
  return Value::Of(b_->CompareImm(Opcode::kVcmpNeS32, words, 0));
}

absl::StatusOr<Value> TileFormula::Load(const Leaf& leaf, int tile,
                                        const Position& at) {
  CodeBuilder& b = *b_;
  const BlockPlace& place = leaf.place;
  const PrimitiveType type = leaf.view.type;
  if (leaf.form == Form::kScalar || leaf.scalar.valid()) {
    return FromWords(type, leaf.scalar);
  }
  if (leaf.form == Form::kBatchColumns) return LoadBatchColumns(leaf, at);
  if (leaf.form == Form::kColumns) {
    // 128 elements are a row; a word holds as many rows that follow each other
    // as it has elements.
    const int64_t parts = 4 / BytesOf(type);
    const int64_t part = at.col / isa::kLanes % parts;
    const Vec words = b.LoadRow(
        place.space, place.base,
        static_cast<int32_t>(at.col / (isa::kLanes * parts) * isa::kRowBytes));
    if (type == PrimitiveType::kBf16 && part == 1) {
      return Value::Of(b.BinaryImm(Opcode::kVand, words, 0xFFFF0000u));
    }
    const Vec lowest =
        part == 0 ? words
                  : b.BinaryImm(Opcode::kVshrl, words,
                                static_cast<uint32_t>(32 / parts * part));
    return FromWords(type, FirstOfWords(type, lowest));
  }
  const auto offset = static_cast<int32_t>(
      place.Offset(leaf.members.Of(at.batch), at.row, at.col));
  // Nothing is read beyond an array in VMEM, which is walked in place.
  const bool resident = leaf.view.resident;
  const bool is_last =
      resident && grid_[row_grid_] == 1 && at.row + 8 >= RowsOf(leaf.view);
  const auto pitch = is_last ? 0 : static_cast<int32_t>(place.row_pitch);
  const auto sublanes = static_cast<int>(
      std::min<int64_t>(isa::kSublanes, leaf.view.tile_bytes / isa::kRowBytes));
  if (BytesOf(leaf.view.type) < 4 &&
      codegen::NarrowTiles::Needed(b.model(), 8 * BytesOf(leaf.view.type))) {
    // An array of one short tile has nothing further down.
    int32_t at_tile = RowsOf(leaf.view) > 8 ? tile * pitch : 0;
    if (leaf.view.tile_rows > 8) {
      at_tile = static_cast<int32_t>(tile * 8 * BytesOf(leaf.view.type) *
                                     isa::kLanes);
    }
    const Vec words = narrow_->Load(NarrowTypeOf(type), place.space, place.base,
                                    offset + at_tile);
    return type == PrimitiveType::kF16 ? Value::Of(WidenUpperF16(b, words))
                                       : FromWords(type, words);
  }
  if (IsByte(leaf.view.type)) {
    // 16 rows are the first four sublanes, or the first two of two tiles.
    const bool tall = leaf.view.tile_rows == 32;
    Vec& packed = packed_[leaf.node];
    if (!packed.valid() || !tall) {
      const int32_t from = tall ? offset : offset + tile * pitch;
      packed = resident ? b.LoadStrided(place.space, place.base, from, 0,
                                        tall ? isa::kSublanes / 2 : sublanes)
                        : b.Load(place.space, place.base, from);
    }
    const bool is_signed = type == PrimitiveType::kS8;
    const Vec words =
        b.Unary(tile == 0 || !tall
                    ? (is_signed ? Opcode::kVunpackC0S8 : Opcode::kVunpackC0U8)
                    : (is_signed ? Opcode::kVunpackC1S8 : Opcode::kVunpackC1U8),
                packed);
    return FromWords(type, words);
  }
  if (BytesOf(type) == 4) {
    const int32_t from = offset + tile * pitch;
    return Value::Of(
        resident && sublanes < isa::kSublanes
            ? b.LoadStrided(place.space, place.base, from, 0, sublanes)
            : b.Load(place.space, place.base, from));
  }
  constexpr int kHalf = isa::kSublanes / 2;
  // Two lower tiles are no halves of a register: each comes by itself.
  const bool apart = resident && sublanes < kHalf;
  Vec& packed = packed_[leaf.node];
  if (apart) {
    packed = b.LoadStrided(place.space, place.base, offset + tile * pitch, 0,
                           sublanes);
  } else if (!packed.valid()) {
    packed = b.LoadStrided(place.space, place.base, offset, pitch, kHalf);
  }
  const int part = apart ? 0 : tile;
  if (type == PrimitiveType::kF16) {
    return Value::Of(UnpackF16(b, packed, part));
  }
  return Value::Of(b.Unary(
      part == 0 ? Opcode::kVunpackCLBf16 : Opcode::kVunpackCHBf16, packed));
}

}  // namespace ptxla::lowering
