#include "hlo_backend/lowering/movement/lane_transpose.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/core_window.h"
#include "hlo_backend/lowering/kernel_emitter.h"
#include "hlo_backend/lowering/movement/lane_blocks.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Sca;
using isa::Opcode;

constexpr int kIn = kPermutedIn, kOut = kPermutedOut;
constexpr int64_t kBlock = 128;
// Blocks in one piece of code: 1,024 registers, as in other unrolled code.
constexpr int64_t kMostBlocks = 64;

std::optional<LaneProblem> Describe(const hlo::Instruction& i) {
  const auto permutation = DescribePermutation(i);
  if (!permutation.has_value()) return std::nullopt;
  LaneProblem p{*permutation};
  const bool word = p.in.bits == 32;
  const bool narrow = p.in.type == hlo::PrimitiveType::kBf16;
  if (!(word || narrow) || !p.in.HasHighTiles() || !p.out.HasHighTiles()) {
    return std::nullopt;
  }
  p.JoinPlanes();
  if (p.rank() < 3 || p.rank() > isa::kMaxWindowDims) return std::nullopt;
  p.x = p.rank() - 1;
  p.a = p.rank() - 2;
  p.l = p.To(p.rank() - 1);
  p.b = p.To(p.rank() - 2);
  p.pack = word ? 1 : 2;
  if (p.l == p.x || (p.l == p.a && p.b == p.x)) return std::nullopt;
  return p;
}

class Emitter {
 public:
  Emitter(const KernelContext& context, const hlo::Instruction& i,
          const LaneProblem& p)
      : context_(context), i_(i), p_(p) {}

  // Block by block where more in one piece of code take more registers than
  // there are.
  absl::StatusOr<isa::Kernel> Run() {
    auto kernel = RunWith(kMostBlocks);
    return absl::IsResourceExhausted(kernel.status()) ? RunWith(1)
                                                      : std::move(kernel);
  }

 private:
  absl::StatusOr<isa::Kernel> RunWith(int64_t together) {
    together_ = together;
    std::vector<std::vector<int64_t>> blocks;
    for (const int64_t share : {8, 16, 32}) {
      auto block = Grown(VmemBudget(context_) / share);
      if (std::find(blocks.begin(), blocks.end(), block) == blocks.end()) {
        blocks.push_back(std::move(block));
      }
    }
    std::vector<Tiling> tilings;
    for (const auto& block : blocks) {
      ASSIGN_OR_RETURN(Tiling t, Cut(block));
      tilings.push_back(std::move(t));
    }
    ASSIGN_OR_RETURN(const size_t best, ChooseTiling(context_, tilings));
    return FrameKernel(context_, tilings[best]);
  }

  // Elements of dimension `q` that a block, or a tile of rows, has.
  int64_t Unit(int q) const {
    if (q == p_.x || q == p_.l) return kBlock;
    return q == p_.a || q == p_.b ? 8 : 1;
  }

  // A box of about `most` bytes: blocks, then more of them where that makes
  // the runs of memory longer, lanes before rows before planes.
  std::vector<int64_t> Grown(int64_t most) const {
    const int rank = p_.rank();
    std::vector<int64_t> block(rank);
    int64_t bytes = p_.in.bits / 8;
    for (int q = 0; q < rank; ++q) {
      block[q] = std::min<int64_t>(Unit(q), p_.out.sizes[q]);
      bytes *= RoundUpTo<int64_t>(block[q], Unit(q));
    }
    std::vector<int> order = {p_.x, p_.l, p_.a, p_.b};
    for (int q = rank - 2; q-- > 0;) order.push_back(q);
    for (const int q : order) {
      if (block[q] > Unit(q) || block[q] == p_.out.sizes[q]) continue;
      const int64_t units = CeilOfRatio<int64_t>(p_.out.sizes[q], Unit(q));
      const int64_t fit = std::max<int64_t>(1, most / bytes);
      const int64_t steps = CeilOfRatio(units, std::min(units, fit));
      const int64_t some = CeilOfRatio(units, steps);
      block[q] = std::min<int64_t>(some * Unit(q), p_.out.sizes[q]);
      bytes *= some;
    }
    return block;
  }

