// Two cores that share a kernel and send one another data (DmaDescriptor::
// to_peer), run on data: one at a time, each until it waits for what the other
// has not sent yet. So nothing depends on which thread is faster.
//
//   RETURN_IF_ERROR(RunCores(kernel, cores, [&](int c, PeerPort* peer) {
//     return core[c]->Run(kernel, args, c, cores, clock, peer).status();
//   }));
#ifndef PTXLA_ISA_PEER_LINK_H_
#define PTXLA_ISA_PEER_LINK_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "isa/kernel.h"

namespace ptxla::isa {

// One core's end of the link.
class PeerPort {
 public:
  struct Message {
    int descriptor = 0;
    int64_t destination = 0;  // address in the receiver's VMEM
    std::vector<uint8_t> bytes;
  };

  virtual ~PeerPort() = default;
  virtual void Send(Message message) = 0;
  // What the other core sent next. Internal: it never sends anything more.
  virtual absl::StatusOr<Message> Receive() = 0;
};

// True if its cores wait for one another.
bool SendsToPeer(const Kernel& kernel);
// True if what the other core sends adds to the semaphore.
bool CountsPeer(const Kernel& kernel, int semaphore);
// True if its code is that of one of two cores: they send one another data, or
// do something in the first (last) step of their own share.
bool MeetsPeer(const Kernel& kernel);

// Calls `run` for every core; `peer` is null if the kernel's cores do not wait
// for one another. Internal: such a kernel on another number of cores than two,
// or bytes that a core sent and the other did not wait for. Else the error of
// the core that failed first.
absl::Status RunCores(
    const Kernel& kernel, int cores,
    const std::function<absl::Status(int core, PeerPort* peer)>& run);

}  // namespace ptxla::isa

#endif  // PTXLA_ISA_PEER_LINK_H_
