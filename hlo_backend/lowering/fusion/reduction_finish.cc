// FinishReduction: partial tiles of a step become rows of the result.
#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/codegen/spaces.h"
#include "hlo_backend/lowering/fusion/copy_reduced_tiles.h"
#include "hlo_backend/lowering/fusion/geometry_facts.h"
#include "hlo_backend/lowering/fusion/partial_fold.h"
#include "hlo_backend/lowering/fusion/reduction.h"
#include "hlo_backend/lowering/fusion/result_rows.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

// Planes of one element wait 130 cycles (v5e) for the XLU: so many together.
constexpr int64_t kElementsTogether = 16;

// Rows of 128 results in one block, a multiple of those that share words: what
// they wait for the XLU (140 cycles on v6e, where a row keeps it for 32) is
// paid once. ASSUMED: bundles of libtpu's sums of rows are met best of 4, 8
// and 16.
constexpr int64_t kRowsTogether = 16;

class Finisher {
 public:
  Finisher(const Reduction& r, const Reduction* extremum, const Geometry& g,
           const NestPlan& plan, const std::vector<int64_t>& extent,
           CodeBuilder& b)
      : r_(r),
        extremum_(extremum),
        g_(g),
        plan_(plan),
        extent_(extent),
        b_(b),
        fold_(r, extremum, b),
        rows_(r.result, b) {}

  absl::Status Run() {
    rows_reduced_ = FoldsSublanes(g_);
    columns_reduced_ = FoldsLanes(g_);
    for (size_t a = 0; a < g_.axes.size(); ++a) {
      if (g_.axes[a].kind == Axis::Kind::kMajor && !g_.axes[a].reduced) {
        majors_.push_back(static_cast<int>(a));
      }
    }
    b_.BeginScope();
    b_.NewBlock("finish");
    from_ = b_.GlobalSca();
    b_.ScratchAddress(from_, static_cast<int32_t>(r_.scratch));
    to_ = b_.GlobalSca();
    ResultAddress(r_, to_, b_);
    if (r_.window >= 0) b_.SetBank(to_, codegen::kUnknownBanks, 0);
    fold_.Begin();
    // Index of the innermost kept major, and the plane of the result.
    index_ = b_.GlobalSca();
    b_.SImmTo(index_, 0);
    if (!majors_.empty()) {
      const int last = majors_.back();
      if (plan_.grid_dim[last] >= 0) {
        b_.SMove(index_, FirstOfStep(last, 1));
      }
      // Outer majors are planes of the result, except beside whole tiles
      // (nothing but majors reduced), where the last one is a plane too.
      const PhysicalArray& a = r_.result;
      const bool row_is_major = a.rank() >= 2 && a.sizes[a.rank() - 2] > 1;
      const bool one_element = rows_reduced_ && columns_reduced_;
      const size_t planes =
          majors_.size() -
          (!WholeTiles() && (row_is_major || one_element) ? 1 : 0);
      int64_t stride = r_.result.plane_stride();
      for (size_t k = planes; k-- > 0;) {
        const int axis = majors_[k];
        if (!r_.moving.empty()) {
          plane_stride_.insert(plane_stride_.begin(), r_.moving[axis]);
          continue;
        }
        plane_stride_.insert(plane_stride_.begin(), stride);
        if (plan_.grid_dim[axis] >= 0) {
          const Sca step = b_.NewSca();
          b_.GridIndex(step, plan_.grid_dim[axis]);
          b_.SBinaryTo(to_, Opcode::kSadd, to_,
                       b_.SMulImm(step, static_cast<int32_t>(
                                            stride * plan_.block[axis])));
        }
        stride *= g_.axes[axis].tiles;
      }
    }
    RETURN_IF_ERROR(Majors(0));
    b_.EndScope();
    return absl::OkStatus();
  }

 private:
  bool WholeTiles() const { return !rows_reduced_ && !columns_reduced_; }

