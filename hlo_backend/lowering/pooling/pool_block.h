// What one grid step of a sliding window computes: some planes of each axis,
// and of their content some units.
#ifndef PTXLA_HLO_BACKEND_LOWERING_POOLING_POOL_BLOCK_H_
#define PTXLA_HLO_BACKEND_LOWERING_POOLING_POOL_BLOCK_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo_backend/lowering/convolutions/convolution_block.h"
#include "hlo_backend/lowering/convolutions/fill_borders.h"
#include "hlo_backend/lowering/kernel_plan.h"
#include "hlo_backend/lowering/pooling/pool_form.h"

namespace ptxla::lowering {

// Planes of one array that a step sees along one axis.
struct PlaneSpan {
  int64_t extent = 1, pitch = 0;  // of the whole array; bytes
  int64_t origin = 0, planes = 1, advance = 1;
};

struct PoolBlock {
  // Grid steps along each axis.
  std::vector<int64_t> grid;
  int64_t units = 1, unit_grid = 1;  // of the content

  int64_t Steps() const;
  // Grid dimension of an axis, of the content.
  int AxisDim(size_t axis) const { return static_cast<int>(axis) + 1; }
  static constexpr int kContentDim = 0;
  std::vector<int64_t> Bounds() const;
  // A grid dimension that cores may share, or -1. `ordered`: not the axes.
  int MegacoreDim(bool ordered) const;
  std::string ToString() const;
};

// A window over planes and content; the number it gets.
int AddPlaneWindow(const PoolForm& form, const PoolBlock& block, int arg,
                   isa::Direction direction,
                   const std::vector<PlaneSpan>& spans, Tiling* tiling);

// The address of a window's slot, or of its place in an array in VMEM, with
// what is known of its banks.
void WindowBase(const isa::Window& window, int window_number, bool in_vmem,
                codegen::Sca base, codegen::CodeBuilder* b);

// One candidate: its windows without code (Plan), and the cycles of a step's
// body. False: it cannot be taken (arrays in place whose ends are ragged).
struct PoolCandidate {
  Tiling tiling;
  int64_t body = 0;
};
using PlanPool =
    std::function<bool(const PoolBlock& block, PoolCandidate* candidate)>;

// `extents`: planes of each axis that blocks cut; `multiples`: a cut axis has
// blocks of a whole number of these. ResourceExhausted if nothing fits.
absl::StatusOr<PoolBlock> ChoosePoolBlock(const KernelContext& context,
                                          const PoolForm& form,
                                          const std::vector<int64_t>& extents,
                                          const std::vector<int64_t>& multiples,
                                          const PlanPool& plan);

// The kernel in the fastest blocks; axes may be cut anywhere. `add_code`: gives
// its tiling what it executes, for the block that `plan` has seen last.
absl::StatusOr<isa::Kernel> EmitInBlocks(
    const KernelContext& context, const PoolForm& form,
    const std::vector<int64_t>& extents, const PlanPool& plan,
    const std::function<void(Tiling*)>& add_code);

// How a block cuts the axes of a window: planes that a step sees of the operand
// and of the windows, and where it meets borders. An axis that lies whole does
// not meet its own.
struct WindowCuts {
  std::vector<AxisBlock> axes;
  std::vector<BorderAxis> borders;
  std::vector<PlaneSpan> in, windows;
  bool ragged = false, has_borders = false;
};
// None: the axes cannot be cut so.
std::optional<WindowCuts> CutWindows(const PoolForm& form,
                                     const PoolBlock& block);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_POOLING_POOL_BLOCK_H_
