// Counting semaphores of one kernel run: transfers add their bytes when they
// end, signals at once; a wait takes off what it waited for.
#ifndef PTXLA_SIM_CORE_SEMAPHORES_H_
#define PTXLA_SIM_CORE_SEMAPHORES_H_

#include <cstdint>
#include <vector>

#include "sim/core/core_process.h"
#include "sim/core/dma_engine.h"

namespace ptxla::sim {

// A transfer on its way; `done` is filled in when the port knows it.
struct Flight {
  int64_t id = -1;  // -1: none
  int64_t done = kUnknownCycle;

  void Know(const DmaPort& port) {
    if (id >= 0 && done == kUnknownCycle) done = port.DoneCycle(id);
  }
};

class Semaphores {
 public:
  explicit Semaphores(int count) : semaphores_(count) {}

  void Add(int semaphore, int64_t amount) {
    semaphores_[semaphore].value += amount;
  }
  void AddWhenDone(int semaphore, int64_t amount, int64_t transfer) {
    semaphores_[semaphore].landings.push_back(
        {{transfer, kUnknownCycle}, amount});
  }
  // Waits at cycle `at` for `amount`. True: *when is the end of the wait, and
  // the amount is taken off. False: *wait says what to wait for first.
  bool Await(int semaphore, int64_t amount, int64_t at, const DmaPort& port,
             int64_t* when, Wait* wait);

  // None holds anything, and nothing is on its way to one.
  bool Idle() const;
  int64_t value(int semaphore) const { return semaphores_[semaphore].value; }

 private:
  struct Landing {
    Flight flight;
    int64_t amount = 0;
  };
  struct Semaphore {
    int64_t value = 0;
    std::vector<Landing> landings;
  };
  std::vector<Semaphore> semaphores_;
};

}  // namespace ptxla::sim

#endif  // PTXLA_SIM_CORE_SEMAPHORES_H_
