// A number for each of many instructions of one module, found by id: maps by
// address miss the cache for each.
//
//   NumberOfInstruction position;
//   position.Set(*i, 7);
//   position.Of(*i)               // 7; -1 for an instruction without
#ifndef PTXLA_HLO_BACKEND_COMPILER_NUMBER_OF_INSTRUCTION_H_
#define PTXLA_HLO_BACKEND_COMPILER_NUMBER_OF_INSTRUCTION_H_

#include <cstdint>
#include <vector>

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

class NumberOfInstruction {
 public:
  void Set(const Instruction& i, int32_t number) {
    if (i.id() >= static_cast<int>(numbers_.size())) {
      numbers_.resize(i.id() + 1, -1);
    }
    numbers_[i.id()] = number;
  }
  int32_t Of(const Instruction& i) const {
    return i.id() < static_cast<int>(numbers_.size()) ? numbers_[i.id()] : -1;
  }

 private:
  std::vector<int32_t> numbers_;  // by id
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_COMPILER_NUMBER_OF_INSTRUCTION_H_
