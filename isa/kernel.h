// A kernel: what one fused HLO instruction becomes. It is position-independent;
// a Call binds its arguments to buffers.
//
// It runs `entry` once, then `step` once per grid step, then `exit` once. The
// grid is walked with the last dimension fastest. On a core count C > 1 the
// dimension `megacore_dim` is split: core c takes its indices
// [n*c/C, n*(c+1)/C) (rounded down), and walks the rest as usual; a core
// without steps runs nothing at all, not even entry and exit.
//
// A window is a view of an argument that moves with the grid. Its block of one
// step is a box of `dims` (outer to inner) over `inner_bytes` contiguous bytes.
// In each dimension the box starts at unit
//     origin + advance * (grid index / grid_divisor)
// (or, with a table, origin + advance * table[grid index / grid_divisor]) and
// has `block` units, clamped to [0, extent). Unit u is at HBM byte
// hbm_offset + u * hbm_stride and, relative to the box start, at VMEM byte
// (u - start) * vmem_stride of its slot. What clamping cuts off is not written.
//
// Windows of an HBM, CMEM or host argument are copied to VMEM (or SMEM) slots:
//   input   `dma.start w` fetches as many steps ahead as there are slots to
//           spare: a = max(1, slots - 1). In entry it fetches the blocks of the
//           first a steps; in step s that of step s+a into the next slot, if
//           its block indices differ from those of s+a-1. `dma.wait w` in step
//           s waits for the fetch of the block of s, if one is under way.
//   output  `dma.start w` in step s writes the slot back, if s is the last step
//           or s+1 has other block indices; then the next slot is used.
//           `dma.wait w` in a step waits until the write-back that last used
//           the slot of this step is over; in exit, until all are.
// `swin` gives the address of the slot. With slots == 1 the next slot is the
// same one. A window of a VMEM or SMEM argument is never copied: `swin` gives
// its place in the argument, dma.* on it are errors, and the code walks it with
// hbm_stride.
//
// Explicit transfers: `dma.start.desc d, sA, sB` copies the box of descriptor d
// from its source plus sA bytes to its destination plus sB bytes and adds the
// bytes to its semaphore when it is over. A transfer `to_peer` takes one run of
// bytes of this core's VMEM to that of the other core of two, and adds them to
// that semaphore of *both* cores: here its source is free, there its bytes have
// come. Both cores send as often, so each waits for twice its bytes (the sums
// of a reduced dimension that cores share).
//
// A table holds what timing assumes. On data it is read from the argument
// table_arg, an array of s32, before the kernel starts: which block a step
// takes may depend on data (groups of a grouped product), as the scalars that
// a TPU prefetches to SMEM decide it.
//
// VMEM used: slot i of window w is at w.vmem_offset + i * w.slot_bytes, scratch
// at scratch_offset; all below vmem_bytes, relative to the scoped region of the
// core (address 0 upward). LayoutVmem() fills the offsets.
#ifndef PTXLA_ISA_KERNEL_H_
#define PTXLA_ISA_KERNEL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "isa/code.h"

namespace ptxla::isa {

enum class Space : uint8_t { kHbm, kVmem, kCmem, kSmem, kHost };
enum class Direction : uint8_t { kIn, kOut, kInOut };

absl::string_view Name(Space space);
absl::string_view Name(Direction direction);

struct KernelArg {
  std::string name;
  Space space = Space::kHbm;
  Direction direction = Direction::kIn;
  int64_t bytes = 0;

  bool operator==(const KernelArg& o) const {
    return name == o.name && space == o.space && direction == o.direction &&
           bytes == o.bytes;
  }
};

struct WindowDim {
  int64_t block = 1;        // units per box
  int64_t extent = 1;       // units in the argument
  int64_t hbm_stride = 0;   // bytes per unit in the argument
  int64_t vmem_stride = 0;  // bytes per unit in the slot
  int grid_dim = -1;        // -1: does not move
  int64_t grid_divisor = 1;
  int64_t advance = 0;  // units per grid index; 0 means `block`
  int64_t origin = 0;   // units; negative for padding in front
  // Empty: the index itself. Else one entry for each grid_index / grid_divisor.
  std::vector<int64_t> table = {};
  int table_arg = -1;  // -1: the table holds for data too

