#include "hlo_backend/lowering/movement/lane_reverse.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/physical_array.h"
#include "isa/instruction.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

enum Space { kFrom, kTo };
// Registers in one block of bundles, and of a step's code in all. ASSUMED.
constexpr int64_t kTogether = 32, kMostRegisters = 1024;

class LaneReverser {
 public:
  LaneReverser(const KernelContext& context, const hlo::Instruction& i,
               PhysicalArray array)
      : context_(context),
        i_(i),
        a_(std::move(array)),
        sublanes_(a_.tile_bytes() / isa::kRowBytes),
        down_(isa::kSublanes / sublanes_),
        all_(a_.planes * a_.tiles_down) {}

  absl::StatusOr<isa::Kernel> Emit() {
    ASSIGN_OR_RETURN(args_, KernelArgs(i_));
    const bool resident = std::any_of(
        args_.begin(), args_.end(),
        [](const isa::KernelArg& a) { return a.space == isa::Space::kVmem; });
    const int64_t registers = CeilOfRatio(all_, down_);
    std::vector<Tiling> tilings;
    for (int64_t n = 1; a_.tiles_across <= kMostRegisters; n *= 2) {
      const int64_t high = std::min(n, registers);
      // Blocks in VMEM itself end where the array does.
      if (!resident || all_ % (high * down_) == 0) {
        Tiling t = Cut(high);
        if (VmemBytes(context_, t) > VmemBudget(context_)) break;
        tilings.push_back(std::move(t));
      }
      if (high == registers) break;
    }
    if (tilings.empty() || !isa::Supports(context_.model, Opcode::kVperm)) {
      return absl::UnimplementedError(
          absl::StrCat("%", i_.name(), ": lanes that no step can reverse"));
    }
    ASSIGN_OR_RETURN(const size_t best, ChooseTiling(context_, tilings));
    return FrameKernel(context_, tilings[best]);
  }

 private:
  // Steps of `high` registers down.
  Tiling Cut(int64_t high) {
    Tiling t;
    t.args = args_;
    const int64_t steps = CeilOfRatio(all_, high * down_);
    t.grid = {steps};
    t.megacore_dim = steps > 1 ? 0 : -1;
    for (const Space side : {kFrom, kTo}) {
      isa::Window w;
      w.arg = side;
      w.direction = side == kFrom ? isa::Direction::kIn : isa::Direction::kOut;
      w.inner_bytes = a_.row_stride();
      isa::WindowDim rows;
      rows.block = high * down_;
      rows.extent = all_;
      rows.hbm_stride = rows.vmem_stride = a_.row_stride();
      rows.grid_dim = 0;
      w.dims = {rows};
      w.slots = steps > 1 ? 2 : 1;
      w.slot_bytes =
          RoundUpTo<int64_t>(high * down_ * a_.row_stride(), isa::kVregBytes);
      t.windows.push_back(std::move(w));
      if (args_[side].space == isa::Space::kHbm) {
        t.work.hbm_bytes += args_[side].bytes;
      }
    }
    t.note = absl::StrCat("lanes reversed, ", high * down_, " tiles of rows");
    t.body = [this, high](CodeBuilder& b) { return Body(b, high); };
    return t;
  }

