#include "hlo_backend/lowering/products/column_epilogue.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/lowering/codegen/spaces.h"
#include "hlo_backend/lowering/fusion/tile_fold.h"
#include "hlo_backend/lowering/products/epilogue_types.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Mask;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;
using isa::When;

namespace {

// Of additions to the same sums, load to store, that may be under way at once;
// fewer where the sums of many columns would take much of VMEM.
constexpr int64_t kMostTurns = 4, kMostRegisters = 64;
constexpr int64_t kTilesOfBlock = 8;

}  // namespace

bool ColumnEpilogue::Takes(const hlo::Instruction& fusion) {
  return AllReducesAre(fusion, hlo::IsColumnReduce);
}

absl::StatusOr<std::unique_ptr<FusionEpilogue>> ColumnEpilogue::Create(
    const hlo::Instruction& fusion, const ProductForm& form) {
  ASSIGN_OR_RETURN(Expression e, Expression::Build(fusion));
  auto epilogue =
      std::unique_ptr<ColumnEpilogue>(new ColumnEpilogue(std::move(e)));
  RETURN_IF_ERROR(epilogue->Describe(fusion));
  const Expression& formula = epilogue->e_;
  const int rank = formula.space.rank();
  for (size_t k = 0; k < formula.roots.size(); ++k) {
    const hlo::Instruction* reduce = formula.reduces[k];
    if (reduce == nullptr) continue;
    if (form.problem.batch != 1 || form.swapped ||
        formula.space.dims[rank - 1] != rank - 1) {
      return RefuseInEpilogue(*reduce,
                              "a reduce over the rows of several planes");
    }
    ColumnResult sum;
    ASSIGN_OR_RETURN(sum.reduction,
                     DescribeReduction(fusion, formula, static_cast<int>(k)));
    sum.node = formula.roots[k];
    sum.leaf = formula.results[k];
    if (sum.reduction.result.rank() != 1 || sum.leaf < 0) {
      return RefuseInEpilogue(*reduce, "a reduce of this form");
    }
    epilogue->sums_.push_back(std::move(sum));
  }
  epilogue->columns_ = form.problem.n;
  epilogue->rows_ =
      epilogue->windowed_ ? formula.space.sizes[rank - 2] : form.problem.m;
  epilogue->plane_tiles_ =
      CeilOfRatio<int64_t>(epilogue->rows_, isa::kSublanes);
  epilogue->rest_ = epilogue->rows_ % isa::kSublanes;
  return std::unique_ptr<FusionEpilogue>(std::move(epilogue));
}

int64_t ColumnEpilogue::ColumnTiles() const {
  return CeilOfRatio<int64_t>(columns_, isa::kLanes);
}

int64_t ColumnEpilogue::Turns() const {
  return std::clamp<int64_t>(kMostRegisters / ColumnTiles(), 1, kMostTurns);
}

int64_t ColumnEpilogue::SumOffset(int64_t tile) const {
  return tile * static_cast<int64_t>(sums_.size()) * Turns() * isa::kVregBytes;
}

void ColumnEpilogue::AddTo(ProductProblem* problem,
                           const isa::MachineModel& model) {
  FusionEpilogue::AddTo(problem, model);
  // Two tiles are added to one another, then to the sums.
  problem->epilogue_ops += static_cast<int64_t>(sums_.size());
  problem->kept.any = true;
  problem->kept.exchanged = exchanges_ = model.cores == 2;
  // What the other core sends lies beside the own sums.
  problem->epilogue_whole_bytes +=
      (exchanges_ ? 2 : 1) * SumOffset(ColumnTiles());
  for (const ColumnResult& sum : sums_) {
    problem->epilogue_whole_bytes += sum.SlotBytes();
  }
  live_registers_ += 2;
}

void ColumnEpilogue::AddWindows(const ProductTile& tile, const GridDims& grid,
                                int first_space, Tiling* tiling) {
  FusionEpilogue::AddWindows(tile, grid, first_space, tiling);
  const int first_result = static_cast<int>(tiling->args.size()) - outputs_;
  for (ColumnResult& sum : sums_)
    sum.AddWindow(first_result, tile, grid, tiling);
  windows_ = tiling->windows;
  table_bytes_ = RowTableBytes(tile);
  scratch_space_ = first_space_ + static_cast<int>(windows_.size());
  axes_.clear();
  if (grid.box.empty()) {
    axes_.push_back({CeilOfRatio<int64_t>(tile.block_m, isa::kSublanes),
                     plane_tiles_,
                     grid.bounds[grid.m],
                     grid.m,
                     {}});
  }
  for (const GridDims::BoxDim& d : grid.box) {
    axes_.push_back({d.block,
                     d.extent,
                     d.grid_dim < 0 ? 1 : grid.bounds[d.grid_dim],
                     d.grid_dim,
                     {}});
  }
  tiles_ = 1;
  for (const Axis& axis : axes_) tiles_ *= axis.block;
  peer_ = PeerParts();
  shared_dim_ = exchanges_ ? grid.megacore_dim : -1;
  if (shared_dim_ >= 0) {
    peer_ = PeerParts::Add(scratch_offset_ + table_bytes_,
                           SumOffset(std::max<int64_t>(1, tile.grid_n) *
                                     tile.block_n / isa::kLanes),
                           tiling);
  }
}

