// SerialScatter: one row after another, two DMA latencies each.
#include "absl/strings/str_cat.h"
#include "hlo_backend/lowering/movement/row_dma.h"
#include "hlo_backend/lowering/movement/scatter_forms.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

constexpr int64_t kRowsPerStep = 128;
enum Space { kUpdates, kRow };

}  // namespace

absl::StatusOr<Tiling> SerialScatter(const ScatterProblem& p) {
  ScatterFrame f = FrameScatter(p, kRowsPerStep);
  Tiling& t = f.tiling;
  t.scratch_bytes = p.registers() * isa::kVregBytes;
  const int64_t pitch = p.table.tile_bytes();
  const RowDma fetch = RowDma::FromArg(0, p.pieces(), pitch, &t);
  const RowDma store = RowDma::ToArg(3, p.pieces(), pitch, &t);
  t.work.hbm_bytes = 3 * p.updates.rows * p.pieces() * isa::kRowBytes;
  t.note = absl::StrCat(f.rows, " rows per step, one after another");
  t.body = [p, f, fetch, store](CodeBuilder& b) -> absl::Status {
    b.NewBlock("addresses");
    const Sca indices = b.GlobalSca(), from = b.GlobalSca(),
              row = b.GlobalSca(), first = b.GlobalSca();
    b.WindowAddress(indices, f.indices);
    b.WindowAddress(from, f.updates);
    b.ScratchAddress(row, 0);
    const Sca step = b.NewSca();
    b.GridIndex(step, 0);
    b.SMove(first, b.SMulImm(step, static_cast<int32_t>(f.rows)));
    const Sca n = b.BeginLoop(f.rows, 1);
    const Sca offset = b.GlobalSca(), inside = b.GlobalSca();
    b.NewBlock("index");
    const Sca raw = IndexOrNone(b, p, f, indices, first, n);
    const Sca r = p.index.Load(b, indices, n, p.table.rows);
    b.SMove(offset, RowOffset(b, r, p.table));
    // 0 where both are equal: other rows change nothing.
    b.SMove(inside, b.SBinary(Opcode::kSxor, raw, r));
    fetch.Run(b, offset, row);
    b.NewBlock("add");
    const Sca update = b.SAdd(from, RowOffset(b, n, 8, f.pitch));
    const auto adds = b.CompareImm(Opcode::kVcmpEqS32, b.Splat(inside), 0);
    for (int64_t k = 0; k < p.registers(); ++k) {
      const auto at = static_cast<int32_t>(k * isa::kVregBytes);
      const Vec u = b.LoadStrided(kUpdates, update, 8 * at, isa::kVregBytes, 1);
      const Vec old = b.Load(kRow, row, at);
      const Vec sum = b.Select(adds, p.combine.Emit(b, old, u), old);
      b.Store(kRow, row, at, sum);
    }
    store.Run(b, offset, row);
    b.EndLoop();
    return absl::OkStatus();
  };
  return t;
}

}  // namespace ptxla::lowering
