#include "isa/dma_state.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "isa/broken.h"
#include "isa/dma_copy.h"
#include "isa/peer_link.h"

namespace ptxla::isa {

DmaState::DmaState(const Kernel& kernel, absl::Span<const ArgMemory> args,
                   absl::Span<uint8_t> vmem, absl::Span<uint8_t> smem,
                   PeerPort* peer)
    : kernel_(kernel),
      args_(args),
      vmem_(vmem),
      smem_(smem),
      peer_(peer),
      windows_(kernel.windows.size()),
      semaphores_(kernel.num_semaphores, 0) {}

int64_t DmaState::SlotAddress(int window, int64_t number) const {
  const Window& w = kernel_.windows[window];
  return w.vmem_offset + number % w.slots * w.slot_bytes;
}

absl::Status DmaState::Start(int window, int64_t number, const Box& box) {
  windows_[window].push_back({number, box});
  return absl::OkStatus();
}

absl::Status DmaState::Complete(int window, int64_t number) {
  const Window& w = kernel_.windows[window];
  auto& queue = windows_[window];
  while (!queue.empty() && queue.front().number <= number) {
    const Transfer& t = queue.front();
    RETURN_IF_ERROR(CopyBox(w, t.box, w.direction == Direction::kIn,
                            BytesOf(w.arg), SlotAddress(window, t.number),
                            Local(w.space)))
        << "window w" << window;
    queue.pop_front();
  }
  return absl::OkStatus();
}

absl::Status DmaState::StartDescriptor(int descriptor, int64_t source,
                                       int64_t destination) {
  if (kernel_.descriptors[descriptor].to_peer) {
    RETURN_IF_ERROR(SendToPeer({descriptor, source, destination}))
        << "descriptor d" << descriptor;
    return absl::OkStatus();
  }
  explicit_.push_back({descriptor, source, destination});
  return absl::OkStatus();
}

absl::Status DmaState::WaitSemaphore(int semaphore, int64_t bytes) {
  while (semaphores_[semaphore] < bytes) {
    auto it = std::find_if(
        explicit_.begin(), explicit_.end(), [&](const Explicit& t) {
          return kernel_.descriptors[t.descriptor].semaphore == semaphore;
        });
    if (it == explicit_.end() && CountsPeer(kernel_, semaphore)) {
      RETURN_IF_ERROR(ReceiveFromPeer()) << "semaphore " << semaphore;
      continue;
    }
    if (it == explicit_.end()) {
      return absl::InternalError(
          absl::StrCat("deadlock: semaphore ", semaphore, " counts ",
                       semaphores_[semaphore], " and nothing will add to it"));
    }
    RETURN_IF_ERROR(CopyExplicit(*it)) << "descriptor d" << it->descriptor;
    explicit_.erase(it);
  }
  semaphores_[semaphore] -= bytes;
  return absl::OkStatus();
}

absl::Span<uint8_t> DmaState::BytesOf(int arg) const {
  const Space space = kernel_.args[arg].space;
  return space == Space::kVmem ? Local(space).subspan(args_[arg].address)
                               : args_[arg].bytes;
}

absl::Span<uint8_t> DmaState::Side(const DmaDescriptor& d, int arg,
                                   int64_t* address) const {
  if (arg < 0) return Local(d.local);
  const Space space = kernel_.args[arg].space;
  if (space == Space::kVmem || space == Space::kSmem) {
    *address += args_[arg].address;
    return Local(space);
  }
  return args_[arg].bytes;
}

absl::Status DmaState::CopyExplicit(const Explicit& transfer) {
  const DmaDescriptor& d = kernel_.descriptors[transfer.descriptor];
  int64_t from = transfer.source;
  int64_t to = transfer.destination;
  const absl::Span<uint8_t> source = Side(d, d.src_arg, &from);
  const absl::Span<uint8_t> destination = Side(d, d.dst_arg, &to);
  RETURN_IF_ERROR(CopyDescriptor(d, source, from, destination, to));
  semaphores_[d.semaphore] += d.Bytes();
  return absl::OkStatus();
}

absl::Status DmaState::SendToPeer(const Explicit& transfer) {
  if (peer_ == nullptr) return Broken("there is no other core to send to");
  const DmaDescriptor& d = kernel_.descriptors[transfer.descriptor];
  PeerPort::Message message;
  message.descriptor = transfer.descriptor;
  message.destination = transfer.destination;
  message.bytes.resize(d.Bytes());
  RETURN_IF_ERROR(CopyDescriptor(d, vmem_, transfer.source,
                                 absl::MakeSpan(message.bytes), 0));
  peer_->Send(std::move(message));
  semaphores_[d.semaphore] += d.Bytes();
  return absl::OkStatus();
}

absl::Status DmaState::ReceiveFromPeer() {
  if (peer_ == nullptr) return Broken("there is no other core to wait for");
  ASSIGN_OR_RETURN(PeerPort::Message message, peer_->Receive());
  const DmaDescriptor& d = kernel_.descriptors[message.descriptor];
  RETURN_IF_ERROR(CopyDescriptor(d, absl::MakeSpan(message.bytes), 0, vmem_,
                                 message.destination));
  semaphores_[d.semaphore] += d.Bytes();
  return absl::OkStatus();
}

absl::Status DmaState::CheckIdle() const {
  for (int w = 0; w < windows_.size(); ++w) {
    if (!windows_[w].empty()) {
      return absl::InternalError(absl::StrCat(
          "the kernel ended with ", windows_[w].size(),
          " transfers of window w", w, " that it did not wait for"));
    }
  }
  if (!explicit_.empty()) {
    return absl::InternalError(absl::StrCat(
        "the kernel ended with a transfer of descriptor d",
        explicit_.front().descriptor, " that it did not wait for"));
  }
  for (int s = 0; s < semaphores_.size(); ++s) {
    if (semaphores_[s] != 0) {
      return absl::InternalError(absl::StrCat(
          "the kernel ended with semaphore ", s, " at ", semaphores_[s]));
    }
  }
  return absl::OkStatus();
}

}  // namespace ptxla::isa
