#include "hlo_backend/lowering/products/tile_formula.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/fusion/node_math.h"
#include "hlo_backend/lowering/products/epilogue_types.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Sca;
using codegen::Vec;
using hlo::PrimitiveType;
using isa::Opcode;

absl::Status TileFormula::DescribeLeaves(bool folded, bool windowed) {
  folded_ = folded;
  windowed_ = windowed;
  const int minor = e_.space.rank() - 1;
  member_rows_ =
      folded && !windowed && minor > 0 ? e_.space.sizes[minor - 1] : 0;
  leaf_of_node_.assign(e_.nodes.size(), -1);
  for (int node : e_.Leaves()) {
    if (e_.nodes[node].argument >= Expression::kReduced) continue;
    ASSIGN_OR_RETURN(Leaf leaf, DescribeLeaf(node));
    leaf_of_node_[node] = static_cast<int>(leaves_.size());
    leaves_.push_back(std::move(leaf));
  }
  return PlanRows();
}

int64_t TileFormula::LeafBytesPerElement() const {
  int64_t bytes = 0;
  for (const Leaf& leaf : leaves_) {
    if (leaf.form == Form::kTile && !leaf.view.resident) {
      bytes += BytesOf(leaf.view.type);
    }
  }
  return bytes;
}

std::vector<SharedTiles> TileFormula::TilesOfSharedLeaves() const {
  std::vector<SharedTiles> tiles;
  for (const Leaf& leaf : leaves_) {
    if (leaf.form == Form::kTile && leaf.shared() && !leaf.view.resident) {
      tiles.push_back({leaf.members, BytesOf(leaf.view.type)});
    }
  }
  return tiles;
}

int64_t TileFormula::WholeLeafBytes() const {
  int64_t bytes = 0;
  for (const Leaf& leaf : leaves_) {
    if (leaf.form != Form::kTile && leaf.form != Form::kScalar) {
      bytes += RoundUpTo<int64_t>(leaf.array.bytes(), isa::kVregBytes);
    }
  }
  return bytes;
}

void TileFormula::AddShared(ProductProblem* problem) const {
  for (const Leaf& leaf : leaves_) {
    if (leaf.form == Form::kTile && leaf.shared()) {
      problem->shared_members.push_back(leaf.members);
    }
  }
}

bool TileFormula::HasByteLeaf() const {
  return std::any_of(leaves_.begin(), leaves_.end(), [](const Leaf& x) {
    return x.form == Form::kTile && IsByte(x.view.type);
  });
}

int64_t TileFormula::ColumnUnit() const {
  int64_t unit = isa::kLanes;
  for (const Leaf& leaf : leaves_) {
    // A step's columns begin at a whole row of memory: 512 bytes.
    if (leaf.form == Form::kColumns) {
      unit = std::max<int64_t>(unit, isa::kRowBytes / BytesOf(leaf.view.type));
    }
  }
  return unit;
}

void TileFormula::AddLeafWindows(const ProductTile& tile, const GridDims& grid,
                                 int first_space, Tiling* tiling) {
  first_space_ = first_space;
  first_window_ = static_cast<int>(tiling->windows.size());
  for (Leaf& leaf : leaves_) {
    const int arg = e_.nodes[leaf.node].argument;
    if (leaf.form == Form::kTile) {
      leaf.window = AddResultWindow(leaf.view, arg, tile, grid,
                                    isa::Direction::kIn, tiling);
      if (leaf.shared()) {
        ShareWindow(leaf.members, tile.block_b, grid.b, grid.bounds,
                    &tiling->windows.back());
      }
      continue;
    }
    isa::Window w;
    w.arg = arg;
    w.direction = isa::Direction::kIn;
    w.slots = 1;
    const int64_t bytes = tiling->args[arg].bytes;
    if (leaf.form == Form::kScalar && !leaf.view.resident) {
      w.space = isa::Space::kSmem;
      w.inner_bytes = std::min<int64_t>(bytes, isa::kRowBytes);
      w.slot_bytes = isa::kRowBytes;
    } else {
      w.inner_bytes = bytes;
      w.slot_bytes = RoundUpTo<int64_t>(bytes, isa::kVregBytes);
    }
    leaf.window = static_cast<int>(tiling->windows.size());
    tiling->windows.push_back(std::move(w));
  }
  windows_ = tiling->windows;
  grid_ = grid.bounds;
  column_grid_ = grid.n;
  column_block_ = tile.block_n;
  column_steps_ = tile.grid_n;
  row_grid_ = grid.m;
  row_block_ = tile.block_m;
  batch_grid_ = grid.b;
  batch_block_ = tile.block_b;
}

