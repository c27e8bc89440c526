#include "hlo_backend/lowering/movement/random_bits.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/analysis/tiled_layout.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Mask;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

constexpr int64_t kRegistersPerStep = 128;  // 512 KiB, as elementwise windows
constexpr int kUnroll = 16;

enum Space { kState, kNewState, kBits };

Mask Lane(CodeBuilder& b, int lane) { return b.Range(lane, lane + 1, 0, 8); }

// {s0 low, s0 high, s1 low, s1 high} in the first four lanes.
Vec Seed(CodeBuilder& b, Vec low, Vec high) {
  Vec v = b.Select(Lane(b, 1), b.RotateLanes(high, 1), low);
  v = b.Select(Lane(b, 2), b.RotateLanes(low, 1), v);
  return b.Select(Lane(b, 3), b.RotateLanes(high, 2), v);
}

// As many draws more, with the carry into the high word.
void StoreNewState(CodeBuilder& b, Vec low, Vec high, int64_t registers,
                   int32_t plane) {
  const Sca to = b.GlobalSca();
  b.WindowAddress(to, 1);
  const Vec draws =
      b.SelectImm(Lane(b, 1), b.Imm(static_cast<uint32_t>(registers)), 0);
  const Vec new_low = b.Binary(Opcode::kVaddS32, low, draws);
  const Mask carry = b.Compare(Opcode::kVcmpLtU32, new_low, low);
  const Vec new_high =
      b.Binary(Opcode::kVaddS32, high, b.SelectImm(carry, b.Imm(1), 0));
  const Mask row = b.Range(0, 128, 0, 1);
  b.StoreMasked(kNewState, to, 0, new_low, row);
  b.StoreMasked(kNewState, to, plane, new_high, row);
}

// A 64-bit array is two planes of 32-bit words, the low ones first; a state of
// two numbers is in the first row of each.
isa::Window StateWindow(int arg, isa::Direction direction, int64_t plane) {
  isa::Window w;
  w.arg = arg;
  w.direction = direction;
  isa::WindowDim rows;
  rows.block = rows.extent = 2;
  rows.hbm_stride = rows.vmem_stride = plane;
  w.dims = {rows};
  w.inner_bytes = isa::kRowBytes;
  w.slots = 1;
  w.slot_bytes = RoundUpTo<int64_t>(plane + isa::kVregBytes, isa::kVregBytes);
  return w;
}

}  // namespace

absl::StatusOr<isa::Kernel> EmitRandomBits(const KernelContext& context,
                                           const hlo::Instruction& i) {
  const auto refuse = [&](absl::string_view what) {
    return absl::UnimplementedError(absl::StrCat("%", i.name(), ": ", what));
  };
  const auto& attrs = i.attrs<hlo::RngBitGeneratorAttrs>();
  if (attrs.algorithm != hlo::RngAlgorithm::kDefault) {
    return refuse("an algorithm other than rng_default");
  }
  const hlo::Shape& state = i.operand(0)->shape();
  if (state.type() != hlo::PrimitiveType::kU64 || state.rank() != 1 ||
      state.dim(0) != 2) {
    return refuse("a state other than u64[2]");
  }
  const int32_t plane = static_cast<int32_t>(hlo::PaddedBytes(state) / 2);
  // With the new state, or the bits alone.
  const hlo::Shape* new_state =
      i.shape().IsTuple() ? &i.shape().element(0) : nullptr;
  const hlo::Shape& bits_shape =
      new_state != nullptr ? i.shape().element(1) : i.shape();
  // A 64-bit array is filled plane by plane.
  const int64_t bytes = hlo::PaddedBytes(bits_shape);
  const int64_t rows = bytes / isa::kRowBytes;
  const int64_t registers = CeilOfRatio<int64_t>(rows, 8);
  const int64_t block = std::min(registers, kRegistersPerStep);
  const int64_t steps = CeilOfRatio(registers, block);

  Tiling tiling;
  const isa::Space hbm = isa::Space::kHbm;
  const auto space = [&](const hlo::Shape& s) {
    return s.memory_space() == hlo::kMemoryVmem ? isa::Space::kVmem : hbm;
  };
  tiling.args = {
      {"in0", space(state), isa::Direction::kIn, hlo::PaddedBytes(state)}};
  tiling.windows = {StateWindow(0, isa::Direction::kIn, plane)};
  const bool has_state = new_state != nullptr;
  if (has_state) {
    tiling.args.push_back({"out0", space(*new_state), isa::Direction::kOut,
                           hlo::PaddedBytes(*new_state)});
    tiling.windows.push_back(StateWindow(1, isa::Direction::kOut, plane));
  }
  const int bits = static_cast<int>(tiling.windows.size());
  tiling.args.push_back({has_state ? "out1" : "out0", space(bits_shape),
                         isa::Direction::kOut, bytes});
  tiling.grid = {steps};
  tiling.megacore_dim = steps > 1 ? 0 : -1;
  isa::Window out;
  out.arg = bits;
  out.direction = isa::Direction::kOut;
  isa::WindowDim dim;
  dim.block = block * 8;
  dim.extent = rows;
  dim.hbm_stride = dim.vmem_stride = isa::kRowBytes;
  dim.grid_dim = steps > 1 ? 0 : -1;
  out.dims = {dim};
  out.inner_bytes = isa::kRowBytes;
  out.slots = steps > 1 ? 2 : 1;
  out.slot_bytes = block * isa::kVregBytes;
  tiling.windows.push_back(out);
  tiling.work.hbm_bytes = bytes;
  tiling.note = absl::StrCat(block, " registers per step");

  tiling.body = [=](CodeBuilder& b) -> absl::Status {
    b.NewBlock("seed");
    const Sca from = b.GlobalSca(), bits_at = b.GlobalSca();
    b.WindowAddress(from, 0);
    b.WindowAddress(bits_at, bits);
    const Vec low = b.LoadRow(kState, from, 0);
    const Vec high = b.LoadRow(kState, from, plane);
    if (has_state) StoreNewState(b, low, high, registers, plane);
    codegen::VInstr seed;
    seed.op = Opcode::kSetrngseed;
    seed.a = Seed(b, low, high).id;
    b.Emit(seed);
    codegen::VInstr position;
    position.op = Opcode::kSetrngpos;
    const Sca step = b.NewSca();
    b.GridIndex(step, 0);
    position.a = b.SMulImm(step, static_cast<int32_t>(block)).id;
    b.Emit(position);
    const auto draw = [&](Sca base, int count) {
      for (int k = 0; k < count; ++k) {
        const Vec v = b.NewVec();
        b.Emit(Opcode::kVrng).dst = v.id;
        b.Store(kBits, base, k * isa::kVregBytes, v);
      }
    };
    if (block >= kUnroll) {
      const Sca at = b.BeginLoop(block / kUnroll, kUnroll * isa::kVregBytes);
      b.NewBlock("draw");
      draw(b.SAdd(bits_at, at), kUnroll);
      b.EndLoop();
    }
    const int rest = static_cast<int>(block % kUnroll);
    if (rest > 0) {
      b.NewBlock("draw");
      draw(b.SAddImm(bits_at,
                     static_cast<int32_t>((block - rest) * isa::kVregBytes)),
           rest);
    }
    return absl::OkStatus();
  };
  return FrameKernel(context, tiling);
}

}  // namespace ptxla::lowering
