#include "hlo_backend/lowering/products/member_column_epilogue.h"

#include <utility>

#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/lowering/fusion/tile_fold.h"
#include "hlo_backend/lowering/products/column_stages_epilogue.h"
#include "hlo_backend/lowering/products/epilogue_types.h"
#include "hlo_backend/lowering/products/row_results.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Mask;
using codegen::Pred;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

namespace {

constexpr int64_t kPairRows = 2 * isa::kSublanes;

}  // namespace

bool MemberColumnEpilogue::Takes(const hlo::Instruction& fusion) {
  return AllReducesAre(fusion, hlo::IsMemberColumnReduce);
}

absl::StatusOr<std::unique_ptr<FusionEpilogue>> MemberColumnEpilogue::Create(
    const hlo::Instruction& fusion, const ProductForm& form) {
  ASSIGN_OR_RETURN(Expression e, Expression::Build(fusion));
  if (e.stages > 1) {
    return ColumnStagesEpilogue::Create(fusion, form, std::move(e));
  }
  auto epilogue = std::unique_ptr<MemberColumnEpilogue>(
      new MemberColumnEpilogue(std::move(e)));
  RETURN_IF_ERROR(epilogue->DescribeColumns(fusion, form));
  return std::unique_ptr<FusionEpilogue>(std::move(epilogue));
}

absl::Status MemberColumnEpilogue::DescribeColumns(
    const hlo::Instruction& fusion, const ProductForm& form) {
  RETURN_IF_ERROR(Describe(fusion));
  const int rank = e_.space.rank();
  for (size_t k = 0; k < e_.roots.size(); ++k) {
    const hlo::Instruction* reduce = e_.reduces[k];
    if (reduce == nullptr) continue;
    if (form.swapped) {
      return RefuseInEpilogue(*reduce, "a reduce over rows of this form");
    }
    Result sum;
    sum.leaf = e_.results[k];
    if (sum.leaf < 0) continue;  // a later stage reads it, nobody else
    ASSIGN_OR_RETURN(sum.reduction,
                     DescribeReduction(fusion, e_, static_cast<int>(k)));
    sum.node = e_.roots[k];
    const PhysicalArray& array = sum.reduction.result;
    bool in_order = array.rank() == rank - 1 && HasMemberLines(array);
    for (int d = 0; in_order && d < array.rank(); ++d) {
      in_order = array.dims[d] == d;
    }
    if (!in_order) {
      return RefuseInEpilogue(*reduce, "a reduce over rows of this form");
    }
    sums_.push_back(std::move(sum));
  }
  rows_ = form.problem.m;
  columns_ = form.problem.n;
  members_ = Members();
  return absl::OkStatus();
}

void MemberColumnEpilogue::AddTo(ProductProblem* problem,
                                 const isa::MachineModel& model) {
  FusionEpilogue::AddTo(problem, model);
  problem->epilogue_ops += static_cast<int64_t>(sums_.size());
  for (const Result& sum : sums_) {
    problem->epilogue_whole_bytes += sum.SlotBytes();
    problem->kept.Add(sum.reduction.result, /*of_rows=*/false);
  }
  live_registers_ += 2;
}

void MemberColumnEpilogue::AddWindows(const ProductTile& tile,
                                      const GridDims& grid, int first_space,
                                      Tiling* tiling) {
  FusionEpilogue::AddWindows(tile, grid, first_space, tiling);
  const int first_result = static_cast<int>(tiling->args.size()) - outputs_;
  grid_dims_ = grid;
  for (Result& sum : sums_) sum.AddWindow(first_result, tile, grid, tiling);
  windows_ = tiling->windows;
  row_steps_ = grid.bounds[grid.m];
  batch_steps_ = grid.bounds[grid.b];
}

