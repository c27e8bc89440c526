#include "hlo_backend/lowering/movement/box_mover.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/core_window.h"
#include "hlo_backend/lowering/movement/box_cuts.h"
#include "hlo_backend/lowering/movement/box_map.h"
#include "hlo_backend/lowering/movement/box_parts.h"
#include "hlo_backend/lowering/movement/box_planes.h"
#include "hlo_backend/lowering/movement/fold_grid.h"
#include "hlo_backend/lowering/movement/scalar_value.h"
#include "hlo_backend/lowering/movement/strip_box.h"
#include "hlo_backend/lowering/movement/strip_mover.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Sca;
using isa::Opcode;

// Bytes of a block of the result, at the least.
constexpr int64_t kLeastBytes = 4096;
// Axes of planes that windows have room for.
constexpr size_t kWindowPlanes = isa::kMaxWindowDims - 2;

class BoxMover {
 public:
  BoxMover(const KernelContext& context, const hlo::Instruction& i, BoxMap map)
      : context_(context),
        i_(i),
        map_(std::move(map)),
        planes_(BoxPlanes::Of(map_)),
        linear_(map_.out.linear != 0),
        packing_(map_.out.packing) {}

  absl::StatusOr<isa::Kernel> Emit() {
    const size_t planes = planes_.axes.size();
    const bool many = planes > kWindowPlanes;
    if (many) singles_ = static_cast<int>(planes - kWindowPlanes) + 1;
    // Checks ask for indices of the grid, which folding takes away.
    const bool folds = map_.fill < 0 && map_.sources.size() == 1 &&
                       planes_.PutSmallFirst(singles_);
    if (map_.out.rank() == 0 || (many && !folds)) {
      return absl::UnimplementedError(
          absl::StrCat("%", i_.name(), ": planes of this form"));
    }
    ASSIGN_OR_RETURN(args_, KernelArgs(i_));
    resident_ = args_.back().space == isa::Space::kVmem;
    if (many) {
      for (const isa::KernelArg& arg : args_) {
        if (arg.space != isa::Space::kVmem) continue;
        return absl::UnimplementedError(absl::StrCat(
            "%", i_.name(), ": an array of so many dimensions in VMEM"));
      }
    }
    cuts_ = BoxCuts(map_, planes_, resident_, singles_);
    for (int64_t most = cuts_.MostBytes(); most >= kLeastBytes; most /= 2) {
      cuts_.Choose(most);
      ASSIGN_OR_RETURN(const Tiling tiling, Cutting());
      if (VmemBytes(context_, tiling) <= VmemBudget(context_)) {
        return FrameKernel(context_, tiling);
      }
    }
    return absl::UnimplementedError(absl::StrCat(
        "%", i_.name(), ": no block of this movement fits into VMEM"));
  }

 private:
  // Units of result_.axes in the last block along the ragged axis; 0 if it has
  // as many as others.
  int64_t Rest() const {
    const size_t c = cuts_.ragged();
    if (c == BoxCuts::kNone || cuts_[c].size % cuts_[c].block == 0) return 0;
    return result_.axes[c].extent % result_.axes[c].count;
  }

  absl::StatusOr<Tiling> Cutting() {
    Tiling t;
    t.args = args_;
    t.note = "box ";
    for (size_t c = 0; c < cuts_.size(); ++c) {
      BoxCut& cut = cuts_[c];
      const int64_t bound = CeilOfRatio(cut.size, cut.block);
      cut.grid_dim = -1;
      if (bound > 1) {
        cut.grid_dim = static_cast<int>(t.grid.size());
        t.grid.push_back(bound);
      }
      absl::StrAppend(&t.note, c == 0 ? "" : "x", cut.block);
    }
    t.megacore_dim = SharedDim(t.grid, context_.model.cores);
    ASSIGN_OR_RETURN(parts_, BoxParts::Of(i_, map_, planes_, cuts_.all(), &t));
    AddResult(&t);
    if (map_.fill >= 0) fill_.Add(i_, map_.fill, map_.out, &t);
    for (int k = singles_; k-- > 1;) FoldGrid(k - 1, k, &t);
    t.work.hbm_bytes = Work();
    t.body = [this](CodeBuilder& b) { return Body(b); };
    return t;
  }

  // Strips of one column of tiles lie as the array itself does, if planes are
  // whole registers, and those of several do if tiles are: the code stores
  // there what it would else store twice.
  bool StoresInPlace() const {
    if (!resident_ || linear_) return false;
    if (cuts_.ragged() == BoxCuts::kNone && map_.out.tiles_across == 1) {
      return map_.out.plane_stride() % isa::kVregBytes == 0;
    }
    return (cuts_.ragged() == BoxCuts::kNone ||
            cuts_.ragged() == cuts_.rows()) &&
           map_.out.tile_bytes() == isa::kVregBytes;
  }

  // Where the strips of the result lie.
  Strips ResultStrips(Sca to) const {
    Strips strips = result_.AsStrips(0, to);
    if (StoresInPlace() && map_.out.tiles_across > 1) {
      strips.column_stride = map_.out.tile_bytes();
      strips.register_stride = map_.out.row_stride();
    }
    return strips;
  }

  int64_t Work() const {
    const int64_t out = args_.back().bytes;
    int64_t bytes = args_.back().space == isa::Space::kHbm ? out : 0;
    for (const BoxSource& s : map_.sources) {
      const isa::KernelArg& arg = args_[s.operand];
      if (arg.space == isa::Space::kHbm) bytes += std::min(arg.bytes, out);
    }
    return bytes;
  }

