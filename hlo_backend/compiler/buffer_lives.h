// What the classes of leaves that share memory are in a schedule: how large,
// how long alive, in which memory, and whose.
//
//   const BufferLives lives(scheduled, chip);
//   const ClassInfo& info = lives.Of(lives.classes().Find(leaf).root);
//   info.end - info.begin, info.first, info.last
#ifndef PTXLA_HLO_BACKEND_COMPILER_BUFFER_LIVES_H_
#define PTXLA_HLO_BACKEND_COMPILER_BUFFER_LIVES_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "chips/chip_spec.h"
#include "hlo_backend/compiler/buffer_classes.h"
#include "hlo_backend/compiler/number_of_instruction.h"
#include "hlo_backend/ir/module.h"

namespace ptxla::hlo {

// What a class of leaves that share memory is, all in all.
struct ClassInfo {
  int64_t begin = INT64_MAX, end = INT64_MIN;  // bytes from the class's start
  int32_t first = INT32_MAX, last = -1;        // positions in the schedule
  int parameter = -1;                          // of the entry
  bool output = false, constant = false;
  bool scalar = true;  // one element
  int memory_space = kMemoryHbm;
  bool mixed = false;  // leaves say different memory spaces
  int64_t uses = 0;    // by what reads or writes it
  const Instruction* maker = nullptr;
  int leaf = -1;  // of the maker
};

class BufferLives {
 public:
  // Of a module with a schedule; both outlive it.
  BufferLives(const Module& module, const chips::ChipSpec& chip);

  const std::vector<Computation*>& computations() const {
    return computations_;
  }
  const BufferClasses& classes() const { return classes_; }
  // By the class's root leaf; without a maker: no class begins there.
  const ClassInfo& Of(int64_t root) const { return info_[root]; }
  size_t leaf_count() const { return info_.size(); }

  // Instructions that the schedule runs, and their places in it.
  void ForEachThatRuns(absl::FunctionRef<void(const Instruction&)> fn) const;
  int32_t PositionOf(const Instruction& i) const { return position_.Of(i); }
  int32_t positions() const { return next_position_; }

 private:
  void Number(const Computation& c);
  void Add(const Instruction& i, int leaf, const Shape& shape, bool is_output);

  const chips::ChipSpec& chip_;
  const std::vector<Computation*> computations_;
  BufferClasses classes_;
  std::vector<ClassInfo> info_;
  NumberOfInstruction position_;  // in the schedule; none: it does not run
  int32_t next_position_ = 0;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_COMPILER_BUFFER_LIVES_H_
