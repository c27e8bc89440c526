#include "hlo_backend/lowering/products/row_epilogue.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/fusion/tile_fold.h"
#include "hlo_backend/lowering/products/epilogue_types.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Vec;
using codegen::VInstr;
using isa::Opcode;

namespace {

// Constants beyond these are made where they are used.
constexpr size_t kMostConstants = 2;
constexpr int kRowsOfBand = 16;

}  // namespace

absl::StatusOr<std::unique_ptr<FusionEpilogue>> RowEpilogue::Create(
    const KernelContext& context, const hlo::Instruction& fusion) {
  ASSIGN_OR_RETURN(Expression e, Expression::Build(fusion));
  ASSIGN_OR_RETURN(RowStages stages,
                   RowStages::Of(fusion, e, e.space.rank() - 1));
  auto epilogue = std::unique_ptr<RowEpilogue>(
      new RowEpilogue(std::move(e), std::move(stages)));
  RETURN_IF_ERROR(epilogue->Describe(fusion));
  epilogue->lag_ =
      static_cast<int64_t>(context.chip.Policy("row_lag").value_or(0));
  const Expression& formula = epilogue->e_;
  for (size_t k = 0; k < formula.roots.size(); ++k) {
    if (formula.reduces[k] == nullptr || formula.results[k] < 0) continue;
    if (epilogue->folded_ || epilogue->windowed_) {
      return RefuseInEpilogue(*formula.reduces[k],
                              "a result per row of several dimensions");
    }
    RETURN_IF_ERROR(epilogue->row_results_.Add(
        *formula.reduces[k], epilogue->stages_.reduction_of_root[k],
        formula.results[k], formula.space.rank()));
  }
  return std::unique_ptr<FusionEpilogue>(std::move(epilogue));
}

void RowEpilogue::AddTo(ProductProblem* problem,
                        const isa::MachineModel& model) {
  FusionEpilogue::AddTo(problem, model);
  problem->whole_rows = !OnlyReduces();
  problem->rows_in_turn = OnlyReduces();
  problem->epilogue_whole_bytes += row_results_.bytes();
  row_results_.AddTo(&problem->kept);
  if (!row_results_.empty()) {
    problem->row_unit_of_steps =
        std::max<int64_t>(problem->row_unit_of_steps, isa::kLanes);
    problem->parts_of_rows = RowEntries() == 0;
  }
  problem->row_planes = stages_.planes;
  problem->row_results += static_cast<int64_t>(stages_.reductions.size());
  std::vector<int> stream, later;
  int leaves = 0;
  for (size_t n = 0; n < e_.nodes.size(); ++n) {
    const int node = static_cast<int>(n);
    if (IsOfRows(node)) continue;
    if (e_.node_stage[n] == 0) {
      stream.push_back(node);
    } else if (VariesInRow(node)) {
      later.push_back(node);
    }
    leaves += e_.nodes[n].kind == ExprNode::Kind::kLeaf && VariesInRow(node);
  }
  const std::vector<VInstr> before = CodeOf(model, stream);
  const std::vector<VInstr> after = CodeOf(model, later);
  problem->epilogue_ops = VectorOperations(before) + 1;
  problem->epilogue_functions = FunctionOperations(before);
  live_registers_ = 2 * PeakVectors(before) + 2;
  unit_cycles_ = CyclesOfPasses(
      stages_, after, static_cast<int64_t>(stages_.reductions.size()) + 1,
      leaves, static_cast<int64_t>(results_.size()), model);
  problem->row_cycles = unit_cycles_;
}

void RowEpilogue::AddWindows(const ProductTile& tile, const GridDims& grid,
                             int first_space, Tiling* tiling) {
  FusionEpilogue::AddWindows(tile, grid, first_space, tiling);
  row_results_.AddWindows(tile, grid,
                          static_cast<int>(tiling->args.size()) - outputs_,
                          SpaceOf(0), tiling);
  windows_ = tiling->windows;
  batch_ = tile.block_b;
  table_bytes_ = RowTableBytes(tile);
  rows_of_block_ = RoundUpTo<int64_t>(tile.block_m, kRowsOfBand);
  column_tiles_ = tile.block_n / isa::kLanes;
  columns_ = e_.space.sizes[e_.space.rank() - 1];
  scratch_space_ = first_space_ + static_cast<int>(windows_.size());
}

