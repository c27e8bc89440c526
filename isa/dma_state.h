// The DMA engine of an interpreted kernel: which transfers are under way, and
// their data, which moves when a wait completes them.
#ifndef PTXLA_ISA_DMA_STATE_H_
#define PTXLA_ISA_DMA_STATE_H_

#include <cstdint>
#include <deque>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "isa/grid.h"
#include "isa/interpreter.h"
#include "isa/kernel.h"

namespace ptxla::isa {

class DmaState {
 public:
  // The memories may be reallocated between kernels, not during one. `peer` may
  // be null if the kernel sends nothing to another core.
  DmaState(const Kernel& kernel, absl::Span<const ArgMemory> args,
           absl::Span<uint8_t> vmem, absl::Span<uint8_t> smem, PeerPort* peer);

  // Transfer `number` of the window, of `box`, starts.
  absl::Status Start(int window, int64_t number, const Box& box);
  // Completes the window's transfers up to `number`.
  absl::Status Complete(int window, int64_t number);

  absl::Status StartDescriptor(int descriptor, int64_t source,
                               int64_t destination);
  // Completes descriptors of the semaphore until it counts `bytes`, and takes
  // them off. Internal if they never come: a deadlock.
  absl::Status WaitSemaphore(int semaphore, int64_t bytes);
  void Signal(int semaphore, int64_t bytes) { semaphores_[semaphore] += bytes; }

  // All started transfers are over and semaphores count zero.
  absl::Status CheckIdle() const;

  // Address of the slot that holds transfer `number` of the window.
  int64_t SlotAddress(int window, int64_t number) const;

 private:
  struct Transfer {
    int64_t number;
    Box box;
  };
  struct Explicit {
    int descriptor;
    int64_t source;
    int64_t destination;
  };
  absl::Status CopyExplicit(const Explicit& transfer);
  absl::Status SendToPeer(const Explicit& transfer);
  absl::Status ReceiveFromPeer();
  absl::Span<uint8_t> Local(Space space) const {
    return space == Space::kSmem ? smem_ : vmem_;
  }
  // Of an argument, from its address on where it is in VMEM.
  absl::Span<uint8_t> BytesOf(int arg) const;
  // Memory and start address of a side of a descriptor.
  absl::Span<uint8_t> Side(const DmaDescriptor& d, int arg,
                           int64_t* address) const;

  const Kernel& kernel_;
  absl::Span<const ArgMemory> args_;
  absl::Span<uint8_t> vmem_;
  absl::Span<uint8_t> smem_;
  PeerPort* peer_;
  std::vector<std::deque<Transfer>> windows_;
  std::deque<Explicit> explicit_;
  std::vector<int64_t> semaphores_;
};

}  // namespace ptxla::isa

#endif  // PTXLA_ISA_DMA_STATE_H_
