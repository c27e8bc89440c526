#include "hlo_backend/lowering/products/operand_prologue.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/analysis/product_batch.h"
#include "hlo_backend/ir/attributes.h"
#include "hlo_backend/lowering/products/epilogue_types.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Sca;
using codegen::Vec;
using hlo::PrimitiveType;
using isa::Opcode;

namespace {

// Registers of 16 rows that a block of code computes at once: about as many as
// the registers hold.
constexpr int64_t kMostAtOnce = 4;

}  // namespace

absl::StatusOr<std::unique_ptr<OperandPrologue>> OperandPrologue::Create(
    const hlo::Instruction& fusion, const hlo::Instruction& value) {
  ASSIGN_OR_RETURN(Expression e, Expression::BuildValue(fusion, value));
  auto prologue =
      std::unique_ptr<OperandPrologue>(new OperandPrologue(std::move(e)));
  for (const ExprNode& node : prologue->e_.nodes) {
    if (node.kind == ExprNode::Kind::kProduct) {
      return RefuseInEpilogue(*node.instr, "a product before a product");
    }
  }
  const hlo::Shape& shape = value.shape();
  bool folded = false;
  for (const hlo::Instruction* i : fusion.fused()->instructions()) {
    folded |= i->opcode() == hlo::Opcode::kConvolution;
    if (i->opcode() != hlo::Opcode::kDot) continue;
    // Planes of K are walked as those of a batch are.
    const auto planes =
        static_cast<int>(i->attrs<hlo::DotAttrs>().lhs_contracting.size() - 1);
    folded = shape.rank() != hlo::ProductBatch(*i) + planes + 2;
  }
  if (shape.type() != PrimitiveType::kF32 &&
      shape.type() != PrimitiveType::kBf16) {
    return RefuseInEpilogue(value, "a computed operand of this form");
  }
  RETURN_IF_ERROR(prologue->DescribeLeaves(folded, false));
  return prologue;
}

void OperandPrologue::AddTo(ProductOperand* operand,
                            const isa::MachineModel& model) {
  const std::vector<codegen::VInstr> code = CodeOf(model, NodesOfTiles());
  operand->computed = true;
  operand->bytes_per_element = LeafBytesPerElement();
  operand->resident = operand->bytes_per_element == 0;
  operand->operations =
      VectorOperations(code) + ShareOfInverses(model) + LeafOperations(model);
  operand->functions = FunctionOperations(code);
  operand->whole_bytes = WholeLeafBytes();
  operand->row_entries = RowEntries();
  operand->row_unit = HasByteLeaf() ? 32 : 16;
  operand->column_unit = ColumnUnit();
  operand->loads = 0;
  for (const Leaf& leaf : leaves_) {
    operand->loads += leaf.form == Form::kTile ? 1 : 0;
  }
  // Results of functions wait in the EUP's queue and hold none meanwhile.
  const bool waits = operand->functions > 0;
  live_registers_ = 2 * PeakVectors(code) + (waits ? 0 : 2);
  rows_lead_ = model.Latency(isa::LatencyKey::kXluPermute, 0) +
               2 * model.Latency(isa::LatencyKey::kEupF32, 0);
  // Load, conversion and mask, then one operation after another.
  constexpr int64_t kBegin = 16;
  lead_ = kBegin;
  for (const codegen::VInstr& v : code) {
    lead_ += isa::Info(v.op).unit == isa::ExecUnit::kEup
                 ? model.Latency(isa::LatencyKey::kEupF32, 0)
                 : 1;
  }
  // The first rows of a member's columns wait for the inverse.
  if (ShareOfInverses(model) > 0) {
    lead_ += model.Latency(isa::LatencyKey::kEupF32, 0);
  }
}

void OperandPrologue::AddWindows(const ProductTile& tile, const GridDims& grid,
                                 bool is_lhs, bool transposed, int first_space,
                                 Tiling* tiling) {
  const int64_t other = is_lhs ? tile.block_m : tile.block_n;
  const int other_dim = is_lhs ? grid.m : grid.n;
  const bool k_rows = is_lhs == transposed;
  // As of a result with the operand's rows and columns.
  ProductTile block = tile;
  GridDims dims = grid;
  block.block_m = k_rows ? tile.block_k : other;
  block.block_n = k_rows ? other : tile.block_k;
  dims.m = k_rows ? grid.k : other_dim;
  dims.n = k_rows ? other_dim : grid.k;
  if (grid.k_planes >= 0) {
    dims.b = grid.k_planes;
    block.block_b = 1;
    block.grid_b = tile.k_planes;
  }
  block.grid_m = grid.bounds[dims.m];
  block.grid_n = grid.bounds[dims.n];
  AddLeafWindows(block, dims, first_space, tiling);
  table_bytes_ = RowTableBytes(block);
}

absl::Status OperandPrologue::Start(CodeBuilder& b) {
  Forget();
  filled_ = false;
  return StartLeaves(b, 0);
}

absl::Status OperandPrologue::MakeAllRows(CodeBuilder& b) {
  if (filled_) return absl::OkStatus();
  filled_ = true;
  return FillRows(b);
}

