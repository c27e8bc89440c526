// TileFormula: values per row, as registers that hold each row's on all lanes.
//
// In memory such values lie along lanes (f32[batch, rows]). Once per step a
// loop loads rows of 128 of them, permutes them to 8 rows a register, computes
// what the formula makes of them alone (the inverse of a softmax's sum), and
// leaves it in scratch.
#include <algorithm>

#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/products/epilogue_types.h"
#include "hlo_backend/lowering/products/tile_formula.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Sca;
using codegen::Vec;
using hlo::PrimitiveType;
using isa::Opcode;

namespace {

// Memory of the table, for the code builder: apart from windows.
constexpr int kRowTableSpace = 500;
// Rows of 128 values that one block of code expands: enough to fill the XLUs,
// few enough for the registers.
constexpr int64_t kTogether = 2;

int Log2(int64_t n) {
  int k = 0;
  while ((int64_t{1} << k) < n) ++k;
  return k;
}

// Members of the last batch dimension begin whole tiles: one stride for all.
bool MembersAreRows(const PhysicalArray& a) {
  return a.planes == 1 || a.rows % a.tile_rows == 0;
}

}  // namespace

absl::StatusOr<TileFormula::Leaf> TileFormula::DescribeRows(
    int number, const PhysicalArray& array) const {
  const ExprNode& node = e_.nodes[number];
  const int minor = e_.space.rank() - 1;
  const auto refuse = [&] {
    return RefuseInEpilogue(*node.instr, "an operand of this form");
  };
  const int last = array.rank() - 1;
  if (folded_ || minor < 1 || array.bits != 32 || last < 0 ||
      node.map[array.dims[last]] != minor - 1) {
    return refuse();
  }
  if (last > 0) {
    // All batch dimensions, in order.
    if (array.rank() != minor) return refuse();
    for (int d = 0; d < last; ++d) {
      if (array.sizes[d] != e_.space.sizes[d] ||
          (array.sizes[d] > 1 && node.map[array.dims[d]] != d)) {
        return refuse();
      }
    }
    // A member's number is divided by a multiplication.
    if (!MembersAreRows(array) && (array.rows & (array.rows - 1)) != 0 &&
        array.planes * array.rows * array.rows >= (1 << 16)) {
      return refuse();
    }
  }
  Leaf leaf;
  leaf.node = number;
  leaf.form = Form::kRows;
  ASSIGN_OR_RETURN(leaf.view, MatrixView::Of(node.instr->shape()));
  leaf.array = array;
  return leaf;
}

absl::Status TileFormula::PlanRows() {
  of_rows_.assign(e_.nodes.size(), false);
  std::vector<bool> constant(e_.nodes.size(), false);
  for (size_t n = 0; n < e_.nodes.size(); ++n) {
    const ExprNode& node = e_.nodes[n];
    switch (node.kind) {
      case ExprNode::Kind::kLeaf: {
        const bool inside = node.argument < Expression::kReduced;
        const Form form = inside ? leaves_[leaf_of_node_[n]].form : Form::kTile;
        of_rows_[n] = inside && form == Form::kRows;
        constant[n] = inside && form == Form::kScalar;
        break;
      }
      case ExprNode::Kind::kConstant:
        constant[n] = true;
        break;
      case ExprNode::Kind::kOp: {
        bool rows = false, only = true;
        for (int input : node.inputs) {
          rows |= of_rows_[input];
          only &= of_rows_[input] || constant[input];
        }
        of_rows_[n] = rows && only;
        break;
      }
      default:
        break;
    }
  }
  const auto add = [&](int node, bool reciprocal) {
    for (const RowEntry& entry : rows_) {
      if (entry.node == node && entry.reciprocal == reciprocal) return;
    }
    rows_.push_back({node, reciprocal});
  };
  for (size_t n = 0; n < e_.nodes.size(); ++n) {
    const ExprNode& node = e_.nodes[n];
    for (size_t k = 0; k < node.inputs.size(); ++k) {
      const int input = node.inputs[k];
      if (of_rows_[n] || !of_rows_[input]) continue;
      if (e_.nodes[input].type == PrimitiveType::kPred) {
        return RefuseInEpilogue(*node.instr, "a logical value per row");
      }
      add(input, k == 1 && IsRowQuotient(node));
    }
  }
  for (int root : e_.roots) {
    if (of_rows_[root]) {
      return RefuseInEpilogue(*e_.nodes[root].instr, "one value per row alone");
    }
  }
  return absl::OkStatus();
}

