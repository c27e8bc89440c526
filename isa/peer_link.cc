#include "isa/peer_link.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "base/check.h"
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
  void End(int core) {
    std::unique_lock<std::mutex> lock(mutex_);
    sides_[core].ended = true;
    PassTurn(core);
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

}  // namespace

bool SendsToPeer(const Kernel& kernel) {
  return std::any_of(kernel.descriptors.begin(), kernel.descriptors.end(),
                     [](const DmaDescriptor& d) { return d.to_peer; });
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
  CHECK_EQ(cores, kPair);
  Turns turns;
  std::array<absl::Status, kPair> done;
  const auto run_one = [&](int core) {
    TurnPort port(&turns, core);
    turns.Begin(core);
    done[core] = run(core, &port);
    turns.End(core);
  };
  std::thread second(run_one, 1);
  run_one(0);
  second.join();
  for (const absl::Status& status : done) RETURN_IF_ERROR(status);
  return absl::OkStatus();
}

}  // namespace ptxla::isa
