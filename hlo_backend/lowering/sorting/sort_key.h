// The key that a sort's comparator compares: one function of each side.
//
//   compare(f(a), f(b)), direction=LT     // f: NaN in one place, -0 as 0
//
// It is computed once for each register that is loaded, and moves with it; in
// place of the value where the value can be told from it (numbers in total
// order, whose key is a signed integer). So do the TPU compiler's sorts: vector
// operations per compare of a stable JAX sort 14.1 there (libtpu 0.0.42.1,
// v6e), of numbers in total order 10.7, of integers 8.1.
#ifndef PTXLA_HLO_BACKEND_LOWERING_SORTING_SORT_KEY_H_
#define PTXLA_HLO_BACKEND_LOWERING_SORTING_SORT_KEY_H_

#include <optional>

#include "hlo_backend/ir/instruction.h"

namespace ptxla::lowering {

struct SortKey {
  const hlo::Instruction* of_first = nullptr;  // f(a), or f(b) if `swapped`
  int array = 0;                               // the operand that f reads
  // compare(f(b), f(a)): what comes first has the larger key.
  bool swapped = false;
  hlo::CompareDirection direction = hlo::CompareDirection::kLt;
  bool total_order = false;  // of floats: compared as signed integers
  // f is the value itself.
  bool is_value = false;

  // A register beside that of the value holds the key; else the same one.
  bool Beside() const { return !is_value; }

  // Nothing: the comparator compares otherwise, or several operands.
  static std::optional<SortKey> Of(const hlo::Instruction& sort);
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_SORTING_SORT_KEY_H_
