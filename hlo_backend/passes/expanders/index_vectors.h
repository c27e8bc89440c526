// Where the windows of a gather or a scatter begin, in terms common to both,
// for loops that move one window after another (window_loops.h).
//
//   // indices [5,2], index_vector_dim 1, of dimensions {0, 1}, none batching
//   IndexVectors at(b, indices, 1, {0, 1}, {}, {});
//   at.count()  // 5; at.all() is [5,2]
#ifndef PTXLA_HLO_BACKEND_PASSES_EXPANDERS_INDEX_VECTORS_H_
#define PTXLA_HLO_BACKEND_PASSES_EXPANDERS_INDEX_VECTORS_H_

#include <cstdint>
#include <vector>

#include "hlo_backend/ir/builder.h"

namespace ptxla::hlo {

class IndexVectors {
 public:
  // `indexed`: dimensions of the operand that the numbers of a vector name;
  // `batching` those that `indices_batching` of the indices count along.
  IndexVectors(Builder& b, Instruction* indices, int64_t vector_dim,
               const DimVector& indexed, const DimVector& batching,
               const DimVector& indices_batching);

  int64_t count() const { return count_; }
  const DimVector& batch() const { return batch_; }  // of the indices
  Instruction* all() const { return all_; }  // [count, numbers of a window]

  // In the loop's body: those of window `n` ...
  Instruction* At(Builder& b, Instruction* all, Instruction* n) const;
  // ... a start for each dimension of `x` ...
  std::vector<Instruction*> Starts(Builder& b, Instruction* at,
                                   const Shape& x) const;
  // ... and whether a window of `sizes` ends inside of it.
  Instruction* Inside(Builder& b, Instruction* at, const Shape& x,
                      const DimVector& sizes) const;

 private:
  DimVector dims_;  // of the operand that each number counts along
  DimVector batch_;
  int64_t count_ = 1;
  Instruction* all_ = nullptr;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_EXPANDERS_INDEX_VECTORS_H_