  // Where this step begins along the axis, `per` base tiles each.
  Sca FirstOfStep(int axis, int per) {
    const Sca step = b_.NewSca();
    b_.GridIndex(step, plan_.grid_dim[axis]);
    return b_.SMulImm(step, static_cast<int32_t>(plan_.block[axis] / per));
  }

  // Loops over the kept majors of the step.
  absl::Status Majors(size_t k) {
    if (k == majors_.size()) return Tiles();
    const int axis = majors_[k];
    const int64_t n = extent_[axis];
    const int64_t together = k + 1 == majors_.size() ? PlanesTogether(n) : 1;
    const bool in_planes = k < plane_stride_.size();
    if (n > 1) b_.BeginLoop(n / together, 1);
    if (together > 1) {
      RETURN_IF_ERROR(Planes(axis, in_planes, together));
    } else {
      RETURN_IF_ERROR(Majors(k + 1));
    }
    if (n == 1) return absl::OkStatus();
    // Inner loops have come back to their start.
    const Sca place = in_planes ? to_ : index_;
    const int64_t stride = in_planes ? plane_stride_[k] : 1;
    const auto move = [&](int64_t times) {
      b_.SBinaryImmTo(from_, Opcode::kSadd, from_,
                      static_cast<int32_t>(r_.strides[axis] * times));
      b_.SBinaryImmTo(place, Opcode::kSadd, place,
                      static_cast<int32_t>(stride * times));
    };
    b_.NewBlock("next plane");
    move(together);
    b_.EndLoop();
    const int64_t left = n % together;
    if (left > 0) RETURN_IF_ERROR(Planes(axis, in_planes, left));
    b_.NewBlock("first plane");
    move(left - n);
    return absl::OkStatus();
  }

  absl::Status Tiles() {
    if (WholeTiles()) {
      return CopyReducedTiles(r_, extremum_, g_, plan_, extent_, from_, to_,
                              b_);
    }
    if (rows_reduced_ && columns_reduced_) {
      b_.NewBlock("one element");
      return OneElement(0, index_);
    }
    return rows_reduced_ ? Rows(g_.column_axis, 1) : Rows(g_.row_axis, 16);
  }

  // Planes of an element, a row or two are finished several at a time, as many
  // of `n` as the XLUs can use: these are filled and drained once for all.
  int64_t PlanesTogether(int64_t n) const {
    if (WholeTiles()) return 1;
    int64_t most = kElementsTogether;
    if (!rows_reduced_ || !columns_reduced_) {
      const int64_t rows = rows_reduced_
                               ? extent_[g_.column_axis]
                               : CeilOfRatio<int64_t>(extent_[g_.row_axis], 16);
      most = 2 * b_.model().xlus / rows;
    } else if (extremum_ != nullptr) {
      return 1;
    }
    return std::max<int64_t>(1, std::min(most, n));
  }

  // The elements or rows of `together` planes along a major in one block.
  absl::Status Planes(int axis, bool planes_of_result, int64_t together) {
    if (rows_reduced_ && columns_reduced_) {
      b_.NewBlock("elements of planes");
      for (int64_t u = 0; u < together; ++u) {
        RETURN_IF_ERROR(OneElement(
            u * r_.strides[axis], b_.SAddImm(index_, static_cast<int32_t>(u))));
      }
      return absl::OkStatus();
    }
    const int along = rows_reduced_ ? g_.column_axis : g_.row_axis;
    const int per_row = rows_reduced_ ? 1 : 16;
    const int64_t tiles = extent_[along];
    b_.NewBlock("rows of planes");
    const Sca row =
        plan_.grid_dim[along] >= 0 ? FirstOfStep(along, per_row) : b_.SImm(0);
    for (int64_t u = 0; u < together; ++u) {
      const Sca index = planes_of_result || u == 0
                            ? index_
                            : b_.SAddImm(index_, static_cast<int32_t>(u));
      const int64_t beyond = planes_of_result ? u * plane_stride_.back() : 0;
      for (int64_t k = 0; k * per_row < tiles; ++k) {
        const int64_t from =
            u * r_.strides[axis] + k * per_row * isa::kVregBytes;
        const auto count =
            static_cast<int>(std::min<int64_t>(per_row, tiles - k * per_row));
        ASSIGN_OR_RETURN(const Vec v, Row(from_, from, count));
        rows_.Place(v, to_, row, static_cast<int>(k), index, beyond);
      }
    }
    return absl::OkStatus();
  }