int64_t ColumnEpilogue::ScratchBytes(const ProductTile& tile) const {
  return RowTableBytes(tile) +
         SumOffset(std::max<int64_t>(1, tile.grid_n) * tile.block_n /
                   isa::kLanes) +
         isa::kVregBytes;
}

void ColumnEpilogue::SetScratch(int64_t offset) {
  FusionEpilogue::SetScratch(offset);
  scratch_offset_ = offset;
}

absl::Status ColumnEpilogue::Start(CodeBuilder& b) {
  RETURN_IF_ERROR(FusionEpilogue::Start(b));
  sums_offset_ = scratch_offset_ + table_bytes_;
  const auto at_sums = [&](Sca to) {
    b.ScratchAddress(to, static_cast<int32_t>(sums_offset_));
    b.SetBank(to, CodeBuilder::kAbsoluteBanks,
              static_cast<int32_t>(sums_offset_));
  };
  for (Axis& axis : axes_) {
    axis.inside = {};
    if (axis.steps * axis.block <= axis.extent &&
        (rest_ == 0 || axis.steps == 1)) {
      continue;
    }
    const Sca index = b.NewSca();
    b.GridIndex(index, axis.grid_dim);
    axis.inside =
        b.Promote(b.CompareImm(Opcode::kVcmpNeS32, b.Splat(index),
                               static_cast<uint32_t>(axis.steps - 1)));
  }
  step_sums_ = b.GlobalSca();
  at_sums(step_sums_);
  const int64_t step = SumOffset(column_block_ / isa::kLanes);
  if (column_steps_ > 1) {
    const Sca all = b.NewSca(), index = b.NewSca();
    at_sums(all);
    b.GridIndex(index, column_grid_);
    b.SBinaryTo(step_sums_, Opcode::kSadd, all,
                b.SMulImm(index, static_cast<int32_t>(step)));
  }
  // Identities, before the first additions.
  int open = BeginWhen(When::Kind::kFirst, b);
  b.NewBlock("sums");
  const Sca all = b.NewSca();
  at_sums(all);
  for (int64_t t = 0; t < column_steps_ * column_block_ / isa::kLanes; ++t) {
    for (size_t k = 0; k < sums_.size(); ++k) {
      const Reduction& r = sums_[k].reduction;
      const Vec identity = b.SharedImm(MonoidIdentity(r.op, r.type));
      for (int64_t turn = 0; turn < Turns(); ++turn) {
        b.Store(scratch_space_, all,
                static_cast<int32_t>(
                    SumOffset(t) + (static_cast<int64_t>(k) * Turns() + turn) *
                                       isa::kVregBytes),
                identity);
      }
    }
  }
  while (open-- > 0) b.EndWhen();
  b.NewBlock("addresses");
  return absl::OkStatus();
}

Vec ColumnEpilogue::InArray(const Reduction& r, int64_t tile, Vec words) {
  if (tile >= tiles_) return {};
  CodeBuilder& b = *b_;
  Mask mask;
  const auto require = [&](Mask m) {
    mask = mask.valid() ? b.MaskBinary(Opcode::kVmand, mask, m) : m;
  };
  for (size_t a = axes_.size(); a-- > 0;) {
    const Axis& axis = axes_[a];
    const int64_t at = tile % axis.block;
    tile /= axis.block;
    const int64_t last = (axis.steps - 1) * axis.block + at;
    if (last >= axis.extent) {
      if (axis.steps == 1) return {};
      require(axis.inside);
    }
    if (a + 1 < axes_.size() || rest_ == 0) continue;
    const Mask rows = b.Range(0, isa::kLanes, 0, static_cast<int>(rest_));
    if (axis.steps > 1 && axis.extent == plane_tiles_) {
      if (last == plane_tiles_ - 1) {
        require(b.MaskBinary(Opcode::kVmor, axis.inside, rows));
      }
    } else if (at % plane_tiles_ == plane_tiles_ - 1) {
      require(rows);
    }
  }
  if (!mask.valid()) return words;
  return b.SelectImm(mask, words, MonoidIdentity(r.op, r.type));
}

