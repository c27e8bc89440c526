#include "hlo_backend/lowering/fusion/column_sums.h"

#include "base/status.h"
#include "hlo_backend/analysis/monoid.h"
#include "hlo_backend/lowering/codegen/spaces.h"
#include "hlo_backend/lowering/fusion/reduce_windows.h"
#include "hlo_backend/lowering/fusion/result_rows.h"
#include "hlo_backend/lowering/fusion/tile_fold.h"
#include "hlo_backend/lowering/refusals.h"

namespace ptxla::lowering {

using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

absl::Status AddColumnSums(const KernelContext& context,
                           const hlo::Instruction& i, const Expression& e,
                           const Geometry& g, ReduceTiling* t) {
  Tiling& tiling = t->cut.tiling;
  for (size_t root = 0; root < e.roots.size(); ++root) {
    if (e.of_columns[root] == nullptr) continue;
    if (context.model.cores > 2 || g.linear || g.row_axis < 0) {
      return Unsupported(*e.of_columns[root], "its columns beside rows");
    }
    ASSIGN_OR_RETURN(Reduction r,
                     DescribeColumns(i, e, static_cast<int>(root)));
    r.strides.assign(g.axes.size(), 0);
    r.strides[g.column_axis] = isa::kVregBytes;
    r.scratch = tiling.scratch_bytes;
    r.partial_bytes = g.axes[g.column_axis].tiles * isa::kVregBytes;
    tiling.scratch_bytes += r.partial_bytes;
    r.window = AddWholeWindow(i.operand_count() + e.results[root],
                              isa::Direction::kOut, r.result, &tiling);
    t->of_columns.push_back(std::move(r));
  }
  return absl::OkStatus();
}

void ColumnSums::Begin(isa::When::Kind kind) {
  for (int d = 0; d < t_.grid_dims; ++d) b_.BeginWhen(t_.WhenDim(d), kind);
}

void ColumnSums::End() {
  for (int d = 0; d < t_.grid_dims; ++d) b_.EndWhen();
}

void ColumnSums::Fill() {
  if (t_.of_columns.empty()) return;
  Begin(isa::When::Kind::kFirst);
  for (const Reduction& r : t_.of_columns) {
    b_.BeginScope();
    b_.NewBlock("columns");
    const Sca at = b_.GlobalSca();
    b_.ScratchAddress(at, static_cast<int32_t>(r.scratch));
    const Vec value = b_.GlobalVec();
    b_.ImmTo(value, MonoidIdentity(r.op, r.type));
    const int64_t tiles = g_.axes[g_.column_axis].tiles;
    b_.BeginLoop(tiles, 1);
    b_.Store(codegen::kPartialTileSpace, at, 0, value);
    b_.SBinaryImmTo(at, Opcode::kSadd, at, isa::kVregBytes);
    b_.EndLoop();
    b_.EndScope();
  }
  End();
}

void ColumnSums::AddPointers(NestCode& n) {
  const int axis = g_.column_axis;
  for (size_t k = 0; k < t_.of_columns.size(); ++k) {
    const Reduction& r = t_.of_columns[k];
    pointers_[k] = n.AddPointer(r.strides, [this, &r, axis](Sca to) {
      const Sca reg = to.valid() ? to : b_.NewSca();
      const int dim = t_.cut.plan.grid_dim[axis];
      if (dim < 0) {
        b_.ScratchAddress(reg, static_cast<int32_t>(r.scratch));
        return reg;
      }
      const Sca first = b_.NewSca(), step = b_.NewSca();
      b_.ScratchAddress(first, static_cast<int32_t>(r.scratch));
      b_.GridIndex(step, dim);
      b_.SBinaryTo(
          reg, Opcode::kSadd, first,
          b_.SMulImm(step, static_cast<int32_t>(t_.cut.plan.block[axis] *
                                                isa::kVregBytes)));
      return reg;
    });
  }
}

int32_t ColumnSums::Offset(const NestCode& n, size_t k, int column) const {
  return static_cast<int32_t>(n.pointer(pointers_[k]).offset +
                              column * isa::kVregBytes);
}

absl::Status ColumnSums::AddRows(NestCode& n, const Region& region, int first,
                                 int end) {
  if (sums_.empty()) sums_.resize(t_.of_columns.size() * region.columns);
  for (int row = first; row < end; ++row) {
    for (int c = 0; c < region.columns; ++c) {
      for (size_t k = 0; k < t_.of_columns.size(); ++k) {
        const Reduction& r = t_.of_columns[k];
        ASSIGN_OR_RETURN(const Vec v,
                         terms_.WordsOfColumns(n, region, r, row, c));
        Vec& sum = sums_[k * region.columns + c];
        if (!sum.valid()) {
          sum = v;
          continue;
        }
        ASSIGN_OR_RETURN(sum, TileFold(r, b_).Combine(sum, v));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status ColumnSums::Store(NestCode& n, const Region& region) {
  for (size_t k = 0; k < t_.of_columns.size(); ++k) {
    TileFold fold(t_.of_columns[k], b_);
    const Sca at = n.ValueOf(pointers_[k]);
    for (int c = 0; c < region.columns; ++c) {
      const Vec before =
          b_.Load(codegen::kPartialTileSpace, at, Offset(n, k, c));
      ASSIGN_OR_RETURN(const Vec sum,
                       fold.Combine(before, sums_[k * region.columns + c]));
      b_.Store(codegen::kPartialTileSpace, at, Offset(n, k, c), sum);
    }
  }
  sums_.clear();
  return absl::OkStatus();
}

absl::Status ColumnSums::Finish() {
  if (t_.of_columns.empty()) return absl::OkStatus();
  Begin(isa::When::Kind::kLast);
  RETURN_IF_ERROR(JoinPeerParts(t_.of_columns, b_));
  for (const Reduction& r : t_.of_columns) {
    TileFold fold(r, b_);
    b_.BeginScope();
    b_.NewBlock("columns");
    const bool packed = r.result.packing > 1;
    ResultRows rows(r.result, b_);
    const Sca from = b_.GlobalSca(), to = b_.GlobalSca();
    const Sca row = packed ? b_.GlobalSca() : Sca();
    b_.ScratchAddress(from, static_cast<int32_t>(r.scratch));
    ResultAddress(r, to, b_);
    b_.SetBank(to, codegen::kUnknownBanks, 0);
    if (packed) b_.SImmTo(row, 0);
    b_.BeginLoop(g_.axes[g_.column_axis].tiles, 1);
    b_.NewBlock("fold columns");
    ASSIGN_OR_RETURN(
        Vec v, fold.Sublanes(b_.Load(codegen::kPartialTileSpace, from, 0)));
    ASSIGN_OR_RETURN(v, fold.WithInit(v));
    b_.SBinaryImmTo(from, Opcode::kSadd, from, isa::kVregBytes);
    if (packed) {
      rows.Place(v, to, row, 0, row, 0);
      b_.SBinaryImmTo(row, Opcode::kSadd, row, 1);
    } else {
      b_.StoreMasked(codegen::kReducedRowSpace, to, 0, v,
                     b_.Range(0, isa::kLanes, 0, 1));
      b_.SBinaryImmTo(to, Opcode::kSadd, to, isa::kRowBytes);
    }
    b_.EndLoop();
    b_.EndScope();
  }
  End();
  return absl::OkStatus();
}

}  // namespace ptxla::lowering