absl::Status TileFormula::StartLeaves(CodeBuilder& b, int uses) {
  b_ = &b;
  first_member_ = {};
  BeginBlock();
  for (Leaf& leaf : leaves_) {
    const isa::Window& window = windows_[leaf.window];
    if (leaf.form == Form::kTile) {
      leaf.place =
          PlaceOf(leaf.view, window, leaf.window, SpaceOf(leaf.window), &b);
      continue;
    }
    leaf.place.space = SpaceOf(leaf.window);
    leaf.place.base = b.GlobalSca();
    b.WindowAddress(leaf.place.base, leaf.window);
    // Where in a resident argument the block begins depends on the step.
    b.SetBank(leaf.place.base,
              leaf.view.resident ? codegen::kUnknownBanks
                                 : CodeBuilder::kAbsoluteBanks,
              0);
    if (leaf.form == Form::kScalar) {
      leaf.scalar = b.GlobalVec();
      if (window.space == isa::Space::kSmem) {
        const Sca word = b.SLoad(leaf.place.space, leaf.place.base, 0);
        b.Move(leaf.scalar, FirstOfWords(leaf.view.type, b.Splat(word)));
        if (IsDivisor(leaf.node)) leaf.inverse = Inverted(leaf.scalar);
        continue;
      }
      const Vec words = b.LoadRow(leaf.place.space, leaf.place.base, 0);
      b.Move(leaf.scalar,
             FirstOfWords(leaf.view.type, b.BroadcastLane(words, 0)));
      if (IsDivisor(leaf.node)) leaf.inverse = Inverted(leaf.scalar);
      continue;
    }
    // The whole array is there: the step's part begins at its grid index.
    if (grid_[batch_grid_] > 1 && !first_member_.valid() &&
        leaf.form != Form::kColumns) {
      const Sca index = b.NewSca();
      b.GridIndex(index, batch_grid_);
      first_member_ = b.GlobalSca();
      b.SMove(first_member_,
              b.SMulImm(index, static_cast<int32_t>(batch_block_)));
    }
    if (leaf.form == Form::kRows) continue;  // tile_rows.cc
    if (column_steps_ > 1) {
      const Sca index = b.NewSca();
      b.GridIndex(index, column_grid_);
      const int64_t bytes =
          leaf.form == Form::kColumns
              ? column_block_ * BytesOf(leaf.view.type)
              : column_block_ / isa::kLanes * leaf.array.tile_bytes();
      b.SBinaryTo(leaf.place.base, Opcode::kSadd, leaf.place.base,
                  b.SMulImm(index, static_cast<int32_t>(bytes)));
    }
  }
  KeepColumns();
  StartIotas(b);
  for (const Leaf& leaf : leaves_) {
    if (leaf.form == Form::kTile && BytesOf(leaf.view.type) < 4) {
      uses |= codegen::NarrowTiles::LoadOf(8 * BytesOf(leaf.view.type));
    }
  }
  narrow_.emplace(&b, uses);
  rows_base_ = {};
  if (rows_.empty()) return absl::OkStatus();
  rows_base_ = b.GlobalSca();
  b.ScratchAddress(rows_base_, static_cast<int32_t>(rows_offset_));
  b.SetBank(rows_base_, CodeBuilder::kAbsoluteBanks,
            static_cast<int32_t>(rows_offset_));
  sublanes_ = b.GlobalVec();
  b.Move(sublanes_, b.BinaryImm(Opcode::kVshrl, b.LaneSequence(), 7));
  return absl::OkStatus();
}

bool TileFormula::IsDivisor(int number) const {
  return std::any_of(
      e_.nodes.begin(), e_.nodes.end(), [&](const ExprNode& node) {
        return node.kind == ExprNode::Kind::kOp && node.inputs.size() == 2 &&
               node.inputs[1] == number && IsRowQuotient(node);
      });
}

Vec TileFormula::Inverted(Vec scalar) {
  const Vec inverse = b_->GlobalVec();
  b_->Move(inverse, EmitReciprocal(*b_, scalar));
  return inverse;
}

Value TileFormula::Known(int node, int tile, const Position& at) {
  const auto leaf = row_leaves_.find(node);
  if (leaf != row_leaves_.end()) return Value::Of(leaf->second);
  if (!row_leaves_.empty()) return {};
  for (size_t k = 0; k < rows_.size(); ++k) {
    if (rows_[k].node == node && !rows_[k].reciprocal) {
      return Value::Of(RowValue(k, tile, at));
    }
  }
  return {};
}

void TileFormula::ClearTiles() {
  values_.clear();
  packed_.clear();
}

void TileFormula::ClearRows() {
  row_values_.clear();
  reciprocals_.clear();
}

