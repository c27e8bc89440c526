#include "sim/core/transfer_work.h"

namespace ptxla::sim {

using isa::Space;

namespace {

// Contiguous bytes on the HBM side of a descriptor.
int64_t RunOf(const isa::DmaDescriptor& d, bool source) {
  int64_t run = d.inner_bytes;
  for (auto dim = d.dims.rbegin(); dim != d.dims.rend(); ++dim) {
    const int64_t stride = source ? dim->src_stride : dim->dst_stride;
    if (dim->count != 1 && stride != run) break;
    run *= dim->count;
  }
  return run;
}

}  // namespace

Memory MemoryOf(Space a, Space b) {
  if (a == Space::kHbm || b == Space::kHbm) return Memory::kHbm;
  if (a == Space::kHost || b == Space::kHost) return Memory::kHost;
  return Memory::kOnChip;
}

DescriptorSide SideOf(const isa::Kernel& kernel, const isa::DmaDescriptor& d) {
  const Space src = d.src_arg < 0 ? d.local : kernel.args[d.src_arg].space;
  const Space dst = d.dst_arg < 0 ? d.local : kernel.args[d.dst_arg].space;
  return {MemoryOf(src, dst), dst == Space::kHbm,
          src == Space::kHbm && dst == Space::kHbm,
          RunOf(d, src == Space::kHbm)};
}

int64_t WorkOf(const KernelPlan& plan, const DeviceModel& device, Memory memory,
               bool write, int64_t bytes, int64_t run, int arg) {
  memory::Transfer t{Bytes(bytes)};
  t.in_place = arg >= 0 && !plan.in_place.empty() && plan.in_place[arg];
  t.write = write;
  t.run = Bytes(run);
  t.write_fraction = plan.write_fraction;
  return device.Work(memory, t);
}

TransferCost WindowCost(const KernelPlan& plan, const DeviceModel& device,
                        int window, int64_t bytes, int64_t run) {
  const isa::Window& w = plan.kernel->windows[window];
  TransferCost cost;
  cost.memory = MemoryOf(plan.kernel->args[w.arg].space, Space::kVmem);
  cost.write = w.direction != isa::Direction::kIn;
  cost.work = WorkOf(plan, device, cost.memory, cost.write, bytes, run, w.arg);
  return cost;
}

TransferCost DescriptorCost(const KernelPlan& plan, const DeviceModel& device,
                            int descriptor) {
  const isa::DmaDescriptor& d = plan.kernel->descriptors[descriptor];
  const DescriptorSide side = SideOf(*plan.kernel, d);
  const int64_t bytes = side.both ? 2 * d.Bytes() : d.Bytes();
  return {side.memory,
          WorkOf(plan, device, side.memory, side.write, bytes, side.run, -1),
          side.write};
}

}  // namespace ptxla::sim
