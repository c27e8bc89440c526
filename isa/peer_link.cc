#include "isa/peer_link.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "base/status.h"
#include "isa/broken.h"

namespace ptxla::isa {
namespace {

constexpr int kPair = 2;

// Whose turn it is. All members belong to the core that has it.
class Turns {
 public:
  void Begin(int core) {
    std::unique_lock<std::mutex> lock(mutex_);
    AwaitTurn(core, &lock);
  }
  void End(int core, absl::Status status) {
    const std::unique_lock<std::mutex> lock(mutex_);
    sides_[core].ended = true;
    if (status_.ok()) status_ = std::move(status);
    PassTurn(core);
  }
  // When both have ended.
  absl::Status Result() const {
    RETURN_IF_ERROR(status_);
    for (const Side& side : sides_) {
      if (side.inbox.empty()) continue;
      return Broken("core ", &side - sides_.data(), " did not wait for ",
                    side.inbox.front().bytes.size(),
                    " bytes that the other core sent");
    }
    return absl::OkStatus();
  }
  void Send(int core, PeerPort::Message message) {
    const std::unique_lock<std::mutex> lock(mutex_);
    sides_[1 - core].inbox.push_back(std::move(message));
  }
  absl::StatusOr<PeerPort::Message> Receive(int core) {
    std::unique_lock<std::mutex> lock(mutex_);
    Side& own = sides_[core];
    const Side& other = sides_[1 - core];
    own.waits = true;
    while (own.inbox.empty()) {
      if (other.ended || (other.waits && other.inbox.empty())) {
        return Broken("deadlock: core ", core,
                      " waits for the other core, which sends nothing more");
      }
      PassTurn(core);
      AwaitTurn(core, &lock);
    }
    own.waits = false;
    PeerPort::Message message = std::move(own.inbox.front());
    own.inbox.pop_front();
    return message;
  }

 private:
  struct Side {
    std::deque<PeerPort::Message> inbox;
    bool waits = false, ended = false;
  };

  void PassTurn(int core) {
    if (sides_[1 - core].ended) return;
    turn_ = 1 - core;
    changed_.notify_all();
  }
  void AwaitTurn(int core, std::unique_lock<std::mutex>* lock) {
    changed_.wait(*lock, [&] { return turn_ == core; });
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  int turn_ = 0;
  std::array<Side, kPair> sides_;
  absl::Status status_;  // of the core that failed first
};

class TurnPort : public PeerPort {
 public:
  TurnPort(Turns* turns, int core) : turns_(*turns), core_(core) {}
  void Send(Message message) override {
    turns_.Send(core_, std::move(message));
  }
  absl::StatusOr<Message> Receive() override { return turns_.Receive(core_); }

 private:
  Turns& turns_;
  const int core_;
};

bool NamesShare(const Code& code) {
  return std::any_of(code.begin(), code.end(), [](const Node& node) {
    if (const Loop* loop = node.loop()) return NamesShare(loop->body);
    const When* when = node.when();
    return when != nullptr &&
           (when->dim == kCoreShare || NamesShare(when->body));
  });
}

}  // namespace

bool SendsToPeer(const Kernel& kernel) {
  return std::any_of(kernel.descriptors.begin(), kernel.descriptors.end(),
                     [](const DmaDescriptor& d) { return d.to_peer; });
}

bool CountsPeer(const Kernel& kernel, int semaphore) {
  return std::any_of(kernel.descriptors.begin(), kernel.descriptors.end(),
                     [&](const DmaDescriptor& d) {
                       return d.to_peer && d.semaphore == semaphore;
                     });
}

bool MeetsPeer(const Kernel& kernel) {
  return SendsToPeer(kernel) || NamesShare(kernel.step);
}

absl::Status RunCores(
    const Kernel& kernel, int cores,
    const std::function<absl::Status(int core, PeerPort* peer)>& run) {
  if (!SendsToPeer(kernel)) {
    for (int core = 0; core < cores; ++core) {
      RETURN_IF_ERROR(run(core, nullptr));
    }
    return absl::OkStatus();
  }
  if (cores != kPair) {
    return Broken("kernel \"", kernel.name, "\" is of two cores, and runs on ",
                  cores);
  }
  Turns turns;
  const auto run_one = [&](int core) {
    TurnPort port(&turns, core);
    turns.Begin(core);
    turns.End(core, run(core, &port));
  };
  std::thread second(run_one, 1);
  run_one(0);
  second.join();
  return turns.Result();
}

}  // namespace ptxla::isa
