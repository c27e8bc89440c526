// EmitGradientConvolution: a gradient of weights, whose batch is contracted.
//
//   out[p, m, n] = sum over taps t and rows r of
//                  kernel[t, r, m] * in[InputOf(p, t), r, n]
//
// Both arrays lie as the forward pass left them, batch in rows. So the kernel's
// blocks are transposed once by the XLU, and the planes of the input that an
// output meets are pushed as weights: windows that are shifted cost nothing. A
// step adds up some planes of taps and, where these alone are too much, part of
// the batch or of the second axis; the grid's innermost dimensions walk over
// the rest. Results of few features share tiles (packed_gradient.h).
#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "chips/compiler_policy.h"
#include "hlo_backend/lowering/convolutions/convolution_operands.h"
#include "hlo_backend/lowering/convolutions/convolution_tiling.h"
#include "hlo_backend/lowering/convolutions/gradient_operands.h"
#include "hlo_backend/lowering/convolutions/packed_gradient.h"
#include "hlo_backend/lowering/kernel_emitter.h"
#include "hlo_backend/lowering/products/lhs_transpose.h"
#include "hlo_backend/lowering/products/product_epilogue.h"
#include "hlo_backend/lowering/products/product_visits.h"
#include "hlo_backend/lowering/tiling_log.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using isa::When;

constexpr int kSums = 2, kTransposed = 3, kFirstEpilogueSpace = 4;
// Beyond the latency of the last product.
constexpr int64_t kDrain = 64;
constexpr int64_t kLongest = 8;

// What a step takes less of than all, beside taps of the first axis: rows of
// the batch, or taps of the second axis. One of the two is 1.
struct SecondCut {
  int64_t rows = 1, taps = 1;  // parts
  int64_t grid() const { return rows * taps; }
};

// What one grid step does.
struct Step {
  AxisBlock cut;  // of the first axis
  SecondCut second;
  ProductTile tile;     // of the result
  bool packed = false;  // results share tiles
};

class GradientEmitter {
 public:
  GradientEmitter(const KernelContext& context, const hlo::Instruction& i,
                  ConvolutionForm form, EpiloguePace pace, bool may_pack)
      : context_(context), i_(i), form_(std::move(form)), may_pack_(may_pack) {
    parts_.pace = pace;
  }

  absl::StatusOr<isa::Kernel> Emit() {
    ASSIGN_OR_RETURN(epilogue_,
                     ProductEpilogue::Create(context_, i_, &form_.product));
    ASSIGN_OR_RETURN(args_, KernelArgs(i_));
    arrays_ = ArrayShapeOf(context_.model, false);
    packing_ = GradientPacking::Of(form_, arrays_);
    Choose();
    if (!best_.has_value()) {
      return absl::ResourceExhaustedError(
          absl::StrCat("%", form_.convolution->name(),
                       ": no block of the convolution fits into VMEM"));
    }
    Tiling tiling = Plan(*best_);
    if (context_.log != nullptr) context_.log->chosen = tiling.note;
    tiling.body = [this](CodeBuilder& b) { return Body(b); };
    return FrameKernel(context_, tiling);
  }

 private:
  // K of a step: rows of all the planes of taps that it takes.
  int64_t KOf(const AxisBlock& first, const SecondCut& second) const {
    int64_t k = 8 * form_.RowTiles() * first.taps;
    for (size_t a = 1; a < form_.axes.size(); ++a) k *= form_.axes[a].taps;
    return k / second.grid();
  }

  // Cut once more only where the first axis is not enough; where results are
  // packed, also where it is faster, as what two steps share is packed twice.
  void Choose() {
    for (const SecondCut& second : SecondCuts()) {
      Choose(second, false);
      if (best_.has_value()) break;
    }
    if (!may_pack_ || !packing_.packs()) return;
    for (const SecondCut& second : SecondCuts()) Choose(second, true);
  }

  std::vector<SecondCut> SecondCuts() const {
    const int64_t rows = form_.RowTiles();
    const int64_t taps = form_.axes.size() > 1 ? form_.axes[1].taps : 1;
    std::vector<SecondCut> cuts;
    for (int64_t parts = 1; parts <= std::max(rows, taps); ++parts) {
      if (taps % parts == 0 &&
          (parts == 1 || CutAxis(form_.axes[1], 1, parts).has_value())) {
        cuts.push_back({1, parts});
      }
      if (parts > 1 && rows % parts == 0) cuts.push_back({parts, 1});
    }
    return cuts;
  }