  absl::Status Body(CodeBuilder& b, int64_t high) {
    b.NewBlock("addresses");
    const Sca in = b.GlobalSca(), out = b.GlobalSca();
    const int32_t banks = b.NewBankGroup();
    b.WindowAddress(in, kFrom);
    b.SetBank(in, banks, 0);
    b.WindowAddress(out, kTo);
    b.SetBank(out, banks, 0);
    const Vec lane =
        b.Binary(Opcode::kVsubS32, b.Imm(static_cast<uint32_t>(a_.columns - 1)),
                 b.LaneSequence());
    lanes_ = b.Promote(b.BinaryImm(Opcode::kVand, lane, isa::kLanes - 1));
    int64_t together =
        std::clamp<int64_t>(kTogether / a_.tiles_across, 1, high);
    while (high % together != 0) --together;
    const int64_t bytes = together * RegisterRows();
    const Sca i = b.BeginLoop(high / together, static_cast<int32_t>(bytes));
    b.NewBlock("addresses");
    const Sca from = b.Promote(b.SAdd(in, i)), to = b.Promote(b.SAdd(out, i));
    int64_t in_block = 0;
    for (int64_t row = 0; row < together; ++row) {
      for (int64_t tile = 0; tile < a_.tiles_across; ++tile) {
        if (in_block == 0) {
          b.NewBlock("reverse lanes");
          turned_ = -1;
        }
        in_block = (in_block + 1) % kTogether;
        Reverse(b, from, to, row, tile);
      }
    }
    b.EndLoop();
    return absl::OkStatus();
  }

  // Bytes from one register of tiles to the one below.
  int64_t RegisterRows() const { return down_ * a_.row_stride(); }

  // Lanes up to that of the last column come from the tile at the other end,
  // those behind it from the one in front of that.
  void Reverse(CodeBuilder& b, Sca from, Sca to, int64_t row, int64_t tile) {
    const auto last = static_cast<int>((a_.columns - 1) % isa::kLanes);
    const int64_t source = a_.tiles_across - 1 - tile;
    const int64_t number = row * a_.tiles_across + source;
    Vec value = turned_ == number ? kept_ : Turned(b, from, row, source);
    if (last + 1 < isa::kLanes && source > 0) {
      kept_ = Turned(b, from, row, source - 1);
      turned_ = number - 1;
      value = b.Select(b.Range(0, last + 1, 0, isa::kSublanes), value, kept_);
    }
    const auto at =
        static_cast<int32_t>(row * RegisterRows() + tile * a_.tile_bytes());
    if (down_ == 1) {
      b.Store(kTo, to, at, value);
    } else {
      b.StoreStrided(kTo, to, at, static_cast<int32_t>(a_.row_stride()),
                     static_cast<int>(sublanes_), value);
    }
  }

  // The tile, or those below one another that a register takes.
  Vec Turned(CodeBuilder& b, Sca from, int64_t row, int64_t tile) {
    const auto at =
        static_cast<int32_t>(row * RegisterRows() + tile * a_.tile_bytes());
    return b.Permute(down_ == 1
                         ? b.Load(kFrom, from, at)
                         : b.LoadStrided(kFrom, from, at,
                                         static_cast<int32_t>(a_.row_stride()),
                                         static_cast<int>(sublanes_)),
                     lanes_);
  }

  const KernelContext& context_;
  const hlo::Instruction& i_;
  const PhysicalArray a_;
  const int64_t sublanes_;  // of a tile
  const int64_t down_;      // tiles of a register
  const int64_t all_;       // tiles down the array, of all planes
  std::vector<isa::KernelArg> args_;
  Vec lanes_;           // where each lane comes from
  Vec kept_;            // a turned register of the open block ...
  int64_t turned_ = 0;  // ... and which it is
};

}  // namespace

bool IsLaneReverse(const hlo::Instruction& i) {
  if (i.opcode() != hlo::Opcode::kReverse || i.dimensions().size() != 1) {
    return false;
  }
  const auto from = PhysicalArray::Of(i.operand(0)->shape());
  const auto to = PhysicalArray::Of(i.shape());
  return from.ok() && to.ok() && to->linear == 0 && to->rank() >= 2 &&
         from->dims == to->dims && from->tile_rows == to->tile_rows &&
         to->dims[to->rank() - 1] == i.dimensions()[0] &&
         to->tile_bytes() >= isa::kRowBytes;
}

absl::StatusOr<isa::Kernel> EmitLaneReverse(const KernelContext& context,
                                            const hlo::Instruction& i) {
  ASSIGN_OR_RETURN(PhysicalArray array, PhysicalArray::Of(i.shape()));
  return LaneReverser(context, i, std::move(array)).Emit();
}

}  // namespace ptxla::lowering
