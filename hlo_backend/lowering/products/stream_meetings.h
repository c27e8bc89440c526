// Which visits of a stream have anything to multiply for which rows: all of
// them, unless operands with holes (StreamOperands) say otherwise. Answers are
// kept.
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_STREAM_MEETINGS_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_STREAM_MEETINGS_H_

#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "hlo_backend/lowering/products/product_stream.h"

namespace ptxla::lowering {

class StreamMeetings {
 public:
  // `operands` may be null. `plan` and `tile` must outlive it.
  StreamMeetings(const StreamOperands* operands, const VisitPlan& plan,
                 const ProductTile& tile, int64_t k_extent);

  // Do the rows of the group that begins at `row` meet the K of the visit?
  bool Meets(int64_t visit, int64_t batch, int64_t row) const;
  // Does any group of the MXU whose rows begin at `row`?
  bool Works(int64_t visit, int64_t batch, int64_t row) const;
  // The first and the last visit of a macro tile that the group's rows meet;
  // last < 0: none.
  struct Span {
    int64_t first, last;
  };
  Span Of(int64_t batch, int64_t row) const;

 private:
  using Rows = std::pair<int64_t, int64_t>;  // batch member, row

  const StreamOperands* operands_;
  const VisitPlan& plan_;
  const ProductTile& tile_;
  int64_t k_extent_, k_visits_;
  // By visit of a macro tile and rows, and by rows.
  mutable absl::flat_hash_map<std::pair<int64_t, Rows>, bool> works_;
  mutable absl::flat_hash_map<Rows, Span> spans_;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_STREAM_MEETINGS_H_
