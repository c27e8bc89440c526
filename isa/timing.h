// Static timing: how long code takes when no DMA stalls it, and where in it the
// DMA events are. Loops are multiplied out, not unrolled: the cost is that of
// reading the code once per step class.
//
//   KernelTiming t = TimeKernel(kernel, machine);
//   GridWalk walk(kernel);
//   for (s = 0; s < walk.num_steps(); ++s) {
//     walk.Seek(s);
//     cycles += t.classes[t.ClassOf(StepFlags(walk))].profile.cycles;
//   }
//
// Time rule: a bundle at offset o of a profile that starts at cycle c issues at
// c + o. A DMA wait whose transfer ends at cycle e > c + o keeps its bundle
// until e: all later bundles move by e - (c + o). A start at o is handed to the
// DMA engine at cycle c + o.
#ifndef PTXLA_ISA_TIMING_H_
#define PTXLA_ISA_TIMING_H_

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "isa/grid.h"
#include "isa/kernel.h"
#include "isa/machine_model.h"

namespace ptxla::isa {

struct DmaEvent {
  enum class Kind : uint8_t {
    kStart,            // dma.start        index: window
    kWait,             // dma.wait         index: window
    kStartDescriptor,  // dma.start.desc   index: descriptor
    kWaitSemaphore,    // dma.done.wait    index: semaphore, amount: bytes
    kSignal,           // vsyncadd         index: semaphore, amount
  };
  Kind kind = Kind::kStart;
  int index = 0;
  int64_t amount = 0;
  // Which transfer of a window (GridWalk::StartedTransfer, AwaitedTransfer);
  // set when code runs, -1 in a static profile.
  int64_t transfer = -1;
};

// An event, or a loop over events if `body` is not empty: iteration i's body
// starts at offset + i * period, and its offsets count from there.
struct TimedEvent {
  int64_t offset = 0;
  DmaEvent event;
  int64_t trips = 1;
  int64_t period = 0;
  std::vector<TimedEvent> body;
};

struct Profile {
  int64_t cycles = 0;
  int64_t bundles = 0;                         // that hold an instruction
  std::array<int64_t, kNumSlots> slot_uses{};  // instructions issued
  std::array<int64_t, kNumUnits> unit_busy{};  // cycles, summed over units
  std::vector<TimedEvent> events;              // in time order
};

// Calls `fn(offset, event)` in time order with loops unrolled.
void ForEachEvent(const std::vector<TimedEvent>& events,
                  const std::function<void(int64_t, const DmaEvent&)>& fn);

// Code that holds for a step with the given first/last flags (bits 2*dim and
// 2*dim+1); `flags` matters only where code has When nodes.
Profile ProfileCode(const Code& code, const MachineModel& machine,
                    uint32_t flags = 0);

// Whether the condition holds for a step with these flags.
bool Holds(const When& when, uint32_t flags);

// First/last bits of the step at which `walk` stands.
uint32_t StepFlags(const GridWalk& walk);

struct KernelTiming {
  Profile entry;
  Profile exit;
  // One profile per distinct set of flags that the step code tells apart.
  struct StepClass {
    uint32_t flags = 0;  // already masked
    Profile profile;
  };
  std::vector<StepClass> classes;
  uint32_t flag_mask = 0;  // flags that step code asks for

  // Index into `classes`.
  int ClassOf(uint32_t flags) const;
  // Cycles of the whole kernel on one core without any stall.
  int64_t UnstalledCycles(const Kernel& kernel, int core = 0,
                          int cores = 1) const;
  // Steps of each class in the whole walk of one core, by counting, not
  // walking.
  std::vector<int64_t> StepsPerClass(const Kernel& kernel, int core = 0,
                                     int cores = 1) const;
};

// The distinct flags that the step code tells apart, over the whole grid.
std::vector<uint32_t> StepFlagSets(const Kernel& kernel);

// TimeKernel(kernel, machine).classes[0].profile.cycles, and no more than that.
int64_t CyclesOfFirstClass(const Kernel& kernel, const MachineModel& machine);
KernelTiming TimeKernel(const Kernel& kernel, const MachineModel& machine);

}  // namespace ptxla::isa

#endif  // PTXLA_ISA_TIMING_H_
