#include "sim/core/sequencer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "sim/core/counter_range.h"

namespace ptxla::sim {

Sequencer::Sequencer(const isa::Program& program, const DeviceModel& device,
                     KernelDetail detail, bool fold_loops, DmaEngine* dma,
                     KernelCache* cache, Recorder* recorder, ProgramData* data)
    : program_(program),
      device_(device),
      detail_(detail),
      fold_loops_(fold_loops && data == nullptr),
      dma_(dma),
      port_(dma),
      data_(data),
      cache_(cache),
      recorder_(recorder),
      activity_(absl::StrCat("simulating ", program.name)) {
  Frame frame;
  frame.schedule = &program.schedule;
  frames_.push_back(frame);
  until_ = device.slice->chip.core().program_prologue.count();
  recorder->prologue = until_;
}

absl::StatusOr<Action> Sequencer::Next(int64_t now) {
  while (true) {
    if (run_kernel_) {
      run_kernel_ = false;
      return run_;
    }
    if (pending_ != Pending::kNone) {
      ASSIGN_OR_RETURN(Action action, Finish(now));
      if (action.kind != Action::Kind::kDone) return action;
    }
    int64_t at = now;
    ASSIGN_OR_RETURN(const isa::Op* op, NextOp(&at));
    if (op == nullptr && at > now) return Action{Action::Kind::kUntil, at};
    if (op == nullptr) {
      if (!CountsFit(program_, *recorder_)) {
        return absl::OutOfRangeError(
            "the operations or bytes of all iterations of its loops do not fit "
            "into 64 bits");
      }
      recorder_->end = now;
      return Action{Action::Kind::kDone, now};
    }
    RETURN_IF_ERROR(Begin(*op, now)) << op->info.name;
  }
}

// kDone: nothing is pending any more.
absl::StatusOr<Action> Sequencer::Finish(int64_t now) {
  if (pending_ == Pending::kFluidKernel) {
    ASSIGN_OR_RETURN(const bool ended, FluidEnded(now));
    if (!ended) return Action{Action::Kind::kUntil, *dma_->NextEvent()};
  }
  if (pending_ == Pending::kCopy && awaited_transfer_ >= 0) {
    const int64_t done = port_->DoneCycle(awaited_transfer_);
    if (done == kUnknownCycle) {
      return Action{Action::Kind::kTransfer, 0, awaited_transfer_};
    }
    until_ = std::max(current_.start, done);
    AsyncEvent& event = recorder_->transfers[awaited_];
    event.end = done;
    event.exposed = until_ - current_.start;
    current_
        .bounds[event.memory == Memory::kHost ? Bound::kHost : Bound::kHbm] =
        event.exposed;
  }
  if (now < until_) {
    Action action{Action::Kind::kUntil, until_};
    action.collective = pending_ == Pending::kCollective;
    return action;
  }
  if (pending_ == Pending::kFluidKernel) {
    // What sharing cost beyond the kernel alone is a wait for memory.
    current_.bounds[Bound::kHbm] +=
        until_ - current_.start - current_.bounds.total();
  }
  if (pending_ != Pending::kPrologue) Record(until_);
  pending_ = Pending::kNone;
  return Action{};
}

void Sequencer::Record(int64_t end) {
  current_.end = end;
  recorder_->ops.push_back(current_);
}

absl::Status Sequencer::Begin(const isa::Op& op, int64_t now) {
  if (frames_.size() == 1) {
    activity_.OneMore(static_cast<int64_t>(program_.schedule.size()),
                      op.info.name);
  }
  current_ = OpEvent();
  current_.op = &op;
  current_.start = now;
  until_ = now;
  if (const auto* call = std::get_if<isa::Call>(&op.action)) {
    return BeginCall(*call, now);
  }
  if (const auto* copy = std::get_if<isa::CopyStart>(&op.action)) {
    BeginCopy(op, *copy, now);
  } else if (const auto* done = std::get_if<isa::CopyDone>(&op.action)) {
    const Outstanding o = outstanding_.at(done->id);
    outstanding_.erase(done->id);
    awaited_ = o.event;
    awaited_transfer_ = o.transfer;
    if (data_ != nullptr) {
      data_->Copy(
          std::get<isa::CopyStart>(recorder_->transfers[o.event].op->action));
    }
    pending_ = Pending::kCopy;
  } else if (const auto* start =
                 std::get_if<isa::CollectiveStart>(&op.action)) {
    return BeginCollective(op, *start, now);
  } else if (const auto* done = std::get_if<isa::CollectiveDone>(&op.action)) {
    const Outstanding o = outstanding_.at(done->id);
    outstanding_.erase(done->id);
    AsyncEvent& event = recorder_->transfers[o.event];
    if (data_ != nullptr) {
      data_->Collect(std::get<isa::CollectiveStart>(event.op->action));
    }
    until_ = std::max(now, event.end);
    event.exposed = until_ - now;
    // The exposed part is split as the whole is.
    const int64_t dcn =
        event.cost.time.count() == 0
            ? 0
            : static_cast<int64_t>(static_cast<double>(event.exposed) *
                                   event.cost.dcn_time.count() /
                                   event.cost.time.count());
    current_.bounds[Bound::kDcn] = dcn;
    current_.bounds[Bound::kIci] = event.exposed - dcn;
    pending_ = Pending::kCollective;
  } else if (const auto* host = std::get_if<isa::HostTransfer>(&op.action)) {
    const int64_t work =
        device_.Work(Memory::kHost, memory::Transfer{Bytes(host->bytes)});
    until_ = now +
             CycleAtOrAfter(
                 work + device_.latency_ticks[static_cast<int>(Memory::kHost)]);
    current_.bounds[Bound::kHost] = until_ - now;
    pending_ = Pending::kHost;
  } else if (const auto* loop = std::get_if<isa::While>(&op.action)) {
    Frame frame;
    frame.op = &op;
    frame.loop = loop;
    frame.schedule = &loop->condition;
    BeginIteration(&frame, now);
    frames_.push_back(frame);
  } else if (const auto* branch = std::get_if<isa::Conditional>(&op.action)) {
    int taken = branch->taken;
    if (data_ != nullptr && branch->selector.buffer >= 0) {
      ASSIGN_OR_RETURN(taken, data_->Select(*branch));
    }
    Frame frame;
    frame.schedule = &branch->branches[taken];
    frames_.push_back(frame);
  }
  return absl::OkStatus();
}

bool Sequencer::NothingUnderWay(int64_t now) const {
  return outstanding_.empty() && links_free_ <= now && dma_->AllIdle();
}

void Sequencer::BeginIteration(Frame* frame, int64_t now) {
  frame->idle = NothingUnderWay(now);
  frame->start = now;
  frame->first_op = recorder_->ops.size();
  frame->first_transfer = recorder_->transfers.size();
}

// After a condition. On data the predicate decides, else the trip count.
bool Sequencer::GoesOn(const Frame& frame) const {
  if (data_ != nullptr && frame.loop->predicate.buffer >= 0) {
    return data_->At(frame.loop->predicate, 1)[0] != 0;
  }
  return frame.iteration < frame.loop->trips;
}

absl::Status Sequencer::FoldRest(Frame* frame, int64_t* now) {
  const int64_t left = frame->loop->trips - frame->iteration;
  int64_t rest = *now - frame->start;
  const bool fits =
      Multiply(left, &rest) && rest <= kLastCycle - *now &&
      Repeat(1 + left, frame->first_op, frame->first_transfer, recorder_);
  if (!fits) {
    return absl::OutOfRangeError(
        absl::StrCat(frame->op->info.name, ": ", frame->loop->trips,
                     " iterations take longer than a clock of 64 bits counts"));
  }
  *now += rest;
  frame->iteration = frame->loop->trips;
  return absl::OkStatus();
}

absl::Status Sequencer::EndOfSchedule(int64_t* now) {
  Frame& frame = frames_.back();
  const isa::While* loop = frame.loop;
  frame.next = 0;
  if (loop == nullptr) {
    frames_.pop_back();
  } else if (!frame.in_body) {
    if (!GoesOn(frame)) {
      frames_.pop_back();
    } else {
      frame.in_body = true;
      frame.schedule = &loop->body;
    }
  } else {
    ++frame.iteration;
    const bool goes_on = frame.iteration < loop->trips;
    if (fold_loops_ && frame.idle && goes_on && NothingUnderWay(*now)) {
      RETURN_IF_ERROR(FoldRest(&frame, now));
    }
    frame.in_body = false;
    frame.schedule = &loop->condition;
    BeginIteration(&frame, *now);
  }
  return absl::OkStatus();
}

absl::StatusOr<const isa::Op*> Sequencer::NextOp(int64_t* now) {
  const int64_t was = *now;
  while (!frames_.empty() && *now == was) {
    Frame& frame = frames_.back();
    if (frame.next < frame.schedule->size()) {
      return &(*frame.schedule)[frame.next++];
    }
    RETURN_IF_ERROR(EndOfSchedule(now));
  }
  return nullptr;
}

std::string Sequencer::WhatItWaitsFor() const {
  const std::string op = current_.op == nullptr
                             ? std::string("the program")
                             : absl::StrCat("\"", current_.op->info.name, "\"");
  switch (pending_) {
    case Pending::kCopy:
      return absl::StrCat(op, " waits for its copy");
    case Pending::kCollective:
      return absl::StrCat(op, " waits for its collective");
    case Pending::kFluidKernel:
      return absl::StrCat(op, " waits for its memory traffic");
    default:
      return absl::StrCat(op, " waits for time to pass");
  }
}

}  // namespace ptxla::sim
