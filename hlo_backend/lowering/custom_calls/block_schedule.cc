#include "hlo_backend/lowering/custom_calls/block_schedule.h"

#include <algorithm>

#include "base/units.h"

namespace ptxla::lowering {

void BlockSchedule::AddSpills() {
  for (const auto& [value, times] : reductions_) {
    const auto others = reads_.find(value);
    const auto maker = makers_.find(value);
    const int64_t registers = RegistersOf(TypeOf(value));
    if (others == reads_.end() || maker == makers_.end() ||
        2 * registers <= model_.vregs) {
      continue;
    }
    Task& task = tasks_[maker->second];
    task.busy[static_cast<int>(isa::Slot::kStore)] +=
        Instructions(isa::Slot::kStore, registers);
    task.busy[static_cast<int>(isa::Slot::kLoad)] +=
        Instructions(isa::Slot::kLoad, registers);
  }
}

// Operands come before those who read them.
void BlockSchedule::SetHeights() {
  for (size_t k = tasks_.size(); k-- > 0;) {
    Task& task = tasks_[k];
    task.height +=
        task.latency + *std::max_element(task.busy.begin(), task.busy.end());
    for (const int operand : task.operands) {
      tasks_[operand].height = std::max(tasks_[operand].height, task.height);
    }
  }
}

bool BlockSchedule::Ready(const Task& task) const {
  if (task.placed) return false;
  for (const int operand : task.operands) {
    if (!tasks_[operand].placed) return false;
  }
  return true;
}

int64_t BlockSchedule::EarliestStart(const Task& task) const {
  int64_t start = 0;
  for (const int operand : task.operands) {
    const Task& o = tasks_[operand];
    // Of its weights, a product waits for those of its first pass.
    const int64_t there = operand == task.weights
                              ? o.begin + (o.end - o.begin) / task.passes
                          : task.kind == Kind::kRows ? o.row
                                                     : o.begin;
    start = std::max(start, there);
  }
  for (int slot = 0; slot < isa::kNumSlots; ++slot) {
    if (task.busy[slot] > 0) start = std::max(start, free_[slot]);
  }
  return start;
}

void BlockSchedule::Place(Task* task) {
  const int64_t start = EarliestStart(*task);
  int64_t work = 0, arrived = 0;
  for (int slot = 0; slot < isa::kNumSlots; ++slot) {
    work = std::max(work, task->busy[slot]);
    if (task->busy[slot] > 0) free_[slot] = start + task->busy[slot];
  }
  for (const int operand : task->operands) {
    arrived = std::max(arrived, tasks_[operand].end);
  }
  if (task->kind == Kind::kProduct) {
    // The first pass is as slow as the rows come.
    const int64_t pass = work / std::max<int64_t>(1, task->passes);
    const int64_t done = std::max(start + work, arrived + work - pass);
    free_[static_cast<int>(isa::Slot::kMxu)] =
        std::max(free_[static_cast<int>(isa::Slot::kMxu)], done);
    task->begin = start + task->latency;
    task->end = done + task->latency;
    task->row = std::max(task->begin, task->end - pass);
  } else {
    task->begin = start + task->latency;
    task->end = std::max(start + work, arrived) + task->latency;
    // Rows come as they came.
    int64_t row = 0;
    for (const int operand : task->operands) {
      row = std::max(row, tasks_[operand].row);
    }
    task->row = std::max(row + task->latency, task->begin);
  }
  task->placed = true;
}

int64_t BlockSchedule::Finish() {
  AddSpills();
  SetHeights();
  int64_t cycles = 0;
  // Whoever can start first, does; of several the one that most depends on.
  for (size_t placed = 0; placed < tasks_.size(); ++placed) {
    Task* next = nullptr;
    int64_t best = 0;
    for (Task& task : tasks_) {
      if (!Ready(task)) continue;
      const int64_t start = EarliestStart(task);
      if (next == nullptr || start < best ||
          (start == best && task.height > next->height)) {
        next = &task;
        best = start;
      }
    }
    // A broken kernel's values may wait for each other.
    if (next == nullptr) break;
    Place(next);
    cycles = std::max(cycles, next->end);
  }
  tasks_.clear();
  makers_.clear();
  variations_.clear();
  spread_.clear();
  last_store_.clear();
  reads_.clear();
  reductions_.clear();
  free_.fill(0);
  return cycles;
}

}  // namespace ptxla::lowering
