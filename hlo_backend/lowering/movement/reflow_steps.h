// How a reflow (reflow.h) is cut into steps: pieces of the result (ReflowSide),
// those of the operand that hold their elements, and the room of the line.
//
//   ReflowSteps steps(in, out, 48, false, false, true);   // 48 pieces
//   steps.steps()          // 2
//   steps.FirstPiece(1)    // of the operand, in the second step
#ifndef PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_REFLOW_STEPS_H_
#define PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_REFLOW_STEPS_H_

#include <algorithm>
#include <cstdint>

#include "base/units.h"
#include "hlo_backend/lowering/movement/reflow_side.h"

namespace ptxla::lowering {

class ReflowSteps {
 public:
  // `exact`: the last step ends where the result does, and takes some pieces
  // that the one before it has taken. `inside`: no step reaches behind the
  // operand. Arrays in VMEM want these: no window cuts off what is too much.
  // `known`: the line has room for all rows
  // of the operand that a step has, so that none of them has to be looked for.
  ReflowSteps(const ReflowSide& in, const ReflowSide& out, int64_t count,
              bool exact, bool inside, bool known);

  int64_t steps() const { return steps_; }
  int64_t count() const { return count_; }        // pieces of the result
  int64_t in_count() const { return in_count_; }  // and of the operand
  int64_t elements() const { return count_ * out_.piece(); }
  // Steps have whole pieces of the operand: the first begins the line.
  bool even() const { return even_; }
  // Every step's first piece begins a row of the line.
  bool whole() const { return whole_; }

  // Where step `g` begins: a piece of the result, an element, and the piece of
  // the operand that holds it.
  int64_t OutPiece(int64_t g) const { return std::min(g * count_, last_); }
  int64_t Begin(int64_t g) const { return OutPiece(g) * out_.piece(); }
  int64_t LastBegin() const { return last_ * out_.piece(); }
  int64_t FirstPiece(int64_t g) const {
    const int64_t piece = Begin(g) / in_.piece();
    return even_ ? piece : std::min(piece, in_.pieces() - in_count_);
  }

  // Rows of 128 of the line, and what lies before and behind it.
  int64_t line_rows() const { return CeilOfRatio(elements(), kRow); }
  int64_t rows_before() const { return before_; }
  int64_t rows_behind() const { return behind_; }

 private:
  static constexpr int64_t kRow = isa::kLanes;

  const ReflowSide in_, out_;
  const int64_t count_, steps_, last_;
  int64_t in_count_ = 0, before_ = 0, behind_ = 0;
  bool even_ = false, whole_ = false;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_REFLOW_STEPS_H_