  // The best steps so far, or those with this cut.
  void Choose(const SecondCut& second, bool packed) {
    const int64_t bundles =
        chips::ProductStepBundles(context_.chip) * (packed ? kPackedSteps : 1);
    bool found = false;
    for (int64_t longest = bundles; !found && longest <= kLongest * bundles;
         longest *= 2) {
      for (int64_t grid_k = 1; grid_k <= FirstTaps(); ++grid_k) {
        if (FirstTaps() % grid_k != 0) continue;
        const auto cut = CutFirst(grid_k);
        if (!cut.has_value()) continue;
        for (const Step& step : StepsOf(*cut, second, packed)) {
          const int64_t cycles = StepCycles(step);
          if (cycles > longest) continue;
          const Tiling tiling = Plan(step);
          if (form_.product.rhs.resident && !CanLieInPlace(step)) continue;
          if (form_.product.lhs.resident && !IsOneRun(step)) continue;
          if (VmemBytes(context_, tiling) > VmemBudget(context_)) continue;
          found = true;
          const Picoseconds time = TimeOf(context_, tiling, cycles);
          if (context_.log != nullptr) ++context_.log->considered;
          if (best_.has_value() && time >= best_time_) continue;
          best_ = step;
          best_time_ = time;
        }
      }
    }
  }

  // Rows of K that a step takes follow one another in the array itself: they
  // are transposed as they come.
  bool IsOneRun(const Step& step) const {
    if (step.second.grid() == 1) return true;
    int64_t taps = step.cut.taps;
    for (size_t a = 1; step.second.rows > 1 && a < form_.axes.size(); ++a) {
      taps *= form_.axes[a].taps;
    }
    return taps == 1;
  }

  // Of an input in VMEM, the steps that meet planes beyond its borders must be
  // the first and the last one, whose code leaves them out.
  bool CanLieInPlace(const Step& step) const {
    const std::optional<int> edge = EdgeAxis(form_, block_);
    return edge.has_value() &&
           (*edge < 0 || (*edge == 0 && step.second.grid() == 1));
  }

  int64_t FirstTaps() const {
    return form_.axes.empty() ? 1 : form_.axes[0].taps;
  }
  std::optional<AxisBlock> CutFirst(int64_t grid) const {
    if (form_.axes.empty()) return AxisBlock();
    return CutAxis(form_.axes[0], 1, grid);
  }

  // Cuts of rows and columns, with the best share of the arrays for each.
  std::vector<Step> StepsOf(const AxisBlock& cut, const SecondCut& second,
                            bool packed) const {
    const ProductProblem& p = form_.product.problem;
    std::vector<Step> steps;
    if (packed && !IsPacked(packing_.taps,
                            GradientPacking::Exchanged(BlockOf(cut, second)))) {
      return steps;
    }
    const int64_t m_tiles = CeilOfRatio<int64_t>(p.m, 128);
    const int64_t n_tiles = CeilOfRatio<int64_t>(p.n, p.column_unit);
    for (int64_t m = 1; m <= m_tiles; ++m) {
      if (m_tiles % m != 0) continue;
      for (int64_t n = 1; n <= n_tiles; ++n) {
        if (n_tiles % n != 0) continue;
        ProductTile t;
        t.block_b = p.batch;
        t.grid_m = m;
        t.grid_n = n;
        t.grid_k = cut.tap_grid;
        t.block_m = m == 1 ? RoundUpTo<int64_t>(p.m, 16) : m_tiles / m * 128;
        t.block_n = n_tiles / n * p.column_unit;
        t.block_k = RoundUpTo<int64_t>(KOf(cut, second), 128);
        int64_t least = std::numeric_limits<int64_t>::max();
        ProductTile best = t;
        const int64_t most_b = packed ? 1 : arrays_.mxus;
        for (t.split_b = 1; t.split_b <= most_b; t.split_b *= 2) {
          for (t.split_n = 1; t.split_b * t.split_n <= arrays_.mxus;
               t.split_n *= 2) {
            t.split_m = arrays_.mxus / (t.split_b * t.split_n);
            const int64_t cycles = StepCycles({cut, second, t, packed});
            if (cycles >= least) continue;
            least = cycles;
            best = t;
          }
        }
        steps.push_back({cut, second, best, packed});
      }
    }
    return steps;
  }

