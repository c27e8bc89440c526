#include "isa/kernel.h"

#include <algorithm>

#include "base/units.h"

namespace ptxla::isa {

absl::string_view Name(Space space) {
  constexpr absl::string_view kNames[] = {"hbm", "vmem", "cmem", "smem",
                                          "host"};
  return kNames[static_cast<int>(space)];
}

absl::string_view Name(Direction direction) {
  constexpr absl::string_view kNames[] = {"in", "out", "inout"};
  return kNames[static_cast<int>(direction)];
}

bool WindowDim::operator==(const WindowDim& o) const {
  return block == o.block && extent == o.extent && hbm_stride == o.hbm_stride &&
         vmem_stride == o.vmem_stride && grid_dim == o.grid_dim &&
         grid_divisor == o.grid_divisor && advance == o.advance &&
         origin == o.origin && table == o.table && table_arg == o.table_arg;
}

bool Window::operator==(const Window& o) const {
  return arg == o.arg && direction == o.direction && space == o.space &&
         dims == o.dims && inner_bytes == o.inner_bytes &&
         hbm_offset == o.hbm_offset && slots == o.slots &&
         slot_bytes == o.slot_bytes && vmem_offset == o.vmem_offset;
}

int64_t DmaDescriptor::Bytes() const {
  int64_t bytes = inner_bytes;
  for (const Dim& dim : dims) bytes *= dim.count;
  return bytes;
}

bool DmaDescriptor::operator==(const DmaDescriptor& o) const {
  return src_arg == o.src_arg && dst_arg == o.dst_arg && local == o.local &&
         dims == o.dims && inner_bytes == o.inner_bytes &&
         semaphore == o.semaphore && to_peer == o.to_peer &&
         arg_shift == o.arg_shift;
}

int64_t Kernel::NumSteps() const {
  int64_t n = 1;
  for (int64_t bound : grid) n *= bound;
  return n;
}

bool operator==(const Kernel& a, const Kernel& b) {
  return a.name == b.name && a.fingerprint == b.fingerprint &&
         a.args == b.args && a.grid == b.grid &&
         a.megacore_dim == b.megacore_dim && a.windows == b.windows &&
         a.descriptors == b.descriptors &&
         a.num_semaphores == b.num_semaphores &&
         a.scratch_bytes == b.scratch_bytes &&
         a.scratch_offset == b.scratch_offset && a.vmem_bytes == b.vmem_bytes &&
         a.smem_bytes == b.smem_bytes && a.entry == b.entry &&
         a.step == b.step && a.exit == b.exit && a.work == b.work &&
         a.note == b.note;
}

bool IsResident(const Kernel& kernel, const Window& window) {
  // From VMEM to SMEM goes a transfer.
  const Space space = kernel.args[window.arg].space;
  return space == Space::kSmem ||
         (space == Space::kVmem && window.space == Space::kVmem);
}

void LayoutVmem(Kernel* kernel, int64_t align) {
  int64_t vmem = 0;
  int64_t smem = 0;
  for (Window& w : kernel->windows) {
    if (IsResident(*kernel, w)) continue;
    int64_t& top = w.space == Space::kSmem ? smem : vmem;
    w.slot_bytes =
        RoundUpTo(w.slot_bytes, w.space == Space::kSmem ? int64_t{4} : align);
    w.vmem_offset = top;
    top += w.slots * w.slot_bytes;
  }
  kernel->scratch_offset = vmem;
  kernel->vmem_bytes = vmem + RoundUpTo(kernel->scratch_bytes, align);
  kernel->smem_bytes = smem;
}

}  // namespace ptxla::isa