int64_t RowEpilogue::ScratchBytes(const ProductTile& tile) const {
  const int64_t tiles =
      tile.block_b * RoundUpTo<int64_t>(tile.block_m, kRowsOfBand) / 8;
  return RowTableBytes(tile) +
         tiles * isa::kVregBytes *
             (stages_.planes * (tile.block_n / isa::kLanes) +
              static_cast<int64_t>(stages_.reductions.size())) +
         // A masked store of the last row names a whole register of memory.
         (row_results_.empty() ? 0 : isa::kVregBytes);
}

int32_t RowEpilogue::TileOffset(int plane, int64_t batch, int64_t row,
                                int64_t col) const {
  const int64_t tiles =
      ((plane * batch_ + batch) * (rows_of_block_ / 8) + row / 8) *
          column_tiles_ +
      col / isa::kLanes;
  return static_cast<int32_t>(tiles * isa::kVregBytes);
}

int32_t RowEpilogue::RowOffset(int reduction, int64_t batch,
                               int64_t row) const {
  const int64_t planes =
      stages_.planes * batch_ * (rows_of_block_ / 8) * column_tiles_;
  const int64_t tiles =
      (reduction * batch_ + batch) * (rows_of_block_ / 8) + row / 8;
  return static_cast<int32_t>((planes + tiles) * isa::kVregBytes);
}

absl::Status RowEpilogue::Start(CodeBuilder& b) {
  RETURN_IF_ERROR(FusionEpilogue::Start(b));
  stage_ = -1;
  const int64_t offset = scratch_offset_ + table_bytes_;
  scratch_ = b.GlobalSca();
  b.ScratchAddress(scratch_, static_cast<int32_t>(offset));
  b.SetBank(scratch_, CodeBuilder::kAbsoluteBanks,
            static_cast<int32_t>(offset));
  constants_.clear();
  for (size_t n = 0; n < e_.nodes.size(); ++n) {
    const ExprNode& node = e_.nodes[n];
    if (node.kind != ExprNode::Kind::kConstant ||
        node.type == hlo::PrimitiveType::kPred ||
        constants_.size() == kMostConstants) {
      continue;
    }
    const Vec constant = b.GlobalVec();
    b.Move(constant, b.Imm(node.constant));
    constants_[static_cast<int>(n)] = constant;
  }
  if (InTurns()) StartTurns(b);
  return absl::OkStatus();
}

Value RowEpilogue::Known(int number, int tile, const Position& at) {
  if (const auto it = constants_.find(number); it != constants_.end()) {
    return Value::Of(it->second);
  }
  if (const Value row = TileFormula::Known(number, tile, at);
      row.vec.valid() || stage_ < 0) {
    return row;
  }
  CodeBuilder& b = *b_;
  const ExprNode& node = e_.nodes[number];
  const int64_t row = at.row + 8 * tile;
  if (node.argument >= Expression::kReduced) {
    const int reduction =
        stages_.reduction_of_root[node.argument - Expression::kReduced];
    Value& value = row_values_[{number, tile}];
    if (!value.vec.valid() && !value.is_mask()) {
      const Vec words =
          b.Load(scratch_space_, scratch_, RowOffset(reduction, at.batch, row));
      value = node.type == hlo::PrimitiveType::kPred
                  ? Value::Of(b.CompareImm(Opcode::kVcmpNeS32, words, 0))
                  : Value::Of(words);
    }
    return value;
  }
  const int plane = stages_.plane[number];
  if (plane < 0 || (e_.node_stage[number] == stage_ && stage_ > 0)) return {};
  return Value::Of(b.Load(scratch_space_, scratch_,
                          TileOffset(plane, at.batch, row, at.col)));
}

void RowEpilogue::Keep(int node, const Position& at) {
  for (int tile = 0; tile < 2; ++tile) {
    const absl::StatusOr<Value> v = Eval(node, tile, at);
    if (!v.ok()) {
      if (status_.ok()) status_ = v.status();
      return;
    }
    b_->Store(
        scratch_space_, scratch_,
        TileOffset(stages_.plane[node], at.batch, at.row + 8 * tile, at.col),
        v->vec);
  }
}

void RowEpilogue::Emit(int64_t batch, int64_t row, int64_t col,
                       const std::vector<Vec>& tiles) {
  ClearTiles();
  ClearRows();
  const Position at{batch, row, col, &tiles};
  for (int node : stages_.kept_in[0]) Keep(node, at);
  for (int root : stages_.stored_in[0]) {
    for (const Result& result : results_) {
      if (result.node != e_.roots[root]) continue;
      const absl::Status stored = Store(result, at);
      if (status_.ok()) status_ = stored;
    }
  }
}

