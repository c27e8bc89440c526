// EmitGather: rows of a table by index, each fetched by a DMA of its own, or
// from VMEM through registers.
#include "hlo_backend/lowering/movement/gather.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/analysis/element_gather.h"
#include "hlo_backend/analysis/plane_gather.h"
#include "hlo_backend/analysis/row_gather.h"
#include "hlo_backend/analysis/table_columns.h"
#include "hlo_backend/lowering/movement/gather_forms.h"
#include "hlo_backend/lowering/movement/row_index.h"
#include "hlo_backend/lowering/physical_array.h"
#include "memory_model/table_rows.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Sca;
using isa::Opcode;

// Rows that one grid step gathers, at most: their DMAs are in flight at once.
constexpr int64_t kRowsPerStep = 256;
constexpr int kUnroll = 8;
constexpr int64_t kMostRegisters = 128;  // of one piece of code, as libtpu's
enum Space { kTable, kResult };

// The kernel's windows, and what its code needs of them.
struct Gather {
  PhysicalArray table, out;
  RowIndex index;
  Tiling tiling;
  int64_t rows = 0, steps = 1;  // of the result, in a step
  int64_t pitch = 0;            // bytes between eights of rows in a slot
  int indices = 0, result = 0;  // windows
  // Pieces of 512 bytes of a row, and registers of eight of them.
  int64_t pieces() const { return table.tiles_across; }
  int64_t registers() const { return CeilOfRatio<int64_t>(pieces(), 8); }
  // Rows of one piece of code.
  int64_t Unroll() const {
    int64_t unroll = kUnroll;
    while (2 * unroll * registers() <= kMostRegisters &&
           rows % (2 * unroll) == 0) {
      unroll *= 2;
    }
    return unroll;
  }
  bool TableInVmem() const { return tiling.args[0].space == isa::Space::kVmem; }
};

// Nothing may be written behind the last row of a result in VMEM: the last step
// has the last rows, some of them again.
void EndWithTheLast(Gather* g) {
  for (const int w : {g->indices, g->result}) {
    isa::WindowDim& dim = g->tiling.windows[w].dims[0];
    const int64_t unit = g->rows / dim.block;  // rows
    dim.advance = 1;
    for (int64_t s = 0; s < g->steps; ++s) {
      dim.table.push_back(std::min(s * g->rows, g->out.rows - g->rows) / unit);
    }
  }
}

// Long rows are fewer in a step: two slots of the result fit.
int64_t RowsPerStep(const KernelContext& context, int64_t pitch) {
  int64_t rows = kRowsPerStep;
  while (rows > kUnroll && 2 * rows / 8 * pitch > VmemBudget(context)) {
    rows /= 2;
  }
  return rows;
}

absl::StatusOr<Gather> Frame(const KernelContext& context,
                             const hlo::Instruction& i) {
  Gather g;
  ASSIGN_OR_RETURN(g.table, PhysicalArray::Of(i.operand(0)->shape()));
  ASSIGN_OR_RETURN(g.out, PhysicalArray::Of(i.shape()));
  ASSIGN_OR_RETURN(g.index, RowIndex::OfGather(i));
  Tiling& t = g.tiling;
  ASSIGN_OR_RETURN(t.args, KernelArgs(i));
  g.pitch = g.out.tiles_across * isa::kVregBytes;
  g.rows = RoundUpTo<int64_t>(
      std::min<int64_t>(g.out.rows, RowsPerStep(context, g.pitch)), kUnroll);
  g.steps = CeilOfRatio(g.out.rows, g.rows);
  t.grid = {g.steps};
  t.megacore_dim = g.steps > 1 ? 0 : -1;
  g.index.SetSteps(g.rows, g.steps);
  g.indices = g.index.AddWindow(1, g.rows, g.steps, &t);
  isa::Window w;
  w.arg = 2;
  w.direction = isa::Direction::kOut;
  isa::WindowDim down, across;
  down.block = g.rows / 8;
  down.extent = g.out.tiles_down;
  down.hbm_stride = g.out.row_stride();
  down.vmem_stride = g.pitch;
  down.grid_dim = g.steps > 1 ? 0 : -1;
  across.block = across.extent = g.out.tiles_across;
  across.hbm_stride = g.out.tile_bytes();
  across.vmem_stride = isa::kVregBytes;
  w.dims = {down, across};
  w.inner_bytes = g.out.tile_bytes();
  w.slots = g.steps > 1 ? 2 : 1;
  w.slot_bytes = g.rows / 8 * g.pitch;
  g.result = static_cast<int>(t.windows.size());
  t.windows.push_back(w);
  if (t.args[2].space == isa::Space::kVmem && g.out.rows % g.rows != 0 &&
      g.out.rows % kUnroll == 0 && g.out.rows > g.rows) {
    EndWithTheLast(&g);
  }
  return g;
}