int64_t TileFormula::RowTableBytes(const ProductTile& tile) const {
  return RowEntries() * tile.block_b * RoundUpTo<int64_t>(tile.block_m, 16) /
         8 * isa::kVregBytes;
}

int32_t TileFormula::RowTableOffset(size_t entry, int64_t batch,
                                    int64_t row) const {
  const int64_t tiles = RoundUpTo<int64_t>(row_block_, 16) / 8;
  return static_cast<int32_t>(
      ((static_cast<int64_t>(entry) * batch_block_ + batch) * tiles + row / 8) *
      isa::kVregBytes);
}

Vec TileFormula::RowValue(size_t entry, int tile, const Position& at) {
  // Beside the values of nodes: entries have negative keys.
  Value& value = row_values_[-1 - (static_cast<int64_t>(entry) * 2 + tile)];
  if (!value.vec.valid()) {
    value =
        Value::Of(b_->Load(SpaceOf(0) + kRowTableSpace, rows_base_,
                           RowTableOffset(entry, at.batch, at.row + 8 * tile)));
  }
  return value.vec;
}

// The first line of a batch member's values.
Sca TileFormula::LineOf(const Leaf& leaf, Sca from, Sca member) {
  CodeBuilder& b = *b_;
  const PhysicalArray& a = leaf.array;
  if (a.rank() < 2 || a.planes * a.rows == 1) return from;
  Sca row = member, line = from;
  if (!MembersAreRows(a)) {
    constexpr int kShift = 16;
    const Sca plane =
        a.rows == 1 ? member
                    : b.SBinaryImm(
                          Opcode::kSshrl,
                          b.SMulImm(member, static_cast<int32_t>(CeilOfRatio(
                                                int64_t{1} << kShift, a.rows))),
                          kShift);
    row = b.SAdd(member, b.SMulImm(plane, static_cast<int32_t>(-a.rows)));
    line =
        b.SAdd(line, b.SMulImm(plane, static_cast<int32_t>(a.plane_stride())));
  }
  const Sca tile = b.SBinaryImm(Opcode::kSshrl, row, Log2(a.tile_rows));
  const Sca inside =
      b.SBinaryImm(Opcode::kSand, row, static_cast<int32_t>(a.tile_rows - 1));
  line = b.SAdd(line, b.SMulImm(tile, static_cast<int32_t>(a.row_stride())));
  return b.SAdd(line, b.SMulImm(inside, isa::kRowBytes));
}

