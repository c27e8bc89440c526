// BatchedScatter: rows in flight.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/units.h"
#include "hlo_backend/lowering/movement/row_dma.h"
#include "hlo_backend/lowering/movement/row_owners.h"
#include "hlo_backend/lowering/movement/scatter_forms.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

constexpr int64_t kMostRows = 256;
constexpr int kUnroll = 8;
enum Space { kUpdates, kSlots };

// The code of a step; addresses are globals.
class Batch {
 public:
  Batch(const ScatterProblem& p, const ScatterFrame& f, const RowOwners& owners,
        RowDma fetch, RowDma store)
      : p_(p), f_(f), owner_(owners), fetch_(fetch), store_(store) {}

  absl::Status Emit(CodeBuilder& b) {
    b.NewBlock("addresses");
    indices_ = b.GlobalSca();
    updates_ = b.GlobalSca();
    slots_ = b.GlobalSca();
    owners_ = b.GlobalSca();
    first_ = b.GlobalSca();
    b.WindowAddress(indices_, f_.indices);
    b.WindowAddress(updates_, f_.updates);
    b.ScratchAddress(slots_, 0);
    b.SMove(
        owners_,
        b.SAddImm(indices_, static_cast<int32_t>(p_.index.SlotBytes(f_.rows))));
    const Sca step = b.NewSca();
    b.GridIndex(step, 0);
    b.SMove(first_, b.SMulImm(step, static_cast<int32_t>(f_.rows)));
    owner_.Find(b, owners_, [&](Sca n) { return Row(b, Index(b, n)); });
    ForRows(b, "fetch rows", [&](Sca k, int u) {
      const Sca n = b.SAddImm(k, u);
      fetch_.Start(b, RowOffset(b, Row(b, Index(b, n)), p_.table), Slot(b, n));
    });
    fetch_.Wait(b, f_.rows);
    ForRows(b, "add rows", [&](Sca k, int u) { Add(b, k, u); });
    ForRows(b, "store rows", [&](Sca k, int u) {
      const Sca n = b.SAddImm(k, u);
      const Sca row = Row(b, Index(b, n));
      const Sca owner = owner_.Of(b, owners_, n, row);
      store_.Start(b, RowOffset(b, row, p_.table), Slot(b, owner));
    });
    store_.Wait(b, f_.rows);
    return absl::OkStatus();
  }

 private:
  template <class Fn>
  void ForRows(CodeBuilder& b, const char* label, Fn body) {
    const Sca k = b.BeginLoop(f_.rows / kUnroll, kUnroll);
    b.NewBlock(label);
    for (int u = 0; u < kUnroll; ++u) body(k, u);
    b.EndLoop();
  }

  Sca Index(CodeBuilder& b, Sca n) {
    return IndexOrNone(b, p_, f_, indices_, first_, n);
  }
  // A row of the table in any case.
  Sca Row(CodeBuilder& b, Sca index) {
    const Sca high = b.SBinaryImm(Opcode::kSmin, index,
                                  static_cast<int32_t>(p_.table.rows - 1));
    return b.SBinaryImm(Opcode::kSmax, high, 0);
  }
  Sca Slot(CodeBuilder& b, Sca n) {
    const int shift = CeilLog2(isa::kVregBytes);
    if (p_.registers() == 1) {
      return b.SAdd(slots_, b.SBinaryImm(Opcode::kSshll, n, shift));
    }
    return b.SAdd(slots_, b.SMulImm(n, static_cast<int32_t>(p_.registers() *
                                                            isa::kVregBytes)));
  }

  void Add(CodeBuilder& b, Sca k, int u) {
    const Sca n = b.SAddImm(k, u);
    const Sca index = Index(b, n);
    const Sca owner = owner_.Of(b, owners_, n, Row(b, index));
    // Rows outside the table are added to a slot that is not written back.
    const Sca mine =
        b.SSelectImm(b.SCompareImm(Opcode::kScmpLtU, index,
                                   static_cast<int32_t>(p_.table.rows)),
                     owner, static_cast<int32_t>(f_.rows));
    const Sca at = Slot(b, mine);
    const Sca from = b.SAdd(updates_, RowOffset(b, k, 8, f_.pitch));
    for (int64_t r = 0; r < p_.registers(); ++r) {
      const auto offset = static_cast<int32_t>(r * isa::kVregBytes);
      const Vec update = b.LoadStrided(
          kUpdates, from, 8 * offset + u * isa::kRowBytes, isa::kVregBytes, 1);
      b.Store(kSlots, at, offset,
              p_.combine.Emit(b, b.Load(kSlots, at, offset), update));
    }
  }

  const ScatterProblem p_;
  const ScatterFrame f_;
  const RowOwners owner_;
  const RowDma fetch_, store_;
  Sca indices_, updates_, slots_, owners_, first_;
};

}  // namespace

absl::StatusOr<Tiling> BatchedScatter(const KernelContext& context,
                                      const ScatterProblem& p) {
  for (int64_t rows = kMostRows; rows >= 8; rows /= 2) {
    ScatterFrame f = FrameScatter(p, rows);
    Tiling& t = f.tiling;
    t.scratch_bytes = (f.rows + 1) * p.registers() * isa::kVregBytes;
    // Owners stand behind the indices.
    isa::Window& indices = t.windows[f.indices];
    const int64_t smem = context.chip.smem().count();
    RowOwners owners(p.table.rows, f.rows, /*hashed=*/false);
    if (indices.slot_bytes + owners.SmemBytes() > smem) {
      owners = RowOwners(p.table.rows, f.rows, /*hashed=*/true);
    }
    indices.slot_bytes += owners.SmemBytes();
    if (2 * indices.slot_bytes > smem) indices.slots = 1;
    if (indices.slot_bytes > smem) continue;
    if (VmemBytes(context, t) > VmemBudget(context)) continue;
    const int64_t pitch = p.table.tile_bytes();
    const RowDma fetch =
        RowDma::FromArg(0, p.pieces(), pitch, &t, p.table.place_shift());
    const RowDma store =
        RowDma::ToArg(3, p.pieces(), pitch, &t, p.table.place_shift());
    t.work.hbm_bytes =
        3 * p.updates.rows * p.pieces() * isa::kRowBytes + p.args[1].bytes;
    t.note = absl::StrCat(f.rows, " rows in flight");
    t.body = [p, f, owners, fetch, store](CodeBuilder& b) {
      return Batch(p, f, owners, fetch, store).Emit(b);
    };
    return t;
  }
  return absl::ResourceExhaustedError("rows too long for VMEM");
}

}  // namespace ptxla::lowering