// The table in VMEM, where it lies or is copied to: rows go through registers.
Tiling FromVmem(const Gather& g) {
  Tiling t = g.tiling;
  const int64_t tile = g.table.tile_bytes();
  const int64_t bytes = g.table.bytes();
  // Behind the table (in front of one that lies there): what the last register
  // of a row reads too much.
  t.scratch_bytes = 8 * tile;
  t.work.hbm_bytes = t.args[1].bytes + t.args[2].bytes;
  t.note = absl::StrCat("table in VMEM, ", g.rows, " rows per step");
  const bool copies = !g.TableInVmem();
  if (copies) {
    t.scratch_bytes += bytes;
    t.work.hbm_bytes += bytes;
    isa::DmaDescriptor all;
    all.src_arg = 0;
    all.dims = {{1, 0, 0}};
    all.inner_bytes = bytes;
    t.descriptors.push_back(all);
    t.num_semaphores = 1;
    t.entry = [=](CodeBuilder& b) -> absl::Status {
      b.NewBlock("table");
      const Sca from = b.GlobalSca(), to = b.GlobalSca();
      b.SImmTo(from, 0);
      b.ScratchAddress(to, 0);
      b.NewBlock("copy table", codegen::BlockMode::kInOrder);
      codegen::VInstr start;
      start.op = Opcode::kDmaStartDesc;
      start.imm = 0;
      start.a = from.id;
      start.b = to.id;
      b.Emit(start);
      codegen::VInstr wait;
      wait.op = Opcode::kDmaDoneWait;
      wait.imm = 0;
      wait.imm2 = static_cast<int32_t>(bytes);
      b.Emit(wait);
      return absl::OkStatus();
    };
  }
  t.body = [=](CodeBuilder& b) -> absl::Status {
    b.NewBlock("addresses");
    const Sca indices = b.GlobalSca(), to = b.GlobalSca(), from = b.GlobalSca();
    b.WindowAddress(indices, g.indices);
    b.WindowAddress(to, g.result);
    if (copies) {
      b.ScratchAddress(from, 0);
    } else {
      b.ArgAddress(from, 0);
    }
    const int64_t unroll = g.Unroll();
    const Sca first = b.BeginLoop(g.rows / unroll, unroll);
    b.NewBlock("copy rows");
    const Sca slot = b.SAdd(to, RowOffset(b, first, 8, g.pitch));
    const auto stride = static_cast<int32_t>(tile);
    const Sca numbers = g.index.AddressOf(b, indices, first);
    for (int u = 0; u < unroll; ++u) {
      const Sca r = g.index.ClampedAt(b, numbers, u, g.table.rows);
      const Sca row = b.SAdd(from, RowOffset(b, r, g.table));
      for (int64_t k = 0; k < g.registers(); ++k) {
        const int64_t left = g.pieces() - 8 * k;
        const auto there = static_cast<int32_t>(
            u / 8 * g.pitch + 8 * k * isa::kVregBytes + u % 8 * isa::kRowBytes);
        const auto at = static_cast<int32_t>(8 * k) * stride;
        if (left >= 8) {
          b.StoreStrided(kResult, slot, there, isa::kVregBytes, 1,
                         b.LoadStrided(kTable, row, at, stride, 1));
          continue;
        }
        const auto missing = copies ? 0 : static_cast<int32_t>(8 - left);
        codegen::Vec v =
            b.LoadStrided(kTable, row, at - missing * stride, stride, 1);
        if (missing > 0) v = b.RotateSublanes(v, static_cast<int>(left));
        b.StoreStridedMasked(kResult, slot, there, isa::kVregBytes, 1, v,
                             b.Range(0, 128, 0, static_cast<int>(left)));
      }
    }
    b.EndLoop();
    return absl::OkStatus();
  };
  return t;
}

