#include "hlo_backend/lowering/movement/row_transpose.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/core_window.h"
#include "hlo_backend/lowering/kernel_emitter.h"
#include "hlo_backend/lowering/movement/fold_grid.h"
#include "hlo_backend/lowering/movement/lane_reshape.h"
#include "hlo_backend/lowering/movement/permuted_box.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Vec;
using isa::Opcode;

constexpr int kIn = kPermutedIn, kOut = kPermutedOut;
// Planes, rows and lanes of a window.
constexpr int kWindowRank = isa::kMaxWindowDims;
// Dimensions beyond those of a window are walked plane by plane.
constexpr int kMostRank = 8;
// Registers of a step: longer code would not pay for itself.
constexpr int64_t kMostRegisters = 1024;
// Of one block of bundles.
constexpr int64_t kRegistersInBlock = 16;

// Planes, then rows (a), then lanes; one of the planes (b) are the operand's
// rows.
struct Problem : Permutation {
  int rank = 0, a = 0, b = 0, lanes = 0;
  bool packed = false;                              // 16 bits
  std::vector<int> order = {};                      // in which a block grows
  int64_t Unit() const { return packed ? 16 : 8; }  // of rows
};

std::optional<Problem> Describe(const hlo::Instruction& i) {
  const bool reshapes = i.opcode() == hlo::Opcode::kReshape;
  auto permutation = reshapes ? DescribeLaneReshape(i) : DescribePermutation(i);
  if (!permutation.has_value()) return {};
  if (!reshapes) permutation->JoinPlanes();
  Problem p{*permutation};
  p.rank = p.out.rank();
  if (p.rank < 3 || p.rank > kMostRank ||
      (p.in.bits != 32 && p.in.bits != 16)) {
    return {};
  }
  p.lanes = p.rank - 1;
  p.a = p.rank - 2;
  if (p.from[p.lanes] != p.lanes || p.from[p.a] == p.a) return {};
  p.b = p.To(p.a);
  p.packed = p.in.bits == 16;
  if (reshapes) {
    // From the minor dimension of the side with the rows apart on, which makes
    // the runs of memory long on the other side too.
    const bool cuts = i.shape().rank() > i.operand(0)->shape().rank();
    for (int k = p.rank; k-- > 0;) p.order.push_back(cuts ? k : p.To(k));
  } else {
    // Rows before planes.
    p.order = {p.lanes, p.a, p.b};
    for (int q = p.a; q-- > 0;) {
      if (q != p.b) p.order.push_back(q);
    }
  }
  return p;
}

// An array that is walked in place has all the rows that are loaded and
// stored together.
bool FitsInPlace(const Problem& p) {
  return p.out.sizes[p.a] % p.Unit() == 0 && p.out.sizes[p.b] % 8 == 0;
}

int64_t FullTile(const PhysicalArray& array) {
  return int64_t{8} * 128 * array.bits / 8;
}

class Emitter {
 public:
  Emitter(const KernelContext& context, const hlo::Instruction& i,
          const Problem& p)
      : context_(context), i_(i), p_(p) {}

