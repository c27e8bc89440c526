// TileFormula: values per row, as registers that hold each row's on all lanes.
//
// In memory such values lie along lanes (f32[batch, rows]). Once per step a
// loop loads rows of 128 of them, permutes them to 8 rows a register, computes
// what the formula makes of them alone (the inverse of a softmax's sum), and
// leaves it in scratch.
#include <algorithm>

#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/codegen/spaces.h"
#include "hlo_backend/lowering/products/epilogue_types.h"
#include "hlo_backend/lowering/products/row_results.h"
#include "hlo_backend/lowering/products/tile_formula.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Sca;
using codegen::Vec;
using hlo::PrimitiveType;
using isa::Opcode;

namespace {

// Memory of the table, for the code builder: apart from windows.
// Rows of 128 values that one block of code expands: enough to fill the XLUs,
// few enough for the registers.
constexpr int64_t kTogether = 4;

}  // namespace

absl::StatusOr<TileFormula::Leaf> TileFormula::DescribeRows(
    int number, const PhysicalArray& array) const {
  const ExprNode& node = e_.nodes[number];
  const int minor = e_.space.rank() - 1;
  const auto refuse = [&] {
    return RefuseInEpilogue(*node.instr, "an operand of this form");
  };
  const int last = array.rank() - 1;
  if ((folded_ && member_rows_ == 0) || minor < 1 || last < 0 ||
      (array.bits != 32 && !IsNarrowLine(array)) ||
      node.map[array.dims[last]] != minor - 1) {
    return refuse();
  }
  if (folded_) {
    // Lines of 128 values belong to one member, and a line's number is divided
    // by a multiplication.
    const int64_t lines = member_rows_ / isa::kLanes;
    if (member_rows_ % isa::kLanes != 0 || last == 0 ||
        array.planes * array.rows * lines * lines >= (1 << 16)) {
      return refuse();
    }
  }
  if (last > 0) {
    // Boxes of planes are no range of members.
    if (windowed_) return refuse();
    // All batch dimensions, in order.
    if (array.rank() != minor) return refuse();
    for (int d = 0; d < last; ++d) {
      if (array.sizes[d] != e_.space.sizes[d] ||
          (array.sizes[d] > 1 && node.map[array.dims[d]] != d)) {
        return refuse();
      }
    }
    if (!HasMemberLines(array)) return refuse();
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
  const int64_t members = RowsAreShared() ? 1 : tile.block_b;
  return RowEntries() * members * RoundUpTo<int64_t>(tile.block_m, 16) / 8 *
         isa::kVregBytes;
}

bool TileFormula::RowsAreShared() const {
  return !folded_ &&
         std::all_of(leaves_.begin(), leaves_.end(), [](const Leaf& leaf) {
           return leaf.form != Form::kRows || leaf.array.rank() == 1;
         });
}

int32_t TileFormula::RowTableOffset(size_t entry, int64_t batch,
                                    int64_t row) const {
  const int64_t tiles = RoundUpTo<int64_t>(row_block_, 16) / 8;
  int64_t plane = static_cast<int64_t>(entry);
  if (!RowsAreShared()) plane = plane * batch_block_ + batch;
  return static_cast<int32_t>((plane * tiles + row / 8) * isa::kVregBytes);
}

Vec TileFormula::RowValue(size_t entry, int tile, const Position& at) {
  // Beside the values of nodes: entries have negative keys.
  Value& value = row_values_[{-1 - static_cast<int>(entry), tile}];
  if (!value.vec.valid()) {
    value =
        Value::Of(b_->Load(SpaceOf(0) + codegen::kRowTableSpace, rows_base_,
                           RowTableOffset(entry, at.batch, at.row + 8 * tile)));
  }
  return value.vec;
}

absl::Status TileFormula::FillTile(const std::vector<Vec>& words, int64_t tile,
                                   Sca table, int64_t batch, int64_t row) {
  CodeBuilder& b = *b_;
  Vec index = sublanes_;
  if (tile % 16 != 0) {
    index = b.BinaryImm(Opcode::kVaddS32, index,
                        static_cast<uint32_t>(8 * (tile % 16)));
  }
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
    b.Store(SpaceOf(0) + codegen::kRowTableSpace, table,
            RowTableOffset(entry, batch, row),
            rows_[entry].reciprocal ? EmitReciprocal(b, v.vec) : v.vec);
  }
  row_leaves_.clear();
  ClearTiles();
  ClearRows();
  return absl::OkStatus();
}

