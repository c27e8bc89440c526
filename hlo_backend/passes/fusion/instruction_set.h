// Some of the instructions of one module, found by id: of a large computation
// sets by address miss the cache for each.
//
//   InstructionSet members;
//   members.insert(i);            // true: it was not there
//   members.contains(operand)
#ifndef PTXLA_HLO_BACKEND_PASSES_FUSION_INSTRUCTION_SET_H_
#define PTXLA_HLO_BACKEND_PASSES_FUSION_INSTRUCTION_SET_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

class InstructionSet {
 public:
  bool contains(const Instruction* i) const {
    return i->id() < static_cast<int>(has_.size()) && has_[i->id()] != 0;
  }
  bool insert(const Instruction* i) {
    if (contains(i)) return false;
    if (i->id() >= static_cast<int>(has_.size())) has_.resize(i->id() + 1, 0);
    has_[i->id()] = 1;
    return true;
  }
  void erase(const Instruction* i) {
    if (contains(i)) has_[i->id()] = 0;
  }
  void clear() { std::fill(has_.begin(), has_.end(), 0); }

 private:
  std::vector<uint8_t> has_;  // by id
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_FUSION_INSTRUCTION_SET_H_
