#include "isa/verifier.h"

#include <set>
#include <vector>

#include "base/status.h"
#include "isa/broken.h"
#include "isa/peer_link.h"
#include "isa/timing.h"
#include "isa/verify_code.h"
#include "isa/verify_residents.h"
#include "isa/verify_structure.h"

namespace ptxla::isa {
namespace {

class ProgramVerifier {
 public:
  ProgramVerifier(const Program& program, const MachineModel& machine)
      : p_(program), machine_(machine) {}

  absl::Status Buffers() const {
    for (int i = 0; i < p_.buffers.size(); ++i) {
      const Buffer& b = p_.buffers[i];
      if (b.id != i) return Broken("buffer ", i, " has id ", b.id);
      if (b.bytes < 0 || b.offset < 0)
        return Broken("buffer ", i, " is negative");
      if (b.alias >= static_cast<int>(p_.buffers.size())) {
        return Broken("buffer ", i, " is an alias of no buffer");
      }
      if (b.space == Space::kVmem && b.offset + b.bytes > machine_.vmem_bytes) {
        return Broken("VMEM buffer ", i, " at ", b.offset, " of ", b.bytes,
                      " bytes ends beyond ", machine_.vmem_bytes);
      }
    }
    for (const Kernel& k : p_.kernels) {
      if (k.vmem_bytes > p_.scoped_vmem_bytes) {
        return Broken("kernel \"", k.name, "\" needs ", k.vmem_bytes,
                      " bytes of scoped VMEM; the program keeps ",
                      p_.scoped_vmem_bytes);
      }
    }
    for (const auto* leaves : {&p_.parameters, &p_.outputs}) {
      for (const Leaf& leaf : *leaves) {
        RETURN_IF_ERROR(Slice(leaf.where, leaf.layout.ByteSize())) << leaf.name;
      }
    }
    for (const Program::Constant& constant : p_.constants) {
      RETURN_IF_ERROR(Slice(constant.where, constant.bytes.size()))
          << "constant";
    }
    return absl::OkStatus();
  }

  absl::Status Ops(const Schedule& schedule) {
    for (const Op& op : schedule) {
      RETURN_IF_ERROR(
          std::visit([&](const auto& x) { return Check(x); }, op.action))
          << "op \"" << op.info.name << "\"";
    }
    return absl::OkStatus();
  }