absl::Status TileFormula::FillRows(CodeBuilder& b) {
  if (rows_.empty()) return absl::OkStatus();
  rows_base_ = b.GlobalSca();
  b.NewBlock("values per row");
  b.ScratchAddress(rows_base_, static_cast<int32_t>(rows_offset_));
  b.SetBank(rows_base_, CodeBuilder::kAbsoluteBanks,
            static_cast<int32_t>(rows_offset_));
  const int64_t groups = CeilOfRatio<int64_t>(row_block_, isa::kLanes);
  const int64_t tiles = RoundUpTo<int64_t>(row_block_, 16) / 8;
  // `count` rows of 128 values from the `first`, of the member at hand.
  const auto expand = [&](Sca member, Sca group, int64_t first,
                          int64_t count) -> absl::Status {
    b.NewBlock("values per row");
    const Sca number =
        first_member_.valid()
            ? (member.valid() ? b.SAdd(first_member_, member) : first_member_)
        : member.valid() ? member
                         : b.SImm(0);
    const Vec sublanes = b.BinaryImm(Opcode::kVshrl, b.LaneSequence(), 7);
    std::vector<Sca> lines;
    for (const Leaf& leaf : leaves_) {
      if (leaf.form != Form::kRows) {
        lines.push_back({});
        continue;
      }
      const int64_t pitch =
          leaf.array.rank() < 2 ? isa::kRowBytes : leaf.array.tile_bytes();
      Sca from = leaf.place.base;
      if (grid_[row_grid_] > 1) {
        const Sca index = b.NewSca();
        b.GridIndex(index, row_grid_);
        from = b.SAdd(
            from, b.SMulImm(index, static_cast<int32_t>(row_block_ /
                                                        isa::kLanes * pitch)));
      }
      if (group.valid()) {
        from = b.SAdd(from, b.SMulImm(group, static_cast<int32_t>(pitch)));
      }
      lines.push_back(LineOf(leaf, from, number));
      b.SetBank(lines.back(), codegen::kUnknownBanks, 0);
    }
    Sca target = rows_base_;
    if (member.valid()) {
      target = b.SAdd(
          target,
          b.SMulImm(member, static_cast<int32_t>(tiles * isa::kVregBytes)));
    }
    if (group.valid()) {
      target = b.SAdd(
          target, b.SMulImm(group, static_cast<int32_t>(16 * isa::kVregBytes)));
    }
    for (int64_t g = first; g < first + count; ++g) {
      std::vector<Vec> words;
      for (size_t k = 0; k < leaves_.size(); ++k) {
        if (leaves_[k].form != Form::kRows) {
          words.emplace_back();
          continue;
        }
        const int64_t pitch = leaves_[k].array.rank() < 2
                                  ? isa::kRowBytes
                                  : leaves_[k].array.tile_bytes();
        words.push_back(b.LoadRow(leaves_[k].place.space, lines[k],
                                  static_cast<int32_t>(g * pitch)));
      }
      for (int64_t t = 16 * g; t < 16 * g + 16; ++t) {
        // In a loop every group is whole.
        if (!group.valid() && t >= tiles) break;
        const Vec index =
            t % 16 == 0 ? sublanes
                        : b.BinaryImm(Opcode::kVaddS32, sublanes,
                                      static_cast<uint32_t>(8 * (t % 16)));
        ClearTiles();
        ClearRows();
        row_leaves_.clear();
        for (size_t k = 0; k < leaves_.size(); ++k) {
          if (leaves_[k].form != Form::kRows) continue;
          row_leaves_[leaves_[k].node] = b.Permute(words[k], index);
        }
        const Position at{0, 0, 0, nullptr};
        for (size_t entry = 0; entry < rows_.size(); ++entry) {
          ASSIGN_OR_RETURN(const Value v, Eval(rows_[entry].node, 0, at));
          b.Store(SpaceOf(0) + kRowTableSpace, target,
                  RowTableOffset(entry, 0, 8 * t),
                  rows_[entry].reciprocal ? EmitReciprocal(b, v.vec) : v.vec);
        }
      }
    }
    return absl::OkStatus();
  };
  Sca member;
  if (batch_block_ > 1) member = b.BeginLoop(batch_block_, 1);
  const int64_t whole = row_block_ / isa::kLanes / kTogether;
  int64_t done = 0;
  if (whole > 1) {
    const Sca group = b.BeginLoop(whole, kTogether);
    RETURN_IF_ERROR(expand(member, group, 0, kTogether));
    b.EndLoop();
    done = whole * kTogether;
  }
  for (; done < groups; done += kTogether) {
    RETURN_IF_ERROR(
        expand(member, {}, done, std::min(kTogether, groups - done)));
  }
  if (batch_block_ > 1) b.EndLoop();
  row_leaves_.clear();
  ClearTiles();
  ClearRows();
  BeginBlock();
  return absl::OkStatus();
}

}  // namespace ptxla::lowering
