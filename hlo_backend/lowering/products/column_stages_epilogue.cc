#include "hlo_backend/lowering/products/column_stages_epilogue.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/fusion/tile_fold.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Vec;
using codegen::VInstr;
using isa::Opcode;

namespace {

constexpr int64_t kPairRows = 2 * isa::kSublanes;

}  // namespace

absl::StatusOr<std::unique_ptr<FusionEpilogue>> ColumnStagesEpilogue::Create(
    const hlo::Instruction& fusion, const ProductForm& form, Expression e) {
  ASSIGN_OR_RETURN(RowStages stages,
                   RowStages::Of(fusion, e, e.space.rank() - 2));
  auto epilogue = std::unique_ptr<ColumnStagesEpilogue>(
      new ColumnStagesEpilogue(std::move(e), std::move(stages)));
  RETURN_IF_ERROR(epilogue->DescribeColumns(fusion, form));
  return std::unique_ptr<FusionEpilogue>(std::move(epilogue));
}

void ColumnStagesEpilogue::AddTo(ProductProblem* problem,
                                 const isa::MachineModel& model) {
  MemberColumnEpilogue::AddTo(problem, model);
  problem->whole_columns = true;
  problem->row_planes = stages_.planes;
  problem->column_results = static_cast<int64_t>(stages_.reductions.size());
  std::vector<int> stream, later;
  int leaves = 0;
  for (size_t n = 0; n < e_.nodes.size(); ++n) {
    const int node = static_cast<int>(n);
    if (IsOfRows(node)) continue;
    (e_.node_stage[n] == 0 ? stream : later).push_back(node);
    leaves += e_.nodes[n].kind == ExprNode::Kind::kLeaf;
  }
  const std::vector<VInstr> before = CodeOf(model, stream);
  const std::vector<VInstr> after = CodeOf(model, later);
  problem->epilogue_ops = VectorOperations(before) + 1;
  problem->epilogue_functions = FunctionOperations(before);
  live_registers_ = 2 * PeakVectors(before) + 2;
  unit_cycles_ = CyclesOfPasses(
      stages_, after, static_cast<int64_t>(stages_.reductions.size()), leaves,
      static_cast<int64_t>(results_.size()), model);
  problem->row_cycles = unit_cycles_;
}

void ColumnStagesEpilogue::AddWindows(const ProductTile& tile,
                                      const GridDims& grid, int first_space,
                                      Tiling* tiling) {
  MemberColumnEpilogue::AddWindows(tile, grid, first_space, tiling);
  batch_ = tile.block_b;
  table_bytes_ = RowTableBytes(tile);
  rows_of_block_ = RoundUpTo<int64_t>(tile.block_m, kPairRows);
  column_tiles_ = tile.block_n / isa::kLanes;
  scratch_space_ = first_space_ + static_cast<int>(windows_.size());
}

int64_t ColumnStagesEpilogue::ScratchBytes(const ProductTile& tile) const {
  const int64_t columns = tile.block_b * (tile.block_n / isa::kLanes);
  const int64_t tiles =
      RoundUpTo<int64_t>(tile.block_m, kPairRows) / isa::kSublanes;
  return RowTableBytes(tile) +
         columns * isa::kVregBytes *
             (stages_.planes * tiles +
              static_cast<int64_t>(stages_.reductions.size()));
}

int32_t ColumnStagesEpilogue::TileOffset(int plane, const Position& at) const {
  const int64_t tiles =
      ((plane * batch_ + at.batch) * column_tiles_ + at.col / isa::kLanes) *
          (rows_of_block_ / isa::kSublanes) +
      at.row / isa::kSublanes;
  return static_cast<int32_t>(tiles * isa::kVregBytes);
}

int32_t ColumnStagesEpilogue::ColumnOffset(int reduction, int64_t batch,
                                           int64_t col) const {
  const int64_t planes = stages_.planes * batch_ * column_tiles_ *
                         (rows_of_block_ / isa::kSublanes);
  const int64_t tiles =
      (reduction * batch_ + batch) * column_tiles_ + col / isa::kLanes;
  return static_cast<int32_t>((planes + tiles) * isa::kVregBytes);
}

absl::Status ColumnStagesEpilogue::Start(CodeBuilder& b) {
  RETURN_IF_ERROR(MemberColumnEpilogue::Start(b));
  stage_ = -1;
  const int64_t offset = scratch_offset_ + table_bytes_;
  scratch_ = b.GlobalSca();
  b.ScratchAddress(scratch_, static_cast<int32_t>(offset));
  b.SetBank(scratch_, CodeBuilder::kAbsoluteBanks,
            static_cast<int32_t>(offset));
  return absl::OkStatus();
}

Value ColumnStagesEpilogue::Known(int number, int tile, const Position& at) {
  if (const Value row = TileFormula::Known(number, tile, at);
      row.vec.valid() || stage_ < 0) {
    return row;
  }
  CodeBuilder& b = *b_;
  const ExprNode& node = e_.nodes[number];
  if (node.argument >= Expression::kReduced) {
    const int reduction =
        stages_.reduction_of_root[node.argument - Expression::kReduced];
    // For all rows of these columns.
    Value& value = row_values_[{number, 0}];
    if (!value.vec.valid()) {
      value = Value::Of(b.Load(scratch_space_, scratch_,
                               ColumnOffset(reduction, at.batch, at.col)));
    }
    return value;
  }
  const int plane = stages_.plane[number];
  if (plane < 0 || (e_.node_stage[number] == stage_ && stage_ > 0)) return {};
  Position place = at;
  place.row += tile * isa::kSublanes;
  return Value::Of(b.Load(scratch_space_, scratch_, TileOffset(plane, place)));
}