  absl::Status Finish() const {
    if (!copies_.empty())
      return Broken("copy ", *copies_.begin(), " never ends");
    if (!collectives_.empty()) {
      return Broken("collective ", *collectives_.begin(), " never ends");
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Slice(const BufferSlice& s, int64_t bytes) const {
    if (s.buffer < 0 || s.buffer >= p_.buffers.size()) {
      return Broken("no buffer ", s.buffer);
    }
    const int64_t size = p_.buffers[s.buffer].bytes;
    if (s.offset < 0 || s.offset + bytes > size) {
      return Broken(bytes, " bytes at ", s.offset, " of buffer ", s.buffer,
                    ", which has ", size);
    }
    return absl::OkStatus();
  }

  absl::Status Check(const Call& call) {
    if (call.kernel < 0 || call.kernel >= p_.kernels.size()) {
      return Broken("no kernel ", call.kernel);
    }
    const Kernel& k = p_.kernels[call.kernel];
    if (call.args.size() != k.args.size()) {
      return Broken("kernel \"", k.name, "\" takes ", k.args.size(),
                    " arguments, not ", call.args.size());
    }
    for (int a = 0; a < k.args.size(); ++a) {
      RETURN_IF_ERROR(Slice(call.args[a], k.args[a].bytes)) << "arg" << a;
      const Space space = p_.buffers[call.args[a].buffer].space;
      if (space != k.args[a].space) {
        return Broken("arg", a, " is in ", Name(space), ", not in ",
                      Name(k.args[a].space));
      }
      const int64_t at =
          p_.buffers[call.args[a].buffer].offset + call.args[a].offset;
      if (space == Space::kVmem && at % kVmemAlignment != 0) {
        return Broken("arg", a, " is at VMEM byte ", at, ", not a multiple of ",
                      kVmemAlignment);
      }
    }
    RETURN_IF_ERROR(CheckMoving(call, k));
    if (call.cores < 1 || call.cores > machine_.cores ||
        (call.cores > 1 && k.megacore_dim < 0)) {
      return Broken("runs on ", call.cores, " cores");
    }
    if (call.cores != 2 && MeetsPeer(k)) {
      return Broken("kernel \"", k.name, "\" is of two cores, and runs on ",
                    call.cores);
    }
    return absl::OkStatus();
  }

  absl::Status CheckMoving(const Call& call, const Kernel& k) const {
    std::vector<int64_t> reach(call.args.size(), 0);
    for (const MovingArg& m : call.moving) {
      if (m.arg < 0 || m.arg >= static_cast<int>(call.args.size())) {
        return Broken("no argument ", m.arg, " to move");
      }
      RETURN_IF_ERROR(Slice(m.index, 4)) << "index of arg" << m.arg;
      if (m.last < 0 || m.stride < 0) {
        return Broken("arg", m.arg, " moves to ", m.last, " x ", m.stride);
      }
      if (k.args[m.arg].space == Space::kVmem &&
          m.stride % kVmemAlignment != 0) {
        return Broken("arg", m.arg, " moves by ", m.stride,
                      " bytes of VMEM, not a multiple of ", kVmemAlignment);
      }
      BufferSlice end = call.args[m.arg];
      end.offset += reach[m.arg] += m.last * m.stride;
      RETURN_IF_ERROR(Slice(end, k.args[m.arg].bytes)) << "last arg" << m.arg;
    }
    return absl::OkStatus();
  }

  absl::Status Check(const CopyStart& copy) {
    if (copy.pieces < 1 || copy.bytes % copy.pieces != 0) {
      return Broken(copy.bytes, " bytes in ", copy.pieces, " pieces");
    }
    RETURN_IF_ERROR(Slice(copy.from, copy.SourceBytes())) << "source";
    RETURN_IF_ERROR(Slice(copy.to, copy.bytes)) << "destination";
    if (!copies_.insert(copy.id).second)
      return Broken("id ", copy.id, " is open");
    return absl::OkStatus();
  }
  absl::Status Check(const CopyDone& done) {
    if (copies_.erase(done.id) == 0) return Broken("no open copy ", done.id);
    return absl::OkStatus();
  }

  absl::Status Check(const CollectiveStart& c) {
    for (const auto* side : {&c.from, &c.to}) {
      for (const BufferSlice& s : *side) RETURN_IF_ERROR(Slice(s, 0));
    }
    if (!collectives_.insert(c.id).second) {
      return Broken("id ", c.id, " is open");
    }
    return absl::OkStatus();
  }
  absl::Status Check(const CollectiveDone& done) {
    if (collectives_.erase(done.id) == 0) {
      return Broken("no open collective ", done.id);
    }
    return absl::OkStatus();
  }

  absl::Status Check(const While& loop) {
    if (loop.trips < 0) return Broken("trip count ", loop.trips);
    RETURN_IF_ERROR(Ops(loop.condition)) << "condition";
    return Ops(loop.body);
  }
  absl::Status Check(const Conditional& c) {
    if (c.taken < 0 || c.taken >= c.branches.size()) {
      return Broken("branch ", c.taken, " of ", c.branches.size());
    }
    for (const Schedule& branch : c.branches) RETURN_IF_ERROR(Ops(branch));
    return absl::OkStatus();
  }
  absl::Status Check(const HostTransfer& t) { return Slice(t.buffer, t.bytes); }
  absl::Status Check(const Barrier&) { return absl::OkStatus(); }

  const Program& p_;
  const MachineModel& machine_;
  std::set<int> copies_;
  std::set<int> collectives_;
};

}  // namespace

absl::Status VerifyKernel(const Kernel& kernel, const MachineModel& machine) {
  RETURN_IF_ERROR(VerifyStructure(kernel, machine));
  // Indices that events carry are checked by the walk, so it comes first.
  RETURN_IF_ERROR(VerifyCode(kernel, kernel.entry, 0, machine)) << "entry";
  for (uint32_t flags : StepFlagSets(kernel)) {
    RETURN_IF_ERROR(VerifyCode(kernel, kernel.step, flags, machine)) << "step";
  }
  RETURN_IF_ERROR(VerifyCode(kernel, kernel.exit, 0, machine)) << "exit";
  return VerifyDma(kernel, TimeKernel(kernel, machine), machine);
}

absl::Status VerifyProgram(const Program& program,
                           const MachineModel& machine) {
  for (const Kernel& kernel : program.kernels) {
    RETURN_IF_ERROR(VerifyKernel(kernel, machine))
        << "kernel \"" << kernel.name << "\"";
  }
  ProgramVerifier verifier(program, machine);
  RETURN_IF_ERROR(verifier.Buffers());
  RETURN_IF_ERROR(verifier.Ops(program.schedule));
  RETURN_IF_ERROR(verifier.Finish());
  return VerifyResidents(program);
}

}  // namespace ptxla::isa
