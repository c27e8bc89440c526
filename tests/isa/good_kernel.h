// A kernel that passes the verifier, for tests that break it in one way, and
// a machine that it runs on.
//
//   Kernel k = GoodKernel();                       // out = 2 * in, 4 blocks
//   k.entry.clear();
//   EXPECT_FALSE(VerifyKernel(k, GoodMachine()).ok());
#ifndef PTXLA_TESTS_ISA_GOOD_KERNEL_H_
#define PTXLA_TESTS_ISA_GOOD_KERNEL_H_

#include "isa/asm.h"
#include "isa/kernel.h"
#include "isa/machine_model.h"

namespace ptxla::isa::testing {

inline MachineModel GoodMachine() {
  MachineModel m = MachineModel::Unit();
  m.name = "v6e-like";
  m.SetSlots(Slot::kScalar, 2);
  m.SetSlots(Slot::kVector, 4);
  m.SetSlots(Slot::kLoad, 3);
  m.SetSlots(Slot::kStore, 2);
  m.load_store_total = 4;
  m.SetLatency(LatencyKey::kValuF32, 2);
  m.SetLatency(LatencyKey::kEupF32, 13);
  m.SetLatency(LatencyKey::kScalarLoad, 6);
  m.vmem_banks = 32;
  m.branch_delay_slots = 4;
  return m;
}

// A correct kernel: out = 2 * in over 4 blocks.
inline Kernel GoodKernel() {
  Kernel k;
  k.name = "good";
  k.args = {{"in", Space::kHbm, Direction::kIn, 32 * 512},
            {"out", Space::kHbm, Direction::kOut, 32 * 512}};
  k.grid = {4};
  k.megacore_dim = 0;
  Window w;
  w.dims = {{8, 32, 512, 512, 0}};
  w.inner_bytes = 512;
  w.slot_bytes = 4096;
  k.windows = {w, w};
  k.windows[1].arg = 1;
  k.windows[1].direction = Direction::kOut;
  k.num_semaphores = 1;
  LayoutVmem(&k);
  k.entry = *ParseCode("block \"e\" { { dma.start w0 } }");
  k.step = *ParseCode(
      "block \"s\" { { dma.start w0 ; s1 = swin w0 } "
      "{ dma.wait w0 ; s2 = swin w1 } { dma.wait w1 ; v1 = vld [s1] } "
      "{ v2 = vadd.f32 v1, v1 } {nop 1} { vst [s2], v2 } { dma.start w1 } }");
  k.exit = *ParseCode("block \"x\" { { dma.wait w1 } }");
  return k;
}

}  // namespace ptxla::isa::testing

#endif  // PTXLA_TESTS_ISA_GOOD_KERNEL_H_
