#include "hlo_backend/lowering/movement/update_box.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "chips/compiler_policy.h"
#include "hlo_backend/lowering/movement/start_index.h"
#include "hlo_backend/lowering/movement/strip_box.h"
#include "hlo_backend/lowering/movement/strip_mover.h"
#include "hlo_backend/lowering/physical_array.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Sca;
using isa::Opcode;

enum Space { kRegion, kUpdate };

class UpdateBox {
 public:
  UpdateBox(const KernelContext& context, const hlo::Instruction& i,
            const PhysicalArray& to, const PhysicalArray& from)
      : context_(context),
        i_(i),
        to_(to),
        from_(from),
        linear_(to.linear != 0) {}

  absl::StatusOr<isa::Kernel> Emit() {
    ASSIGN_OR_RETURN(args_, KernelArgs(i_));
    const int rank = to_.rank();
    for (int p = 0; p + 2 < rank; ++p) {
      axes_.push_back(
          {from_.sizes[p], to_.sizes[p], 1, 1, static_cast<int>(to_.dims[p])});
    }
    axes_.push_back(linear_ ? AxisOf(from_.linear, to_.linear,
                                     to_.tile_rows * isa::kLanes, 0)
                            : AxisOf(from_.rows, to_.rows, to_.tile_rows,
                                     static_cast<int>(to_.dims[rank - 2])));
    axes_.push_back(linear_ ? AxisOf(1, 1, isa::kLanes, 0)
                            : AxisOf(from_.columns, to_.columns, isa::kLanes,
                                     static_cast<int>(to_.dims[rank - 1])));
    for (const bool cut_rows : {false, true}) {
      for (int64_t most = chips::WholePolicy(context_.chip, "update_box");
           most >= isa::kVregBytes; most /= 2) {
        if (cut_rows && !CutRows(most)) continue;
        const Tiling t = Cutting(most);
        if (VmemBytes(context_, t) <= VmemBudget(context_)) {
          return FrameKernel(context_, t);
        }
      }
    }
    return absl::UnimplementedError(absl::StrCat(
        "%", i_.name(), ": no plane of this update fits into VMEM"));
  }

 private:
  struct Axis {
    int64_t count = 1;  // elements of the update
    int64_t size = 1;   // of the result
    int64_t unit = 1;   // elements of a tile; 1 for planes
    int64_t tiles = 1;  // of the result, that the update may touch
    int dimension = 0;  // logical
    int64_t block = 1;  // planes or rows of a step
    int grid_dim = -1;
    StartIndex start = {};

    bool Partial() const { return count != size; }
  };

  static Axis AxisOf(int64_t count, int64_t size, int64_t unit, int dimension) {
    Axis a{count, size, unit, CeilOfRatio(size, unit), dimension};
    a.block = count;
    a.tiles = TilesOf(a, count);
    return a;
  }

  // Of the result, that `part` elements may touch.
  static int64_t TilesOf(const Axis& a, int64_t part) {
    const int64_t all = CeilOfRatio(a.size, a.unit);
    if (!a.Partial()) return CeilOfRatio(part, a.unit);
    return std::min(all, (part + a.unit - 2) / a.unit + 1);
  }

  Axis& rows() { return axes_[axes_.size() - 2]; }
  Axis& lanes() { return axes_.back(); }
  size_t planes() const { return axes_.size() - 2; }

  // Parts of a plane: as many rows as divide the update, are whole tiles of it
  // and have so many bytes. False: there are none.
  bool CutRows(int64_t most) {
    Axis& a = rows();
    const int64_t row_of_tiles = lanes().tiles * to_.tile_bytes();
    int64_t cut = 0;
    for (int64_t b = a.unit; b < a.count && !linear_; b += a.unit) {
      if (a.count % b == 0 && TilesOf(a, b) * row_of_tiles <= most) cut = b;
    }
    if (cut == 0) return false;
    a.block = cut;
    a.tiles = TilesOf(a, cut);
    return true;
  }