  // Arrays in VMEM are walked where they lie if nothing beyond them is touched.
  PermutedBox::Place PlaceOf(int side, const Tiling& t,
                             const std::vector<int64_t>& block) const {
    if (t.args[side].space != isa::Space::kVmem) {
      return PermutedBox::Place::kWindow;
    }
    const PhysicalArray& array = side == kIn ? p_.in : p_.out;
    bool fits = array.tile_rows == 8;
    for (int q = 0; q < p_.rank(); ++q) {
      fits &= p_.out.sizes[q] % block[q] == 0;
    }
    if (side == kIn && !p_.FromRows()) fits &= p_.out.sizes[p_.x] % 8 == 0;
    if (side == kOut && !p_.ToRows()) fits &= p_.out.sizes[p_.l] % 8 == 0;
    return fits ? PermutedBox::Place::kInPlace : PermutedBox::Place::kCopied;
  }

  absl::StatusOr<Tiling> Cut(const std::vector<int64_t>& block) const {
    Tiling t;
    ASSIGN_OR_RETURN(t.args, KernelArgs(i_));
    t.note = "lanes from planes or rows, block ";
    for (int q = 0; q < p_.rank(); ++q) {
      t.grid.push_back(CeilOfRatio<int64_t>(p_.out.sizes[q], block[q]));
      absl::StrAppend(&t.note, q == 0 ? "" : "x", block[q]);
    }
    t.megacore_dim = SharedDim(t.grid, context_.model.cores);
    PermutedBox box(p_, PlaceOf(kIn, t, block), PlaceOf(kOut, t, block));
    // Eight planes are loaded or stored together.
    std::vector<int64_t> in = block, out = block;
    if (!p_.FromRows()) in[p_.x] = RoundUpTo<int64_t>(in[p_.x], 8);
    if (!p_.ToRows()) out[p_.l] = RoundUpTo<int64_t>(out[p_.l], 8);
    box.AddWindows(in, out, &t);
    for (const isa::KernelArg& arg : t.args) {
      if (arg.space == isa::Space::kHbm) t.work.hbm_bytes += arg.bytes;
    }
    t.body = [this, box, block](CodeBuilder& b) mutable {
      b.BeginScope();
      box.Begin(b);
      LaneBlocks code(p_, box, &b);
      Walk(b, box, block, &code);
      box.End(b);
      b.EndScope();
      return absl::OkStatus();
    };
    return t;
  }

  // Units of a dimension in a step.
  struct Axis {
    int dim = 0;
    int64_t unit = 1, size = 1;
    int64_t in = 0, out = 0;  // bytes from one unit to the next
    int64_t units() const { return CeilOfRatio(size, unit); }
  };

  void Walk(CodeBuilder& b, const PermutedBox& box,
            const std::vector<int64_t>& block, LaneBlocks* code) const {
    std::vector<int> order;
    for (int q = 0; q < p_.rank(); ++q) {
      if (Unit(q) == 1) order.push_back(q);
    }
    if (p_.a != p_.l) order.push_back(p_.a);
    if (p_.b != p_.x && p_.b != p_.a) order.push_back(p_.b);
    order.push_back(p_.l);
    order.push_back(p_.x);
    std::vector<Axis> axes;
    int64_t inner = 1;  // blocks within tiles
    for (const int q : order) {
      const auto pitch = [&](int side, int k) {
        const int64_t per = k == p_.rank() - 1   ? 128
                            : k == p_.rank() - 2 ? 8
                                                 : 1;
        return Unit(q) / per * box.Pitch(side, k);
      };
      axes.push_back(
          {q, Unit(q), block[q], pitch(kIn, p_.from[q]), pitch(kOut, q)});
      if (Unit(q) == 8)
        inner *= CeilOfRatio<int64_t>(std::min<int64_t>(8, block[q]), p_.pack);
    }
    // The innermost axes in one piece of code.
    size_t loops = axes.size();
    for (int64_t blocks = inner; loops > 0; --loops) {
      blocks *= axes[loops - 1].units();
      if (blocks > together_) break;
    }
    Walker w{b,  code,          axes,           loops, together_ == 1,
             {}, box.base(kIn), box.base(kOut), p_};
    if (loops == 0) b.NewBlock("blocks");
    w.Run(0, 0, 0);
  }