  // The block and the product that the stream works on: where results are
  // packed, one member with their tiles as its columns.
  ProductTile StreamTile(const Step& step) const {
    ProductTile tile = step.tile;
    if (!step.packed) return tile;
    tile.block_b = 1;
    tile.block_n = packing_.Columns();
    return tile;
  }
  ProductProblem StreamProblem(const Step& step) const {
    ProductProblem problem = form_.product.problem;
    if (!step.packed) return problem;
    problem.batch = 1;
    problem.n = packing_.Columns();
    return problem;
  }

  // Of a step's body, by its resources.
  int64_t StepCycles(const Step& step) const {
    const isa::MachineModel& machine = context_.model;
    const ProductTile tile = StreamTile(step);
    const VisitPlan plan = PlanVisits(StreamProblem(step), tile, arrays_);
    const int64_t visits = plan.macros * plan.k_visits;
    const int64_t matmuls =
        visits * std::max(plan.groups * plan.group_cycles, plan.push_cycles);
    const int64_t stores = visits * plan.groups * plan.results * tile.split_b *
                           tile.split_n * tile.split_m /
                           machine.Slots(isa::Slot::kStore);
    const int64_t squares =
        tile.block_k / 128 * CeilOfRatio<int64_t>(tile.block_m, 128);
    const int64_t turns = CeilOfRatio<int64_t>(squares, machine.xlus);
    const int64_t interval =
        machine.Interval(isa::IntervalKey::kXluTransposeB16);
    const int64_t transposes =
        turns * 8 * interval +
        CeilOfRatio(turns, kTransposesPerUnit) *
            (machine.Latency(isa::LatencyKey::kXluTransposeB16) + 8 * interval);
    const int64_t alone = std::max(matmuls, stores) + transposes +
                          plan.push_cycles + arrays_.latency + kDrain;
    if (!step.packed) return alone;
    const ConvolutionBlock block =
        GradientPacking::Exchanged(BlockOf(step.cut, step.second));
    return alone +
           CostOfPacking(packing_.taps, packing_.exchanged, block, machine)
               .cycles +
           UnpackingCycles(packing_, tile.block_m, machine) /
               (tile.grid_k * step.second.grid());
  }

  ConvolutionBlock BlockOf(const AxisBlock& cut,
                           const SecondCut& second) const {
    ConvolutionBlock block;
    for (size_t a = 0; a < form_.axes.size(); ++a) {
      block.axes.push_back(
          a == 0 ? cut : *CutAxis(form_.axes[a], 1, a == 1 ? second.taps : 1));
    }
    block.row_tiles = form_.RowTiles() / second.rows;
    block.row_grid = second.rows;
    return block;
  }

  Tiling Plan(const Step& step) {
    step_ = step;
    const AxisBlock& cut = step.cut;
    const SecondCut& second = step.second;
    const ProductTile& tile = step.tile;
    grid_ = GridDims::Of(tile);
    if (second.grid() > 1) grid_.bounds.push_back(second.grid());
    if (grid_.megacore_dim == grid_.k) grid_.megacore_dim = -1;
    block_ = BlockOf(cut, second);
    planes_ = ConvolutionGrid();
    for (size_t a = 0; a < form_.axes.size(); ++a) {
      planes_.axis.push_back(-1);
      planes_.tap_axis.push_back(block_.axes[a].tap_grid == 1 ? -1
                                 : a == 0                     ? grid_.k
                                          : kGradientSecondGrid);
    }
    planes_.dims = grid_;
    Tiling tiling;
    tiling.note =
        absl::StrCat("gradient, taps ", cut.taps, ", ", tile.ToString());
    if (second.rows > 1) {
      absl::StrAppend(&tiling.note, ", rows ", 8 * block_.row_tiles);
    }
    if (second.taps > 1) {
      absl::StrAppend(&tiling.note, ", inner taps ", block_.axes[1].taps);
    }
    if (step.packed) {
      exchanged_ = GradientPacking::Exchanged(block_);
      absl::StrAppend(&tiling.note, ", results in ", packing_.taps.tiles.size(),
                      " tiles");
    }
    tiling.args = args_;
    tiling.grid = grid_.bounds;
    tiling.megacore_dim = grid_.megacore_dim;
    kernel_ = AddGradientKernelWindow(form_, block_, tile, grid_, &tiling);
    input_ = AddGradientInputWindow(form_, block_, tile, grid_, &tiling);
    windows_ = {tiling.windows[kernel_], tiling.windows[input_]};
    const int64_t rows = RoundUpTo<int64_t>(tile.block_m, 16);
    const ProductTile stream = StreamTile(step);
    transposed_offset_ =
        Accumulates() ? stream.block_b * rows * stream.block_n * 4 : 0;
    packed_offset_ =
        transposed_offset_ + rows * tile.block_k * (arrays_.bf16 ? 2 : 4);
    int64_t scratch = packed_offset_;
    if (step.packed) {
      scratch +=
          RoundUpTo<int64_t>(CostOfPacking(packing_.taps, packing_.exchanged,
                                           exchanged_, context_.model)
                                 .bytes,
                             isa::kVregBytes);
    }
    epilogue_->SetScratch(scratch);
    tiling.scratch_bytes = scratch + epilogue_->ScratchBytes(tile);
    epilogue_->AddWindows(tile, grid_, kFirstEpilogueSpace, &tiling);
    tiling.work.flops = tiling.work.mxu_flops = form_.flops;
    for (const isa::KernelArg& arg : tiling.args) {
      if (arg.space == isa::Space::kHbm) tiling.work.hbm_bytes += arg.bytes;
    }
    return tiling;
  }