absl::Status ColumnEpilogue::Add(const Position& at) {
  CodeBuilder& b = *b_;
  for (size_t k = 0; k < sums_.size(); ++k) {
    const Reduction& r = sums_[k].reduction;
    TileFold fold(r, b);
    Vec sum;
    for (size_t tile = 0; tile < at.sums->size(); ++tile) {
      const int64_t number =
          at.row / isa::kSublanes + static_cast<int64_t>(tile);
      if (number >= tiles_) continue;
      ASSIGN_OR_RETURN(const Value v,
                       Eval(sums_[k].node, static_cast<int>(tile), at));
      const Vec words = InArray(r, number, v.vec);
      if (!words.valid()) continue;
      if (!sum.valid()) {
        sum = words;
        continue;
      }
      ASSIGN_OR_RETURN(sum, fold.Combine(sum, words));
    }
    if (!sum.valid()) continue;
    const int64_t turn = at.row / 16 % Turns();
    const auto offset = static_cast<int32_t>(
        SumOffset(at.col / isa::kLanes) +
        (static_cast<int64_t>(k) * Turns() + turn) * isa::kVregBytes);
    const Vec so_far = b.Load(scratch_space_, step_sums_, offset);
    ASSIGN_OR_RETURN(sum, fold.Combine(so_far, sum));
    b.Store(scratch_space_, step_sums_, offset, sum);
  }
  return absl::OkStatus();
}

void ColumnEpilogue::Emit(int64_t batch, int64_t row, int64_t col,
                          const std::vector<Vec>& tiles) {
  FusionEpilogue::Emit(batch, row, col, tiles);
  const absl::Status added = Add({batch, row, col, &tiles});
  if (status_.ok()) status_ = added;
}

int ColumnEpilogue::BeginWhen(When::Kind kind, CodeBuilder& b) const {
  int open = 0;
  for (size_t d = 0; d < grid_.size(); ++d) {
    if (grid_[d] == 1) continue;
    const int dim = static_cast<int>(d);
    b.BeginWhen(dim == shared_dim_ ? isa::kCoreShare : dim, kind);
    ++open;
  }
  return open;
}

absl::Status ColumnEpilogue::WriteSums(CodeBuilder& b) {
  const Sca all = b.GlobalSca(), other = b.GlobalSca();
  b.NewBlock("column sums");
  b.ScratchAddress(all, static_cast<int32_t>(sums_offset_));
  b.SetBank(all, CodeBuilder::kAbsoluteBanks,
            static_cast<int32_t>(sums_offset_));
  if (peer_.any()) peer_.AddressTo(other, b);
  for (size_t k = 0; k < sums_.size(); ++k) {
    const ColumnResult& sum = sums_[k];
    TileFold fold(sum.reduction, b);
    Sca to;
    for (int64_t t = 0; t < ColumnTiles(); ++t) {
      if (t % kTilesOfBlock == 0) {
        b.NewBlock("column sums");
        to = b.NewSca();
        b.WindowAddress(to, sum.window);
      }
      std::vector<Vec> parts;
      for (int64_t turn = 0; turn < Turns(); ++turn) {
        const auto at = static_cast<int32_t>(
            SumOffset(t) +
            (static_cast<int64_t>(k) * Turns() + turn) * isa::kVregBytes);
        parts.push_back(b.Load(scratch_space_, all, at));
        if (!peer_.any()) continue;
        parts.push_back(b.Load(codegen::kPeerSpace, other, at));
      }
      ASSIGN_OR_RETURN(Vec v, fold.Tree(std::move(parts)));
      ASSIGN_OR_RETURN(v, fold.Sublanes(v));
      ASSIGN_OR_RETURN(v, fold.WithInit(v));
      b.StoreMasked(SpaceOf(sum.window), to,
                    static_cast<int32_t>(t * isa::kRowBytes), v,
                    b.Range(0, isa::kLanes, 0, 1));
    }
  }
  return absl::OkStatus();
}

absl::Status ColumnEpilogue::Finish(CodeBuilder& b) {
  RETURN_IF_ERROR(status_);
  int open = BeginWhen(When::Kind::kLast, b);
  if (peer_.any()) {
    peer_.Send(b);
    peer_.Await(b);
  }
  b.BeginScope();
  RETURN_IF_ERROR(WriteSums(b));
  b.EndScope();
  while (open-- > 0) b.EndWhen();
  return status_;
}

}  // namespace ptxla::lowering