absl::Status RowEpilogue::PassTile(int stage, const Position& at,
                                   std::vector<std::array<Vec, 2>>* sums) {
  CodeBuilder& b = *b_;
  for (size_t k = 0; k < stages_.reduced_in[stage].size(); ++k) {
    const Reduction& r = stages_.reductions[stages_.reduced_in[stage][k]];
    TileFold fold(r, b);
    for (int tile = 0; tile < 2; ++tile) {
      ASSIGN_OR_RETURN(const Value v, Eval(e_.roots[r.root], tile, at));
      Vec words = v.is_mask() ? MaskToNumber(b, v.mask, true) : v.vec;
      words = InArray(r, at.col, words);
      Vec& sum = (*sums)[k][tile];
      if (sum.valid()) {
        ASSIGN_OR_RETURN(words, fold.Combine(sum, words));
      }
      sum = words;
    }
  }
  if (stage == 0) return absl::OkStatus();
  for (int node : stages_.kept_in[stage]) Keep(node, at);
  for (int root : stages_.stored_in[stage]) {
    for (const Result& result : results_) {
      if (result.node == e_.roots[root]) RETURN_IF_ERROR(Store(result, at));
    }
  }
  return absl::OkStatus();
}

absl::Status RowEpilogue::Pass(int stage, int64_t batch, int64_t row) {
  CodeBuilder& b = *b_;
  stage_ = stage;
  row_values_.clear();
  reciprocals_.clear();
  const std::vector<Vec> tiles(2);
  std::vector<std::array<Vec, 2>> sums(stages_.reduced_in[stage].size());
  for (int64_t c = 0; c < column_tiles_; ++c) {
    values_.clear();
    packed_.clear();
    b.NewBlock();
    RETURN_IF_ERROR(
        PassTile(stage, {batch, row, c * isa::kLanes, &tiles}, &sums));
    schedule_->Add(true);
  }
  for (size_t k = 0; k < sums.size(); ++k) {
    const int number = stages_.reduced_in[stage][k];
    TileFold fold(stages_.reductions[number], b);
    for (int tile = 0; tile < 2; ++tile) {
      b.NewBlock();
      if (InTurns()) {
        const int32_t at = RowOffset(number, batch, row + 8 * tile);
        ASSIGN_OR_RETURN(
            const Vec sum,
            fold.Combine(b.Load(scratch_space_, scratch_, at), sums[k][tile]));
        b.Store(scratch_space_, scratch_, at, sum);
        schedule_->Add(false);
        continue;
      }
      ASSIGN_OR_RETURN(Vec v, fold.Lanes(sums[k][tile]));
      ASSIGN_OR_RETURN(v, fold.WithInit(v));
      b.Store(scratch_space_, scratch_,
              RowOffset(number, batch, row + 8 * tile), v);
      schedule_->Add(false);
    }
  }
  return absl::OkStatus();
}

absl::Status RowEpilogue::Finish(CodeBuilder& b) {
  RETURN_IF_ERROR(status_);
  schedule_.emplace(&b, scratch_space_);
  BeginBlock();
  const int64_t bands = batch_ * (rows_of_block_ / kRowsOfBand);
  const double band = unit_cycles_ * static_cast<double>(2 * column_tiles_) + 1;
  const int64_t latency =
      std::max(b.model().Latency(isa::LatencyKey::kXluSum, 0),
               b.model().Latency(isa::LatencyKey::kXluMax, 0)) +
      lag_;
  const int64_t lag =
      static_cast<int64_t>(static_cast<double>(latency) / band) + 1;
  const int64_t turns = bands + (e_.stages - 1) * lag;
  for (int64_t turn = 0; turn < turns; ++turn) {
    for (int stage = e_.stages - 1; stage >= 0; --stage) {
      const int64_t band_number = turn - stage * lag;
      if (band_number < 0 || band_number >= bands) continue;
      const int64_t in_plane = rows_of_block_ / kRowsOfBand;
      RETURN_IF_ERROR(Pass(stage, band_number / in_plane,
                           band_number % in_plane * kRowsOfBand));
    }
  }
  stage_ = -1;
  schedule_->Finish();
  schedule_.reset();
  if (InTurns()) {
    b.BeginWhen(column_grid_, isa::When::Kind::kLast);
    RETURN_IF_ERROR(FinishTurns(b));
  }
  if (!row_results_.empty()) {
    row_results_.Write(
        scratch_space_, scratch_,
        [this](int reduction, int64_t batch, int64_t row) {
          return RowOffset(reduction, batch, row);
        },
        b);
  }
  if (InTurns()) b.EndWhen();
  return status_;
}

}  // namespace ptxla::lowering
