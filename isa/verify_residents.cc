#include "isa/verify_residents.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace ptxla::isa {
namespace {

std::vector<const Schedule*> Inside(const Op& op) {
  std::vector<const Schedule*> inside;
  if (const auto* loop = std::get_if<While>(&op.action)) {
    inside = {&loop->condition, &loop->body};
  } else if (const auto* c = std::get_if<Conditional>(&op.action)) {
    for (const Schedule& branch : c->branches) inside.push_back(&branch);
  }
  return inside;
}

// Calls `f(buffer)` for each that the op itself names.
template <class F>
void ForEachBuffer(const Op& op, const F& f) {
  if (const auto* call = std::get_if<Call>(&op.action)) {
    for (const BufferSlice& s : call->args) f(s.buffer);
    for (const MovingArg& m : call->moving) f(m.index.buffer);
  } else if (const auto* copy = std::get_if<CopyStart>(&op.action)) {
    f(copy->from.buffer);
    f(copy->to.buffer);
  } else if (const auto* c = std::get_if<CollectiveStart>(&op.action)) {
    for (const BufferSlice& s : c->from) f(s.buffer);
    for (const BufferSlice& s : c->to) f(s.buffer);
  } else if (const auto* transfer = std::get_if<HostTransfer>(&op.action)) {
    f(transfer->buffer.buffer);
  } else if (const auto* loop = std::get_if<While>(&op.action)) {
    if (loop->predicate.buffer >= 0) f(loop->predicate.buffer);
  } else if (const auto* branch = std::get_if<Conditional>(&op.action)) {
    if (branch->selector.buffer >= 0) f(branch->selector.buffer);
  }
}

template <class F>
void ForEachBufferWithin(const Op& op, const F& f) {
  ForEachBuffer(op, f);
  for (const Schedule* schedule : Inside(op)) {
    for (const Op& inner : *schedule) ForEachBufferWithin(inner, f);
  }
}

struct Lives {
  explicit Lives(size_t buffers)
      : first(buffers, INT32_MAX), last(buffers, -1) {}
  void Add(int buffer, int position) {
    first[buffer] = std::min(first[buffer], position);
    last[buffer] = std::max(last[buffer], position);
  }
  std::vector<int> first, last;
};

class ResidentVerifier {
 public:
  explicit ResidentVerifier(const Program& program) : p_(program) {}

  // `always`: live all the time.
  absl::Status Check(const Schedule& schedule,
                     const std::vector<bool>& always) {
    const int count = static_cast<int>(schedule.size());
    Lives lives(p_.buffers.size());
    std::map<int, std::vector<int>> copies, collectives;  // open ones, by id
    for (int k = 0; k < count; ++k) {
      const Op& op = schedule[k];
      ForEachBufferWithin(op, [&](int b) { lives.Add(b, k); });
      const auto end = [&](std::map<int, std::vector<int>>* open, int id) {
        for (const int b : (*open)[id]) lives.Add(b, k);
        open->erase(id);
      };
      const auto begin = [&](std::vector<int>* buffers) {
        ForEachBuffer(op, [&](int b) { buffers->push_back(b); });
      };
      if (const auto* copy = std::get_if<CopyStart>(&op.action)) {
        begin(&copies[copy->id]);
      } else if (const auto* done = std::get_if<CopyDone>(&op.action)) {
        end(&copies, done->id);
      } else if (const auto* c = std::get_if<CollectiveStart>(&op.action)) {
        begin(&collectives[c->id]);
      } else if (const auto* ends = std::get_if<CollectiveDone>(&op.action)) {
        end(&collectives, ends->id);
      }
    }
    std::vector<std::vector<int>> inner(count);
    for (int b = 0; b < static_cast<int>(p_.buffers.size()); ++b) {
      if (!IsLow(b) || (lives.last[b] < 0 && !always[b])) continue;
      const int first = always[b] ? 0 : lives.first[b];
      const int last = always[b] ? count - 1 : lives.last[b];
      if (first == last && !always[b] && IsInside(schedule[first], b)) {
        inner[first].push_back(b);
        continue;
      }
      for (int k = first; k <= last; ++k) {
        RETURN_IF_ERROR(CheckWithin(schedule[k], b));
      }
    }
    for (int k = 0; k < count; ++k) {
      if (inner[k].empty()) continue;
      for (const Schedule* s : Inside(schedule[k])) {
        RETURN_IF_ERROR(Check(*s, std::vector<bool>(p_.buffers.size(), false)));
      }
    }
    return absl::OkStatus();
  }

  bool IsLow(int b) const {
    return p_.buffers[b].space == Space::kVmem &&
           p_.buffers[b].offset < p_.scoped_vmem_bytes;
  }

 private:
  // Named by what runs in the op alone.
  static bool IsInside(const Op& op, int buffer) {
    bool itself = false;
    ForEachBuffer(op, [&](int b) { itself |= b == buffer; });
    return !itself && !Inside(op).empty();
  }

  absl::Status CheckWithin(const Op& op, int b) const {
    if (const auto* call = std::get_if<Call>(&op.action)) {
      const Kernel& kernel = p_.kernels[call->kernel];
      if (kernel.vmem_bytes > p_.buffers[b].offset) {
        return absl::InternalError(absl::StrCat(
            "VMEM buffer ", b, " at ", p_.buffers[b].offset,
            " lives while kernel \"", kernel.name, "\" (op \"", op.info.name,
            "\") has ", kernel.vmem_bytes, " bytes of scoped VMEM"));
      }
    }
    for (const Schedule* s : Inside(op)) {
      for (const Op& inner : *s) RETURN_IF_ERROR(CheckWithin(inner, b));
    }
    return absl::OkStatus();
  }

  const Program& p_;
};

}  // namespace

absl::Status VerifyResidents(const Program& program) {
  ResidentVerifier verifier(program);
  std::vector<bool> always(program.buffers.size(), false);
  bool any = false;
  for (int b = 0; b < static_cast<int>(program.buffers.size()); ++b) {
    any |= verifier.IsLow(b);
  }
  if (!any) return absl::OkStatus();
  for (const auto* leaves : {&program.parameters, &program.outputs}) {
    for (const Leaf& leaf : *leaves) always[leaf.where.buffer] = true;
  }
  for (const Program::Constant& c : program.constants) {
    always[c.where.buffer] = true;
  }
  return verifier.Check(program.schedule, always);
}

}  // namespace ptxla::isa
