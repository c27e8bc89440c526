// What the classes of leaves that share memory are in a schedule: how large,
// how long alive, in which memory, and whose.
//
//   const ScheduleLeaves schedule(scheduled, chip);  // outlives the other
//   const BufferLives lives(schedule);
//   const ClassInfo& info = lives.Of(lives.classes().Find(leaf).root);
//   info.end - info.begin, info.first, info.last
#ifndef PTXLA_HLO_BACKEND_COMPILER_BUFFER_LIVES_H_
#define PTXLA_HLO_BACKEND_COMPILER_BUFFER_LIVES_H_

#include <cstdint>
#include <vector>

#include "hlo_backend/compiler/buffer_classes.h"
#include "hlo_backend/compiler/schedule_leaves.h"
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
  // As memory spaces are now; `schedule` outlives it.
  explicit BufferLives(const ScheduleLeaves& schedule);

  const BufferClasses& classes() const { return classes_; }
  // By the class's root leaf; without a maker: no class begins there.
  const ClassInfo& Of(int64_t root) const { return info_[root]; }
  size_t leaf_count() const { return info_.size(); }

 private:
  void Add(const Instruction& i, int leaf, const Shape& shape, bool is_output);
  int LastRead(const Instruction& name) const;

  const ScheduleLeaves& schedule_;
  BufferClasses classes_;
  std::vector<ClassInfo> info_;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_COMPILER_BUFFER_LIVES_H_