absl::Status TileFormula::FillBand(int64_t batch, int64_t row) {
  CodeBuilder& b = *b_;
  std::vector<Vec> words;
  for (const Leaf& leaf : leaves_) {
    if (leaf.form != Form::kRows) {
      words.emplace_back();
      continue;
    }
    // One address for each member, or for each of its lines where they lie
    // apart.
    const int64_t group = row / isa::kLanes;
    if (IsNarrowLine(leaf.array)) {
      words.push_back(
          LoadNarrowLine(leaf, b.SImm(static_cast<int32_t>(group))));
      continue;
    }
    Sca& line = batch_rows_[{leaf.node, folded_ ? group : batch}];
    if (!line.valid()) {
      const Sca member =
          first_member_.valid()
              ? b.SAddImm(first_member_, static_cast<int32_t>(batch))
              : b.SImm(static_cast<int32_t>(batch));
      line = LineOf(leaf, member,
                    b.SImm(static_cast<int32_t>(folded_ ? group : 0)));
    }
    words.push_back(b.LoadRow(
        leaf.place.space, line,
        static_cast<int32_t>(folded_ ? 0 : group * LinePitch(leaf.array))));
  }
  for (int64_t tile = row / 8; tile < row / 8 + 2; ++tile) {
    RETURN_IF_ERROR(FillTile(words, tile, rows_base_, batch, 8 * tile));
  }
  return absl::OkStatus();
}

absl::Status TileFormula::FillRows(CodeBuilder& b) {
  if (rows_.empty()) return absl::OkStatus();
  const int64_t groups = CeilOfRatio<int64_t>(row_block_, isa::kLanes);
  const int64_t tiles = RoundUpTo<int64_t>(row_block_, 16) / 8;
  // `count` rows of 128 values from the `first`, of the member at hand and
  // those behind it.
  const auto expand = [&](Sca member, int64_t members, Sca group, int64_t first,
                          int64_t count) -> absl::Status {
    b.NewBlock("values per row");
    for (int64_t u = 0; u < members; ++u) {
      Sca number = member.valid() ? b.SAddImm(member, static_cast<int32_t>(u))
                                  : b.SImm(static_cast<int32_t>(u));
      if (first_member_.valid()) number = b.SAdd(first_member_, number);
      Sca target = rows_base_;
      if (member.valid()) {
        target = b.SAdd(
            target,
            b.SMulImm(member, static_cast<int32_t>(tiles * isa::kVregBytes)));
      }
      if (group.valid()) {
        target = b.SAdd(
            target,
            b.SMulImm(group, static_cast<int32_t>(16 * isa::kVregBytes)));
      }
      std::vector<Sca> lines(leaves_.size());
      for (int64_t g = first; g < first + count; ++g) {
        std::vector<Vec> words(leaves_.size());
        for (size_t k = 0; k < leaves_.size(); ++k) {
          const Leaf& leaf = leaves_[k];
          if (leaf.form != Form::kRows) continue;
          const bool narrow = IsNarrowLine(leaf.array);
          Sca at;
          // Lines of several members lie apart.
          if (g == first || folded_ || narrow) {
            at = b.SImm(static_cast<int32_t>(g));
            if (group.valid()) at = b.SAdd(at, group);
          }
          if (narrow) {
            words[k] = LoadNarrowLine(leaf, at);
            continue;
          }
          if (at.valid()) lines[k] = LineOf(leaf, number, at);
          words[k] =
              b.LoadRow(leaf.place.space, lines[k],
                        static_cast<int32_t>(
                            folded_ ? 0 : (g - first) * LinePitch(leaf.array)));
        }
        for (int64_t t = 16 * g; t < 16 * g + 16; ++t) {
          // In a loop every group is whole.
          if (!group.valid() && t >= tiles) break;
          RETURN_IF_ERROR(FillTile(words, t, target, u, 8 * t));
        }
      }
    }
    return absl::OkStatus();
  };
  // Short members several at a time.
  const int64_t all = RowsAreShared() ? 1 : batch_block_;
  int64_t together = 1;
  while (groups * together * 2 <= kTogether && all % (together * 2) == 0) {
    together *= 2;
  }
  Sca member;
  if (all > together) {
    member = b.BeginLoop(all / together, static_cast<int32_t>(together));
  }
  const int64_t whole = row_block_ / isa::kLanes / kTogether;
  int64_t done = 0;
  if (whole > 1) {
    const Sca group = b.BeginLoop(whole, kTogether);
    RETURN_IF_ERROR(expand(member, 1, group, 0, kTogether));
    b.EndLoop();
    done = whole * kTogether;
  }
  for (; done < groups; done += kTogether) {
    RETURN_IF_ERROR(
        expand(member, together, {}, done, std::min(kTogether, groups - done)));
  }
  if (all > together) b.EndLoop();
  BeginBlock();
  return absl::OkStatus();
}

}  // namespace ptxla::lowering