absl::Status MemberColumnEpilogue::Start(CodeBuilder& b) {
  RETURN_IF_ERROR(FusionEpilogue::Start(b));
  partials_.clear();
  for (Result& sum : sums_) {
    sum.base = b.GlobalSca();
    b.SMove(sum.base,
            KeptBase(windows_[sum.window], sum.window, grid_dims_, b));
    b.SetBank(sum.base, codegen::kUnknownBanks, 0);
  }
  if (batch_steps_ > 1 && !first_member_.valid()) {
    const Sca index = b.NewSca();
    b.GridIndex(index, batch_grid_);
    first_member_ = b.GlobalSca();
    b.SMove(first_member_,
            b.SMulImm(index, static_cast<int32_t>(batch_block_)));
  }
  first_row_ = {};
  row_of_sublane_ = {};
  if (row_steps_ > 1) {
    const Sca index = b.NewSca();
    b.GridIndex(index, row_grid_);
    first_row_ = b.GlobalSca();
    b.SMove(first_row_, b.SMulImm(index, static_cast<int32_t>(row_block_)));
    row_of_sublane_ = b.GlobalVec();
    b.Move(row_of_sublane_,
           b.Binary(Opcode::kVaddS32,
                    b.BinaryImm(Opcode::kVshrl, b.LaneSequence(), 7),
                    b.Splat(first_row_)));
  }
  return absl::OkStatus();
}

Vec MemberColumnEpilogue::InArray(const Reduction& r, int64_t row, Vec words) {
  if (row >= row_block_) return {};
  CodeBuilder& b = *b_;
  const int64_t last = (row_steps_ - 1) * row_block_ + row;
  if (last + isa::kSublanes <= rows_) return words;
  if (row_steps_ == 1) {
    if (last >= rows_) return {};
    return b.SelectImm(
        b.Range(0, isa::kLanes, 0, static_cast<int>(rows_ - last)), words,
        MonoidIdentity(r.op, r.type));
  }
  const Mask inside = b.CompareImm(Opcode::kVcmpLtS32, row_of_sublane_,
                                   static_cast<uint32_t>(rows_ - row));
  return b.SelectImm(inside, words, MonoidIdentity(r.op, r.type));
}

absl::Status MemberColumnEpilogue::Add(const Position& at) {
  CodeBuilder& b = *b_;
  const std::pair<int64_t, int64_t> key{at.batch, at.col / isa::kLanes};
  Partial& partial = partials_[key];
  partial.values.resize(sums_.size());
  for (size_t k = 0; k < sums_.size(); ++k) {
    const Reduction& r = sums_[k].reduction;
    TileFold fold(r, b);
    Vec& so_far = partial.values[k];
    Vec sum;
    for (size_t tile = 0; tile < at.sums->size(); ++tile) {
      ASSIGN_OR_RETURN(const Value v,
                       Eval(sums_[k].node, static_cast<int>(tile), at));
      const int64_t row = at.row + isa::kSublanes * static_cast<int64_t>(tile);
      const Vec words = InArray(r, row, v.vec);
      if (!words.valid()) continue;
      if (!sum.valid()) {
        sum = words;
      } else {
        ASSIGN_OR_RETURN(sum, fold.Combine(sum, words));
      }
    }
    if (!sum.valid()) continue;
    if (so_far.valid()) {
      ASSIGN_OR_RETURN(sum, fold.Combine(so_far, sum));
    }
    so_far = sum;
  }
  if (++partial.pairs < CeilOfRatio(row_block_, kPairRows)) {
    return absl::OkStatus();
  }
  const absl::Status written = Write(at, partial);
  partials_.erase(key);
  return written;
}

Sca MemberColumnEpilogue::LineOf(const Result& result, int64_t member,
                                 int64_t* offset) {
  CodeBuilder& b = *b_;
  const PhysicalArray& a = result.reduction.result;
  *offset = 0;
  if (!first_member_.valid()) {
    const int64_t row = member % a.rows;
    *offset = member / a.rows * a.plane_stride() +
              row / a.tile_rows * a.row_stride() +
              row % a.tile_rows * isa::kRowBytes;
    return result.base;
  }
  const Sca line =
      MemberLine(a, result.base,
                 b.SAddImm(first_member_, static_cast<int32_t>(member)), b);
  b.SetBank(line, codegen::kUnknownBanks, 0);
  return line;
}

