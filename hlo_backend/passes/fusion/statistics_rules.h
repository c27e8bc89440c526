// What may be done behind a product that stays in memory, for the reduces that
// are made there (row_statistics.h): elementwise work on it, and what that may
// read beside it.
//
//   s = f32[8,512,512] dot(q, k)             // the product, stored
//   m = f32[8,512,512] add(s, mask)          // IsWork
//   r = f32[8,512] reduce(m), dimensions={2} // IsStatistic
//
// Who else reads such work does it again.
#ifndef PTXLA_HLO_BACKEND_PASSES_FUSION_STATISTICS_RULES_H_
#define PTXLA_HLO_BACKEND_PASSES_FUSION_STATISTICS_RULES_H_

#include <cstddef>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// Asks of one product and the work on it that has been found so far.
class StatisticsRules {
 public:
  // `work`: with the product itself. `of_columns`: of reduces over its rows,
  // not along them. `positions`: of the computation's instructions, operands
  // first. `most_of_rows`: operations on a reduce. All must outlive it.
  StatisticsRules(
      const Instruction& dot, const std::vector<Instruction*>& work,
      bool of_columns,
      const absl::flat_hash_map<const Instruction*, size_t>& positions,
      int most_of_rows)
      : dot_(dot),
        work_(work),
        of_columns_(of_columns),
        positions_(positions),
        most_of_rows_(most_of_rows) {}

  bool IsStatistic(const Instruction& reduce) const;
  // Of the product's shape, and reads nothing but work and leaves.
  bool IsWork(const Instruction& i) const;
  // Whatever is done here, the product itself is what lies in memory: the other
  // readers of the work on it need the reduces, or reduce it themselves, so
  // that they are other kernels.
  bool IsStored(const std::vector<Instruction*>& reduces) const;

 private:
  bool Needs(const Instruction& i,
             const std::vector<Instruction*>& reduces) const;
  bool IsOfReduces(const Instruction& i,
                   const std::vector<Instruction*>& reduces, int depth) const;
  bool IsLeaf(const Instruction& o) const;
  bool IsOtherArray(const Instruction& o, int depth) const;
  bool NeedsProduct(const Instruction& value) const;

  const Instruction& dot_;
  const std::vector<Instruction*>& work_;
  const bool of_columns_;
  const absl::flat_hash_map<const Instruction*, size_t>& positions_;
  const int most_of_rows_;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_FUSION_STATISTICS_RULES_H_