int64_t OperandPrologue::RowsKey(int64_t batch, int64_t row) const {
  if (RowEntries() == 0) return -1;
  if (RowsAreShared()) batch = 0;
  // Of the two operands: one after the other.
  return (int64_t{first_window_} << 32) + (batch << 16) + row / 16;
}

bool OperandPrologue::MakeRows(int64_t batch, int64_t row) {
  if (filled_ || !made_.insert(RowsKey(batch, row)).second) return false;
  const absl::Status made = FillBand(batch, row);
  if (status_.ok()) status_ = made;
  return true;
}

void OperandPrologue::Forget() {
  ClearTiles();
  ClearRows();
  BeginBlock();
  batch_at_ = row_at_ = -1;
  made_.clear();
}

std::vector<Vec> OperandPrologue::Tiles(int64_t batch, int64_t row,
                                        int64_t lane) {
  ClearTiles();
  if (batch != batch_at_ || row != row_at_) {
    ClearRows();
    batch_at_ = batch;
    row_at_ = row;
  }
  const Position at{batch, row, lane, nullptr};
  std::vector<Vec> tiles;
  for (int tile = 0; tile < 2; ++tile) {
    const absl::StatusOr<Value> v = Eval(e_.roots[0], tile, at);
    if (!v.ok()) {
      if (status_.ok()) status_ = v.status();
      tiles.push_back(b_->Imm(0));
      continue;
    }
    tiles.push_back(v->vec);
  }
  return tiles;
}

void OperandPrologue::BeginRows(Sca index, int64_t rows) {
  CodeBuilder& b = *b_;
  outside_ = {{}, rows_base_, row_numbers_};
  const auto moved = [&](Sca base, int64_t step) {
    const Sca at = b.SAdd(base, b.SMulImm(index, static_cast<int32_t>(step)));
    b.SetBank(at, codegen::kUnknownBanks, 0);
    return at;
  };
  for (Leaf& leaf : leaves_) {
    outside_.leaves.push_back(leaf.place.base);
    if (leaf.form != Form::kTile) continue;
    leaf.place.base = moved(leaf.place.base,
                            rows / leaf.place.tile_rows * leaf.place.row_pitch);
  }
  if (RowEntries() > 0) {
    rows_base_ = moved(rows_base_, rows / 8 * isa::kVregBytes);
  }
  if (row_numbers_.valid()) {
    row_numbers_ =
        b.Binary(Opcode::kVaddS32, row_numbers_,
                 b.Splat(b.SMulImm(index, static_cast<int32_t>(rows))));
  }
}

void OperandPrologue::EndRows() {
  for (size_t k = 0; k < leaves_.size(); ++k) {
    leaves_[k].place.base = outside_.leaves[k];
  }
  rows_base_ = outside_.table;
  row_numbers_ = outside_.numbers;
}

void OperandPrologue::EmitBlock(const BlockPlace& to, int64_t batch,
                                int64_t rows, int64_t columns, CodeBuilder* b) {
  const absl::Status made = MakeAllRows(*b);
  if (status_.ok()) status_ = made;
  const int64_t unit = HasByteLeaf() ? 32 : 16;
  const int64_t tiles = CeilOfRatio<int64_t>(columns, isa::kLanes);
  const int64_t at_once = std::clamp<int64_t>(
      b->model().vregs / 2 / live_registers_, 1, kMostAtOnce);
  const auto compute = [&](int64_t member, int64_t row, int64_t tile,
                           Sca target, int64_t target_row) {
    const auto offset =
        static_cast<int32_t>(to.Offset(member, target_row, tile * isa::kLanes));
    const std::vector<Vec> regs = Tiles(member, row, tile * isa::kLanes);
    if (to.type == PrimitiveType::kF32) {
      for (int k = 0; k < 2; ++k) {
        b->Store(to.space, target,
                 offset + static_cast<int32_t>(k * to.row_pitch), regs[k]);
      }
      return;
    }
    b->StoreStrided(to.space, target, offset,
                    static_cast<int32_t>(to.row_pitch), 4,
                    b->Binary(Opcode::kVpackCBf16, regs[0], regs[1]));
  };
  const int64_t whole = rows / unit;
  for (int64_t member = 0; member < batch; ++member) {
    for (int64_t first = 0; first < tiles; first += at_once) {
      const int64_t end = std::min(tiles, first + at_once);
      if (whole > 0) {
        const Sca block = b->BeginLoop(whole, 1);
        b->NewBlock("compute operand");
        Forget();
        BeginRows(block, unit);
        const Sca target = b->SAdd(
            to.base,
            b->SMulImm(block, static_cast<int32_t>(unit / 8 * to.row_pitch)));
        b->SetBank(target, codegen::kUnknownBanks, 0);
        for (int64_t row = 0; row < unit; row += 16) {
          for (int64_t t = first; t < end; ++t) {
            compute(member, row, t, target, row);
          }
        }
        EndRows();
        b->EndLoop();
      }
      if (whole * unit < rows) {
        b->NewBlock("compute operand");
        Forget();
        for (int64_t t = first; t < end; ++t) {
          compute(member, whole * unit, t, to.base, whole * unit);
        }
      }
    }
  }
  Forget();
}

}  // namespace ptxla::lowering
