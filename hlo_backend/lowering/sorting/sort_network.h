// A bitonic network over arrays in scratch, as code.
//
// Position p of an element is row p mod 2^row_bits of lane p / 2^row_bits (of
// its lane group). Level k = 1, 2 ... merges runs of 2^(k-1) into runs of 2^k,
// descending where bit k of the position is set, in stages j = k-1 ... 0 that
// compare positions 2^j apart:
//
//   rows   a pass brings 2^w rows of registers that differ in w neighbouring
//          bits of the position into registers, for w stages: one load and one
//          store for w compares. Bits 0 to 2 are those of sublanes; where they
//          are compared, registers are loaded with a stride, so that partners
//          are in the same sublane of different registers, as everywhere.
//   lanes  partners are in the same register: a permute of lanes brings them.
//
// The direction of a level is known for each register, or a mask of sublanes or
// lanes, or (where its bit is above those of a register) there is a loop for
// each direction.
//
//   SortNetwork network(problem, layout, &order, &b);
//   RETURN_IF_ERROR(network.Emit());
#ifndef PTXLA_HLO_BACKEND_LOWERING_SORTING_SORT_NETWORK_H_
#define PTXLA_HLO_BACKEND_LOWERING_SORTING_SORT_NETWORK_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "hlo_backend/lowering/codegen/builder.h"
#include "hlo_backend/lowering/sorting/sort_order.h"
#include "hlo_backend/lowering/sorting/sort_problem.h"

namespace ptxla::lowering {

// Carried array k is `rows` rows of 512 bytes from base + k * array_bytes on:
// one sort of 2^row_bits rows after the other.
struct SortLayout {
  codegen::Sca base;  // in scratch, a global register
  int64_t array_bytes = 0;
  int64_t rows = 0;     // a multiple of 8 << width
  int width = 3;        // position bits of a pass
  int lane_stages = 7;  // of one block of code, at most
};

class SortNetwork {
 public:
  SortNetwork(const SortProblem& problem, const SortLayout& layout,
              SortOrder* order, codegen::CodeBuilder* b);

  absl::Status Emit();

 private:
  struct Stage {
    int level = 0, bit = 0;
  };
  // Registers differ in bits [low, low + width) of the row number; sublanes are
  // three other bits.
  struct Pass {
    int low = 0, width = 0;
    std::vector<Stage> stages;
    int group = 8;                      // rows that lie together in a register
    int64_t stride = 0;                 // rows from one group to the next
    int SublaneBit(int row_bit) const;  // -1: none
    // First row bit above all that a register has.
    int above = 0;
  };
  struct Range {
    int64_t trips = 1, stride = 0;  // rows
    bool is_direction = false;      // the second trip descends
  };
  // Rows that are brought into registers together.
  struct Group {
    int64_t start = 0;  // rows behind the loop counters
    bool down = false;
  };
  using Row = std::vector<codegen::Vec>;  // by carried array

  Pass MakePass(int low, int width) const;
  absl::Status RowStages(int level);
  absl::Status RowPass(const Pass& pass);
  absl::Status Loops(const Pass& pass, const std::vector<Range>& ranges,
                     size_t depth, const std::vector<Group>& groups,
                     std::vector<codegen::Sca>* counters);
  absl::Status RowBody(const Pass& pass, const std::vector<Group>& groups,
                       const std::vector<codegen::Sca>& counters);
  absl::Status LanePass(int level);
  // Stages that compare lanes 2^first, 2^(first-1) ... 2^last apart.
  absl::Status LaneBody(int level, int first, int last,
                        const std::vector<codegen::Sca>& counters,
                        int64_t registers);
  // Set where bit `level` of the position is set; invalid: nowhere, or all the
  // same.
  codegen::Mask Descending(const Pass& pass, int level);
  codegen::Mask LaneBit(int bit);
  codegen::Sca Address(const std::vector<codegen::Sca>& counters);
  int32_t Offset(int array, int64_t row) const;
  // `last`: nothing is compared behind it, and keys beside values stay.
  absl::Status Exchange(Row* x, Row* y, bool down, codegen::Mask mask,
                        bool last);

  const SortProblem& problem_;
  const SortLayout& layout_;
  SortOrder& order_;
  codegen::CodeBuilder& b_;
  const int row_bits_, lane_bits_, levels_, carried_;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_SORTING_SORT_NETWORK_H_