  struct Walker {
    CodeBuilder& b;
    LaneBlocks* code;
    const std::vector<Axis>& axes;
    size_t loops;                // of the outer axes
    bool one_by_one;             // blocks within tiles, too
    std::vector<int64_t> sizes;  // of the units of outer axes
    Sca from, to;
    const LaneProblem& p;

    void Run(size_t k, int64_t in, int64_t out) {
      if (k == axes.size()) return Blocks(in, out);
      const Axis& axis = axes[k];
      const int64_t full = axis.size / axis.unit, rest = axis.size % axis.unit;
      const auto inside = [&](int64_t size, int64_t i, int64_t o) {
        sizes.push_back(size);
        if (k + 1 == loops) b.NewBlock("blocks");
        Run(k + 1, i, o);
        sizes.pop_back();
      };
      if (k >= loops) {
        for (int64_t u = 0; u < axis.units(); ++u) {
          inside(u < full ? axis.unit : rest, in + u * axis.in,
                 out + u * axis.out);
        }
        return;
      }
      const auto advance = [&](int64_t units) {
        b.SBinaryImmTo(from, Opcode::kSadd, from,
                       static_cast<int32_t>(units * axis.in));
        b.SBinaryImmTo(to, Opcode::kSadd, to,
                       static_cast<int32_t>(units * axis.out));
      };
      if (full > 0) {
        b.BeginLoop(full, 1);
        inside(axis.unit, in, out);
        advance(1);
        b.EndLoop();
      }
      if (rest > 0) inside(rest, in, out);
      if (full > 0 && k > 0) {
        b.NewBlock("back");
        advance(-full);
      }
    }

    int64_t SizeOf(int dim) const {
      for (size_t k = 0; k < axes.size(); ++k) {
        if (axes[k].dim == dim) return sizes[k];
      }
      return 1;
    }

    void Blocks(int64_t in, int64_t out) {
      LaneBlocks::Block block;
      block.in = in;
      block.out = out;
      block.rows = SizeOf(p.x);
      block.columns = SizeOf(p.l);
      const int64_t all_a = p.a == p.l ? 1 : SizeOf(p.a);
      const int64_t all_b = p.b == p.x || p.b == p.a ? 1 : SizeOf(p.b);
      for (block.a = 0; block.a < all_a; block.a += p.pack) {
        for (block.b = 0; block.b < all_b; block.b += p.pack) {
          block.more_a = block.a + 1 < all_a;
          block.more_b = block.b + 1 < all_b;
          if (one_by_one && block.a + block.b > 0) b.NewBlock("blocks");
          code->Emit(from, to, block);
        }
      }
    }
  };

  const KernelContext& context_;
  const hlo::Instruction& i_;
  const LaneProblem& p_;
  int64_t together_ = kMostBlocks;  // in a piece of code
};

}  // namespace

bool IsLaneTranspose(const hlo::Instruction& i) {
  return Describe(i).has_value();
}

absl::StatusOr<isa::Kernel> EmitLaneTranspose(const KernelContext& context,
                                              const hlo::Instruction& i) {
  const auto p = Describe(i);
  if (!p.has_value()) {
    return absl::InternalError(absl::StrCat(i.name(), ": keeps its lanes"));
  }
  return Emitter(context, i, *p).Run();
}

}  // namespace ptxla::lowering
