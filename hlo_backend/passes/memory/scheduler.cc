#include "hlo_backend/passes/memory/scheduler.h"

#include <queue>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "chips/compiler_policy.h"
#include "hlo_backend/analysis/liveness.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/memory/async_spreader.h"

namespace ptxla::hlo {
namespace {

// get-tuple-element, tuple and bitcast only name memory.
bool OnlyNames(const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::kTuple:
    case Opcode::kGetTupleElement:
    case Opcode::kBitcast:
    case Opcode::kParameter:
    case Opcode::kConstant:
      return true;
    default:
      return false;
  }
}

// Padded bytes of every instruction of a computation, worked out once.
class Sizes {
 public:
  explicit Sizes(const Computation& c) {
    for (const Instruction* i : c.instructions()) {
      if (i->id() >= static_cast<int>(bytes_.size())) {
        bytes_.resize(i->id() + 1, 0);
      }
      if (!OnlyNames(*i)) bytes_[i->id()] = PaddedBytes(i->shape());
    }
  }
  int64_t Of(const Instruction& i) const { return bytes_[i.id()]; }

 private:
  std::vector<int64_t> bytes_;  // by instruction id
};

class ListScheduler {
 public:
  ListScheduler(const Computation& c, const Sizes& sizes)
      : order_(c.PostOrder()) {
    const int n = static_cast<int>(order_.size());
    nodes_.resize(n);
    for (int k = 0; k < n; ++k) number_[order_[k]] = k;
    for (int k = 0; k < n; ++k) {
      Instruction* i = order_[k];
      Node& node = nodes_[k];
      node.waits = i->operand_count() +
                   static_cast<int>(i->control_predecessors().size());
      node.bytes = sizes.Of(*i);
      node.readers = i->user_count();
    }
  }

  std::vector<Instruction*> Run() {
    for (int k = 0; k < static_cast<int>(order_.size()); ++k) {
      if (nodes_[k].waits == 0) Push(k);
    }
    std::vector<Instruction*> result;
    result.reserve(order_.size());
    while (!ready_.empty()) {
      const Entry e = ready_.top();
      ready_.pop();
      Node& node = nodes_[e.number];
      if (node.done || e.gain != node.gain) continue;  // an older entry
      node.done = true;
      result.push_back(order_[e.number]);
      Finish(order_[e.number]);
    }
    return result;
  }

 private:
  struct Node {
    int64_t bytes = 0;
    int64_t gain = 0;  // as last pushed
    int waits = 0, readers = 0;
    bool done = false;
  };
  struct Entry {
    int urgency;
    int64_t gain;
    int number;
    bool operator<(const Entry& o) const {
      if (urgency != o.urgency) return urgency < o.urgency;
      if (gain != o.gain) return gain < o.gain;
      return number > o.number;
    }
  };

  // Memory freed less memory taken, if it ran next.
  int64_t Gain(const Instruction& i) const {
    int64_t gain = -nodes_[number_.at(&i)].bytes;
    for (int k = 0; k < i.operand_count(); ++k) {
      const Instruction* o = i.operand(k);
      if (i.OperandIndex(o) != k) continue;
      const Node& node = nodes_[number_.at(o)];
      if (node.readers == 1) gain += node.bytes;
    }
    return gain;
  }

  int Urgency(const Instruction& i) const {
    if (OnlyNames(i)) return 3;
    if (IsAsyncStart(i.opcode())) return 2;
    if (IsAsyncDone(i.opcode())) return 0;
    return 1;
  }

  void Push(int k) {
    Node& node = nodes_[k];
    node.gain = Gain(*order_[k]);
    ready_.push({Urgency(*order_[k]), node.gain, k});
  }

  void Finish(Instruction* i) {
    for (Instruction* user : i->users()) {
      Wake(user, user->OperandUses(i));
    }
    for (Instruction* next : i->control_successors()) Wake(next, 1);
    // A value with one reader left is worth more to that reader.
    for (int k = 0; k < i->operand_count(); ++k) {
      Instruction* o = i->operand(k);
      if (i->OperandIndex(o) != k) continue;
      if (--nodes_[number_.at(o)].readers != 1) continue;
      for (Instruction* user : o->users()) {
        const int u = number_.at(user);
        if (nodes_[u].waits == 0 && !nodes_[u].done) Push(u);
      }
    }
  }

  void Wake(Instruction* i, int times) {
    const int k = number_.at(i);
    nodes_[k].waits -= times;
    if (nodes_[k].waits == 0) Push(k);
  }

