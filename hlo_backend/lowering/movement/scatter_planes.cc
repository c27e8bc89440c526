// EmitPlaneScatter: whole planes of updates into those of a table.
//
// A part of all the table's planes is in VMEM, where it lies or in a slot,
// while the updates' parts are read one behind the other: those of equal
// numbers meet there.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/codegen/narrow_tiles.h"
#include "hlo_backend/lowering/movement/scatter.h"
#include "hlo_backend/lowering/movement/scatter_forms.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::NarrowTiles;
using codegen::NarrowType;
using codegen::Pred;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

enum Space { kUpdates, kTable, kBefore };
constexpr int64_t kUnroll = 32;  // registers of a piece of code

int64_t LargestDivisor(int64_t n, int64_t most) {
  int64_t d = std::min(n, most);
  while (n % d != 0) --d;
  return d;
}

class PlaneScatter {
 public:
  PlaneScatter(const KernelContext& context, ScatterProblem p)
      : context_(context),
        p_(std::move(p)),
        row_(p_.table.row_stride()),
        down_(p_.table.bytes() / p_.table.sizes[0] / row_),
        narrow_(p_.table.packing == 2 && NarrowTiles::Needed(context.model)) {}

  absl::StatusOr<isa::Kernel> Run() const {
    std::vector<Tiling> tilings;
    for (int64_t down = down_; down > 0; down = Less(down)) {
      for (const int64_t planes : {64, 32, 16, 8}) {
        Tiling t = Cut(down, planes);
        if (VmemBytes(context_, t) > VmemBudget(context_)) continue;
        tilings.push_back(std::move(t));
        break;
      }
    }
    if (tilings.empty()) {
      return absl::ResourceExhaustedError("no part of the table fits in VMEM");
    }
    ASSIGN_OR_RETURN(const size_t best, ChooseTiling(context_, tilings));
    return FrameKernel(context_, tilings[best]);
  }

 private:
  // Rows of tiles of a plane in whole registers, a half or a part of them.
  int64_t Less(int64_t down) const {
    for (int64_t d = down / 2; d > 0; --d) {
      if (down_ % d == 0 && d * row_ % isa::kVregBytes == 0) return d;
    }
    return 0;
  }
  bool InVmem(int arg) const { return p_.args[arg].space == isa::Space::kVmem; }

  // Bytes from one plane to the next where the window is.
  int64_t Pitch(int arg, int64_t down) const {
    return (InVmem(arg) ? down_ : down) * row_;
  }
  isa::Window WindowOf(int arg, int64_t down, int64_t planes, int plane_dim,
                       const Tiling& t) const {
    isa::Window w;
    w.arg = arg;
    w.direction = arg == 3 ? isa::Direction::kOut : isa::Direction::kIn;
    isa::WindowDim plane, rows;
    plane.block = planes;
    plane.extent = arg == 2 ? p_.updates.sizes[0] : p_.table.sizes[0];
    plane.hbm_stride = down_ * row_;
    plane.vmem_stride = Pitch(arg, down);
    plane.grid_dim = plane_dim;
    rows.block = down;
    rows.extent = down_;
    rows.hbm_stride = rows.vmem_stride = row_;
    rows.grid_dim = t.grid[0] > 1 ? 0 : -1;
    w.dims = {plane, rows};
    w.inner_bytes = row_;
    w.slot_bytes = planes * down * row_;
    w.slots = plane_dim >= 0 || rows.grid_dim >= 0 ? 2 : 1;
    return w;
  }

