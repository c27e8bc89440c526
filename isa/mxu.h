// What matmul instructions mean, on 128x128 and on 256x256 arrays.
//
// An MXU has a staging register S and a gain register G of rows x cols weights
// (v5e, v5p: two staging registers). Types: bf16 kept exactly; f32 rounded to
// bf16 (nearest even) on entry, or (low) what that rounding leaves, rounded
// again; s8; f8e5m2, f8e4m3fn, f8e4m3b11fnuz. Sums are f32 (s8: s32), k rising.
//
// Push of n weight rows (n = 8 f32, 16 bf16, 32 s8, f8) at `row` = r, from Y
// and, on a 256 array, the pending X of vmatprep.subr (zero if none):
//   block 1          S[r+i, j]         = Y[i, j]   S[r+i, 128+j]     = X[i, j]
//   block 2          S[128+r+i, j]     = Y[i, j]   S[128+r+i, 128+j] = X[i, j]
//   block 3          S[r+i, j]         = Y[i, j]   S[128+r+i, 128+j] = X[i, j]
// 128 arrays have block 1 only, and no X. With .xpose Y holds columns r+i of
// the block: S[j, r+i] = Y[i, j], S[j, 128+r+i] = X[i, j]; blocks 2 and 3
// shift as above. `row` + n <= 128. A latch moves S to G and leaves S all zero:
// rows that are not pushed are zero, and a quadrant (K half, N half) without
// any push takes no part: what meets it, NaN included, does not reach the sums.
//
// Matmul of R LHS rows (R = 8 f32, 16 bf16, 32 s8, f8), from A (K 0-127) and,
// on a 256 array, the pending B of vmatprep.mubr (K 128-255; zero if none):
//   out[i, n] = sum_k<128 A[i,k] G[k,n] + sum_k<128 B[i,k] G[128+k,n]
// Results pop in the order: for each 8 rows, columns 0-127, then 128-255.
// So with block 3 pushes (block diagonal), columns 0-127 are A x Y and columns
// 128-255 are B x X: two row blocks against one weight tile (X = Y), or one row
// block against two tiles (A = B).
//
//   { vmatprep.subr.mxu0 v9 }
//   { vmatpush.bf16.mxu0 v8, block=1, row=0, msra }        ... 16 pushes
//   { vmatprep.mubr.mxu0 v3 }
//   { vmatmul.bf16.mxu0 v2, latch=msra }
//   ...
//   { v10 = vpop.f32.mrf.mxu0 }                 rows 0-7, columns 0-127
#ifndef PTXLA_ISA_MXU_H_
#define PTXLA_ISA_MXU_H_

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "isa/instruction.h"

namespace ptxla::isa {

class Mxu {
 public:
  explicit Mxu(int size);  // 128 or 256

  using Words = std::array<uint32_t, kVregWords>;

  void PrepWeights(const Words& x);
  void PrepLhs(const Words& b);
  // `op` is a matpush; row, block, stage as in the contract.
  void Push(Opcode op, const Words& y, int row, int block, int stage);
  void Latch(int stage);
  bool loaded() const { return loaded_; }
  // Calls `next_result` for each result, in pop order, and fills it. `op` is a
  // matmul.
  void Matmul(Opcode op, const Words& a,
              const std::function<Words&()>& next_result);

 private:
  // Weights `words` of a push into staging at (k0, n0) of the array.
  void PushBlock(Opcode op, const Words& words, int row, int k0, int n0,
                 int stage);
  void MultiplyHalf(int rows, int depth, int n0);

  int size_;
  bool loaded_ = false;
  bool has_subr_ = false;
  bool has_mubr_ = false;
  Words subr_;
  Words mubr_;
  // Quadrants with a push: bit 2 * (K half) + (N half).
  std::array<uint8_t, 2> staging_used_{};
  uint8_t gain_used_ = 0;
  std::array<std::vector<float>, 2> staging_;  // row major, [k][n]
  std::vector<float> gain_;
  std::vector<float> lhs_;  // scratch: [row][k]
  std::vector<float> out_;  // scratch: [row][n]
};

}  // namespace ptxla::isa

#endif  // PTXLA_ISA_MXU_H_
