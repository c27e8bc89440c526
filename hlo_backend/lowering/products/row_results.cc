#include "hlo_backend/lowering/products/row_results.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Mask;
using codegen::Pred;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

namespace {

// Rows of 128 results of a member, and members, that one block of code makes:
// one alone is the latency of its few operations.
constexpr int64_t kTogether = 2;
constexpr int64_t kMembersTogether = 4;

// Planes begin whole tiles: members have one stride.
bool MembersAreRows(const PhysicalArray& a) {
  return a.planes == 1 || a.rows % a.tile_rows == 0;
}

int64_t Members(const PhysicalArray& a) {
  return a.rank() < 2 ? 1 : a.planes * a.rows;
}

}  // namespace

Pred Both(CodeBuilder& b, Pred x, Pred y) {
  if (!x.valid()) return y;
  if (!y.valid()) return x;
  const Pred both = b.NewPred();
  codegen::VInstr v;
  v.op = Opcode::kPand;
  v.dst = both.id;
  v.a = x.id;
  v.b = y.id;
  b.Emit(v);
  return both;
}

bool HasMemberLines(const PhysicalArray& a) {
  return MembersAreRows(a) || (a.rows & (a.rows - 1)) == 0 ||
         a.planes * a.rows * a.rows < (1 << 16);
}

int64_t LinePitch(const PhysicalArray& a) {
  return a.rank() < 2 ? isa::kRowBytes : a.tile_bytes();
}

Sca MemberLine(const PhysicalArray& a, Sca from, Sca member, CodeBuilder& b) {
  if (Members(a) == 1) return from;
  Sca row = member, line = from;
  if (!MembersAreRows(a)) {
    constexpr int kShift = 16;
    const Sca plane =
        a.rows == 1 ? member
                    : b.SBinaryImm(
                          Opcode::kSshrl,
                          b.SMulImm(member, static_cast<int32_t>(CeilOfRatio(
                                                int64_t{1} << kShift, a.rows))),
                          kShift);
    row = b.SAdd(member, b.SMulImm(plane, static_cast<int32_t>(-a.rows)));
    line =
        b.SAdd(line, b.SMulImm(plane, static_cast<int32_t>(a.plane_stride())));
  }
  const Sca tile = b.SBinaryImm(Opcode::kSshrl, row, CeilLog2(a.tile_rows));
  const Sca inside =
      b.SBinaryImm(Opcode::kSand, row, static_cast<int32_t>(a.tile_rows - 1));
  line = b.SAdd(line, b.SMulImm(tile, static_cast<int32_t>(a.row_stride())));
  return b.SAdd(line, b.SMulImm(inside, isa::kRowBytes));
}

absl::Status RowResults::Add(const hlo::Instruction& reduce, int number,
                             int leaf, int space_rank) {
  Result r;
  r.number = number;
  r.leaf = leaf;
  ASSIGN_OR_RETURN(r.array, PhysicalArray::Of(reduce.shape()));
  bool in_order = r.array.rank() == std::max(1, space_rank - 1) &&
                  reduce.shape().type() == hlo::PrimitiveType::kF32;
  for (int d = 0; in_order && d < r.array.rank(); ++d) {
    in_order = r.array.dims[d] == d;
  }
  if (!in_order || !HasMemberLines(r.array)) {
    return absl::UnimplementedError(
        absl::StrCat("%", reduce.name(),
                     ": what rows reduce to is a result as f32[batch, rows], "
                     "row-major, alone"));
  }
  results_.push_back(std::move(r));
  return absl::OkStatus();
}

int64_t RowResults::bytes() const {
  int64_t bytes = 0;
  for (const Result& r : results_) {
    bytes += RoundUpTo<int64_t>(r.array.bytes(), isa::kVregBytes);
  }
  return bytes;
}

void RowResults::AddTo(KeptResults* kept) const {
  for (const Result& r : results_) kept->Add(r.array, /*of_rows=*/true);
}

void RowResults::AddWindows(const ProductTile& tile, const GridDims& grid,
                            int first_result, int first_space, Tiling* tiling) {
  tile_ = tile;
  grid_ = grid;
  for (Result& r : results_) {
    r.window = static_cast<int>(tiling->windows.size());
    r.space = first_space + r.window;
    tiling->windows.push_back(
        KeptWindow(r.array, first_result + r.leaf, tile, grid));
    r.moves = tiling->windows.back();
  }
}

