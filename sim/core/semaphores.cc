#include "sim/core/semaphores.h"

#include <algorithm>

namespace ptxla::sim {

bool Semaphores::Await(int semaphore, int64_t amount, int64_t at,
                       const DmaPort& port, int64_t* when, Wait* wait) {
  Semaphore& s = semaphores_[semaphore];
  // Landings in order of their end; those that are not known come last.
  for (Landing& l : s.landings) l.flight.Know(port);
  std::stable_sort(s.landings.begin(), s.landings.end(),
                   [](const Landing& a, const Landing& b) {
                     return static_cast<uint64_t>(a.flight.done) <
                            static_cast<uint64_t>(b.flight.done);
                   });
  int64_t value = s.value;
  size_t used = 0;
  *when = at;
  while (value < amount && used < s.landings.size()) {
    const Landing& l = s.landings[used];
    if (l.flight.done == kUnknownCycle) {
      *wait = {Wait::Kind::kTransfer, at, l.flight.id};
      return false;
    }
    value += l.amount;
    *when = std::max(*when, l.flight.done);
    ++used;
  }
  if (value < amount) {
    *wait = {Wait::Kind::kStuck, at, -1};
    return false;
  }
  s.value = value - amount;
  s.landings.erase(s.landings.begin(), s.landings.begin() + used);
  return true;
}

bool Semaphores::Idle() const {
  return std::all_of(
      semaphores_.begin(), semaphores_.end(),
      [](const Semaphore& s) { return s.value == 0 && s.landings.empty(); });
}

}  // namespace ptxla::sim
