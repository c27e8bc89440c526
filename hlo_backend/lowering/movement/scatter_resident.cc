// ResidentScatter: the table in VMEM, where it lies already or is copied to.
#include "absl/strings/str_cat.h"
#include "hlo_backend/lowering/movement/scatter_forms.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Mask;
using codegen::Pred;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

constexpr int64_t kMostRows = 128;  // of a step
constexpr int kUnroll = 8;
enum Space { kUpdates, kTable };

// A DMA of the whole table; returns its descriptor.
int AddCopy(const PhysicalArray& table, int result_arg, bool to_table,
            Tiling* t) {
  isa::DmaDescriptor d;
  (to_table ? d.dst_arg : d.src_arg) = to_table ? result_arg : 0;
  d.dims = {{1, 0, 0}};
  d.inner_bytes = table.bytes();
  d.semaphore = t->num_semaphores++;
  t->descriptors.push_back(d);
  return static_cast<int>(t->descriptors.size()) - 1;
}

void RunCopy(CodeBuilder& b, int descriptor, Sca scratch, bool to_table,
             int64_t bytes) {
  b.NewBlock("copy table", codegen::BlockMode::kInOrder);
  codegen::VInstr start;
  start.op = Opcode::kDmaStartDesc;
  start.imm = descriptor;
  (to_table ? start.a : start.b) = scratch.id;
  b.Emit(start);
  codegen::VInstr wait;
  wait.op = Opcode::kDmaDoneWait;
  wait.imm = descriptor;  // one semaphore each
  wait.imm2 = static_cast<int32_t>(bytes);
  b.Emit(wait);
}

// Adds the rows of a step, one behind the other.
void AddRows(CodeBuilder& b, const ScatterProblem& p, const ScatterFrame& f,
             bool in_place) {
  b.NewBlock("addresses");
  const Sca indices = b.GlobalSca(), updates = b.GlobalSca(),
            table = b.GlobalSca(), first = b.GlobalSca();
  b.WindowAddress(indices, f.indices);
  b.WindowAddress(updates, f.updates);
  if (in_place) {
    b.ArgAddress(table, p.result_arg());
  } else {
    b.ScratchAddress(table, 0);
  }
  const Sca step = b.NewSca();
  b.GridIndex(step, 0);
  b.SMove(first, b.SMulImm(step, static_cast<int32_t>(f.rows)));
  const Sca n = b.BeginLoop(f.rows / kUnroll, kUnroll);
  b.NewBlock("add rows");
  // There is nothing behind rows in VMEM: those that do not exist are others.
  const bool stays = p.UpdatesInVmem() && p.updates.rows % f.rows != 0;
  const Sca there = !stays ? n
                           : b.SBinary(Opcode::kSmin, n,
                                       b.SBinary(Opcode::kSsub,
                                                 b.SImm(static_cast<int32_t>(
                                                     p.updates.rows - kUnroll)),
                                                 first));
  const Sca from = b.SAdd(updates, RowOffset(b, there, 8, f.pitch));
  for (int u = 0; u < kUnroll; ++u) {
    const Sca raw = IndexOrNone(b, p, f, indices, first, b.SAddImm(n, u));
    const Pred exists = b.SCompareImm(Opcode::kScmpLtU, raw,
                                      static_cast<int32_t>(p.table.rows));
    const Sca row = b.SSelectImm(exists, raw, 0);
    const Sca at = b.SAdd(table, RowOffset(b, row, p.table));
    b.SetStoreGuard(exists);
    for (int64_t k = 0; k < p.registers(); ++k) {
      const auto stride = static_cast<int32_t>(p.table.tile_bytes());
      const auto piece = static_cast<int32_t>(8 * k);
      const Vec old = b.LoadStrided(kTable, at, piece * stride, stride, 1);
      const Vec sum =
          p.combine.Emit(b, old,
                         LoadUpdate(b, p, kUpdates, from, u * isa::kRowBytes,
                                    isa::kVregBytes, k, !p.UpdatesInVmem()));
      const int64_t left = p.pieces() - 8 * k;
      if (left >= 8) {
        b.StoreStrided(kTable, at, piece * stride, stride, 1, sum);
      } else {
        const Mask mine = b.Range(0, 128, 0, static_cast<int>(left));
        b.StoreStridedMasked(kTable, at, piece * stride, stride, 1, sum, mine);
      }
    }
    b.SetStoreGuard({});
  }
  b.EndLoop();
}

// The kernel in steps of `rows` rows.
Tiling InSteps(const ScatterProblem& p, int64_t rows) {
  ScatterFrame f = FrameScatter(p, rows);
  Tiling t = f.tiling;
  t.work.hbm_bytes =
      p.args[p.index_arg()].bytes + p.args[p.updates_arg()].bytes;
  t.note = absl::StrCat("table in VMEM, ", f.rows, " rows per step");
  const bool in_place = p.args[p.result_arg()].space == isa::Space::kVmem;
  const int64_t bytes = p.table.bytes();
  int fetch = -1, store = -1;
  // Before arrays in VMEM: what the last register of a row reads too early.
  if (p.UpdatesInVmem()) t.scratch_bytes = 8 * p.updates.tile_bytes();
  if (!in_place) {
    // Behind the table: what the last register of a row reads too much.
    t.scratch_bytes = bytes + 8 * p.table.tile_bytes();
    if (!p.fill.has_value()) {
      fetch = AddCopy(p.table, p.result_arg(), false, &t);
    }
    store = AddCopy(p.table, p.result_arg(), true, &t);
    t.work.hbm_bytes += (p.fill.has_value() ? 1 : 2) * bytes;
  }
  if (!in_place || p.fill.has_value()) {
    t.entry = [=](CodeBuilder& b) -> absl::Status {
      b.NewBlock("table");
      const Sca table = b.GlobalSca();
      if (in_place) {
        b.ArgAddress(table, p.result_arg());
      } else {
        b.ScratchAddress(table, 0);
      }
      if (p.fill.has_value()) {
        FillTable(b, p, kTable, table, bytes);
      } else {
        RunCopy(b, fetch, table, false, bytes);
      }
      return absl::OkStatus();
    };
  }
  t.body = [=](CodeBuilder& b) -> absl::Status {
    AddRows(b, p, f, in_place);
    if (in_place) return absl::OkStatus();
    b.BeginWhen(0, isa::When::Kind::kLast);
    const Sca table = b.GlobalSca();
    b.ScratchAddress(table, 0);
    RunCopy(b, store, table, true, bytes);
    b.EndWhen();
    return absl::OkStatus();
  };
  return t;
}

}  // namespace

absl::StatusOr<Tiling> ResidentScatter(const KernelContext& context,
                                       const ScatterProblem& p) {
  for (int64_t rows = kMostRows; rows >= kUnroll; rows /= 2) {
    Tiling t = InSteps(p, rows);
    if (VmemBytes(context, t) <= VmemBudget(context)) return t;
  }
  return absl::ResourceExhaustedError("the table does not fit into VMEM");
}

}  // namespace ptxla::lowering