std::optional<MemberColumnEpilogue::Columns> MemberColumnEpilogue::ColumnsAt(
    const Position& at) {
  CodeBuilder& b = *b_;
  const int64_t all_columns = CeilOfRatio<int64_t>(columns_, isa::kLanes);
  const int64_t step_columns = column_block_ / isa::kLanes;
  const int64_t column = at.col / isa::kLanes;
  if (column_steps_ == 1 && column >= all_columns) return std::nullopt;
  // The last steps may go beyond the array.
  if (batch_steps_ == 1 && at.batch >= members_) return std::nullopt;
  const auto below = [&](Sca first, int64_t number, int64_t end) {
    return b.SCompareImm(Opcode::kScmpLtU,
                         b.SAddImm(first, static_cast<int32_t>(number)),
                         static_cast<int32_t>(end));
  };
  Columns columns;
  if (column_steps_ > 1) {
    const Sca index = b.NewSca();
    b.GridIndex(index, column_grid_);
    columns.first = b.SMulImm(index, static_cast<int32_t>(step_columns));
  }
  if (batch_steps_ * batch_block_ > members_) {
    columns.inside = below(first_member_, at.batch, members_);
  }
  if (column_steps_ * step_columns > all_columns) {
    columns.inside =
        Both(b, columns.inside, below(columns.first, column, all_columns));
  }
  return columns;
}

Sca MemberColumnEpilogue::LineAt(const Result& result, const Position& at,
                                 const Columns& columns, int64_t* offset) {
  CodeBuilder& b = *b_;
  const auto tile_bytes =
      static_cast<int32_t>(result.reduction.result.tile_bytes());
  Sca line = LineOf(result, at.batch, offset);
  *offset += at.col / isa::kLanes * tile_bytes;
  if (columns.first.valid()) {
    line = b.SAdd(line, b.SMulImm(columns.first, tile_bytes));
    b.SetBank(line, codegen::kUnknownBanks, 0);
  }
  return line;
}

void MemberColumnEpilogue::StoreLine(const Result& result,
                                     const Columns& columns, Sca line,
                                     int64_t offset, Vec v) {
  CodeBuilder& b = *b_;
  if (columns.inside.valid()) b.SetStoreGuard(columns.inside);
  b.StoreMasked(SpaceOf(result.window), line, static_cast<int32_t>(offset), v,
                b.Range(0, isa::kLanes, 0, 1));
  b.SetStoreGuard({});
}

absl::Status MemberColumnEpilogue::Write(const Position& at,
                                         const Partial& partial) {
  CodeBuilder& b = *b_;
  const std::optional<Columns> columns = ColumnsAt(at);
  if (!columns.has_value()) return absl::OkStatus();
  for (size_t k = 0; k < sums_.size(); ++k) {
    const Result& sum = sums_[k];
    TileFold fold(sum.reduction, b);
    int64_t offset = 0;
    const Sca line = LineAt(sum, at, *columns, &offset);
    Vec v = partial.values[k];
    const uint32_t identity =
        MonoidIdentity(sum.reduction.op, sum.reduction.type);
    if (!v.valid()) v = b.Imm(identity);
    ASSIGN_OR_RETURN(v, fold.Sublanes(v));
    if (row_steps_ == 1) {
      ASSIGN_OR_RETURN(v, fold.WithInit(v));
    } else {
      // The first of a member's steps begins with the start value.
      const Mask first =
          b.CompareImm(Opcode::kVcmpEqS32, b.Splat(first_row_), 0);
      ASSIGN_OR_RETURN(const Vec start, fold.WithInit(b.Imm(identity)));
      const Vec so_far =
          b.LoadRow(SpaceOf(sum.window), line, static_cast<int32_t>(offset));
      ASSIGN_OR_RETURN(v, fold.Combine(v, b.Select(first, start, so_far)));
    }
    StoreLine(sum, *columns, line, offset, v);
  }
  return absl::OkStatus();
}

absl::Status MemberColumnEpilogue::Finish(CodeBuilder& /*b*/) {
  if (status_.ok() && !partials_.empty()) {
    return absl::InternalError("columns of a product that were never finished");
  }
  return status_;
}

void MemberColumnEpilogue::Emit(int64_t batch, int64_t row, int64_t col,
                                const std::vector<Vec>& tiles) {
  FusionEpilogue::Emit(batch, row, col, tiles);
  const absl::Status added = Add({batch, row, col, &tiles});
  if (status_.ok()) status_ = added;
}

}  // namespace ptxla::lowering