  absl::StatusOr<isa::Kernel> Run() {
    Tiling tiling;
    ASSIGN_OR_RETURN(tiling.args, KernelArgs(i_));
    const bool in_place = FitsInPlace(p_);
    const auto place = [&](int arg) {
      const bool vmem = tiling.args[arg].space == isa::Space::kVmem;
      return !vmem      ? PermutedBox::Place::kWindow
             : in_place ? PermutedBox::Place::kInPlace
                        : PermutedBox::Place::kCopied;
    };
    box_.emplace(p_, place(kIn), place(kOut));
    staged_ = place(kIn) == PermutedBox::Place::kCopied ||
              place(kOut) == PermutedBox::Place::kCopied;
    ChooseBlock();
    for (int q = 0; q < p_.rank; ++q) {
      const int64_t bound = CeilOfRatio<int64_t>(p_.out.sizes[q], block_[q]);
      tiling.grid.push_back(bound);
    }
    tiling.megacore_dim = SharedDim(tiling.grid, context_.model.cores);
    box_->AddWindows(block_, block_, &tiling);
    if (p_.rank > kWindowRank && (staged_)) {
      return absl::UnimplementedError(absl::StrCat(
          "%", i_.name(), ": an array of so many dimensions in VMEM"));
    }
    // From the last on: earlier numbers stay.
    for (size_t k = single_.size(); k-- > 1;) {
      FoldGrid(single_[k - 1], single_[k], &tiling);
    }
    for (const isa::KernelArg& arg : tiling.args) {
      if (arg.space == isa::Space::kHbm) tiling.work.hbm_bytes += arg.bytes;
    }
    if (VmemBytes(context_, tiling) > VmemBudget(context_)) {
      return absl::UnimplementedError(
          absl::StrCat("%", i_.name(), ": its block in VMEM cannot be cut"));
    }
    tiling.note = "rows from planes, block ";
    for (int q = 0; q < p_.rank; ++q) {
      absl::StrAppend(&tiling.note, q == 0 ? "" : "x", block_[q]);
    }
    tiling.body = [this](CodeBuilder& b) { return Body(b); };
    return FrameKernel(context_, tiling);
  }

 private:
  int64_t Registers() const {
    int64_t n = CeilOfRatio<int64_t>(block_[p_.lanes], 128) *
                CeilOfRatio(block_[p_.a], p_.Unit());
    for (int q = 0; q < p_.a; ++q) n *= block_[q];
    return n;
  }

  // Elements of each dimension in a step: grown from one tile, one dimension
  // after the other, the runs of memory long on both sides.
  void ChooseBlock() {
    block_.assign(p_.rank, 1);
    const int64_t vmem = VmemBudget(context_) / 8;
    std::vector<int64_t> unit(p_.rank, 1);
    unit[p_.a] = p_.Unit();
    unit[p_.b] = 8;
    unit[p_.lanes] = 128;
    for (int q = 0; q < p_.rank; ++q) block_[q] = unit[q];
    // The outermost planes that neither side has in rows go one by one.
    single_.clear();
    for (int q = 0; q < p_.a && p_.rank > kWindowRank; ++q) {
      const int have = static_cast<int>(single_.size());
      if (q != p_.b && have <= p_.rank - kWindowRank) single_.push_back(q);
    }
    for (const int q : p_.order) {
      if (std::find(single_.begin(), single_.end(), q) != single_.end()) {
        continue;
      }
      const int64_t units = CeilOfRatio<int64_t>(p_.out.sizes[q], unit[q]);
      for (int64_t grid = 1; grid <= units; ++grid) {
        // What is walked in place has no window that would cut a block off.
        const bool cuts_off = !box_->InPlace(kIn) && !box_->InPlace(kOut);
        if (units % grid != 0 && !cuts_off) continue;
        block_[q] = CeilOfRatio(units, grid) * unit[q];
        const int64_t bytes = Registers() * p_.Unit() * 128 * p_.in.bits / 8;
        if (Registers() <= kMostRegisters && bytes <= vmem) break;
      }
    }
  }

  absl::Status Body(CodeBuilder& b) {
    box_->Begin(b);
    std::vector<int64_t> index(p_.rank, 0);
    int64_t in_block = 0;
    const int64_t pairs = p_.packed ? 2 : 1;
    while (true) {
      if (in_block == 0) b.NewBlock("rows from planes");
      in_block = (in_block + pairs) % kRegistersInBlock;
      Move(b, index);
      int q = p_.rank - 1;
      for (; q >= 0; --q) {
        index[q] += q == p_.lanes ? 128
                    : q == p_.a   ? p_.Unit()
                    : q == p_.b   ? pairs
                                  : 1;
        if (index[q] < block_[q]) break;
        index[q] = 0;
      }
      if (q < 0) break;
    }
    box_->End(b);
    return absl::OkStatus();
  }

