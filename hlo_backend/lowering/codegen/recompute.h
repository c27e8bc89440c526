// Which locals of a block can be made again later at the cost of an instruction
// or two, instead of being kept: constants, splats and index patterns, loads
// from memory that the block does not write, and simple functions of one such
// value.
#ifndef PTXLA_HLO_BACKEND_LOWERING_CODEGEN_RECOMPUTE_H_
#define PTXLA_HLO_BACKEND_LOWERING_CODEGEN_RECOMPUTE_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"
#include "hlo_backend/lowering/codegen/vcode.h"

namespace ptxla::codegen {

class Recomputation {
 public:
  // Of locals of class `cls`.
  Recomputation(absl::Span<const VInstr> instrs,
                absl::Span<const VRegister> registers, isa::RegClass cls);

  // True if the instructions that made `reg`, repeated in front of instruction
  // number `at`, give the same value.
  bool Can(int32_t reg, int at) const { return Cost(reg, at) <= kMostCost; }
  // The instruction that made it.
  const VInstr& Definition(int32_t reg) const {
    return definition_.find(reg)->second.instr;
  }

 private:
  static constexpr int kMostCost = 2;  // as store and load
  static constexpr int kNever = 1000;
  struct Made {
    VInstr instr;
    int at = 0;
  };
  int Cost(int32_t reg, int at) const;
  bool Unchanged(int32_t global, int from, int to) const;

  std::vector<VRegister> registers_;
  isa::RegClass cls_;
  absl::flat_hash_map<int32_t, Made> definition_;
  absl::flat_hash_map<int32_t, std::vector<int>> global_writes_;
  absl::flat_hash_set<int> stored_spaces_;
  bool control_ = false;  // DMA may write memory
};

}  // namespace ptxla::codegen

#endif  // PTXLA_HLO_BACKEND_LOWERING_CODEGEN_RECOMPUTE_H_
