// A Pallas kernel as the compiler gets it from a `tpu_custom_call`: a body that
// runs once per grid step, and for every operand and result the block of it
// that a step sees.
//
//   ASSIGN_OR_RETURN(PallasKernel k, PallasKernelOf(call.backend_config()));
//   k.grid                    // {2, 8, 4, 4}
//   k.windows[0].block        // {1, 1, 512, 128}
//   k.windows[0].BlockAt(k, {0, 3, 1, 2})    // block indices, {0, 3, 1, 0}
#ifndef PTXLA_HLO_BACKEND_MOSAIC_PALLAS_KERNEL_H_
#define PTXLA_HLO_BACKEND_MOSAIC_PALLAS_KERNEL_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo_backend/mosaic/kernel_ir.h"
#include "hlo_backend/mosaic/scalar_memory.h"

namespace ptxla::mosaic {

struct PallasKernel;

struct PallasWindow {
  const Type* type = nullptr;      // the body's view of it
  std::vector<int64_t> block;      // elements per step; empty: the whole
  const Operation* map = nullptr;  // grid index -> block index; null: whole

  // Kept in HBM; the kernel copies by itself.
  bool IsManual() const {
    return type->memory_space != "vmem" && type->memory_space != "smem";
  }
  // Empty for a whole operand. nullopt: depends on data.
  std::vector<std::optional<int64_t>> BlockAt(
      const PallasKernel& kernel, const std::vector<int64_t>& index,
      ScalarMemory* memory = nullptr) const;
};

struct PallasKernel {
  Module module;
  const Operation* function = nullptr;
  std::string name;
  // Bounds; kDynamic: an operand of the call says. Empty: one step.
  std::vector<int64_t> grid;
  std::vector<bool> parallel;   // per grid dimension: cores may share it
  int64_t scalar_prefetch = 0;  // operands that are in SMEM before the grid
  // Operands, then results, after the prefetched scalars.
  std::vector<PallasWindow> windows;

  const Block& body() const { return function->regions[0].blocks[0]; }
  // Most values that the dynamic bound of a grid dimension can have: the
  // length of the prefetched array that index maps look up by it. 0: unknown.
  int64_t BoundOf(int dimension) const;
};

// InvalidArgument or Unimplemented where the payload cannot be read, NotFound
// where the call carries none.
absl::StatusOr<PallasKernel> PallasKernelOf(absl::string_view backend_config);

}  // namespace ptxla::mosaic

#endif  // PTXLA_HLO_BACKEND_MOSAIC_PALLAS_KERNEL_H_
