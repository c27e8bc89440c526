#include "sim/validate.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace ptxla::sim {
namespace {

class Validator {
 public:
  Validator(const isa::Program& program, const chips::Slice& slice)
      : program_(program), slice_(slice) {}

  absl::Status Check() {
    if (program_.num_partitions > slice_.topology.num_devices()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the program is for ", program_.num_partitions, " devices; ",
          slice_.topology.name(), " has ", slice_.topology.num_devices()));
    }
    if (!program_.chip.empty() && program_.chip != slice_.chip.name()) {
      return absl::InvalidArgumentError(
          absl::StrCat("the program is compiled for ", program_.chip,
                       ", not for ", slice_.chip.name()));
    }
    RETURN_IF_ERROR(CheckSchedule(program_.schedule));
    if (!under_way_.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "operation ", *under_way_.begin(), " is started and never awaited"));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status CheckSchedule(const isa::Schedule& schedule) {
    for (const isa::Op& op : schedule) {
      RETURN_IF_ERROR(CheckOp(op)) << "\"" << op.info.name << "\"";
    }
    return absl::OkStatus();
  }

  absl::Status CheckSlice(const isa::BufferSlice& slice, int64_t bytes) {
    if (slice.buffer < 0 ||
        slice.buffer >= static_cast<int>(program_.buffers.size())) {
      return absl::InvalidArgumentError(
          absl::StrCat("there is no buffer ", slice.buffer));
    }
    const isa::Buffer& buffer = program_.buffers[slice.buffer];
    if (slice.offset < 0 || slice.offset + bytes > buffer.bytes) {
      return absl::InvalidArgumentError(absl::StrCat(
          "bytes ", slice.offset, " to ", slice.offset + bytes, " of buffer \"",
          buffer.name, "\", which has ", buffer.bytes));
    }
    return absl::OkStatus();
  }

  absl::Status Start(int id) {
    if (!under_way_.insert(id).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("operation ", id, " is started while it is under way"));
    }
    return absl::OkStatus();
  }
  absl::Status Done(int id) {
    if (under_way_.erase(id) == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("waits for operation ", id, ", which is not started"));
    }
    return absl::OkStatus();
  }

  absl::Status CheckCall(const isa::Call& call) {
    if (call.kernel < 0 ||
        call.kernel >= static_cast<int>(program_.kernels.size())) {
      return absl::InvalidArgumentError(
          absl::StrCat("there is no kernel ", call.kernel));
    }
    const isa::Kernel& kernel = program_.kernels[call.kernel];
    if (call.args.size() != kernel.args.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("kernel \"", kernel.name, "\" has ", kernel.args.size(),
                       " arguments, the call ", call.args.size()));
    }
    for (size_t i = 0; i < call.args.size(); ++i) {
      RETURN_IF_ERROR(CheckSlice(call.args[i], kernel.args[i].bytes))
          << "argument " << i;
      const isa::Space space = program_.buffers[call.args[i].buffer].space;
      if (space != kernel.args[i].space) {
        return absl::InvalidArgumentError(absl::StrCat(
            "argument ", i, " is in ", isa::Name(space).data(),
            ", the kernel expects ", isa::Name(kernel.args[i].space).data()));
      }
    }
    for (const isa::MovingArg& m : call.moving) {
      if (m.arg < 0 || m.arg >= static_cast<int>(call.args.size()) ||
          m.last < 0 || m.stride < 0) {
        return absl::InvalidArgumentError(
            absl::StrCat("argument ", m.arg, " moves to ", m.last, " times ",
                         m.stride, " bytes"));
      }
      RETURN_IF_ERROR(CheckSlice(m.index, 4)) << "index of argument " << m.arg;
      isa::BufferSlice end = call.args[m.arg];
      end.offset += m.last * m.stride;
      RETURN_IF_ERROR(CheckSlice(end, kernel.args[m.arg].bytes))
          << "argument " << m.arg << " at its last place";
    }
    if (call.cores < 1 || call.cores > slice_.topology.cores_per_device()) {
      return absl::InvalidArgumentError(
          absl::StrCat("runs on ", call.cores, " cores; a device has ",
                       slice_.topology.cores_per_device()));
    }
    return absl::OkStatus();
  }

  absl::Status CheckOp(const isa::Op& op) {
    if (const auto* call = std::get_if<isa::Call>(&op.action)) {
      return CheckCall(*call);
    }
    if (const auto* copy = std::get_if<isa::CopyStart>(&op.action)) {
      RETURN_IF_ERROR(CheckSlice(copy->from, copy->SourceBytes())) << "source";
      RETURN_IF_ERROR(CheckSlice(copy->to, copy->bytes)) << "target";
      return Start(copy->id);
    }
    if (const auto* done = std::get_if<isa::CopyDone>(&op.action)) {
      return Done(done->id);
    }
    if (const auto* start = std::get_if<isa::CollectiveStart>(&op.action)) {
      return Start(start->id);
    }
    if (const auto* done = std::get_if<isa::CollectiveDone>(&op.action)) {
      return Done(done->id);
    }
    if (const auto* loop = std::get_if<isa::While>(&op.action)) {
      if (loop->trips < 0) {
        return absl::InvalidArgumentError(
            absl::StrCat("a loop of ", loop->trips, " trips"));
      }
      const std::set<int> before = under_way_;
      RETURN_IF_ERROR(CheckSchedule(loop->condition));
      RETURN_IF_ERROR(CheckSchedule(loop->body));
      if (under_way_ != before) {
        return absl::InvalidArgumentError(
            "an iteration leaves an operation under way or ends one of "
            "another iteration");
      }
      return absl::OkStatus();
    }
    if (const auto* branch = std::get_if<isa::Conditional>(&op.action)) {
      if (branch->taken < 0 ||
          branch->taken >= static_cast<int>(branch->branches.size())) {
        return absl::InvalidArgumentError(
            absl::StrCat("there is no branch ", branch->taken));
      }
      return CheckSchedule(branch->branches[branch->taken]);
    }
    if (const auto* host = std::get_if<isa::HostTransfer>(&op.action)) {
      return CheckSlice(host->buffer, host->bytes);
    }
    return absl::OkStatus();
  }

  const isa::Program& program_;
  const chips::Slice& slice_;
  std::set<int> under_way_;
};

}  // namespace

absl::Status ValidateProgram(const isa::Program& program,
                             const chips::Slice& slice) {
  return Validator(program, slice).Check();
}

}  // namespace ptxla::sim
