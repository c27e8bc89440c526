// Which of two elements comes first: the sort's comparator on vector registers,
// and what the kernel adds to it (equal elements by position, padding last).
//
//   SortOrder order(problem, &b);
//   order.StartBlock();
//   order.AddKey(&first), order.AddKey(&second);
//   Mask m = order.Before(second, first);   // registers of all carried arrays
//   order.RemoveKey(&first) ...             // before they are stored
//
// What the comparator makes of one side alone (a NaN put in its place, -0 made
// 0) is computed once where both directions are asked for.
#ifndef PTXLA_HLO_BACKEND_LOWERING_SORTING_SORT_ORDER_H_
#define PTXLA_HLO_BACKEND_LOWERING_SORTING_SORT_ORDER_H_

#include <cstdint>
#include <map>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo_backend/lowering/fusion/vector_math.h"
#include "hlo_backend/lowering/sorting/sort_problem.h"

namespace ptxla::lowering {

class SortOrder {
 public:
  SortOrder(const SortProblem& problem, codegen::CodeBuilder* b);

  // Registers of earlier blocks are gone.
  void StartBlock();
  // True if Before() reads this carried array.
  bool Reads(int array) const { return reads_[array]; }
  // Before() computes more than masks.
  bool MakesNumbers() const;
  // Makes the key of an element (sort_key.h) from the registers of all carried
  // arrays: in place of its value, or behind them. And undoes that.
  absl::Status AddKey(std::vector<codegen::Vec>* x);
  void RemoveKey(std::vector<codegen::Vec>* x);
  // Set where element `x` comes before `y`; one register for each carried
  // array and the key, those that are not read may be invalid.
  absl::StatusOr<codegen::Mask> Before(absl::Span<const codegen::Vec> x,
                                       absl::Span<const codegen::Vec> y);

 private:
  absl::StatusOr<Value> Compare(absl::Span<const codegen::Vec> x,
                                absl::Span<const codegen::Vec> y);
  absl::StatusOr<Value> Make(const hlo::Instruction& i,
                             absl::Span<const Value> inputs);
  codegen::Vec TotalOrderKey(codegen::Vec v);
  // By their keys: `x` before `y`, or (`or_equal`) not behind it.
  codegen::Mask CompareKeys(codegen::Vec x, codegen::Vec y, bool or_equal);

  const SortProblem& problem_;
  codegen::CodeBuilder& b_;
  std::vector<const hlo::Instruction*> body_;  // of the comparator, in order
  std::vector<bool> reads_;
  absl::flat_hash_map<const hlo::Instruction*, Value> constants_;
  std::map<std::vector<int64_t>, Value> known_;  // of this element pair
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_SORTING_SORT_ORDER_H_
