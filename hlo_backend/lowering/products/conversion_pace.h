// When the loads of a product's operands begin, and how many of their
// conversions may be under way at once: each holds registers.
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_CONVERSION_PACE_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_CONVERSION_PACE_H_

#include <algorithm>
#include <cstdint>
#include <deque>

#include "hlo_backend/lowering/products/product_problem.h"
#include "hlo_backend/lowering/products/product_stream.h"

namespace ptxla::lowering {

class ConversionPace {
 public:
  // Operands are loaded this long before the matmul or push that takes them:
  // load, conversion between f32 and bf16, and mask.
  static constexpr int64_t kLoadAhead = 6;
  // Slow conversions: as long as their operations take one after another, and
  // as long again for what else the vector units do.
  static constexpr int64_t kConvertAhead = 40;

  ConversionPace(const EpiloguePace& pace, const isa::MachineModel& model)
      : pace_(pace), model_(model) {}

  // The first cycle of the code that makes a register of rows for a matmul or
  // push at `wish`; End must follow.
  int64_t Start(const BlockPlace& place, const ProductOperand& operand,
                int part, int64_t wish) {
    ends_ = nullptr;
    slow_ = place.Converts();
    size_t most = pace_.short_conversions;
    int64_t ahead = place.computed ? place.computed->lead() : kConvertAhead;
    if (!slow_) {
      const int conversion =
          place.type == operand.type ? operand.conversion : 0;
      ahead = kLoadAhead + kPartAhead * (part + (conversion + 3) / 4);
      if (part == 0 && conversion == 0)
        return std::max<int64_t>(0, wish - ahead);
      ends_ = &short_;
    } else {
      most = pace_.conversions *
             static_cast<size_t>(model_.Slots(isa::Slot::kVector) - 1);
      if (place.computed) {
        most = std::max<size_t>(
            1, static_cast<size_t>(pace_.share * model_.vregs /
                                   place.computed->live_registers()));
      }
      ends_ = &long_;
    }
    int64_t start = std::max<int64_t>(0, wish - ahead);
    while (ends_->size() > most) ends_->pop_front();
    if (ends_->size() >= most) {
      start = std::max(start, ends_->front());
      ends_->pop_front();
    }
    return start;
  }
  void End(int64_t end) {
    if (ends_ != nullptr) ends_->push_back(end);
    if (slow_) slow_end_ = std::max(slow_end_, end);
  }

  // The last cycle of slow conversions.
  int64_t slow_end() const { return slow_end_; }

 private:
  // Further parts of f32 values, and types whose conversion is short.
  static constexpr int64_t kPartAhead = 8;
  const EpiloguePace& pace_;
  const isa::MachineModel& model_;
  std::deque<int64_t> short_, long_;  // ends of the latest
  std::deque<int64_t>* ends_ = nullptr;
  bool slow_ = false;
  int64_t slow_end_ = 0;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_CONVERSION_PACE_H_
