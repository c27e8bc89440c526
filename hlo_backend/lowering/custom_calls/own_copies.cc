#include "hlo_backend/lowering/custom_calls/own_copies.h"

#include <algorithm>

namespace ptxla::lowering {

Picoseconds OwnCopies::Serve(Picoseconds busy, Picoseconds asked) {
  free_ = std::max(free_, asked) + busy;
  return free_ + hbm_.latency();
}

void OwnCopies::Start(const std::vector<Semaphore>& semaphores,
                      const OwnCopy& copy, int64_t now) {
  const Picoseconds asked = clock_.ToTime(Cycles(now));
  Picoseconds done = asked;
  if (copy.reads || copy.writes) {
    Picoseconds busy;
    for (const bool write : {false, true}) {
      if (!(write ? copy.writes : copy.reads)) continue;
      busy += hbm_.Busy({Bytes(copy.bytes), write, Bytes(copy.run), 0.0});
    }
    done = Serve(Picoseconds(busy.count() * sharers_), asked);
  }
  if (copy.link >= 0 && ici_.links > 0) {
    Picoseconds& link = link_free_[copy.link % ici_.links];
    link = std::max(link, asked) + Bytes(copy.bytes) / ici_.effective_link();
    done = std::max(done, link + ici_.hop);
  }
  for (const Semaphore& semaphore : semaphores) {
    running_[semaphore].push_back({copy.amount, done});
  }
}

int64_t OwnCopies::Wait(Semaphore semaphore, int64_t amount, int64_t now) {
  std::deque<Running>& running = running_[semaphore];
  int64_t end = now;
  while (amount > 0 && !running.empty()) {
    Running& oldest = running.front();
    end = std::max(end, clock_.CyclesCeil(oldest.done).count());
    const int64_t came = std::min(amount, oldest.amount);
    amount -= came;
    oldest.amount -= came;
    if (oldest.amount == 0) running.pop_front();
  }
  return end;
}

}  // namespace ptxla::lowering