  // The result's rows from index[a] on, at one index of all other dimensions;
  // of packed types at two of b.
  void Move(CodeBuilder& b, const std::vector<int64_t>& index) {
    int64_t in = 0, out = 0;
    for (int q = 0; q < p_.rank; ++q) {
      const int k = p_.from[q];
      const int64_t i = q == p_.lanes ? index[q] / 128 : index[q];
      out += (q == p_.a ? i / 8 : i) * box_->Pitch(kOut, q);
      in += (q == p_.b ? i / 8 : i) * box_->Pitch(kIn, k);
    }
    const int64_t plane = box_->Pitch(kIn, p_.from[p_.a]);
    const int64_t row = index[p_.b] % 8;
    if (!p_.packed) {
      Store(b, out, Load(b, in + row * isa::kRowBytes, plane));
      return;
    }
    in += row / 2 * isa::kRowBytes;
    const Vec even = Load(b, in, 2 * plane);
    const Vec odd = Load(b, in + plane, 2 * plane);
    constexpr uint32_t kLow = 0xFFFFu, kHigh = 0xFFFF0000u;
    Store(b, out,
          b.Binary(Opcode::kVor, b.BinaryImm(Opcode::kVand, even, kLow),
                   b.BinaryImm(Opcode::kVshll, odd, 16)));
    if (index[p_.b] + 1 >= p_.out.sizes[p_.b] && box_->InPlace(kOut)) return;
    Store(b, out + box_->Pitch(kOut, p_.b),
          b.Binary(Opcode::kVor, b.BinaryImm(Opcode::kVshrl, even, 16),
                   b.BinaryImm(Opcode::kVand, odd, kHigh)));
  }

  Vec Load(CodeBuilder& b, int64_t offset, int64_t stride) {
    return b.LoadStrided(kIn, box_->base(kIn), static_cast<int32_t>(offset),
                         static_cast<int32_t>(stride), 1);
  }

  void Store(CodeBuilder& b, int64_t offset, Vec value) {
    const auto at = static_cast<int32_t>(offset);
    const int64_t tile =
        box_->InPlace(kOut) ? p_.out.tile_bytes() : FullTile(p_.out);
    const auto sublanes = static_cast<int>(tile / isa::kRowBytes);
    if (sublanes >= isa::kSublanes) {
      b.Store(kOut, box_->base(kOut), at, value);
    } else if (p_.packed && block_[p_.a] > 8) {
      // Two tiles of 8 rows.
      b.StoreStrided(kOut, box_->base(kOut), at,
                     static_cast<int32_t>(box_->Pitch(kOut, p_.a)), 4, value);
    } else {
      b.StoreMasked(kOut, box_->base(kOut), at, value,
                    b.Range(0, isa::kLanes, 0, std::min(sublanes, 8)));
    }
  }

  const KernelContext& context_;
  const hlo::Instruction& i_;
  const Problem& p_;
  std::vector<int64_t> block_;
  std::vector<int> single_;  // dimensions with blocks of one, folded
  bool staged_ = false;      // in VMEM, copied block by block
  std::optional<PermutedBox> box_;
};

}  // namespace

bool IsRowTranspose(const hlo::Instruction& i) {
  return Describe(i).has_value();
}

bool JoinsPackedRows(const hlo::Instruction& i) {
  if (i.opcode() != hlo::Opcode::kReshape) return false;
  const auto p = Describe(i);
  return p.has_value() && p->packed && FitsInPlace(*p);
}

absl::StatusOr<isa::Kernel> EmitRowTranspose(const KernelContext& context,
                                             const hlo::Instruction& i) {
  const auto p = Describe(i);
  if (!p.has_value()) {
    return absl::UnimplementedError(
        absl::StrCat("%", i.name(), ": not a transpose of rows and planes"));
  }
  return Emitter(context, i, *p).Run();
}

}  // namespace ptxla::lowering
