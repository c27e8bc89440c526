// An LHS that lies as [K, M], brought into the form that MXUs stream, [M, K],
// under the stream: tiles of 128 x 128 go through the XLUs into scratch in the
// order in which the stream takes them, a little ahead of it. What the XLUs and
// the vector units need for that fills bundles that the matmuls leave room in.
//
//   Transposes transposes(tile, parts, walk, make_rows, &code);
//   transposes.Need(batch, row, k);   // before a load of these rows
//   transposes.Advance(now);          // once per group of rows
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_STREAM_TRANSPOSES_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_STREAM_TRANSPOSES_H_

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "hlo_backend/lowering/products/operand_rows.h"
#include "hlo_backend/lowering/products/product_stream.h"
#include "hlo_backend/lowering/products/stream_code.h"
#include "hlo_backend/lowering/products/stream_walk.h"

namespace ptxla::lowering::stream {

class Transposes {
 public:
  // Values per row that 16 rows of a computed operand need, before `wish`.
  using MakeRows =
      std::function<void(int64_t batch, int64_t row, int64_t wish)>;
  // All of them must outlive it. Without `parts.turned` it does nothing.
  Transposes(const ProductTile& tile, const StreamParts& parts,
             const Walk& walk, MakeRows make_rows, Code* code);

  // The tile of the LHS rows `row` ... and the K `k` ... is in scratch, or on
  // its way; the key of the memory that it lies in, -1 if nothing is turned.
  int64_t Need(int64_t batch, int64_t row, int64_t k);
  // The stream has come to the cycle `now`: tiles that it takes soon.
  void Advance(int64_t now);
  // What else goes through the XLUs may wait there so long; 0: nothing is
  // turned.
  int64_t horizon() const { return horizon_; }
  // The last cycle of slow conversions.
  int64_t slow_end() const { return slow_end_; }

 private:
  struct Turn {
    int64_t batch = 0, row = 0, k = 0;
  };
  int64_t NumberOf(const Turn& t) const {
    return (t.batch / parts_.lhs.shared_by * row_tiles_ + t.row) * k_tiles_ +
           t.k;
  }
  void Order(const Walk& walk);
  void Make(const Turn& turn);
  // 16 rows of K at 128 of M, for a push at `wish`.
  std::vector<codegen::Vec> Load(const Turn& turn, int64_t row, int unit,
                                 int64_t wish);
  // Rows beyond K, whose columns the stream masks.
  std::vector<codegen::Vec> Beyond(int64_t wish);
  void Push(int unit, codegen::Vec reg, bool first, int results);

  const ProductTile& tile_;
  const StreamParts& parts_;
  const int64_t k_extent_;
  MakeRows make_rows_;
  Code& code_;
  const bool bf16_;
  int64_t row_tiles_ = 0, k_tiles_ = 0;
  std::optional<OperandRows> rows_;
  std::vector<Turn> order_;  // of first use
  size_t next_ = 0;          // of the order
  std::vector<bool> made_;
  // Rows may be loaded this long before their push, so many at once; ends of
  // the latest, for each XLU.
  int64_t lead_ = 0;
  size_t most_ = 1;
  std::array<std::deque<int64_t>, isa::kMaxUnits> pushed_;
  int64_t horizon_ = 0;
  int64_t slow_end_ = 0;
};

}  // namespace ptxla::lowering::stream

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_STREAM_TRANSPOSES_H_