// Each row by a transfer of its own, to where it belongs.
Tiling ByTransfers(const Gather& g) {
  Tiling t = g.tiling;
  // A row of the table: 512 bytes of each tile across.
  isa::DmaDescriptor row;
  row.src_arg = 0;
  row.arg_shift = g.table.place_shift();
  row.dims = {{g.pieces(), g.table.tile_bytes(), isa::kVregBytes}};
  row.inner_bytes = isa::kRowBytes;
  const int64_t row_bytes = row.Bytes();
  t.descriptors.push_back(row);
  t.num_semaphores = 1;
  t.work.hbm_bytes = 2 * g.out.rows * row_bytes + t.args[1].bytes;
  t.note = absl::StrCat(g.rows, " rows per step");
  t.body = [=](CodeBuilder& b) -> absl::Status {
    b.NewBlock("addresses");
    const Sca indices = b.GlobalSca(), to = b.GlobalSca();
    b.WindowAddress(indices, g.indices);
    b.WindowAddress(to, g.result);
    const Sca first = b.BeginLoop(g.rows / kUnroll, kUnroll);
    b.NewBlock("fetch rows");
    for (int u = 0; u < kUnroll; ++u) {
      const Sca n = b.SAddImm(first, u);
      const Sca r = g.index.Load(b, indices, n, g.table.rows);
      const Sca from = RowOffset(b, r, g.table);
      const Sca at = b.SAdd(to, RowOffset(b, n, 8, g.pitch));
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
    wait.imm2 = static_cast<int32_t>(g.rows * row_bytes);
    b.Emit(wait);
    return absl::OkStatus();
  };
  return t;
}

// The table at once, and rows through registers, against a transfer each.
bool CopyIsCheaper(const KernelContext& context, const Gather& g) {
  const int64_t cores = g.steps > 1 ? context.model.cores : 1;
  memory::TableRows rows;
  rows.rows = g.out.rows / cores;
  rows.pieces = g.pieces();
  rows.table_bytes = g.table.bytes();
  // (Each core copies it.)
  const int64_t copy =
      g.TableInVmem() ? 0 : rows.Copy(context.chip).count() * cores;
  return copy + rows.ByRegisters(context.chip).count() <
         rows.ByTransfers(context.chip).count();
}

}  // namespace

absl::StatusOr<isa::Kernel> EmitGather(const KernelContext& context,
                                       const hlo::Instruction& i) {
  if (hlo::GathersElements(i)) return EmitElementGather(context, i);
  if (hlo::GathersPlanes(i)) return EmitPlaneGather(context, i);
  if (hlo::GathersColumns(i)) return EmitColumnGather(context, i);
  // What the passes leave (passes/expanders/gather_canonicalizer.h): out[n, :]
  // = table[index[n], :].
  if (!hlo::GathersRows(i)) {
    return absl::UnimplementedError(absl::StrCat(
        "%", i.name(), ": a gather of other than whole rows or elements"));
  }
  if (hlo::BitWidth(i.shape().type()) != 32) {
    return EmitPackedGather(context, i);
  }
  ASSIGN_OR_RETURN(const Gather gather, Frame(context, i));
  // Tiles of both as registers have them.
  if (gather.table.tile_rows == 8 && gather.out.tile_rows == 8 &&
      CopyIsCheaper(context, gather)) {
    const Tiling t = FromVmem(gather);
    if (VmemBytes(context, t) <= VmemBudget(context)) {
      return FrameKernel(context, t);
    }
  }
  return FrameKernel(context, ByTransfers(gather));
}

}  // namespace ptxla::lowering