  // Packed sums are always taken apart from VMEM.
  bool Accumulates() const {
    return step_.packed || step_.tile.grid_k > 1 || step_.second.grid() > 1 ||
           PlanVisits(form_.product.problem, step_.tile, arrays_).k_visits > 1;
  }

  absl::Status Body(CodeBuilder& b) {
    const bool resident = form_.product.rhs.resident;
    if (!resident) {
      FillBorders(form_, block_, planes_, windows_[1], input_, &b);
    }
    b.NewBlock("addresses");
    const BlockPlace kernel = PlaceOf(form_.product.lhs, windows_[0], kernel_,
                                      ConvolutionOperands::kWeights, &b);
    const int64_t rows = RoundUpTo<int64_t>(step_.tile.block_m, 16);
    BlockPlace lhs;
    lhs.base = b.GlobalSca();
    b.ScratchAddress(lhs.base, static_cast<int32_t>(transposed_offset_));
    b.SetBank(lhs.base, CodeBuilder::kAbsoluteBanks,
              static_cast<int32_t>(transposed_offset_));
    lhs.space = kTransposed;
    lhs.type =
        arrays_.bf16 ? hlo::PrimitiveType::kBf16 : hlo::PrimitiveType::kF32;
    lhs.lane_pitch = 8 * 128 * (arrays_.bf16 ? 2 : 4);
    lhs.row_pitch = step_.tile.block_k / 128 * lhs.lane_pitch;
    EmitLhsTranspose(kernel, lhs, 1, rows, step_.tile.block_k, &b);
    parts_.k_extent = KOf(step_.cut, step_.second);
    StartSums(b);
    b.NewBlock("addresses");
    RETURN_IF_ERROR(epilogue_->Start(b));
    if (resident && EdgeAxis(form_, block_).value_or(-1) == 0) {
      return Edges(lhs, b);
    }
    return WithOperands({}, lhs, b, [&] { return WalkSteps(b); });
  }

  template <class Fn>
  absl::Status WithOperands(const ConvolutionEdge& edge, const BlockPlace& lhs,
                            CodeBuilder& b, Fn multiply) {
    if (step_.packed) {
      PackedGradientOperands operands(packing_, exchanged_, edge, arrays_, lhs,
                                      parts_.k_extent, windows_[1], input_,
                                      packed_offset_, &b);
      parts_.operands = &operands;
      return multiply();
    }
    GradientOperands operands(form_, block_, edge, arrays_, lhs, windows_[1],
                              input_, &b);
    parts_.operands = &operands;
    return multiply();
  }

  // The first step along the taps, the last one, and those between meet other
  // planes of an input in VMEM.
  absl::Status Edges(const BlockPlace& lhs, CodeBuilder& b) {
    const auto some = [&](bool first, bool last) -> absl::Status {
      b.BeginWhen(grid_.k, first ? When::Kind::kFirst : When::Kind::kNotFirst);
      b.BeginWhen(grid_.k, last ? When::Kind::kLast : When::Kind::kNotLast);
      b.BeginScope();
      RETURN_IF_ERROR(WithOperands({0, first, last}, lhs, b,
                                   [&] { return Stream(b, first, last); }));
      b.EndScope();
      b.EndWhen();
      b.EndWhen();
      return absl::OkStatus();
    };
    RETURN_IF_ERROR(some(true, false));
    if (step_.tile.grid_k > 2) RETURN_IF_ERROR(some(false, false));
    return some(false, true);
  }