  // Steps of as many planes as divide the update and have so many bytes.
  Tiling Cutting(int64_t most) {
    Tiling t;
    t.args = args_;
    int64_t bytes = rows().tiles * lanes().tiles * to_.tile_bytes();
    for (size_t p = planes(); p-- > 0;) {
      Axis& a = axes_[p];
      a.block = 1;
      for (int64_t b = 1; b <= a.count; ++b) {
        if (a.count % b == 0 && b * bytes <= most) a.block = b;
      }
      bytes *= a.block;
    }
    for (Axis& a : axes_) {
      a.grid_dim = -1;
      a.start = StartIndex();
      if (a.block < a.count) {
        a.grid_dim = static_cast<int>(t.grid.size());
        t.grid.push_back(a.count / a.block);
      }
      if (a.Partial()) a.start = StartIndex::Add(i_, 2 + a.dimension, &t);
    }
    region_ = BoxOf(to_, rows().tiles, lanes().tiles, 0);
    const int64_t words =
        rows().tiles * to_.tile_rows / to_.packing + isa::kSublanes;
    const int64_t down = rows().block < rows().count
                             ? rows().block / rows().unit
                             : from_.tiles_down;
    update_ = BoxOf(from_, down, from_.tiles_across, words);
    const int result = static_cast<int>(args_.size()) - 1;
    fetch_ = StripDma::Add(region_, 0, false, &t);
    fetch_update_ = StripDma::Add(update_, 1, false, &t);
    store_ = StripDma::Add(region_, result, true, &t);
    // What is not of the update is read too: before its strips, and behind.
    const int64_t beyond = RoundUpTo<int64_t>(
        words * isa::kRowBytes + (lanes().tiles + 1) * update_.strip_bytes,
        isa::kVregBytes);
    update_at_ = region_.bytes + beyond;
    t.scratch_bytes = update_at_ + update_.bytes + beyond;
    t.work.hbm_bytes =
        3 * (args_[1].space == isa::Space::kHbm ? args_[1].bytes : 0);
    t.note = absl::StrCat("in place, tiles ", rows().tiles, "x", lanes().tiles,
                          " blended");
    t.body = [this](CodeBuilder& b) { return Body(b); };
    return t;
  }

  StripBox BoxOf(const PhysicalArray& array, int64_t down, int64_t across,
                 int64_t words) const {
    std::vector<StripAxis> axes;
    for (size_t p = 0; p < planes(); ++p) {
      axes.push_back({axes_[p].block, array.sizes[p],
                      array.PlanePitch(static_cast<int>(p))});
    }
    return StripBox::Of(array, std::move(axes), down, across, words);
  }

  absl::Status Body(CodeBuilder& b) {
    b.NewBlock("place");
    const Sca offset = b.GlobalSca(), from_offset = b.GlobalSca();
    const Sca region = b.GlobalSca(), strips = b.GlobalSca(),
              update = b.GlobalSca();
    b.SImmTo(offset, 0);
    b.SImmTo(from_offset, 0);
    b.ScratchAddress(region, 0);
    b.ScratchAddress(strips, static_cast<int32_t>(update_at_));
    b.SMove(update, strips);
    StripMove move;
    for (size_t a = 0; a < axes_.size(); ++a) {
      PlaceAxis(b, a, offset, from_offset, update, &move);
    }
    b.SetBank(region, b.NewBankGroup(), 0);
    b.SetBank(update, b.NewBankGroup(), 0);
    b.NewBlock("transfer", codegen::BlockMode::kInOrder);
    fetch_update_.Start(b, from_offset, strips);
    fetch_.Start(b, offset, region);
    fetch_update_.Wait(b);
    fetch_.Wait(b);
    move.from = update_.AsStrips(kUpdate, update);
    move.to = region_.AsStrips(kRegion, region);
    for (size_t p = 0; p < planes(); ++p) move.planes.push_back(axes_[p].block);
    move.columns = lanes().tiles;
    move.registers = region_.strip_bytes / isa::kVregBytes;
    move.packing = to_.packing;
    move.linear = linear_;
    move.keep = true;
    EmitStripMove(b, move);
    store_.Run(b, offset, region);
    return absl::OkStatus();
  }

