#include "hlo_backend/lowering/products/product_traffic.h"

#include <algorithm>

#include "base/units.h"

namespace ptxla::lowering {
namespace {

int64_t OperandBytes(const ProductOperand& o, int64_t elements) {
  return o.computed ? elements * o.bytes_per_element
                    : elements * hlo::BitWidth(o.type) / 8;
}

// Batch members of an operand's block: in rows of tiles they come by 8.
int64_t Members(const ProductProblem& p, const ProductOperand& o,
                const ProductTile& t) {
  const int64_t planes = std::max<int64_t>(1, t.block_b / o.shared_by);
  if (!o.gathered) return planes;
  const int64_t of_tile = std::min(planes, p.members);
  return planes / of_tile * RoundUpTo<int64_t>(of_tile, 8);
}

// Steps along the batch that fetch an operand, of which `own` blocks lie along
// the other dimension: steps of members that share one follow one another.
int64_t BatchFetches(const ProductOperand& o, const ProductTile& t,
                     int64_t own) {
  const bool stays = o.shared_by > t.block_b && own == 1 && t.grid_k == 1;
  return stays ? CeilOfRatio(t.grid_b * t.block_b, o.shared_by) : t.grid_b;
}

// How often the windows of an operand are fetched over the grid of a batch
// member, in `own` blocks: once each where the dimension that it does not
// depend on, of `other` steps, is walked inside of its own. `changes`: every
// step has another member.
int64_t Fetches(int64_t own, int64_t other, bool other_is_inner, int64_t grid_k,
                bool changes) {
  const bool stays = (other_is_inner || own == 1) && grid_k == 1 && !changes;
  return own * grid_k * (stays ? 1 : other);
}

SharedReads SharedReadsOf(const ProductProblem& p, const ProductTile& t,
                          int64_t elements) {
  SharedReads reads;
  const int64_t blocks = t.grid_m * t.grid_n;
  for (const SharedTiles& shared : p.shared_tiles) {
    const int64_t bytes =
        shared.members.Planes(t.block_b) * elements * shared.bytes_per_element;
    const int64_t along_b = shared.members.Moves(t.block_b, t.grid_b);
    const bool stays = t.b_inner || blocks == 1;
    const int64_t fetches = blocks * (stays ? along_b : t.grid_b);
    reads.fetches = std::max(reads.fetches, fetches);
    reads.bytes += fetches * bytes;
    reads.vmem_bytes += (fetches > 1 ? 2 : 1) * bytes;
  }
  return reads;
}

// Slots of the windows of a step.
int64_t WindowBytes(const ProductProblem& p, const ProductTraffic& traffic) {
  const auto slots = [](int64_t moves) { return moves > 1 ? 2 : 1; };
  return (p.lhs.resident ? 0 : slots(traffic.lhs_fetches) * traffic.lhs_bytes) +
         (p.rhs.resident ? 0 : slots(traffic.rhs_fetches) * traffic.rhs_bytes) +
         slots(traffic.out_moves) *
             (traffic.out_bytes + traffic.epilogue_bytes) +
         traffic.shared.vmem_bytes;
}

// Sums, rows of results, and what operands are turned or converted to.
int64_t ScratchBytes(const ProductProblem& p, const ProductTile& t,
                     const PaddedBlock& block, bool accumulates, bool bf16) {
  const auto [rows, cols, depth] = block;
  const int64_t mxu_bytes = bf16 ? 2 : 4;
  // f32 values that further passes split stay f32 when they are transposed.
  const int64_t turned_bytes = p.passes.size() > 1 ? 4 : mxu_bytes;
  const int64_t registers = t.block_b * rows * cols / 1024;
  return (accumulates ? t.block_b * rows * cols * 4 : 0) +
         p.row_planes * registers * isa::kVregBytes +
         p.row_results * t.block_b * CeilOfRatio<int64_t>(rows, 8) *
             isa::kVregBytes +
         p.column_results * t.block_b * (cols / isa::kLanes) * isa::kVregBytes +
         p.epilogue_whole_bytes +
         (p.lhs.transposed ? t.block_b * rows * depth * turned_bytes : 0) +
         (Converts(p.lhs) && !p.lhs.transposed
              ? t.block_b * rows * depth * mxu_bytes
              : 0) +
         (Converts(p.rhs) ? t.block_b * depth * cols * mxu_bytes : 0) +
         p.lhs.whole_bytes + p.rhs.whole_bytes +
         p.lhs.row_entries * t.block_b * (p.lhs.transposed ? depth : rows) / 8 *
             isa::kVregBytes +
         p.rhs.row_entries * t.block_b * (p.rhs.transposed ? cols : depth) / 8 *
             isa::kVregBytes;
}

}  // namespace

PaddedBlock PaddedBlock::Of(const ProductTile& t, const ArrayShape& a) {
  return {RoundUpTo<int64_t>(t.block_m, a.unit),
          RoundUpTo<int64_t>(t.block_n, 128),
          RoundUpTo<int64_t>(t.block_k, 128)};
}

ProductTraffic ProductTraffic::Of(const ProductProblem& p, const ProductTile& t,
                                  const ArrayShape& a, bool accumulates) {
  const PaddedBlock block = PaddedBlock::Of(t, a);
  const auto [rows, cols, depth] = block;
  ProductTraffic traffic;
  // Rows that lie in the lanes come in whole tiles.
  const int64_t lhs_rows =
      p.lhs.transposed ? RoundUpTo<int64_t>(rows, isa::kLanes) : rows;
  traffic.lhs_bytes =
      OperandBytes(p.lhs, Members(p, p.lhs, t) * lhs_rows * depth);
  traffic.rhs_bytes = OperandBytes(p.rhs, Members(p, p.rhs, t) * depth * cols);
  traffic.out_bytes = t.block_b * rows * cols * p.out_bytes_per_element;
  traffic.epilogue_bytes =
      t.block_b * rows * cols * p.epilogue_bytes_per_element;
  const bool changes = t.b_inner && t.grid_b > 1;
  if (!p.lhs.resident) {
    traffic.lhs_fetches =
        BatchFetches(p.lhs, t, t.grid_m) *
        Fetches(t.grid_m, t.grid_n, t.n_inner, t.grid_k, changes);
  }
  if (!p.rhs.resident) {
    traffic.rhs_fetches =
        BatchFetches(p.rhs, t, t.grid_n) *
        Fetches(t.grid_n, t.grid_m, !t.n_inner, t.grid_k, changes);
  }
  traffic.out_moves = t.grid_b * t.grid_m * t.grid_n;
  traffic.shared = SharedReadsOf(p, t, rows * cols);
  traffic.hbm_bytes =
      traffic.lhs_fetches * traffic.lhs_bytes +
      traffic.rhs_fetches * traffic.rhs_bytes +
      traffic.out_moves * (traffic.out_bytes + traffic.epilogue_bytes) +
      traffic.shared.bytes;
  traffic.vmem_bytes =
      WindowBytes(p, traffic) + ScratchBytes(p, t, block, accumulates, a.bf16);
  return traffic;
}

}  // namespace ptxla::lowering