  void StartSums(CodeBuilder& b) {
    const int64_t rows = RoundUpTo<int64_t>(step_.tile.block_m, 16);
    if (Accumulates()) {
      b.NewBlock("addresses");
      parts_.sums.base = b.GlobalSca();
      b.ScratchAddress(parts_.sums.base, 0);
      b.SetBank(parts_.sums.base, CodeBuilder::kAbsoluteBanks, 0);
      parts_.sums.space = kSums;
      parts_.sums.type = hlo::PrimitiveType::kF32;
      parts_.sums.lane_pitch = isa::kVregBytes;
      parts_.sums.row_pitch = StreamTile(step_).block_n / 128 * isa::kVregBytes;
      parts_.sums.batch_pitch = rows / 8 * parts_.sums.row_pitch;
    }
  }

  absl::Status WalkSteps(CodeBuilder& b) {
    const SecondCut& second = step_.second;
    if (second.grid() == 1) return WalkTaps(b, true, true);
    b.BeginWhen(kGradientSecondGrid, When::Kind::kFirst);
    RETURN_IF_ERROR(WalkTaps(b, true, false));
    b.EndWhen();
    if (second.grid() > 2) {
      b.BeginWhen(kGradientSecondGrid, When::Kind::kNotFirst);
      b.BeginWhen(kGradientSecondGrid, When::Kind::kNotLast);
      RETURN_IF_ERROR(Stream(b, false, false));
      b.EndWhen();
      b.EndWhen();
    }
    b.BeginWhen(kGradientSecondGrid, When::Kind::kLast);
    RETURN_IF_ERROR(WalkTaps(b, false, true));
    b.EndWhen();
    return absl::OkStatus();
  }

  // The streams of all steps along the taps; the first starts the sums, the
  // last finishes them, if they may.
  absl::Status WalkTaps(CodeBuilder& b, bool starts, bool finishes) {
    if (step_.tile.grid_k == 1) return Stream(b, starts, finishes);
    if (starts) {
      b.BeginWhen(grid_.k, When::Kind::kFirst);
      RETURN_IF_ERROR(Stream(b, true, false));
      b.EndWhen();
    }
    if (step_.tile.grid_k > 2 || !starts || !finishes) {
      if (starts) b.BeginWhen(grid_.k, When::Kind::kNotFirst);
      if (finishes) b.BeginWhen(grid_.k, When::Kind::kNotLast);
      RETURN_IF_ERROR(Stream(b, false, false));
      if (finishes) b.EndWhen();
      if (starts) b.EndWhen();
    }
    if (finishes) {
      b.BeginWhen(grid_.k, When::Kind::kLast);
      RETURN_IF_ERROR(Stream(b, false, true));
      b.EndWhen();
    }
    return absl::OkStatus();
  }

  absl::Status Stream(CodeBuilder& b, bool starts, bool finishes) {
    parts_.starts = starts;
    parts_.finishes = finishes && !step_.packed;
    b.BeginScope();
    EmitStream(StreamProblem(step_), StreamTile(step_), arrays_, parts_,
               epilogue_.get(), &b);
    if (finishes && step_.packed) {
      EmitUnpacking(packing_, parts_.sums,
                    RoundUpTo<int64_t>(step_.tile.block_m, 16), epilogue_.get(),
                    &b);
    }
    if (finishes) RETURN_IF_ERROR(epilogue_->Finish(b));
    b.EndScope();
    return epilogue_->status();
  }

  const KernelContext& context_;
  const hlo::Instruction& i_;
  ConvolutionForm form_;
  ArrayShape arrays_;
  std::vector<isa::KernelArg> args_;
  const bool may_pack_;
  GradientPacking packing_;
  std::optional<Step> best_;
  Picoseconds best_time_;
  Step step_;
  ConvolutionBlock block_;
  ConvolutionBlock exchanged_;  // where results are packed
  ConvolutionGrid planes_;
  GridDims grid_;
  StreamParts parts_;
  int kernel_ = 0, input_ = 0;
  int64_t transposed_offset_ = 0, packed_offset_ = 0;
  std::vector<isa::Window> windows_;
  std::unique_ptr<ProductEpilogue> epilogue_;
};

}  // namespace

absl::StatusOr<isa::Kernel> EmitGradientConvolution(
    const KernelContext& context, const hlo::Instruction& i,
    const ConvolutionForm& form, const EpiloguePace& pace) {
  absl::StatusOr<isa::Kernel> kernel =
      GradientEmitter(context, i, form, pace, true).Emit();
  if (!absl::IsResourceExhausted(kernel.status())) return kernel;
  return GradientEmitter(context, i, form, pace, false).Emit();
}

}  // namespace ptxla::lowering
