#include "hlo_backend/lowering/pooling/pool_block.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/convolutions/convolution_tiling.h"
#include "hlo_backend/lowering/tiling_log.h"
#include "isa/program.h"
#include "isa/vmem_banks.h"

namespace ptxla::lowering {
namespace {

// Counts of blocks worth trying: all small ones, then ever coarser steps.
std::vector<int64_t> Cuts(int64_t size, int64_t multiple) {
  std::vector<int64_t> cuts;
  int64_t last = 0;
  for (int64_t grid = 1; grid <= size; grid += 1 + grid / 4) {
    int64_t block = CeilOfRatio<int64_t>(size, grid);
    if (grid > 1) block = RoundUpTo(block, multiple);
    if (block == last) continue;
    last = block;
    cuts.push_back(CeilOfRatio(size, block));
  }
  const int64_t finest = CeilOfRatio(size, std::min(multiple, size));
  if (cuts.back() != finest) cuts.push_back(finest);
  return cuts;
}

class Search {
 public:
  Search(const KernelContext& context, const PoolForm& form,
         const std::vector<int64_t>& extents,
         const std::vector<int64_t>& multiples, const PlanPool& plan)
      : context_(context),
        form_(form),
        extents_(extents),
        multiples_(multiples),
        plan_(plan) {}

  absl::StatusOr<PoolBlock> Run() {
    for (const int64_t grid : Cuts(form_.units, 1)) {
      PoolBlock block;
      block.units = CeilOfRatio(form_.units, grid);
      block.unit_grid = CeilOfRatio(form_.units, block.units);
      block.grid.assign(extents_.size(), 1);
      CutAxes(block, 0);
    }
    if (best_.has_value()) return *best_;
    return absl::ResourceExhaustedError(
        absl::StrCat("%", form_.instruction->name(),
                     ": no block of the window fits into VMEM"));
  }

 private:
  // Cuts axis `a`, and the next ones where it is cut as finely as it can be.
  void CutAxes(PoolBlock block, size_t a) {
    if (a == extents_.size()) return;
    const std::vector<int64_t> cuts = Cuts(extents_[a], multiples_[a]);
    for (const int64_t grid : cuts) {
      block.grid[a] = grid;
      if (a == 0 || grid > 1) Consider(block);
      if (grid == cuts.back()) CutAxes(block, a + 1);
    }
  }

  void Consider(const PoolBlock& block) {
    PoolCandidate candidate;
    if (!plan_(block, &candidate)) return;
    if (VmemBytes(context_, candidate.tiling) > VmemBudget(context_)) return;
    const Picoseconds time = TimeOf(context_, candidate.tiling, candidate.body);
    if (context_.log != nullptr) {
      ++context_.log->considered;
      AddCost(block.Steps(),
              context_.chip.core().clock.CyclesCeil(time).count(),
              context_.log);
    }
    if (best_.has_value() && time >= best_time_) return;
    best_ = block;
    best_time_ = time;
  }