  int64_t Advance() const { return advance == 0 ? block : advance; }
  bool operator==(const WindowDim& o) const;
};
inline constexpr int kMaxWindowDims = 5;

struct Window {
  int arg = 0;
  Direction direction = Direction::kIn;  // kIn or kOut
  Space space = Space::kVmem;            // of the slots: kVmem or kSmem
  std::vector<WindowDim> dims;           // outer to inner, at most 5
  int64_t inner_bytes = 0;
  int64_t hbm_offset = 0;
  int slots = 2;
  int64_t slot_bytes = 0;
  int64_t vmem_offset = 0;  // SMEM offset if space is kSmem

  bool operator==(const Window& o) const;
};

// A side is an argument, where the register counts units of 2^arg_shift bytes
// from its start (31 bits reach 2 GiB, or 1 TiB of rows of 512 bytes), or the
// core's VMEM or SMEM (arg == -1), where it holds the whole address.
struct DmaDescriptor {
  int src_arg = -1;
  int dst_arg = -1;
  Space local = Space::kVmem;  // space of a side with arg -1
  struct Dim {
    int64_t count = 1;
    int64_t src_stride = 0;
    int64_t dst_stride = 0;
    bool operator==(const Dim& o) const {
      return count == o.count && src_stride == o.src_stride &&
             dst_stride == o.dst_stride;
    }
  };
  std::vector<Dim> dims;  // outer to inner
  int64_t inner_bytes = 0;
  int semaphore = 0;
  bool to_peer = false;  // the destination is in the other core's VMEM
  int arg_shift = 0;

  int64_t Bytes() const;
  // What its semaphore counts for each start of it: `to_peer`, with what the
  // other core's start adds.
  int64_t CountedBytes() const { return to_peer ? 2 * Bytes() : Bytes(); }
  bool operator==(const DmaDescriptor& o) const;
};

// Work for reports, of the whole grid, without padding.
struct KernelWork {
  int64_t flops = 0;      // all floating-point operations
  int64_t mxu_flops = 0;  // those of matmuls and convolutions
  int64_t transcendentals = 0;
  int64_t hbm_bytes = 0;  // read and written, each operand and result once
  bool operator==(const KernelWork& o) const {
    return flops == o.flops && mxu_flops == o.mxu_flops &&
           transcendentals == o.transcendentals && hbm_bytes == o.hbm_bytes;
  }
};

struct Kernel {
  std::string name;          // of the first HLO instruction that uses it
  uint64_t fingerprint = 0;  // of the fused computation, by the compiler
  std::vector<KernelArg> args;
  std::vector<int64_t> grid;  // bounds, outer to inner; empty: one step
  int megacore_dim = -1;      // -1: runs on one core
  std::vector<Window> windows;
  std::vector<DmaDescriptor> descriptors;
  int num_semaphores = 0;
  int64_t scratch_bytes = 0;
  int64_t scratch_offset = 0;
  int64_t vmem_bytes = 0;  // scoped VMEM, slots and scratch
  int64_t smem_bytes = 0;
  Code entry;
  Code step;
  Code exit;
  KernelWork work;
  // Fraction of a scheduler's lower bound etc. belongs to reports; this line
  // says what the compiler chose: "tile 512x256, unroll 32".
  std::string note;

  int64_t NumSteps() const;  // over all cores
};
bool operator==(const Kernel& a, const Kernel& b);

// True if the window's argument is where the kernel reads or writes it, in VMEM
// or in SMEM: nothing is copied.
bool IsResident(const Kernel& kernel, const Window& window);

// A whole number of VMEM bank cycles (4 banks of 4 KiB): addresses so far apart
// are in one bank.
inline constexpr int64_t kVmemAlignment = 16384;

// Gives every slot and the scratch an offset, in order, each a multiple of
// `align` (by default addresses keep their bank when slots alternate), and sets
// vmem_bytes and smem_bytes.
void LayoutVmem(Kernel* kernel, int64_t align = kVmemAlignment);

}  // namespace ptxla::isa

#endif  // PTXLA_ISA_KERNEL_H_
