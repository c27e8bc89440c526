#include "hlo_backend/lowering/movement/reflow_steps.h"

#include "hlo_backend/lowering/movement/reflow_rows.h"

namespace ptxla::lowering {

ReflowSteps::ReflowSteps(const ReflowSide& in, const ReflowSide& out,
                         int64_t count, bool exact, bool inside, bool known)
    : in_(in),
      out_(out),
      count_(count),
      steps_(CeilOfRatio(out.pieces(), count)),
      last_(exact ? out.pieces() - count : out.pieces()) {
  even_ = elements() % in_.piece() == 0;
  for (int64_t g = 0; g < steps_ && even_; ++g) {
    even_ = Begin(g) % in_.piece() == 0 &&
            (!inside || Begin(g) + elements() <= in_.pieces() * in_.piece());
  }
  in_count_ =
      std::min(elements() / in_.piece() + (even_ ? 0 : 2), in_.pieces());
  int64_t before = 0, behind = 0;
  whole_ = known;
  for (int64_t g = 0; g < steps_ && whole_; ++g) {
    const int64_t first = FirstPiece(g) * in_.piece() - Begin(g);
    whole_ = first % kRow == 0;
    before = std::max(before, -first);
    behind = std::max(behind, first + in_count_ * in_.piece() - elements());
  }
  before_ = LineRows::kSlackRows + (whole_ ? CeilOfRatio(before, kRow) : 0);
  behind_ = LineRows::kSlackRows + (whole_ ? CeilOfRatio(behind, kRow) : 0);
}

}  // namespace ptxla::lowering