  std::vector<Instruction*> order_;
  std::vector<Node> nodes_;
  absl::flat_hash_map<const Instruction*, int> number_;
  std::priority_queue<Entry> ready_;
};

// Moves what takes more memory than it can free, and what only names memory,
// to right before its first user.
class Delayer {
 public:
  Delayer(const std::vector<Instruction*>& order, const Sizes& sizes)
      : order_(order), sizes_(sizes) {}

  std::vector<Instruction*> Run() {
    result_.reserve(order_.size());
    for (Instruction* i : order_) {
      if (i->opcode() == Opcode::kParameter) Emit(i);
    }
    for (Instruction* i : order_) {
      if (!MayWait(*i)) Emit(i);
    }
    for (Instruction* i : order_) Emit(i);  // what nobody uses
    return std::move(result_);
  }

 private:
  bool MayWait(const Instruction& i) const {
    if (i.IsRoot() || i.HasSideEffect() || IsAsyncStart(i.opcode()) ||
        IsAsyncDone(i.opcode()) || !i.control_predecessors().empty() ||
        !i.control_successors().empty()) {
      return false;
    }
    if (OnlyNames(i)) return true;
    int64_t freed = 0;
    for (const Instruction* o : i.operands()) {
      while (o->opcode() == Opcode::kGetTupleElement ||
             o->opcode() == Opcode::kBitcast) {
        o = o->operand(0);
      }
      if (o->opcode() != Opcode::kParameter && !o->IsConstant()) {
        freed += sizes_.Of(*o);
      }
    }
    return freed < sizes_.Of(i);
  }

  void Emit(Instruction* first) {
    std::vector<Instruction*> stack = {first};
    while (!stack.empty()) {
      Instruction* i = stack.back();
      if (done_.contains(i)) {
        stack.pop_back();
        continue;
      }
      const size_t depth = stack.size();
      // Pushed last to first, so that they run in the order of the operands.
      for (int k = i->operand_count(); k-- > 0;) {
        if (!done_.contains(i->operand(k))) stack.push_back(i->operand(k));
      }
      for (Instruction* p : i->control_predecessors()) {
        if (!done_.contains(p)) stack.push_back(p);
      }
      if (stack.size() > depth) continue;
      stack.pop_back();
      done_.insert(i);
      result_.push_back(i);
    }
  }

  const std::vector<Instruction*>& order_;
  const Sizes& sizes_;
  absl::flat_hash_set<const Instruction*> done_;
  std::vector<Instruction*> result_;
};

bool IsInOrder(const Computation& c) {
  absl::flat_hash_set<const Instruction*> before;
  for (const Instruction* i : c.instructions()) {
    for (const Instruction* operand : i->operands()) {
      if (!before.contains(operand)) return false;
    }
    before.insert(i);
  }
  return true;
}

}  // namespace

std::vector<Instruction*> ListSchedule(const Computation& computation) {
  const Sizes sizes(computation);
  return Delayer(ListScheduler(computation, sizes).Run(), sizes).Run();
}

absl::StatusOr<bool> SchedulerPass::Run(Module* module, const PassContext&) {
  if (module->config().is_scheduled) return false;
  SeparateBodies(module);
  for (Computation* c : ControlComputations(*module)) {
    const Sizes sizes(*c);
    const std::vector<Instruction*> plain =
        Delayer(c->PostOrder(), sizes).Run();
    const std::vector<Instruction*> list = ListSchedule(*c);
    const int64_t plain_peak = Liveness(*c, plain).PeakBytes();
    const int64_t list_peak = Liveness(*c, list).PeakBytes();
    const std::vector<Instruction*>& best =
        list_peak < plain_peak ? list : plain;
    if (HasStarts(*c)) {
      const std::vector<Instruction*> spread = Spreader(best).Run();
      const auto most = static_cast<int64_t>(
          chips::CompilerPolicy("spread_peak") *
          static_cast<double>(std::min(plain_peak, list_peak)));
      if (Liveness(*c, spread).PeakBytes() <= most) {
        c->Reorder(spread);
        continue;
      }
    }
    c->Reorder(best);
  }
  // Comparators and reducers, to which rewriting has added at the end.
  for (Computation* c : module->computations()) {
    if (!IsControlComputation(*c) && !IsInOrder(*c)) c->Reorder(c->PostOrder());
  }
  module->mutable_config()->is_scheduled = true;
  return true;
}

}  // namespace ptxla::hlo
