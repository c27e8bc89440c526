// BlockScatter: a table of one value, block by block.
//
// Every block of rows is written once, from VMEM, while the next one is filled
// and added to. Which rows of the updates are a block's says a list in SMEM
// that the entry makes: an entry for each row of the updates holds the address
// of the next one's, and each block has that of its first and how many there
// are. Lists are in the order of the rows, so equal indices follow one another
// as HLO has them.
//
// Rows of updates in VMEM are read there; others are fetched one by one, those
// of a block before it is begun. A table of bf16 is added up in f32 in scratch.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/units.h"
#include "hlo_backend/lowering/codegen/narrow_tiles.h"
#include "hlo_backend/lowering/movement/scatter_block_code.h"

namespace ptxla::lowering {
namespace {

// Of a block in VMEM, as it is added up; more where latencies are not hidden.
constexpr int64_t kMostBlockBytes = int64_t{2} << 20;
constexpr int64_t kMostExposedBytes = int64_t{4} << 20;
// Slots of rows that are fetched at a time.
constexpr int64_t kMostSlotBytes = int64_t{2} << 20;
using codegen::CodeBuilder;

constexpr int kUnroll = ScatterBlocks::kUnroll;

// Windows, scratch and code in blocks of `rows` rows.
Tiling InBlocks(const KernelContext& context, const ScatterProblem& p,
                int64_t rows) {
  Tiling t;
  t.args = p.args;
  ScatterBlocks k;
  k.rows = rows;
  k.count = CeilOfRatio(p.table.rows, rows);
  k.padded = RoundUpTo<int64_t>(p.updates.rows, kUnroll);
  k.expected = std::clamp<int64_t>(
      CeilOfRatio(p.updates.rows * rows, p.table.rows), 1, p.updates.rows);
  t.grid = {k.count};
  t.megacore_dim = k.count > 1 ? 0 : -1;
  k.indices = p.index.AddWindow(p.index_arg(), k.padded, 1, &t);
  isa::Window& indices = t.windows[k.indices];
  k.next_offset = static_cast<int32_t>(indices.slot_bytes);
  k.heads_offset = k.next_offset + static_cast<int32_t>(4 * k.padded);
  indices.slot_bytes =
      k.heads_offset + ScatterBlocks::kHeadBytes * (k.count + 1);
  isa::Window w;
  w.arg = p.result_arg();
  w.direction = isa::Direction::kOut;
  isa::WindowDim down;
  down.block = rows / 8;
  down.extent = p.table.tiles_down;
  down.hbm_stride = down.vmem_stride = p.result.row_stride();
  down.grid_dim = k.count > 1 ? 0 : -1;
  w.dims = {down};
  w.inner_bytes = p.result.row_stride();
  w.slots = k.count > 1 ? 2 : 1;
  // The last register of a row reads up to seven tiles further.
  const int64_t behind = 8 * p.table.tile_bytes();
  w.slot_bytes = rows / 8 * p.result.row_stride() + behind;
  k.result = static_cast<int>(t.windows.size());
  t.windows.push_back(w);
  RowDma fetch;
  if (!p.UpdatesInVmem()) {
    k.slot_bytes = p.registers() * isa::kVregBytes;
    k.slots = kUnroll;
    while (k.slots < 2 * k.expected &&
           2 * k.slots * k.slot_bytes <= kMostSlotBytes) {
      k.slots *= 2;
    }
    t.scratch_bytes = k.slots * k.slot_bytes;
    k.ahead = context.model.cores == 1;
    fetch = RowDma::FromArg(p.updates_arg(), p.pieces(), p.updates.tile_bytes(),
                            &t);
  }
  if (p.result.packing > 1) {
    k.packed_from = t.scratch_bytes;
    t.scratch_bytes += rows / 8 * p.table.row_stride() + behind;
  }
  t.work.flops = p.updates.rows * p.updates.columns;
  for (const isa::KernelArg& arg : p.args) t.work.hbm_bytes += arg.bytes;
  t.note = absl::StrCat(k.count, " blocks of ", rows, " rows");
  t.entry = [=](CodeBuilder& b) {
    return ScatterBlockCode(p, k, fetch).Entry(b);
  };
  t.body = [=](CodeBuilder& b) {
    return ScatterBlockCode(p, k, fetch).Step(b);
  };
  return t;
}

}  // namespace

absl::StatusOr<Tiling> BlockScatter(const KernelContext& context,
                                    const ScatterProblem& p) {
  if (p.args[p.result_arg()].space == isa::Space::kVmem ||
      p.table.tile_rows != 8 || p.result.tile_rows != 8) {
    return absl::ResourceExhaustedError("a filled table that stays in VMEM");
  }
  const bool packed = p.result.packing > 1;
  if (packed && codegen::NarrowTiles::Needed(context.model)) {
    return absl::ResourceExhaustedError("no packed registers");
  }
  const bool exposed = context.model.cores > 1 && !p.UpdatesInVmem();
  const int64_t most = exposed ? kMostExposedBytes : kMostBlockBytes;
  const int64_t least = packed ? 16 : 8;
  int64_t rows = least;
  while (2 * rows / 8 * p.table.row_stride() <= most && rows < p.table.rows) {
    rows *= 2;
  }
  for (; rows >= least; rows /= 2) {
    Tiling t = InBlocks(context, p, rows);
    if (t.windows[0].slot_bytes > context.chip.smem().count()) {
      return absl::ResourceExhaustedError("too many rows for SMEM");
    }
    if (VmemBytes(context, t) <= VmemBudget(context)) return t;
  }
  return absl::ResourceExhaustedError("rows too long for VMEM");
}

}  // namespace ptxla::lowering
