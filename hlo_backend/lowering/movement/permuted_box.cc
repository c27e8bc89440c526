#include "hlo_backend/lowering/movement/permuted_box.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/units.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;

namespace {

std::vector<int64_t> Pitches(const PhysicalArray& array) {
  std::vector<int64_t> pitch;
  for (int k = 0; k + 2 < array.rank(); ++k) {
    pitch.push_back(array.PlanePitch(k));
  }
  pitch.push_back(array.row_stride());
  pitch.push_back(array.tile_bytes());
  return pitch;
}

}  // namespace

int Permutation::To(int k) const {
  return static_cast<int>(std::find(from.begin(), from.end(), k) -
                          from.begin());
}

void Permutation::JoinPlanes() {
  const auto is_plane = [&](int k) { return k + 2 < rank(); };
  const auto erase = [&](int q, int k) {
    pitch[kPermutedIn].erase(pitch[kPermutedIn].begin() + k);
    pitch[kPermutedOut].erase(pitch[kPermutedOut].begin() + q);
    in.sizes.erase(in.sizes.begin() + k);
    out.sizes.erase(out.sizes.begin() + q);
    from.erase(from.begin() + q);
    for (int& f : from) f -= f > k ? 1 : 0;
  };
  for (int q = rank() - 3; q >= 0; --q) {
    if (is_plane(from[q]) && out.sizes[q] == 1) erase(q, from[q]);
  }
  for (int q = rank() - 3; q > 0; --q) {
    const int k = from[q];
    if (!is_plane(k) || from[q - 1] + 1 != k) continue;
    out.sizes[q - 1] *= out.sizes[q];
    in.sizes[k - 1] *= in.sizes[k];
    pitch[kPermutedOut][q - 1] = pitch[kPermutedOut][q];
    pitch[kPermutedIn][k - 1] = pitch[kPermutedIn][k];
    erase(q, k);
  }
  in.dims.resize(rank());
  std::iota(in.dims.begin(), in.dims.end(), 0);
  out.dims = in.dims;
}

std::optional<Permutation> DescribePermutation(const hlo::Instruction& i) {
  const bool copy = i.opcode() == hlo::Opcode::kCopy;
  if (!copy && i.opcode() != hlo::Opcode::kTranspose) return std::nullopt;
  auto in = PhysicalArray::Of(i.operand(0)->shape());
  auto out = PhysicalArray::Of(i.shape());
  if (!in.ok() || !out.ok() || in->rank() < 2 || out->rank() != in->rank() ||
      out->type != in->type || in->linear != 0) {
    return std::nullopt;
  }
  Permutation p{*in, *out, {}, {Pitches(*in), Pitches(*out)}};
  for (int q = 0; q < p.out.rank(); ++q) {
    const int64_t logical =
        copy ? p.out.dims[q] : i.dimensions()[p.out.dims[q]];
    for (int k = 0; k < p.in.rank(); ++k) {
      if (p.in.dims[k] == logical) p.from.push_back(k);
    }
  }
  return p;
}

void PermutedBox::AddWindow(int side, const std::vector<int64_t>& block,
                            Tiling* tiling) {
  const PhysicalArray& array = side == kPermutedIn ? p_.in : p_.out;
  // A slot has room for tiles of 8 rows, however low they are.
  int64_t bytes = int64_t{8} * isa::kLanes * array.bits / 8;
  isa::Window w;
  units_[side].clear();
  w.arg = side;
  w.direction =
      side == kPermutedIn ? isa::Direction::kIn : isa::Direction::kOut;
  w.inner_bytes = array.tile_bytes();
  bool moves = false;
  const int rank = p_.rank();
  for (int k = 0; k < rank; ++k) {
    const int q = side == kPermutedIn ? p_.To(k) : k;
    const int64_t per = k == rank - 1 ? 128 : k == rank - 2 ? 8 : 1;
    isa::WindowDim d;
    d.block = CeilOfRatio<int64_t>(block[q], per);
    d.extent = CeilOfRatio<int64_t>(array.sizes[k], per);
    d.hbm_stride = p_.pitch[side][k];
    d.grid_dim = q;
    moves |= tiling->grid[q] > 1;
    w.dims.push_back(d);
  }
  for (int k = rank; k-- > 0;) {
    w.dims[k].vmem_stride = bytes;
    bytes *= w.dims[k].block;
  }
  for (int k = 0; k < rank; ++k) {
    const isa::WindowDim& d = w.dims[k];
    units_[side].push_back(InPlace(side) ? d.hbm_stride : d.vmem_stride);
  }
  // A DMA goes through HBM from one run of bytes to the next.
  std::stable_sort(w.dims.begin(), w.dims.end(),
                   [](const isa::WindowDim& a, const isa::WindowDim& b) {
                     return a.hbm_stride > b.hbm_stride;
                   });
  w.slots = moves ? 2 : 1;
  w.slot_bytes = bytes + isa::kVregBytes;
  if (place_[side] == Place::kCopied) {
    copies_[side] = StagedWindow::Add(w, tiling);
  } else {
    tiling->windows.push_back(w);
  }
}

void PermutedBox::AddWindows(const std::vector<int64_t>& of_operand,
                             const std::vector<int64_t>& of_result,
                             Tiling* tiling) {
  AddWindow(kPermutedIn, of_operand, tiling);
  AddWindow(kPermutedOut, of_result, tiling);
}

void PermutedBox::Begin(CodeBuilder& b) {
  b.NewBlock("addresses");
  for (const int side : {kPermutedIn, kPermutedOut}) {
    base_[side] = b.GlobalSca();
    if (place_[side] == Place::kCopied) {
      copies_[side].Address(b, base_[side]);
    } else {
      const bool only = place_[kPermutedIn] == Place::kCopied;
      b.WindowAddress(base_[side], only ? 0 : side);
    }
    b.SetBank(base_[side],
              place_[side] == Place::kWindow ? CodeBuilder::kAbsoluteBanks
                                             : codegen::kUnknownBanks,
              0);
  }
  if (place_[kPermutedIn] == Place::kCopied) {
    copies_[kPermutedIn].Copy(b, base_[kPermutedIn]);
  }
}

void PermutedBox::End(CodeBuilder& b) const {
  if (place_[kPermutedOut] == Place::kCopied) {
    copies_[kPermutedOut].Copy(b, base_[kPermutedOut]);
  }
}

}  // namespace ptxla::lowering