  const KernelContext& context_;
  const PoolForm& form_;
  const std::vector<int64_t>& extents_;
  const std::vector<int64_t>& multiples_;
  const PlanPool& plan_;
  std::optional<PoolBlock> best_;
  Picoseconds best_time_;
};

}  // namespace

int64_t PoolBlock::Steps() const {
  int64_t steps = unit_grid;
  for (const int64_t g : grid) steps *= g;
  return steps;
}

std::vector<int64_t> PoolBlock::Bounds() const {
  std::vector<int64_t> bounds = {unit_grid};
  bounds.insert(bounds.end(), grid.begin(), grid.end());
  return bounds;
}

int PoolBlock::MegacoreDim(bool ordered) const {
  const std::vector<int64_t> bounds = Bounds();
  for (size_t d = 0; d < (ordered ? 1 : bounds.size()); ++d) {
    if (bounds[d] > 1) return static_cast<int>(d);
  }
  return -1;
}

std::string PoolBlock::ToString() const {
  std::string s = absl::StrCat("content ", units, " of ", units * unit_grid);
  for (const int64_t g : grid) absl::StrAppend(&s, ", grid ", g);
  return s;
}

int AddPlaneWindow(const PoolForm& form, const PoolBlock& block, int arg,
                   isa::Direction direction,
                   const std::vector<PlaneSpan>& spans, Tiling* tiling) {
  isa::Window w;
  w.arg = arg;
  w.direction = direction;
  bool moves = block.unit_grid > 1;
  for (size_t a = 0; a < spans.size(); ++a) {
    isa::WindowDim d;
    d.block = spans[a].planes;
    d.extent = spans[a].extent;
    d.hbm_stride = spans[a].pitch;
    d.grid_dim = block.grid[a] > 1 ? block.AxisDim(a) : -1;
    d.advance = spans[a].advance;
    d.origin = spans[a].origin;
    moves |= block.grid[a] > 1;
    w.dims.push_back(d);
  }
  isa::WindowDim content;
  content.block = block.units;
  content.extent = form.units;
  content.hbm_stride = form.unit_bytes;
  content.grid_dim = block.unit_grid > 1 ? PoolBlock::kContentDim : -1;
  w.dims.push_back(content);
  w.inner_bytes = form.unit_bytes;
  int64_t bytes = form.unit_bytes;
  for (size_t d = w.dims.size(); d-- > 0;) {
    w.dims[d].vmem_stride = bytes;
    bytes *= w.dims[d].block;
  }
  // A load of part of a register reads on behind the last plane.
  w.slot_bytes = bytes + isa::kVregBytes;
  w.slots = moves ? 2 : 1;
  tiling->windows.push_back(std::move(w));
  return static_cast<int>(tiling->windows.size()) - 1;
}

void WindowBase(const isa::Window& window, int window_number, bool in_vmem,
                codegen::Sca base, codegen::CodeBuilder* b) {
  b->WindowAddress(base, window_number);
  const std::optional<int64_t> bank =
      in_vmem ? isa::ResidentBankOffset(window, isa::kVmemAlignment)
              : std::optional<int64_t>(0);
  if (!bank.has_value()) return;
  b->SetBank(base, codegen::CodeBuilder::kAbsoluteBanks,
             static_cast<int32_t>(*bank));
}

absl::StatusOr<PoolBlock> ChoosePoolBlock(const KernelContext& context,
                                          const PoolForm& form,
                                          const std::vector<int64_t>& extents,
                                          const std::vector<int64_t>& multiples,
                                          const PlanPool& plan) {
  return Search(context, form, extents, multiples, plan).Run();
}

absl::StatusOr<isa::Kernel> EmitInBlocks(
    const KernelContext& context, const PoolForm& form,
    const std::vector<int64_t>& extents, const PlanPool& plan,
    const std::function<void(Tiling*)>& add_code) {
  const std::vector<int64_t> multiples(extents.size(), 1);
  ASSIGN_OR_RETURN(const PoolBlock block,
                   ChoosePoolBlock(context, form, extents, multiples, plan));
  PoolCandidate best;
  plan(block, &best);
  if (context.log != nullptr) context.log->chosen = best.tiling.note;
  add_code(&best.tiling);
  return FrameKernel(context, best.tiling);
}

std::optional<WindowCuts> CutWindows(const PoolForm& form,
                                     const PoolBlock& block) {
  WindowCuts cuts;
  cuts.ragged = form.units % block.units != 0;
  for (size_t a = 0; a < form.axes.size(); ++a) {
    const WindowAxis& axis = form.axes[a];
    const auto cut = CutAxis(axis, block.grid[a], 1);
    if (!cut.has_value() || cut->grid != block.grid[a]) return {};
    cuts.axes.push_back(*cut);
    cuts.borders.push_back({axis.in, cut->origin, cut->advance,
                            cut->Moves() ? cut->planes : 0, cut->grid,
                            block.AxisDim(a)});
    cuts.ragged |= axis.out % cut->outputs != 0;
    cuts.has_borders |= HasBorders(cuts.borders.back());
    cuts.in.push_back(
        {axis.in, axis.in_pitch, cut->origin, cut->planes, cut->advance});
    cuts.windows.push_back(
        {axis.out, axis.tap_pitch, 0, cut->outputs, cut->outputs});
  }
  return cuts;
}

}  // namespace ptxla::lowering