  void AddResult(Tiling* t) {
    std::vector<StripAxis> axes;
    for (size_t p = 0; p < planes_.axes.size(); ++p) {
      axes.push_back(
          {cuts_[p].block, planes_.axes[p].size, planes_.axes[p].pitch});
    }
    const int64_t rows = cuts_[cuts_.rows()].block / cuts_.row_unit();
    const int64_t down = CeilOfRatio(rows, map_.out.tile_rows);
    result_ = StripBox::Of(
        map_.out, std::move(axes), down,
        CeilOfRatio<int64_t>(cuts_[cuts_.lanes()].block, isa::kLanes),
        rows / packing_);
    const int arg = static_cast<int>(args_.size()) - 1;
    if (StoresInPlace()) {
      for (size_t p = 0; p < planes_.axes.size(); ++p) {
        result_.axes[p].stride = result_.axes[p].pitch;
      }
      return;
    }
    if (resident_) {
      // No window: the DMA that stores it has no more than the result.
      store_ = StripDma::Add(result_, arg, true, t);
      if (Rest() > 0) {
        StripBox rest = result_;
        rest.axes[cuts_.ragged()].count = Rest();
        store_rest_ = StripDma::Add(rest, arg, true, t);
      }
      result_scratch_ = RoundUpTo<int64_t>(t->scratch_bytes, isa::kVregBytes);
      t->scratch_bytes = result_scratch_ + result_.bytes;
      return;
    }
    isa::Window w = result_.AsWindow(arg, isa::Direction::kOut);
    bool moves = false;
    for (size_t c = 0; c < cuts_.size(); ++c) {
      w.dims[c].grid_dim = cuts_[c].grid_dim;
      moves |= cuts_[c].grid_dim >= 0;
    }
    w.slots = moves ? 2 : 1;
    result_window_ = static_cast<int>(t->windows.size());
    t->windows.push_back(std::move(w));
  }

  absl::Status Body(CodeBuilder& b) {
    b.NewBlock("addresses");
    const Sca to = b.GlobalSca();
    if (StoresInPlace()) {
      b.ArgAddress(to, static_cast<int>(args_.size()) - 1);
      b.SBinaryTo(to, Opcode::kSadd, to, ResultOffset(b));
      b.SetBank(to, b.NewBankGroup(), 0);
    } else if (resident_) {
      b.ScratchAddress(to, static_cast<int32_t>(result_scratch_));
      b.SetBank(to, b.NewBankGroup(), 0);
    } else {
      b.WindowAddress(to, result_window_);
      b.SetBank(to, CodeBuilder::kAbsoluteBanks, 0);
    }
    codegen::Vec fill;
    if (map_.fill >= 0) fill = fill_.Emit(b);
    const Strips strips = ResultStrips(to);
    if (StoresInPlace() && Rest() > 0) {
      const int dim = cuts_[cuts_.ragged()].grid_dim;
      b.BeginWhen(dim, isa::When::Kind::kNotLast);
      parts_->Move(b, strips, fill);
      b.EndWhen();
      b.BeginWhen(dim, isa::When::Kind::kLast);
      parts_->Move(b, strips, fill, 1, Rest());
      b.EndWhen();
      return absl::OkStatus();
    }
    parts_->Move(b, strips, fill);
    if (!resident_ || StoresInPlace()) return absl::OkStatus();
    b.NewBlock("place");
    const Sca offset = ResultOffset(b);
    if (Rest() == 0) {
      store_.Run(b, offset, to);
      return absl::OkStatus();
    }
    const int dim = cuts_[cuts_.ragged()].grid_dim;
    for (const bool last : {false, true}) {
      b.BeginWhen(dim,
                  last ? isa::When::Kind::kLast : isa::When::Kind::kNotLast);
      b.NewBlock("place");
      (last ? store_rest_ : store_).Run(b, offset, to);
      b.EndWhen();
    }
    return absl::OkStatus();
  }

  // Bytes into the result at which the step's block begins.
  Sca ResultOffset(CodeBuilder& b) const {
    const Sca offset = b.GlobalSca();
    b.SImmTo(offset, 0);
    for (size_t c = 0; c < cuts_.size(); ++c) {
      if (cuts_[c].grid_dim < 0) continue;
      const Sca g = b.NewSca();
      b.GridIndex(g, cuts_[c].grid_dim);
      b.SBinaryTo(offset, Opcode::kSadd, offset,
                  b.SMulImm(g, static_cast<int32_t>(result_.axes[c].count *
                                                    result_.axes[c].pitch)));
    }
    return offset;
  }

  const KernelContext& context_;
  const hlo::Instruction& i_;
  const BoxMap map_;
  BoxPlanes planes_;
  const bool linear_;
  const int packing_;
  std::vector<isa::KernelArg> args_;
  bool resident_ = false;  // the result is in VMEM
  int singles_ = 0;        // outer planes that go one by one
  BoxCuts cuts_;
  std::optional<BoxParts> parts_;
  StripBox result_;
  int result_window_ = -1;
  int64_t result_scratch_ = 0;
  StripDma store_, store_rest_;
  ScalarValue fill_;
};

}  // namespace

absl::StatusOr<isa::Kernel> EmitBoxMover(const KernelContext& context,
                                         const hlo::Instruction& i) {
  ASSIGN_OR_RETURN(BoxMap map, BoxMap::Of(i));
  return BoxMover(context, i, std::move(map)).Emit();
}

}  // namespace ptxla::lowering
