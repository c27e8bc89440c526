#include "driver/explain/explain.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status.h"
#include "driver/explain/kernel_page.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/ir/printer.h"
#include "hlo_backend/passes/control_flow.h"

namespace ptxla::driver {
namespace {

// Reducers may have instructions of the same names.
const hlo::Instruction* FindInstruction(const hlo::Module& module,
                                        absl::string_view name) {
  for (const hlo::Computation* c : hlo::ControlComputations(module)) {
    for (const hlo::Instruction* i : c->instructions()) {
      if (i->name() == name) return i;
    }
  }
  return nullptr;
}

// The op of that name, in loops and branches too.
const isa::Op* OpOf(const isa::Schedule& schedule, absl::string_view name) {
  for (const isa::Op& op : schedule) {
    if (op.info.name == name) return &op;
    const isa::Op* found = nullptr;
    if (const auto* loop = std::get_if<isa::While>(&op.action)) {
      found = OpOf(loop->condition, name);
      if (found == nullptr) found = OpOf(loop->body, name);
    } else if (const auto* branch = std::get_if<isa::Conditional>(&op.action)) {
      for (const isa::Schedule& s : branch->branches) {
        if (found == nullptr) found = OpOf(s, name);
      }
    }
    if (found != nullptr) return found;
  }
  return nullptr;
}

int64_t CallsOf(const isa::Schedule& schedule, int kernel) {
  int64_t calls = 0;
  for (const isa::Op& op : schedule) {
    if (const auto* call = std::get_if<isa::Call>(&op.action)) {
      calls += call->kernel == kernel;
    } else if (const auto* loop = std::get_if<isa::While>(&op.action)) {
      calls += CallsOf(loop->condition, kernel) + CallsOf(loop->body, kernel);
    } else if (const auto* branch = std::get_if<isa::Conditional>(&op.action)) {
      for (const isa::Schedule& s : branch->branches) {
        calls += CallsOf(s, kernel);
      }
    }
  }
  return calls;
}

// The longest execution, and how many there are.
const record::OpTrace* Longest(const record::DeviceTrace& trace,
                               absl::string_view name, int64_t* executions,
                               int64_t* total_ps) {
  const record::OpTrace* longest = nullptr;
  for (const record::OpTrace& t : trace.op()) {
    if (t.name() != name) continue;
    const int64_t repeat = std::max<int64_t>(1, t.repeat());
    *executions += repeat;
    *total_ps += repeat * (t.end_ps() - t.start_ps());
    if (longest == nullptr || t.cycles() > longest->cycles()) longest = &t;
  }
  return longest;
}

// An op without bundles.
std::string Plainly(const isa::Op& op, const isa::Program& program,
                    const record::DeviceTrace& trace,
                    const chips::ChipSpec& chip) {
  const auto space = [&](const isa::BufferSlice& s) {
    return SpaceName(program.buffers[s.buffer].space, chip);
  };
  if (const auto* copy = std::get_if<isa::CopyStart>(&op.action)) {
    return absl::StrCat("starts an asynchronous copy of ", copy->bytes,
                        " bytes from ", space(copy->from), " to ",
                        space(copy->to), "; the wait for it is its copy-done");
  }
  if (std::holds_alternative<isa::CopyDone>(op.action)) {
    return "waits for the rest of an asynchronous copy that nothing hides";
  }
  if (std::holds_alternative<isa::CollectiveStart>(op.action) ||
      std::holds_alternative<isa::CollectiveDone>(op.action)) {
    std::string text = "a collective between chips, outside of the cores";
    for (const record::CollectiveTrace& c : trace.collective()) {
      if (c.name() != op.info.name) continue;
      absl::StrAppendFormat(
          &text,
          ": %s of %d bytes over groups of %d, %s, %d phases, %d bytes "
          "per link",
          c.kind(), c.bytes(), c.group_size(), c.algorithm(), c.phases(),
          c.bytes_per_link());
      break;
    }
    return text;
  }
  if (std::holds_alternative<isa::HostTransfer>(op.action)) {
    return "a transfer between the chip and its host";
  }
  return "control: what it runs has names of its own";
}

}  // namespace

absl::StatusOr<record::Explanation> ExplainOp(const ExplainInput& in,
                                              absl::string_view asked) {
  ASSIGN_OR_RETURN(const FoundOp found,
                   FindOp(in.module, in.origins, in.record, asked));
  record::Explanation e;
  e.set_asked(std::string(asked));
  e.set_op(found.name);
  e.set_found(found.how);
  e.set_program(in.program.name);
  e.set_slice(in.slice.topology.name());
  e.set_chip(in.slice.chip.name());
  e.set_clock_hz(in.slice.chip.core().clock.frequency().count());
  e.set_program_ps(in.trace.total_ps());

  int64_t executions = 0, total_ps = 0;
  const record::OpTrace* trace =
      Longest(in.trace, found.name, &executions, &total_ps);
  const isa::Op* op = OpOf(in.program.schedule, found.name);
  if (trace == nullptr || op == nullptr) {
    return absl::InternalError(
        absl::StrCat(found.name, " has a record and did not run"));
  }
  e.set_executions(executions);
  e.set_total_ps(total_ps);
  e.set_time_ps(trace->end_ps() - trace->start_ps());
  e.set_cycles(trace->cycles());
  e.set_opcode(trace->opcode());
  e.set_layer(trace->layer());
  e.set_source(trace->source());
  e.set_estimated(trace->estimated());
  for (const record::OpRecord& r : in.record.ops()) {
    if (r.name() == found.name) e.set_bound(r.bound());
  }
  const hlo::Instruction* instruction = FindInstruction(in.module, found.name);
  if (instruction != nullptr) {
    hlo::PrintOptions print;
    print.metadata = print.backend_config = print.frontend_attributes = false;
    e.set_hlo(hlo::Print(*instruction, print));
  }
  const auto* call = std::get_if<isa::Call>(&op->action);
  if (call == nullptr || instruction == nullptr) {
    e.set_plain(Plainly(*op, in.program, in.trace, in.slice.chip));
    return e;
  }
  if (in.trace.fidelity() == "roofline") {
    return absl::InvalidArgumentError(
        "--explain needs --fidelity kernel or tile: a roofline has no kernels");
  }
  e.set_calls_of_kernel(CallsOf(in.program.schedule, call->kernel));
  RETURN_IF_ERROR(ExplainKernel(*instruction, in.program, *call, in.slice, &e))
      << found.name;
  return e;
}

}  // namespace ptxla::driver
