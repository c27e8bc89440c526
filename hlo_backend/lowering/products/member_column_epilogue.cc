#include "hlo_backend/lowering/products/member_column_epilogue.h"

#include <utility>

#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/lowering/fusion/tile_fold.h"
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
  auto epilogue = std::unique_ptr<MemberColumnEpilogue>(
      new MemberColumnEpilogue(std::move(e)));
  RETURN_IF_ERROR(epilogue->Describe(fusion));
  const Expression& formula = epilogue->e_;
  const int rank = formula.space.rank();
  for (size_t k = 0; k < formula.roots.size(); ++k) {
    const hlo::Instruction* reduce = formula.reduces[k];
    if (reduce == nullptr) continue;
    Result sum;
    ASSIGN_OR_RETURN(sum.reduction,
                     DescribeReduction(fusion, formula, static_cast<int>(k)));
    sum.node = formula.roots[k];
    sum.leaf = formula.results[k];
    const PhysicalArray& array = sum.reduction.result;
    bool in_order = !form.swapped && formula.stages == 1 && sum.leaf >= 0 &&
                    array.rank() == rank - 1 && HasMemberLines(array);
    for (int d = 0; in_order && d < array.rank(); ++d) {
      in_order = array.dims[d] == d;
    }
    if (!in_order) {
      return RefuseInEpilogue(*reduce, "a reduce over rows of this form");
    }
    epilogue->sums_.push_back(std::move(sum));
  }
  epilogue->rows_ = form.problem.m;
  epilogue->columns_ = form.problem.n;
  epilogue->members_ = epilogue->Members();
  return std::unique_ptr<FusionEpilogue>(std::move(epilogue));
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

absl::Status MemberColumnEpilogue::Write(const Position& at,
                                         const Partial& partial) {
  CodeBuilder& b = *b_;
  const int64_t all_columns = CeilOfRatio<int64_t>(columns_, isa::kLanes);
  const int64_t step_columns = column_block_ / isa::kLanes;
  const int64_t column = at.col / isa::kLanes;
  if (column_steps_ == 1 && column >= all_columns) return absl::OkStatus();
  // The last steps may go beyond the array.
  if (batch_steps_ == 1 && at.batch >= members_) return absl::OkStatus();
  const auto below = [&](Sca first, int64_t number, int64_t end) {
    return b.SCompareImm(Opcode::kScmpLtU,
                         b.SAddImm(first, static_cast<int32_t>(number)),
                         static_cast<int32_t>(end));
  };
  Sca first_column;
  if (column_steps_ > 1) {
    const Sca index = b.NewSca();
    b.GridIndex(index, column_grid_);
    first_column = b.SMulImm(index, static_cast<int32_t>(step_columns));
  }
  Pred inside;
  if (batch_steps_ * batch_block_ > members_) {
    inside = below(first_member_, at.batch, members_);
  }
  if (column_steps_ * step_columns > all_columns) {
    inside = Both(b, inside, below(first_column, column, all_columns));
  }
  for (size_t k = 0; k < sums_.size(); ++k) {
    const Result& sum = sums_[k];
    const PhysicalArray& a = sum.reduction.result;
    TileFold fold(sum.reduction, b);
    int64_t offset = 0;
    Sca line = LineOf(sum, at.batch, &offset);
    offset += column * a.tile_bytes();
    if (first_column.valid()) {
      line = b.SAdd(
          line, b.SMulImm(first_column, static_cast<int32_t>(a.tile_bytes())));
      b.SetBank(line, codegen::kUnknownBanks, 0);
    }
    Vec v = partial.values[k];
    const uint32_t identity =
        MonoidIdentity(sum.reduction.op, sum.reduction.type);
    if (!v.valid()) v = b.Imm(identity);
    ASSIGN_OR_RETURN(v, fold.Sublanes(v));
    const int space = SpaceOf(sum.window);
    if (row_steps_ == 1) {
      ASSIGN_OR_RETURN(v, fold.WithInit(v));
    } else {
      // The first of a member's steps begins with the start value.
      const Mask first =
          b.CompareImm(Opcode::kVcmpEqS32, b.Splat(first_row_), 0);
      ASSIGN_OR_RETURN(const Vec start, fold.WithInit(b.Imm(identity)));
      const Vec so_far = b.LoadRow(space, line, static_cast<int32_t>(offset));
      ASSIGN_OR_RETURN(v, fold.Combine(v, b.Select(first, start, so_far)));
    }
    if (inside.valid()) b.SetStoreGuard(inside);
    b.StoreMasked(space, line, static_cast<int32_t>(offset), v,
                  b.Range(0, isa::kLanes, 0, 1));
    b.SetStoreGuard({});
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