void RowResults::Write(
    int scratch_space, Sca base,
    const std::function<int32_t(int, int64_t, int64_t)>& offset_of,
    CodeBuilder& b) const {
  const int64_t tiles = RoundUpTo<int64_t>(tile_.block_m, 16) / 8;
  const int64_t groups = CeilOfRatio<int64_t>(tiles, 16);
  // A step that makes a part of a line: which lanes, depends on the step.
  const bool part = grid_.bounds[grid_.m] > 1 && tile_.block_m < isa::kLanes;
  const bool steps_b = grid_.bounds[grid_.b] > 1;
  const bool steps_m = grid_.bounds[grid_.m] > 1;
  b.BeginScope();
  int64_t members = 1;
  for (int64_t n = 2; n <= kMembersTogether; ++n) {
    if (tile_.block_b % n == 0) members = n;
  }
  Sca first_member;
  if (tile_.block_b > members) {
    first_member =
        b.BeginLoop(tile_.block_b / members, static_cast<int32_t>(members));
  }
  for (int64_t first = 0; first < groups; first += kTogether) {
    b.NewBlock("row results");
    // Sublane s, lane l: l is a row of the register whose rows include s.
    const Vec sequence = b.LaneSequence();
    const Mask own =
        b.Compare(Opcode::kVcmpEqS32, b.BinaryImm(Opcode::kVand, sequence, 7),
                  b.BinaryImm(Opcode::kVshrl, sequence, 7));
    Sca first_number = first_member.valid() ? first_member : b.SImm(0);
    if (steps_b) {
      const Sca index = b.NewSca();
      b.GridIndex(index, grid_.b);
      first_number = b.SAdd(
          first_number, b.SMulImm(index, static_cast<int32_t>(tile_.block_b)));
    }
    Sca group = b.SImm(0);
    Vec eight;    // of each lane: the 8 lanes that it is among
    Sca first_8;  // of the step's part of the line
    if (part) {
      const Sca index = b.NewSca();
      b.GridIndex(index, grid_.m);
      const Sca at = b.SMulImm(index, static_cast<int32_t>(tile_.block_m / 8));
      group = b.SBinaryImm(Opcode::kSshrl, at, 4);
      first_8 = b.SBinaryImm(Opcode::kSand, at, 15);
      eight = b.BinaryImm(Opcode::kVshrl,
                          b.BinaryImm(Opcode::kVand, sequence, 127), 3);
    } else if (steps_m) {
      const Sca index = b.NewSca();
      b.GridIndex(index, grid_.m);
      group =
          b.SMulImm(index, static_cast<int32_t>(tile_.block_m / isa::kLanes));
    }
    for (const Result& r : results_) {
      for (int64_t u = 0; u < members; ++u) {
        const Sca number =
            u == 0 ? first_number
                   : b.SAddImm(first_number, static_cast<int32_t>(u));
        // The last steps may go beyond the array.
        Pred in_batch;
        if (steps_b &&
            grid_.bounds[grid_.b] * tile_.block_b > Members(r.array)) {
          in_batch = b.SCompareImm(Opcode::kScmpLtU, number,
                                   static_cast<int32_t>(Members(r.array)));
        }
        const Sca start = KeptBase(r.moves, r.window, grid_, b);
        Sca line = MemberLine(r.array, start, number, b);
        line = b.SAdd(
            line, b.SMulImm(group, static_cast<int32_t>(LinePitch(r.array))));
        b.SetBank(line, codegen::kUnknownBanks, 0);
        const auto pitch = static_cast<int32_t>(offset_of(r.number, 1, 0) -
                                                offset_of(r.number, 0, 0));
        const auto of_member = static_cast<int32_t>(u * pitch);
        Sca source = base;
        if (first_member.valid()) {
          source = b.SAdd(base, b.SMulImm(first_member, pitch));
          b.SetBank(source, codegen::kUnknownBanks, 0);
        }
        for (int64_t g = first; g < std::min(groups, first + kTogether); ++g) {
          std::vector<Vec> parts;
          for (int64_t t = 16 * g; t < std::min(tiles, 16 * g + 16); ++t) {
            const int at = static_cast<int>(8 * (t % 16));
            const Mask lanes =
                part ? b.Compare(
                           Opcode::kVcmpEqS32, eight,
                           b.Splat(b.SAddImm(first_8, static_cast<int32_t>(t))))
                     : b.Range(at, at + 8, 0, 8);
            const Mask mask = b.MaskBinary(Opcode::kVmand, own, lanes);
            parts.push_back(
                b.SelectImm(mask,
                            b.Load(scratch_space, source,
                                   offset_of(r.number, 0, 8 * t) + of_member),
                            0));
          }
          while (parts.size() > 1) {
            std::vector<Vec> next;
            for (size_t k = 0; k + 1 < parts.size(); k += 2) {
              next.push_back(b.Binary(Opcode::kVor, parts[k], parts[k + 1]));
            }
            if (parts.size() % 2 != 0) next.push_back(parts.back());
            parts = std::move(next);
          }
          Vec v = parts[0];
          for (int shift : {4, 2, 1}) {
            v = b.Binary(Opcode::kVor, v, b.RotateSublanes(v, shift));
          }
          Pred inside = in_batch;
          const int64_t across = r.array.rank() < 2
                                     ? CeilOfRatio<int64_t>(r.array.linear, 128)
                                     : r.array.tiles_across;
          const int64_t last =
              (grid_.bounds[grid_.m] - 1) * tile_.block_m / isa::kLanes + g;
          if (steps_m && last >= across) {
            const Sca at = b.SAddImm(group, static_cast<int32_t>(g));
            inside = Both(b, inside,
                          b.SCompareImm(Opcode::kScmpLtU, at,
                                        static_cast<int32_t>(across)));
          }
          if (inside.valid()) b.SetStoreGuard(inside);
          Mask written = b.Range(0, isa::kLanes, 0, 1);
          if (part) {
            const Vec from =
                b.Binary(Opcode::kVsubS32, eight, b.Splat(first_8));
            written = b.MaskBinary(
                Opcode::kVmand, written,
                b.MaskBinary(Opcode::kVmand,
                             b.CompareImm(Opcode::kVcmpGeS32, from, 0),
                             b.CompareImm(Opcode::kVcmpLtS32, from,
                                          static_cast<uint32_t>(tiles))));
          }
          b.StoreMasked(r.space, line,
                        static_cast<int32_t>(g * LinePitch(r.array)), v,
                        written);
          b.SetStoreGuard({});
        }
      }
    }
  }
  if (first_member.valid()) b.EndLoop();
  b.EndScope();
}

}  // namespace ptxla::lowering