  // A row of 128 results: of a tile whose rows are reduced, or of `count` tiles
  // down.
  absl::StatusOr<Vec> Row(Sca from, int64_t offset, int count) {
    return rows_reduced_ ? fold_.Columns(from, offset)
                         : fold_.Rows(from, offset, count);
  }

  // One row of 128 results from every `per_row` tiles along `axis`.
  absl::Status Rows(int axis, int per_row) {
    const int64_t tiles = extent_[axis];
    const int64_t rows = CeilOfRatio<int64_t>(tiles, per_row);
    const int64_t in_row = int64_t{per_row} * isa::kVregBytes;
    // Column tiles of the result that this step begins with.
    Sca first;
    if (plan_.grid_dim[axis] >= 0 && r_.moves_along != axis) {
      first = b_.GlobalSca();
      b_.SMove(first, FirstOfStep(axis, per_row));
    }
    const Sca from = b_.GlobalSca(), row = b_.GlobalSca();
    b_.SMove(from, from_);
    if (first.valid()) {
      b_.SMove(row, first);
    } else {
      b_.SImmTo(row, 0);
    }
    const auto body = [&](int64_t begin, int64_t count) -> absl::Status {
      for (int64_t k = 0; k < count; ++k) {
        const int64_t left = tiles - (begin + k) * per_row;
        ASSIGN_OR_RETURN(
            const Vec v,
            Row(from, k * in_row,
                static_cast<int>(std::min<int64_t>(per_row, left))));
        rows_.Place(v, to_, row, static_cast<int>(k), index_, 0);
      }
      return absl::OkStatus();
    };
    const int64_t loops = (rows - 1) / kRowsTogether;  // the last may be ragged
    if (loops > 0) {
      b_.BeginLoop(loops, 1);
      b_.NewBlock("rows");
      RETURN_IF_ERROR(body(0, kRowsTogether));
      b_.SBinaryImmTo(from, Opcode::kSadd, from,
                      static_cast<int32_t>(in_row * kRowsTogether));
      b_.SBinaryImmTo(row, Opcode::kSadd, row,
                      static_cast<int32_t>(kRowsTogether));
      b_.EndLoop();
    }
    b_.NewBlock("rows");
    return body(loops * kRowsTogether, rows - loops * kRowsTogether);
  }

  // Of the partial tile at `from`; the element `index` of the last kept major.
  absl::Status OneElement(int64_t from, Sca index) {
    ASSIGN_OR_RETURN(const Vec v, fold_.Element(from_, from));
    if (majors_.empty()) {
      rows_.Store(v, to_, 0, b_.SImm(0), b_.Range(0, 1, 0, 1));
      return absl::OkStatus();
    }
    if (r_.result.rank() > 1) {
      return absl::UnimplementedError(
          absl::StrCat(r_.reduce->name(),
                       ": rows and columns reduced beside several kept "
                       "dimensions"));
    }
    rows_.PlaceElement(v, to_, index);
    return absl::OkStatus();
  }

  const Reduction& r_;
  const Reduction* extremum_;
  const Geometry& g_;
  const NestPlan& plan_;
  const std::vector<int64_t>& extent_;
  CodeBuilder& b_;
  PartialFold fold_;
  ResultRows rows_;
  bool rows_reduced_ = false, columns_reduced_ = false;
  std::vector<int> majors_;
  std::vector<int64_t> plane_stride_;
  Sca from_, to_, index_;
};

}  // namespace

absl::Status FinishReduction(const Reduction& r, const Reduction* extremum,
                             const Geometry& g, const NestPlan& plan,
                             const std::vector<int64_t>& extent,
                             CodeBuilder& b) {
  return Finisher(r, extremum, g, plan, extent, b).Run();
}

}  // namespace ptxla::lowering
