// Which values must share memory, and at which offset from one another: the
// leaves of instruction results, in classes.
//
//   BufferClasses classes(numbers);
//   classes.Tie(a, b, 4096);        // b lies 4096 bytes into a
//   classes.Find(b)                 // {class, 4096}
#ifndef PTXLA_HLO_BACKEND_COMPILER_BUFFER_CLASSES_H_
#define PTXLA_HLO_BACKEND_COMPILER_BUFFER_CLASSES_H_

#include <cstdint>
#include <vector>

#include "hlo_backend/compiler/number_of_instruction.h"
#include "hlo_backend/ir/module.h"

namespace ptxla::hlo {

class BufferClasses {
 public:
  struct At {
    int root = -1;       // the class
    int64_t offset = 0;  // from where the class starts; may be negative
  };

  // Numbers the leaves of every instruction of these computations.
  explicit BufferClasses(const std::vector<Computation*>& computations);

  int leaf_count() const { return static_cast<int>(parent_.size()); }
  // Number of an instruction's first leaf; the others follow.
  int First(const Instruction* i) const { return first_.Of(*i); }
  int Leaf(const Instruction* i, absl::Span<const int64_t> index) const;

  At Find(int leaf) const;
  // `inner` lies `offset` bytes into `outer`. Nothing happens when they are
  // of one class already; false if they are at other offsets there.
  bool Tie(int outer, int inner, int64_t offset = 0);
  // Leaf by leaf.
  void TieAll(const Instruction* a, const Instruction* b);

 private:
  NumberOfInstruction first_;
  mutable std::vector<int> parent_;
  mutable std::vector<int64_t> offset_;  // from the parent
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_COMPILER_BUFFER_CLASSES_H_
