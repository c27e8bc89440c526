// Registers of a product's operands on their way into the MXUs: loaded,
// converted or computed just in time, and kept where they are needed again.
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_STREAM_ROWS_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_STREAM_ROWS_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "hlo_backend/lowering/products/conversion_pace.h"
#include "hlo_backend/lowering/products/operand_loader.h"
#include "hlo_backend/lowering/products/stream_code.h"
#include "hlo_backend/lowering/products/stream_places.h"
#include "hlo_backend/lowering/products/stream_transposes.h"
#include "hlo_backend/lowering/products/stream_walk.h"

namespace ptxla::lowering::stream {

class Rows {
 public:
  // All of them must outlive it.
  Rows(const ProductProblem& problem, const ProductTile& tile,
       const ArrayShape& arrays, const StreamParts& parts, const Walk& walk,
       Code* code);

  // A register of LHS rows for a matmul at `wish`; `part` of f32 values.
  std::vector<codegen::Vec> Lhs(int64_t batch, int64_t row, int64_t k, int part,
                                int64_t wish);
  // A register of weights at the columns `col` ... for a push at `wish`.
  std::vector<codegen::Vec> Weights(const Push& push, int64_t col, int part,
                                    int64_t wish);
  // Values per row for these weights, which are pushed later than `now`.
  void MakeWeightRows(const Push& push, int64_t now);
  // How long they may wait for rows that are turned; 0: there are none.
  int64_t turns_ahead() const { return transposes_.horizon(); }
  // The stream has come to the cycle `now`: what takes long is begun.
  void Advance(int64_t now) { transposes_.Advance(now); }
  // The last cycle of slow conversions.
  int64_t slow_end() const {
    return std::max(conversions_.slow_end(), transposes_.slow_end());
  }

 private:
  // The open block, which loads a register of the rows `row` ... for a matmul
  // or push at `wish`; the last cycle. `key`: of scratch that it lies in.
  int64_t Place(const BlockPlace& place, const ProductOperand& operand,
                int part, int64_t wish, int64_t batch, int64_t row,
                int64_t key = -1);
  // Values per row that an operand needs for the first time: through the XLUs,
  // so long before.
  void MakeRows(const BlockPlace& place, int64_t batch, int64_t row,
                int64_t wish);
  // When the XLU that reads what `v` of the block writes takes another
  // register; 0: none does.
  int64_t XluTakes(codegen::VInstr v, const codegen::VNode& block) const;
  // Converted rows that come again.
  void Keep(const std::vector<codegen::Vec>& regs, int64_t offset, int64_t at);

  const ProductProblem& problem_;
  const StreamParts& parts_;
  Code& code_;
  const bool keeps_;
  OperandLoader loader_;
  ConversionPace conversions_;
  Transposes transposes_;
  absl::flat_hash_set<int64_t> converted_;  // offsets of LHS rows kept so far
  int64_t rows_free_ = 0;  // the XLUs have taken the values per row so far
};

}  // namespace ptxla::lowering::stream

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_STREAM_ROWS_H_
