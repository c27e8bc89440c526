// What comes out of the MXUs of a product's stream: results are popped, added
// to the sums over K in VMEM, and given to the epilogue when they are finished.
//
// Epilogues lag behind: only so many run at once, for each holds registers, and
// those that take longer than their products may be put off until the products
// of the next columns run (product_visits.h).
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_STREAM_RESULTS_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_STREAM_RESULTS_H_

#include <array>
#include <cstdint>
#include <deque>

#include "hlo_backend/lowering/products/product_stream.h"
#include "hlo_backend/lowering/products/stream_code.h"
#include "hlo_backend/lowering/products/stream_places.h"
#include "hlo_backend/lowering/products/stream_rows.h"
#include "hlo_backend/lowering/products/stream_walk.h"
#include "isa/machine_model.h"

namespace ptxla::lowering::stream {

class Results {
 public:
  // All of them must outlive it. `rows` says how far conversions, which need
  // the same vector units, have come.
  Results(const ProductProblem& problem, const ProductTile& tile,
          const ArrayShape& arrays, const StreamParts& parts, const Walk& walk,
          const Rows& rows, Epilogue* epilogue, Code* code);

  // Pops what the matmuls of a visit's group of rows started.
  void Take(int64_t visit, int64_t group);
  // When the first of that is due in all MXUs; of the group to take next.
  int64_t Due(int64_t visit, int64_t group) const;
  // Some of the epilogues that were put off, so many that those of one macro
  // tile are over when the next one's begin: once for each group.
  void Turn();
  // All that are left, and, where no K meets some rows, those of zeros.
  void Finish();

  // When the next matmul may issue: vector work that is slower than the MXU,
  // epilogues and conversions, holds it back, and so do results that wait.
  int64_t MatmulWish(int mxu) const;

 private:
  void LateEpilogue();
  void EmptySums();
  int64_t VectorsFree() const;
  int64_t PopWish(int mxu) const;
  int64_t EpilogueStart() const;
  void EndEpilogue(int64_t end);
  void SixteenRows(int mxu, const Lane& lane, int64_t row, int sixteen,
                   bool first, bool last);
  void PlaceSums(int64_t wish, int64_t offset);
  codegen::Vec Pop(int mxu, bool wanted, int64_t* due);
  codegen::Vec PopSum(int mxu, const Position& at, int eight, bool first,
                      bool last, int64_t due);

  const ProductProblem& problem_;
  const ArrayShape& arrays_;
  const StreamParts& parts_;
  const Walk& walk_;
  const Rows& rows_;
  Epilogue* epilogue_;
  Code& code_;
  codegen::CodeBuilder& b_;
  const int64_t lanes_;                           // MXUs that work
  std::array<int64_t, isa::kMaxUnits> popped_{};  // cycle of the last pop
  // The end of the latest sum, and how long after its pop.
  int64_t sum_end_ = 0, sums_lag_ = 0;
  size_t epilogues_ = 1;  // that may run at once
  int64_t epilogue_end_ = 0;
  std::deque<int64_t> ends_;  // of the latest epilogues
  bool puts_off_ = false;
  std::deque<Position> late_;  // finished sums whose epilogue was put off
  int64_t turn_ = 0;
};

}  // namespace ptxla::lowering::stream

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_STREAM_RESULTS_H_
