// Instructions that are ready to issue, by the slots that they take, the most
// urgent first. An instruction that does not fit into the open bundle is passed
// over until the next bundle.
//
//   ReadyQueues queues(n);
//   queues.Insert(rank, slots);              // rank: 0 is the most urgent
//   queues.StartBundle();
//   int rank = queues.Front(q);              // -1: nothing left in queue q
//   queues.Take(q, rank); or queues.PassOver(q, rank);
//
// A queue is a bit set over ranks: inserting and passing over cost nothing to
// speak of, and finding the next looks at 64 at once.
#ifndef PTXLA_HLO_BACKEND_LOWERING_CODEGEN_READY_QUEUES_H_
#define PTXLA_HLO_BACKEND_LOWERING_CODEGEN_READY_QUEUES_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "isa/keys.h"

namespace ptxla::codegen {

class ReadyQueues {
 public:
  explicit ReadyQueues(int ranks) : words_((ranks + 63) / 64) {}

  int count() const { return static_cast<int>(queues_.size()); }
  isa::SlotMask slots(int q) const { return queues_[q].slots; }

  void Insert(int rank, isa::SlotMask slots) {
    Queue* queue = nullptr;
    for (Queue& q : queues_) {
      if (q.slots == slots) queue = &q;
    }
    if (queue == nullptr) {
      queue = &queues_.emplace_back();
      queue->slots = slots;
      queue->ready.assign(words_, 0);
      queue->passed.assign(words_, 0);
      queue->word = words_;
      queue->first_passed = words_;
    }
    const int word = rank / 64;
    queue->ready[word] |= uint64_t{1} << rank % 64;
    queue->word = std::min(queue->word, word);
  }

  void StartBundle() {
    for (Queue& q : queues_) {
      q.closed = false;
      if (q.num_passed == 0) continue;
      std::fill(q.passed.begin() + q.first_passed,
                q.passed.begin() + q.last_passed + 1, 0);
      q.word = std::min(q.word, q.first_passed);
      q.num_passed = 0;
      q.first_passed = words_;
      q.last_passed = 0;
    }
  }

  // Nothing more of this queue goes into the open bundle.
  void Close(int q) { queues_[q].closed = true; }

  int Front(int q) {
    Queue& queue = queues_[q];
    if (queue.closed) return -1;
    for (; queue.word < words_; ++queue.word) {
      const uint64_t bits = queue.ready[queue.word] & ~queue.passed[queue.word];
      if (bits != 0) return queue.word * 64 + __builtin_ctzll(bits);
    }
    return -1;
  }

  void Take(int q, int rank) {
    queues_[q].ready[rank / 64] &= ~(uint64_t{1} << rank % 64);
  }

  void PassOver(int q, int rank) {
    Queue& queue = queues_[q];
    const int word = rank / 64;
    queue.passed[word] |= uint64_t{1} << rank % 64;
    queue.first_passed = std::min(queue.first_passed, word);
    queue.last_passed = std::max(queue.last_passed, word);
    // Looking at all of a long queue in every cycle would be quadratic.
    if (++queue.num_passed >= kLookahead) queue.closed = true;
  }

 private:
  static constexpr int kLookahead = 36;

  struct Queue {
    isa::SlotMask slots = 0;
    bool closed = false;
    std::vector<uint64_t> ready, passed;
    int word = 0;  // nothing is left in the words before this one
    int num_passed = 0, first_passed = 0, last_passed = 0;
  };

  int words_;
  std::vector<Queue> queues_;
};

}  // namespace ptxla::codegen

#endif  // PTXLA_HLO_BACKEND_LOWERING_CODEGEN_READY_QUEUES_H_