absl::StatusOr<Value> TileFormula::Eval(int number, int tile,
                                        const Position& at) {
  const ExprNode& node = e_.nodes[number];
  // What a member's columns read is the same for both tiles.
  const bool columns =
      node.kind == ExprNode::Kind::kLeaf && leaf_of_node_[number] >= 0 &&
      leaves_[leaf_of_node_[number]].form == Form::kBatchColumns;
  const TileKey key = {number, columns ? 0 : tile};
  if (const auto it = values_.find(key); it != values_.end()) return it->second;
  const bool whole_row =
      (node.kind == ExprNode::Kind::kOp || node.kind == ExprNode::Kind::kIota ||
       of_rows_[number]) &&
      !VariesInRow(number);
  if (whole_row) {
    const auto it = row_values_.find(key);
    if (it != row_values_.end()) return it->second;
  }
  Value value = Known(number, tile, at);
  if (value.vec.valid() || value.is_mask()) {
    (of_rows_[number] ? row_values_ : values_)[key] = value;
    return value;
  }
  switch (node.kind) {
    case ExprNode::Kind::kProduct:
      value = Value::Of((*at.sums)[tile]);
      break;
    case ExprNode::Kind::kConstant:
      if (node.type == PrimitiveType::kPred) {
        const int all = node.constant != 0 ? 1 : 0;
        value = Value::Of(b_->Range(0, 128 * all, 0, 8 * all));
      } else {
        value = Value::Of(b_->Imm(node.constant));
      }
      break;
    case ExprNode::Kind::kIota: {
      ASSIGN_OR_RETURN(value, Iota(node, tile, at));
      break;
    }
    case ExprNode::Kind::kLeaf: {
      ASSIGN_OR_RETURN(value, Load(leaves_[leaf_of_node_[number]], tile, at));
      break;
    }
    case ExprNode::Kind::kOp: {
      ASSIGN_OR_RETURN(value, EvalOp(node, tile, at));
      break;
    }
  }
  (whole_row ? row_values_ : values_)[key] = value;
  return value;
}

absl::StatusOr<Value> TileFormula::EvalOp(const ExprNode& node, int tile,
                                          const Position& at) {
  absl::InlinedVector<Value, 3> inputs;
  for (size_t k = 0; k < rows_.size(); ++k) {
    if (!rows_[k].reciprocal || node.inputs.size() != 2 ||
        rows_[k].node != node.inputs[1] || !IsRowQuotient(node)) {
      continue;
    }
    ASSIGN_OR_RETURN(const Value x, Eval(node.inputs[0], tile, at));
    return Value::Of(
        b_->Binary(Opcode::kVmulF32, x.vec, RowValue(k, tile, at)));
  }
  if (IsRowQuotient(node) && leaf_of_node_[node.inputs[1]] >= 0) {
    const Leaf& divisor = leaves_[leaf_of_node_[node.inputs[1]]];
    if (divisor.inverse.valid()) {
      ASSIGN_OR_RETURN(const Value x, Eval(node.inputs[0], tile, at));
      return Value::Of(b_->Binary(Opcode::kVmulF32, x.vec, divisor.inverse));
    }
  }
  if (DividesByColumns(node)) {
    const Leaf& divisor = leaves_[leaf_of_node_[node.inputs[1]]];
    ASSIGN_OR_RETURN(const Value x, Eval(node.inputs[0], tile, at));
    const Vec inverse = divisor.inverse.valid() ? divisor.inverse
                                                : InverseOfColumns(divisor, at);
    return Value::Of(b_->Binary(Opcode::kVmulF32, x.vec, inverse));
  }
  if (const int constant = e_.ImmediateInput(node); constant >= 0) {
    ASSIGN_OR_RETURN(const Value x, Eval(node.inputs[1 - constant], tile, at));
    return EmitWithImmediate(*b_, *node.instr, x,
                             e_.nodes[node.inputs[constant]].constant);
  }
  for (int input : node.inputs) {
    ASSIGN_OR_RETURN(Value v, Eval(input, tile, at));
    inputs.push_back(v);
  }
  if (IsRowQuotient(node)) {
    // A divisor of whole rows is inverted once.
    Vec& reciprocal = reciprocals_[{node.inputs[1], tile}];
    if (!reciprocal.valid()) reciprocal = EmitReciprocal(*b_, inputs[1].vec);
    return Value::Of(b_->Binary(Opcode::kVmulF32, inputs[0].vec, reciprocal));
  }
  return EmitNode(*b_, node, inputs, RoundsInRegisters(node));
}

bool TileFormula::RoundsInRegisters(const ExprNode& node) const {
  if (!IsByteFloat(node.type)) return true;
  const auto number = static_cast<int>(&node - e_.nodes.data());
  return std::any_of(e_.nodes.begin(), e_.nodes.end(), [&](const ExprNode& n) {
    return std::count(n.inputs.begin(), n.inputs.end(), number) > 0;
  });
}

}  // namespace ptxla::lowering
