// From a dot to a ProductProblem: which physical dimensions of its operands and
// result are batch, M, N and K, and the windows that move over them.
//
// A result whose minor dimension is M is computed as the transposed product:
// the operands change places. Free dimensions beyond one are folded into rows
// where the layout has no padding between them, else they count as batch.
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_PRODUCT_OPERANDS_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_PRODUCT_OPERANDS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo_backend/analysis/window_config.h"
#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/lowering/kernel_plan.h"
#include "hlo_backend/lowering/physical_array.h"
#include "hlo_backend/lowering/products/product_problem.h"
#include "hlo_backend/lowering/products/product_stream.h"
#include "hlo_backend/lowering/products/product_tiling.h"

namespace ptxla::lowering {

// An array as planes (batch members) of rows x columns of tiles.
struct MatrixView {
  hlo::PrimitiveType type = hlo::PrimitiveType::kF32;
  int64_t planes = 1, rows = 1, columns = 1;
  int64_t plane_stride = 0, row_stride = 0;  // bytes; of 8 rows, of a plane
  int64_t tile_bytes = 0;  // of whole tiles, or less (few rows)
  int64_t tile_rows = 8;   // more for 8-bit types (32) and 4-bit ones (64)
  bool resident = false;   // in VMEM
  int64_t first_byte = 0;  // where it begins in the argument
  // An operand whose last batch dimension, of so many members, lies in the rows
  // of tiles (analysis/member_rows.h): rows are planes then, row_stride is that
  // from row to row, plane_stride that of the other batch dimensions,
  // member_stride from 8 members to the next 8. 0: lies as said above.
  int64_t members = 0, member_stride = 0;
  bool planes_of_k = false;  // planes are K, not batch members
  // So many members of the product's batch in a row read the same plane.
  int64_t shared_by = 1;

  static absl::StatusOr<MatrixView> Of(const hlo::Shape& shape);
  // Of a dot's operand with so many batch dimensions.
  static absl::StatusOr<MatrixView> OfOperand(const hlo::Shape& shape,
                                              int64_t batch);
  // Planes become rows where nothing lies between them.
  bool FoldPlanes();
};

struct ProductForm {
  const hlo::Instruction* dot = nullptr;
  ProductProblem problem;
  // lhs and rhs of the problem: exchanged if `swapped`.
  bool swapped = false;
  MatrixView lhs, rhs, out;
  int lhs_arg = 0, rhs_arg = 1;  // kernel arguments
  // An operand that is computed inside of the fusion, or null.
  const hlo::Instruction *lhs_value = nullptr, *rhs_value = nullptr;

  // Of a module that was scheduled elsewhere: its windows, of `problem`.
  std::optional<hlo::ProductWindows> windows;

  // Unimplemented names the dot and what it has that is not supported.
  static absl::StatusOr<ProductForm> Of(const hlo::Instruction& instruction);
};

// Numbers of the grid dimensions.
struct GridDims {
  std::vector<int64_t> bounds;
  int b = 0, m = 1, n = 2, k = 3;
  int k_planes = -1;  // outside of k, where K lies in several planes
  int megacore_dim = -1;
  int sharers = 1;  // cores, where each keeps a part of the results
  // A result's block as planes of tiles of 8 rows that do not follow one
  // another in memory, outer to inner (a convolution's); the product's rows
  // count through them. Empty: rows of one batch member follow one another.
  struct BoxDim {
    int64_t block = 1, extent = 1;
    int grid_dim = -1;
  };
  std::vector<BoxDim> box;
  // Members of the batch as planes of two axes (those of a convolution's
  // result): a step makes some of the outer one, and of each some that follow
  // one another. Empty: its members follow one another.
  std::vector<BoxDim> planes;

  static GridDims Of(const ProductTile& tile);
  // Cores share what the results that are kept allow (core_parts.h).
  void Share(const KeptResults& kept, const ProductTile& tile, int cores);
};

// Adds the window of an operand; its number.
int AddOperandWindow(const MatrixView& view, int arg, const ProductTile& tile,
                     const GridDims& grid, bool is_lhs, bool transposed,
                     Tiling* tiling);
// Adds the window of an array of the product's shape, [batch, M, N], or of one
// that is broadcast along some of them.
int AddResultWindow(const MatrixView& view, int arg, const ProductTile& tile,
                    const GridDims& grid, isa::Direction direction,
                    Tiling* tiling);

// The block of a window at run time; defines its address in the open block.
BlockPlace PlaceOf(const MatrixView& view, const isa::Window& window,
                   int window_number, int space, codegen::CodeBuilder* b);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_PRODUCT_OPERANDS_H_