absl::Status ColumnStagesEpilogue::Keep(int node, const Position& at) {
  for (int tile = 0; tile < 2; ++tile) {
    ASSIGN_OR_RETURN(const Value v, Eval(node, tile, at));
    Position place = at;
    place.row += tile * isa::kSublanes;
    b_->Store(scratch_space_, scratch_, TileOffset(stages_.plane[node], place),
              v.vec);
  }
  return absl::OkStatus();
}

absl::Status ColumnStagesEpilogue::StoreRoots(int stage, const Position& at) {
  for (int root : stages_.stored_in[stage]) {
    for (const FusionEpilogue::Result& result : results_) {
      if (result.node == e_.roots[root]) RETURN_IF_ERROR(Store(result, at));
    }
  }
  return absl::OkStatus();
}

void ColumnStagesEpilogue::Emit(int64_t batch, int64_t row, int64_t col,
                                const std::vector<Vec>& tiles) {
  ClearTiles();
  ClearRows();
  const Position at{batch, row, col, &tiles};
  const auto emit = [&]() -> absl::Status {
    for (int node : stages_.kept_in[0]) RETURN_IF_ERROR(Keep(node, at));
    return StoreRoots(0, at);
  };
  const absl::Status done = emit();
  if (status_.ok()) status_ = done;
}

absl::Status ColumnStagesEpilogue::PassTiles(
    int stage, const Position& at, std::vector<std::array<Vec, 2>>* sums) {
  CodeBuilder& b = *b_;
  for (size_t k = 0; k < stages_.reduced_in[stage].size(); ++k) {
    const Reduction& r = stages_.reductions[stages_.reduced_in[stage][k]];
    TileFold fold(r, b);
    for (int tile = 0; tile < 2; ++tile) {
      const int64_t row = at.row + tile * isa::kSublanes;
      if (row >= rows_) continue;
      ASSIGN_OR_RETURN(const Value v, Eval(e_.roots[r.root], tile, at));
      Vec words = InArray(r, row, v.vec);
      Vec& sum = (*sums)[k][tile];
      if (sum.valid()) {
        ASSIGN_OR_RETURN(words, fold.Combine(sum, words));
      }
      sum = words;
    }
  }
  if (stage == 0) return absl::OkStatus();
  for (int node : stages_.kept_in[stage]) RETURN_IF_ERROR(Keep(node, at));
  return StoreRoots(stage, at);
}

absl::Status ColumnStagesEpilogue::Pass(int stage, int64_t batch, int64_t col) {
  CodeBuilder& b = *b_;
  stage_ = stage;
  row_values_.clear();
  reciprocals_.clear();
  const std::vector<Vec> tiles(2);
  std::vector<std::array<Vec, 2>> sums(stages_.reduced_in[stage].size());
  for (int64_t row = 0; row < rows_of_block_; row += kPairRows) {
    values_.clear();
    packed_.clear();
    b.NewBlock();
    RETURN_IF_ERROR(PassTiles(stage, {batch, row, col, &tiles}, &sums));
    schedule_->Add(true);
  }
  for (size_t k = 0; k < sums.size(); ++k) {
    const int number = stages_.reduced_in[stage][k];
    TileFold fold(stages_.reductions[number], b);
    b.NewBlock();
    Vec v = sums[k][0];
    if (sums[k][1].valid()) {
      ASSIGN_OR_RETURN(v, fold.Combine(v, sums[k][1]));
    }
    ASSIGN_OR_RETURN(v, fold.Sublanes(v));
    ASSIGN_OR_RETURN(v, fold.WithInit(v));
    b.Store(scratch_space_, scratch_, ColumnOffset(number, batch, col), v);
    schedule_->Add(false);
  }
  return absl::OkStatus();
}

absl::Status ColumnStagesEpilogue::WriteResults(int64_t batch, int64_t col) {
  CodeBuilder& b = *b_;
  const Position at{batch, 0, col, nullptr};
  b.NewBlock("results of columns");
  const std::optional<Columns> columns = ColumnsAt(at);
  if (!columns.has_value()) return absl::OkStatus();
  for (const MemberColumnEpilogue::Result& sum : sums_) {
    int64_t offset = 0;
    const codegen::Sca line = LineAt(sum, at, *columns, &offset);
    const int number = stages_.reduction_of_root[sum.reduction.root];
    StoreLine(
        sum, *columns, line, offset,
        b.Load(scratch_space_, scratch_, ColumnOffset(number, batch, col)));
  }
  return absl::OkStatus();
}

absl::Status ColumnStagesEpilogue::Finish(CodeBuilder& b) {
  RETURN_IF_ERROR(status_);
  schedule_.emplace(&b, scratch_space_);
  BeginBlock();
  const int64_t columns = batch_ * column_tiles_;
  const double pass =
      unit_cycles_ * static_cast<double>(rows_of_block_ / isa::kSublanes) + 1;
  const int64_t lag =
      static_cast<int64_t>(
          static_cast<double>(b.model().Latency(isa::LatencyKey::kXluMax, 0)) /
          pass) +
      1;
  for (int64_t turn = 0; turn < columns + (e_.stages - 1) * lag; ++turn) {
    for (int stage = e_.stages - 1; stage >= 0; --stage) {
      const int64_t column = turn - stage * lag;
      if (column < 0 || column >= columns) continue;
      RETURN_IF_ERROR(Pass(stage, column / column_tiles_,
                           column % column_tiles_ * isa::kLanes));
    }
  }
  stage_ = -1;
  schedule_->Finish();
  schedule_.reset();
  for (int64_t column = 0; column < columns && !sums_.empty(); ++column) {
    RETURN_IF_ERROR(WriteResults(column / column_tiles_,
                                 column % column_tiles_ * isa::kLanes));
  }
  return status_;
}

}  // namespace ptxla::lowering