  // `down` rows of tiles of all planes of the table; of `planes` updates.
  Tiling Cut(int64_t down, int64_t planes) const {
    const int64_t updates = p_.updates.sizes[0], table = p_.table.sizes[0];
    planes = std::min(planes, RoundUpTo<int64_t>(updates, 8));
    Tiling t;
    t.args = p_.args;
    t.grid = {down_ / down, CeilOfRatio(updates, planes)};
    t.megacore_dim = t.grid[0] > 1 ? 0 : -1;
    const int numbers = p_.index.AddWindow(1, planes, t.grid[1], &t);
    const int plane_dim = t.grid[1] > 1 ? 1 : -1;
    t.windows[numbers].dims[0].grid_dim = plane_dim;
    t.windows.push_back(WindowOf(2, down, planes, plane_dim, t));
    t.windows.push_back(WindowOf(3, down, table, -1, t));
    if (!InVmem(3)) t.windows.push_back(WindowOf(0, down, table, -1, t));
    for (const int arg : {0, 2, 3}) {
      if (!InVmem(arg)) t.work.hbm_bytes += p_.args[arg].bytes;
    }
    t.work.flops = updates * p_.table.bytes() / table * 8 / p_.table.bits;
    t.note = absl::StrCat(down, " of ", down_, " rows of tiles, ", planes,
                          " planes per step");
    t.body = [this, down, planes, numbers](CodeBuilder& b) {
      Write(b, down, planes, numbers);
      return absl::OkStatus();
    };
    return t;
  }

  void Write(CodeBuilder& b, int64_t down, int64_t planes, int numbers) const {
    b.BeginScope();
    NarrowTiles narrow(
        &b, narrow_ ? NarrowTiles::kLoad16 | NarrowTiles::kStore16 : 0);
    b.NewBlock("addresses");
    const Sca indices = b.GlobalSca(), updates = b.GlobalSca(),
              table = b.GlobalSca(), step = b.GlobalSca();
    b.WindowAddress(indices, numbers);
    b.WindowAddress(updates, numbers + 1);
    b.WindowAddress(table, numbers + 2);
    b.GridIndex(step, 1);
    const int64_t registers = down * row_ / isa::kVregBytes;
    if (!InVmem(3)) {
      b.BeginWhen(1, isa::When::Kind::kFirst);
      Copy(b, numbers + 3, table, p_.table.sizes[0] * registers);
      b.EndWhen();
    }
    const Sca n = b.BeginLoop(planes, 1);
    b.NewBlock("plane");
    const Sca number = b.GlobalSca(), from = b.GlobalSca(), to = b.GlobalSca();
    b.SMove(number, NumberOrNone(b, indices, step, n, planes));
    const Pred exists = b.SCompareImm(Opcode::kScmpLtU, number,
                                      static_cast<int32_t>(p_.table.sizes[0]));
    // Nothing is read beyond the arrays.
    const auto plane = [&](Sca base, Sca k, int arg) {
      return b.SAdd(base, b.SMulImm(b.SSelectImm(exists, k, 0),
                                    static_cast<int32_t>(Pitch(arg, down))));
    };
    b.SMove(to, plane(table, number, 3));
    b.SMove(from, plane(updates, n, 2));
    // Nobody knows how far apart two planes are.
    b.SetBank(to, codegen::kUnknownBanks, 0);
    b.SetBank(from, codegen::kUnknownBanks, 0);
    const int64_t unroll = LargestDivisor(registers, kUnroll);
    const auto bytes = static_cast<int32_t>(unroll * isa::kVregBytes);
    b.BeginLoop(registers / unroll, 1);
    b.NewBlock("add");
    b.SetStoreGuard(b.SCompareImm(Opcode::kScmpLtU, number,
                                  static_cast<int32_t>(p_.table.sizes[0])));
    for (int64_t k = 0; k < unroll; ++k) {
      Add(b, &narrow, from, to, static_cast<int32_t>(k * isa::kVregBytes));
    }
    b.SetStoreGuard({});
    b.SBinaryImmTo(from, Opcode::kSadd, from, bytes);
    b.SBinaryImmTo(to, Opcode::kSadd, to, bytes);
    b.EndLoop();
    b.EndLoop();
    b.EndScope();
  }

  // -1 for planes after the last.
  Sca NumberOrNone(CodeBuilder& b, Sca indices, Sca step, Sca n,
                   int64_t planes) const {
    const Sca raw = p_.index.LoadRaw(b, indices, n);
    if (p_.updates.sizes[0] % planes == 0) return raw;
    const Sca last = b.SImm(static_cast<int32_t>(p_.updates.sizes[0] - 1));
    const Sca mine = b.SAdd(b.SMulImm(step, static_cast<int32_t>(planes)), n);
    return b.SBinary(
        Opcode::kSor, raw,
        b.SBinaryImm(Opcode::kSshra, b.SBinary(Opcode::kSsub, last, mine), 31));
  }

