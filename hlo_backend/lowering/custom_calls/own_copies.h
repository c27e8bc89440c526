// The copies that a Mosaic kernel starts and waits for by itself. The memory
// serves them and the blocks of windows in order, beside what the kernel
// computes; a wait takes as long as the bytes that it asks for have not come.
// Those to another device pass a link of the interconnect: all devices run the
// same kernel, so what comes from another one comes when ours would arrive.
//
//   OwnCopies copies(hbm, chip.ici(), clock, /*sharers=*/1);
//   copies.Start({{sems, 0}}, copy, /*now=*/100);
//   copies.Wait({sems, 0}, 4096, /*now=*/200)      // 1,175: the cycle
//                                                  // when they have come
//
// A wait for what nobody is known to have started is over at once.
#ifndef PTXLA_HLO_BACKEND_LOWERING_CUSTOM_CALLS_OWN_COPIES_H_
#define PTXLA_HLO_BACKEND_LOWERING_CUSTOM_CALLS_OWN_COPIES_H_

#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "base/units.h"
#include "chips/chip_spec.h"
#include "memory_model/hbm.h"

namespace ptxla::lowering {

struct OwnCopy {
  int64_t amount = 0;                  // bytes that its semaphore counts
  int64_t bytes = 0;                   // in HBM, padding included
  int64_t run = 0;                     // of those in a row
  bool reads = false, writes = false;  // HBM
  int link = -1;  // a number for the other device, -1: there is none
};

class OwnCopies {
 public:
  // Array of semaphores, its value id, and which of them.
  using Semaphore = std::pair<int, int64_t>;

  // `sharers`: cores that use the memory at the same time.
  OwnCopies(const memory::HbmModel& hbm, const chips::IciSpec& ici,
            const Clock& clock, int sharers)
      : hbm_(hbm), ici_(ici), clock_(clock), sharers_(sharers) {}

  void Start(const std::vector<Semaphore>& semaphores, const OwnCopy& copy,
             int64_t now);
  // When a transfer of HBM comes that is not the kernel's own, such as a
  // window's block: the memory serves it in line with the others.
  Picoseconds Serve(Picoseconds busy, Picoseconds asked);
  // When so much of the oldest copies has come, `now` at least.
  int64_t Wait(Semaphore semaphore, int64_t amount, int64_t now);

 private:
  struct Running {
    int64_t amount = 0;
    Picoseconds done;
  };

  const memory::HbmModel& hbm_;
  const chips::IciSpec ici_;
  const Clock clock_;
  const int sharers_;
  Picoseconds free_;
  std::map<int, Picoseconds> link_free_;
  std::map<Semaphore, std::deque<Running>> running_;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_CUSTOM_CALLS_OWN_COPIES_H_