  // Adds what axis `a` says about both places; sets shift and check.
  void PlaceAxis(CodeBuilder& b, size_t a, Sca offset, Sca from_offset,
                 Sca update, StripMove* move) {
    const Axis& axis = axes_[a];
    const auto add = [&](Sca to, Sca count, int64_t pitch) {
      b.SBinaryTo(to, Opcode::kSadd, to,
                  b.SMulImm(count, static_cast<int32_t>(pitch)));
    };
    Sca beyond;  // elements of the steps before
    if (axis.grid_dim >= 0) {
      const Sca g = b.NewSca();
      b.GridIndex(g, axis.grid_dim);
      const int64_t tiles = axis.block / axis.unit;
      add(from_offset, g, tiles * update_.axes[a].pitch);
      if (a < planes() || !axis.start.exists()) {
        add(offset, g, tiles * region_.axes[a].pitch);
      }
      beyond = b.SMulImm(g, static_cast<int32_t>(axis.block));
    }
    if (!axis.start.exists()) return;
    Sca at = axis.start.Clamped(b, axis.size - axis.count);
    if (axis.unit == 1 && a < planes()) {
      add(offset, at, region_.axes[a].pitch);
      return;
    }
    if (beyond.valid()) at = b.SAdd(at, beyond);
    const int64_t extent = region_.axes[a].extent;
    Sca tile = b.SBinaryImm(Opcode::kSshrl, at, CeilLog2(axis.unit));
    tile = b.SBinaryImm(Opcode::kSmin, tile,
                        static_cast<int32_t>(extent - axis.tiles));
    add(offset, tile, region_.axes[a].pitch);
    const bool row = a == planes();
    StripCheck& check = row ? move->row_check : move->lane_check;
    check.on = true;
    check.count = axis.block;
    check.first = b.GlobalSca();
    b.SMove(check.first,
            b.SBinary(Opcode::kSsub, at,
                      b.SBinaryImm(Opcode::kSshll, tile, CeilLog2(axis.unit))));
    // Element 0 of the region is this element of the update: not after 0.
    Sca shift = b.SBinary(Opcode::kSsub, b.SImm(0), check.first);
    if (!row || linear_) {
      move->lane_shift = b.GlobalSca();
      b.SMove(move->lane_shift, b.SBinaryImm(Opcode::kSand, shift, 127));
      shift = b.SBinaryImm(Opcode::kSshra, shift, 7);
      if (!row) {
        add(update, shift, update_.strip_bytes);
        return;
      }
    }
    add(update, b.SBinaryImm(Opcode::kSshra, shift, CeilLog2(to_.packing)),
        isa::kRowBytes);
    if (to_.packing == 1) return;
    move->bit_shift = b.GlobalSca();
    b.SMove(move->bit_shift,
            b.SMulImm(b.SBinaryImm(Opcode::kSand, shift, to_.packing - 1),
                      to_.bits));
  }

  const KernelContext& context_;
  const hlo::Instruction& i_;
  const PhysicalArray& to_;
  const PhysicalArray& from_;
  const bool linear_;
  std::vector<isa::KernelArg> args_;
  std::vector<Axis> axes_;  // planes, rows, lanes
  StripBox region_, update_;
  StripDma fetch_, fetch_update_, store_;
  int64_t update_at_ = 0;
};

}  // namespace

absl::StatusOr<isa::Kernel> EmitUpdateBox(const KernelContext& context,
                                          const hlo::Instruction& i) {
  ASSIGN_OR_RETURN(const PhysicalArray to, PhysicalArray::Of(i.shape()));
  ASSIGN_OR_RETURN(const PhysicalArray from,
                   PhysicalArray::Of(i.operand(1)->shape()));
  if (to.rank() == 0 || to.dims != from.dims) {
    return absl::UnimplementedError(
        absl::StrCat("%", i.name(), " (dynamic-update-slice): layouts differ"));
  }
  return UpdateBox(context, i, to, from).Emit();
}

}  // namespace ptxla::lowering
