// A sort as its kernel sees it: which arrays, how long, how they lie, and which
// of the two forms it takes.
//
//   kRows   the sorted dimension is the second minor one: a column of lanes is
//           a sort of its own, and elements that are compared are in the same
//           lane of different rows (no cross-lane work at all).
//   kLanes  the sorted dimension is the minor one (or the only one): each row
//           is spread over rows and lanes of registers. Lane g holds the
//           positions [g * S, (g + 1) * S), S a power of two of at least 128.
//
// Lengths are powers of two: what is missing is padding behind all elements,
// told apart by its position, which the kernel then carries along (`index`).
// A stable sort carries it too, unless an operand already counts along the
// dimension (kSortTieConfig).
#ifndef PTXLA_HLO_BACKEND_LOWERING_SORTING_SORT_PROBLEM_H_
#define PTXLA_HLO_BACKEND_LOWERING_SORTING_SORT_PROBLEM_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/lowering/physical_array.h"
#include "hlo_backend/lowering/sorting/sort_key.h"

namespace ptxla::lowering {

struct SortProblem {
  enum class Form : uint8_t { kRows, kLanes };

  const hlo::Instruction* sort = nullptr;
  PhysicalArray array;
  Form form = Form::kRows;
  int operands = 0;    // arrays that are read and written
  bool index = false;  // and one that the kernel makes: positions
  int tie = -1;        // carried array that decides between equal elements
  int position = -1;   // carried array of positions; -1: none
  std::optional<SortKey> key;  // that the comparator compares
  int64_t length = 0;          // of the dimension
  int64_t padded = 0;          // power of two
  // kLanes: lanes in use (a power of two) and rows of a lane.
  int64_t lanes = 1, rows = 0;

  // Operands and the index.
  int carried() const { return operands + (index ? 1 : 0); }
  // Registers of an element while it is compared: its key may be one more.
  bool has_key_beside() const { return key.has_value() && key->Beside(); }
  int compared() const { return carried() + (has_key_beside() ? 1 : 0); }
  bool pads() const { return padded > length; }
  // Bits of a position that are rows, and lanes above them.
  int row_bits() const;
  int lane_bits() const;

  // Unimplemented: operands of other than 32-bit words, a dimension that is
  // neither of the two minor ones.
  static absl::StatusOr<SortProblem> Of(const hlo::Instruction& sort);
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_SORTING_SORT_PROBLEM_H_
