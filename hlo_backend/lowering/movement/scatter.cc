#include "hlo_backend/lowering/movement/scatter.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/lowering/movement/row_dma.h"
#include "hlo_backend/lowering/movement/row_index.h"
#include "hlo_backend/lowering/physical_array.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

constexpr int64_t kRowsPerStep = 128;
enum Space { kUpdates, kRow };

absl::Status CheckForm(const hlo::Instruction& i) {
  const auto refuse = [&](absl::string_view what) {
    return absl::UnimplementedError(absl::StrCat("%", i.name(), ": ", what));
  };
  if (i.operand_count() != 3) return refuse("a scatter of several arrays");
  const auto& a = i.attrs<hlo::ScatterAttrs>();
  const hlo::Shape& table = i.operand(0)->shape();
  const hlo::Shape& updates = i.operand(2)->shape();
  if (table.rank() != 2 || updates.rank() != 2 ||
      a.update_window_dims != hlo::DimVector{1} ||
      a.inserted_window_dims != hlo::DimVector{0} ||
      a.scatter_dims_to_operand_dims != hlo::DimVector{0} ||
      !a.input_batching_dims.empty() || a.index_vector_dim != 1 ||
      updates.dim(1) != table.dim(1)) {
    return refuse("a scatter of other than whole rows");
  }
  if (table.type() != hlo::PrimitiveType::kF32) {
    return refuse("a scatter of other than f32");
  }
  if (hlo::MonoidOf(*i.to_apply()) != hlo::Opcode::kAdd) {
    return refuse("a scatter that does not add");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<isa::Kernel> EmitScatter(const KernelContext& context,
                                        const hlo::Instruction& i) {
  RETURN_IF_ERROR(CheckForm(i));
  ASSIGN_OR_RETURN(const PhysicalArray table,
                   PhysicalArray::Of(i.operand(0)->shape()));
  ASSIGN_OR_RETURN(const PhysicalArray updates,
                   PhysicalArray::Of(i.operand(2)->shape()));
  ASSIGN_OR_RETURN(RowIndex index, RowIndex::Of(*i.operand(1)));
  Tiling tiling;
  ASSIGN_OR_RETURN(tiling.args, KernelArgs(i));
  const int64_t rows =
      RoundUpTo<int64_t>(std::min<int64_t>(updates.rows, kRowsPerStep), 8);
  const int64_t steps = CeilOfRatio(updates.rows, rows);
  tiling.grid = {steps};
  const int indices_window = index.AddWindow(1, rows, steps, &tiling);
  // Pieces of 512 bytes of a row; eight of them fill a register.
  const int64_t pieces = updates.tiles_across;
  const int64_t registers = CeilOfRatio<int64_t>(pieces, 8);
  const int64_t pitch = pieces * isa::kVregBytes;
  isa::Window w;
  w.arg = 2;
  isa::WindowDim down, across;
  down.block = rows / 8;
  down.extent = updates.tiles_down;
  down.hbm_stride = updates.row_stride();
  down.vmem_stride = pitch;
  down.grid_dim = steps > 1 ? 0 : -1;
  across.block = across.extent = pieces;
  across.hbm_stride = updates.tile_bytes();
  across.vmem_stride = isa::kVregBytes;
  w.dims = {down, across};
  w.inner_bytes = updates.tile_bytes();
  w.slots = steps > 1 ? 2 : 1;
  // The last register of the last row reads up to seven pieces further.
  w.slot_bytes = rows / 8 * pitch + 8 * isa::kVregBytes;
  const int updates_window = static_cast<int>(tiling.windows.size());
  tiling.windows.push_back(w);
  tiling.scratch_bytes = registers * isa::kVregBytes;
  const RowDma fetch = RowDma::FromArg(0, pieces, table.tile_bytes(), &tiling);
  const RowDma store = RowDma::ToArg(3, pieces, table.tile_bytes(), &tiling);
  tiling.work.flops = updates.rows * updates.columns;
  tiling.work.hbm_bytes = 3 * updates.rows * pieces * isa::kRowBytes;
  tiling.note = absl::StrCat(rows, " rows per step, one after another");

  const int64_t bound = table.rows, count = updates.rows;
  tiling.body = [=](CodeBuilder& b) -> absl::Status {
    b.NewBlock("addresses");
    const Sca indices = b.GlobalSca(), from = b.GlobalSca(),
              row = b.GlobalSca(), first = b.GlobalSca();
    b.WindowAddress(indices, indices_window);
    b.WindowAddress(from, updates_window);
    b.ScratchAddress(row, 0);
    const Sca step = b.NewSca();
    b.GridIndex(step, 0);
    b.SMove(first, b.SMulImm(step, static_cast<int32_t>(rows)));
    const Sca n = b.BeginLoop(rows, 1);
    const Sca offset = b.GlobalSca(), inside = b.GlobalSca();
    b.NewBlock("index");
    const Sca raw = index.LoadRaw(b, indices, n);
    const Sca r = index.Load(b, indices, n, bound);
    b.SMove(offset, RowOffset(b, r, table));
    // 0 where both are equal and the row exists: others add nothing.
    const Sca left = b.SBinaryImm(
        Opcode::kSshrl,
        b.SBinary(Opcode::kSsub, b.SImm(static_cast<int32_t>(count - 1)),
                  b.SAdd(first, n)),
        31);
    b.SMove(inside,
            b.SBinary(Opcode::kSor, b.SBinary(Opcode::kSxor, raw, r), left));
    fetch.Run(b, offset, row);
    b.NewBlock("add");
    const Sca update = b.SAdd(from, RowOffset(b, n, 8, pitch));
    const auto adds = b.CompareImm(Opcode::kVcmpEqS32, b.Splat(inside), 0);
    for (int64_t k = 0; k < registers; ++k) {
      const auto at = static_cast<int32_t>(k * isa::kVregBytes);
      const Vec u = b.LoadStrided(kUpdates, update, 8 * at, isa::kVregBytes, 1);
      const Vec sum = b.Binary(Opcode::kVaddF32, b.Load(kRow, row, at),
                               b.SelectImm(adds, u, 0));
      b.Store(kRow, row, at, sum);
    }
    store.Run(b, offset, row);
    b.EndLoop();
    return absl::OkStatus();
  };
  return FrameKernel(context, tiling);
}

}  // namespace ptxla::lowering