  // The table as it was, to where it is added to.
  static void Copy(CodeBuilder& b, int window, Sca table, int64_t registers) {
    b.NewBlock("addresses");
    const Sca from = b.GlobalSca(), to = b.GlobalSca();
    b.WindowAddress(from, window);
    b.SMove(to, table);
    const int64_t unroll = LargestDivisor(registers, kUnroll);
    const auto bytes = static_cast<int32_t>(unroll * isa::kVregBytes);
    b.BeginLoop(registers / unroll, 1);
    b.NewBlock("table");
    for (int64_t k = 0; k < unroll; ++k) {
      const auto at = static_cast<int32_t>(k * isa::kVregBytes);
      b.Store(kTable, to, at, b.Load(kBefore, from, at));
    }
    b.SBinaryImmTo(from, Opcode::kSadd, from, bytes);
    b.SBinaryImmTo(to, Opcode::kSadd, to, bytes);
    b.EndLoop();
  }

  // One register of the table and of the update.
  void Add(CodeBuilder& b, NarrowTiles* narrow, Sca from, Sca to,
           int32_t at) const {
    if (p_.table.packing == 1 || !p_.combine.op.has_value()) {
      b.Store(kTable, to, at,
              p_.combine.Emit(b, b.Load(kTable, to, at),
                              b.Load(kUpdates, from, at)));
      return;
    }
    if (narrow_) {
      for (const int32_t half : {0, isa::kVregBytes / 2}) {
        narrow->Store(
            NarrowType::kBf16, kTable, to, at + half,
            p_.combine.Emit(
                b, narrow->Load(NarrowType::kBf16, kTable, to, at + half),
                narrow->Load(NarrowType::kBf16, kUpdates, from, at + half)));
      }
      return;
    }
    const Vec old = b.Load(kTable, to, at), update = b.Load(kUpdates, from, at);
    Vec halves[2];
    for (int h = 0; h < 2; ++h) {
      const Opcode unpack =
          h == 0 ? Opcode::kVunpackCLBf16 : Opcode::kVunpackCHBf16;
      halves[h] =
          p_.combine.Emit(b, b.Unary(unpack, old), b.Unary(unpack, update));
    }
    b.Store(kTable, to, at,
            b.Binary(Opcode::kVpackCBf16, halves[0], halves[1]));
  }

  const KernelContext& context_;
  const ScatterProblem p_;
  const int64_t row_, down_;  // bytes of a row of tiles; those of a plane
  const bool narrow_;         // 16 bits without packed registers
};

}  // namespace

absl::StatusOr<isa::Kernel> EmitPlaneScatter(const KernelContext& context,
                                             const hlo::Instruction& i) {
  ScatterProblem p;
  ASSIGN_OR_RETURN(p.combine, ScatterCombine::Of(i));
  // Arithmetic is that of words.
  if (i.shape().type() == hlo::PrimitiveType::kBf16) {
    p.combine.type = hlo::PrimitiveType::kF32;
  }
  ASSIGN_OR_RETURN(p.table, PhysicalArray::Of(i.shape()));
  ASSIGN_OR_RETURN(p.updates, PhysicalArray::Of(i.operand(2)->shape()));
  ASSIGN_OR_RETURN(p.index, RowIndex::Of(*i.operand(1)));
  ASSIGN_OR_RETURN(p.args, KernelArgs(i));
  const auto is_row_major = [](const PhysicalArray& array) {
    return std::is_sorted(array.dims.begin(), array.dims.end());
  };
  if (!is_row_major(p.table) || !is_row_major(p.updates) ||
      p.table.tile_rows != 8 || p.updates.tile_rows != 8) {
    return absl::UnimplementedError(
        absl::StrCat("%", i.name(), ": planes that lie otherwise"));
  }
  return PlaneScatter(context, std::move(p)).Run();
}

}  // namespace ptxla::lowering
