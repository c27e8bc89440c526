// EmitGather: rows of a table by index, each fetched by a DMA of its own.
#include "hlo_backend/lowering/movement/gather.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/analysis/plane_gather.h"
#include "hlo_backend/lowering/movement/gather_forms.h"
#include "hlo_backend/lowering/movement/row_index.h"
#include "hlo_backend/lowering/physical_array.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Sca;
using isa::Opcode;

// Rows that one grid step gathers, at most: their DMAs are in flight at once.
constexpr int64_t kRowsPerStep = 256;
constexpr int kUnroll = 8;

absl::Status Refuse(const hlo::Instruction& i, absl::string_view what) {
  return absl::UnimplementedError(absl::StrCat("%", i.name(), ": ", what));
}

// What the passes leave (passes/gather_canonicalizer.h): out[n, :] =
// table[index[n], :].
absl::Status CheckForm(const hlo::Instruction& i) {
  const auto& a = i.attrs<hlo::GatherAttrs>();
  const hlo::Shape& table = i.operand(0)->shape();
  const bool rows = table.rank() == 2 && i.shape().rank() == 2 &&
                    a.offset_dims == hlo::DimVector{1} &&
                    a.collapsed_slice_dims == hlo::DimVector{0} &&
                    a.start_index_map == hlo::DimVector{0} &&
                    a.operand_batching_dims.empty() &&
                    a.index_vector_dim == 1 && a.slice_sizes[0] == 1 &&
                    a.slice_sizes[1] == table.dim(1);
  if (!rows) return Refuse(i, "a gather of other than whole rows");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<isa::Kernel> EmitGather(const KernelContext& context,
                                       const hlo::Instruction& i) {
  if (i.operand(0)->shape().rank() == 1 && i.shape().rank() == 1 &&
      i.operand(1)->shape().rank() == 1 &&
      hlo::BitWidth(i.shape().type()) == 32) {
    return EmitElementGather(context, i);
  }
  if (hlo::GathersPlanes(i)) return EmitPlaneGather(context, i);
  RETURN_IF_ERROR(CheckForm(i));
  if (hlo::BitWidth(i.shape().type()) != 32) {
    return EmitPackedGather(context, i);
  }
  ASSIGN_OR_RETURN(const PhysicalArray table,
                   PhysicalArray::Of(i.operand(0)->shape()));
  ASSIGN_OR_RETURN(const PhysicalArray out, PhysicalArray::Of(i.shape()));
  ASSIGN_OR_RETURN(RowIndex index, RowIndex::Of(*i.operand(1)));

  Tiling tiling;
  ASSIGN_OR_RETURN(tiling.args, KernelArgs(i));
  const int64_t rows =
      RoundUpTo<int64_t>(std::min<int64_t>(out.rows, kRowsPerStep), kUnroll);
  const int64_t steps = CeilOfRatio(out.rows, rows);
  tiling.grid = {steps};
  tiling.megacore_dim = steps > 1 ? 0 : -1;
  const int index_window = index.AddWindow(1, rows, steps, &tiling);
  const int64_t pitch = out.tiles_across * isa::kVregBytes;
  isa::Window w;
  w.arg = 2;
  w.direction = isa::Direction::kOut;
  isa::WindowDim down, across;
  down.block = rows / 8;
  down.extent = out.tiles_down;
  down.hbm_stride = out.row_stride();
  down.vmem_stride = pitch;
  down.grid_dim = steps > 1 ? 0 : -1;
  across.block = across.extent = out.tiles_across;
  across.hbm_stride = out.tile_bytes();
  across.vmem_stride = isa::kVregBytes;
  w.dims = {down, across};
  w.inner_bytes = out.tile_bytes();
  w.slots = steps > 1 ? 2 : 1;
  w.slot_bytes = rows / 8 * pitch;
  const int out_window = static_cast<int>(tiling.windows.size());
  tiling.windows.push_back(w);

  // A row of the table: 512 bytes of each tile across.
  isa::DmaDescriptor row;
  row.src_arg = 0;
  row.dims = {{table.tiles_across, table.tile_bytes(), isa::kVregBytes}};
  row.inner_bytes = isa::kRowBytes;
  const int64_t row_bytes = row.Bytes();
  tiling.descriptors.push_back(row);
  tiling.num_semaphores = 1;
  tiling.work.hbm_bytes = 2 * out.rows * row_bytes + tiling.args[1].bytes;
  tiling.note = absl::StrCat(rows, " rows per step");

  tiling.body = [=](CodeBuilder& b) -> absl::Status {
    b.NewBlock("addresses");
    const Sca indices = b.GlobalSca(), to = b.GlobalSca();
    b.WindowAddress(indices, index_window);
    b.WindowAddress(to, out_window);
    const Sca first = b.BeginLoop(rows / kUnroll, kUnroll);
    b.NewBlock("fetch rows");
    for (int u = 0; u < kUnroll; ++u) {
      const Sca n = b.SAddImm(first, u);
      const Sca r = index.Load(b, indices, n, table.rows);
      const Sca from = RowOffset(b, r, table);
      const Sca at = b.SAdd(to, RowOffset(b, n, 8, pitch));
      codegen::VInstr start;
      start.op = Opcode::kDmaStartDesc;
      start.imm = 0;
      start.a = from.id;
      start.b = at.id;
      b.Emit(start);
    }
    b.EndLoop();
    b.NewBlock("wait for rows", codegen::BlockMode::kInOrder);
    codegen::VInstr wait;
    wait.op = Opcode::kDmaDoneWait;
    wait.imm = 0;
    wait.imm2 = static_cast<int32_t>(rows * row_bytes);
    b.Emit(wait);
    return absl::OkStatus();
  };
  return FrameKernel(context, tiling);
}

}  // namespace ptxla::lowering
