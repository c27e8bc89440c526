// What a machine is: every number of one TPU generation, checked and typed.
//
// Typed groups (core(), hbm(), …) are for code that needs a number of known
// meaning; Latency() and Interval() are for the instruction table, which owns
// the names. Every number has a source and a confidence (Find, Assumed).
//
//   ASSIGN_OR_RETURN(ChipSpec v6e, ChipSpec::Load("v6e"));
//   Clock clock = v6e.core().clock;
//   int drain = v6e.Latency("matmul_bf16").value();               // 192
//   ASSIGN_OR_RETURN(ChipSpec faster, v6e.WithScaled("hbm.bandwidth", 1.2));
//
// A ChipSpec is a value: copies are cheap enough (about 150 numbers) and
// independent.
#ifndef PTXLA_CHIPS_CHIP_SPEC_H_
#define PTXLA_CHIPS_CHIP_SPEC_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/units.h"
#include "chips/chip.pb.h"
#include "chips/parameters.h"

namespace ptxla::chips {

// Operand types of a matmul instruction. Rows of LHS per instruction are a
// property of the 32-bit packing, the same on every chip: 8, 16, 32, 32.
enum class MatmulType { kF32, kBf16, kInt8, kFp8 };
int RowsPerMatmul(MatmulType type);

struct CoreSpec {
  Clock clock{Hertz(1)};
  int cores_per_chip = 1;
  int cores_per_device = 1;  // 2: megacore, one program on both cores
  int cores_in_use = 1;      // of a device: all, or fewer (--cores-per-chip)
  int mxus = 1;              // per core
  int mxu_rows = 128;        // K of the array
  int mxu_cols = 128;        // N of the array
  int mxu_staging_registers = 1;
  int lanes = 128;
  int sublanes = 8;
  int vregs = 32;
  int sregs = 32;
  int pregs = 15;
  int mask_regs = 8;
  int branch_delay_slots = 1;
  // Fixed costs. The simulator charges the prologue; the compiler emits the
  // others as bundles of a kernel's entry and step code.
  Cycles program_prologue;    // once per program
  Cycles kernel_entry;        // once per kernel, outside its grid loop
  Cycles kernel_step;         // per grid step outside the body, and …
  Cycles kernel_step_window;  // … this more for each DMA window
};

// Instructions per bundle. load_store is the limit on loads + stores + misc
// together; 0: none beyond the sum.
struct SlotSpec {
  int mxu, xlu, valu, vpop, eup, vload, vstore, salu, misc, load_store, bundle;
};

struct VmemSpec {  // per core
  Bytes size, usable, scoped_limit;
  int banks = 0;          // 0: no bank rule
  Bytes bank_interleave;  // bank = (address / bank_interleave) % banks
};

// Fractions are of `bandwidth`; see memory_model/hbm.h for the formulas.
struct HbmSpec {
  Bytes nominal, usable;     // per chip
  BytesPerSecond bandwidth;  // per chip, pin rate
  double efficiency_read = 1, efficiency_write = 1;
  double turnaround = 0;  // more time per byte of a 1:1 read/write mix
  Bytes block_half;       // random blocks of this size run at half rate
  Picoseconds latency;    // start-up of a DMA: request to first byte
  double core_share = 1;  // most of the efficient rate that one core draws
};

struct DmaSpec {
  Bytes granule;
  Picoseconds descriptor;  // least time between two descriptors of a core
  BytesPerSecond on_chip;  // VMEM to VMEM, VMEM to CMEM …
  Picoseconds on_chip_latency;
};

struct IciSpec {
  int links = 0;                   // per chip
  BytesPerSecond link;             // raw, one way
  double efficiency = 1;           // achieved / raw
  Picoseconds hop;                 // latency per hop
  Picoseconds collective_startup;  // once per collective
  Picoseconds permute_startup;     // once per collective-permute
  BytesPerSecond effective_link() const {
    return BytesPerSecond(link.count() * efficiency);
  }
};

struct HostLinkSpec {
  BytesPerSecond pcie;  // per chip, each way
  BytesPerSecond dcn;   // per chip
  Picoseconds dcn_latency;
  int chips_per_host_single = 1;  // largest slice on one host
  int chips_per_host_multi = 1;   // per host of larger slices
};

class ChipSpec {
 public:
  // An embedded chip by its name, or what slices call it ("v5e",
  // "v5litepod"). NotFound with "did you mean".
  static absl::StatusOr<ChipSpec> Load(absl::string_view name);
  // A chip file on disk.
  static absl::StatusOr<ChipSpec> LoadFile(const std::string& path);
  // `name` is what errors call the text.
  static absl::StatusOr<ChipSpec> Parse(absl::string_view text,
                                        absl::string_view name);
  // Embedded chips, oldest generation first.
  static std::vector<std::string> Names();

  const std::string& name() const { return name_; }
  const std::string& title() const { return title_; }
  int generation() const { return generation_; }

  const CoreSpec& core() const { return core_; }
  // Programs are compiled for so many cores of a device; the others idle.
  void UseCores(int cores) { core_.cores_in_use = cores; }
  // Several cores share each kernel, and no memory but HBM (v5p; v4 has CMEM).
  bool CoresShareOnlyHbm() const {
    return core_.cores_in_use > 1 && cmem().count() == 0;
  }
  const SlotSpec& slots() const { return slots_; }
  const VmemSpec& vmem() const { return vmem_; }
  Bytes smem() const { return smem_; }  // per core
  Bytes cmem() const { return cmem_; }  // per chip, 0 where there is none
  const HbmSpec& hbm() const { return hbm_; }
  const DmaSpec& dma() const { return dma_; }
  const IciSpec& ici() const { return ici_; }
  const HostLinkSpec& host_link() const { return host_link_; }
  const SlicesProto& slices() const { return slices_; }
  const std::vector<PriceProto>& prices() const { return prices_; }

  int devices_per_chip() const {
    return core_.cores_per_chip / core_.cores_per_device;
  }
  Bytes hbm_usable_per_device() const {
    return Bytes(hbm_.usable.count() / devices_per_chip());
  }
  Bytes hbm_nominal_per_device() const {
    return Bytes(hbm_.nominal.count() / devices_per_chip());
  }

  // The HBM of a chip belongs to its devices in equal parts.
  BytesPerSecond hbm_bandwidth_per_device() const {
    return BytesPerSecond(hbm_.bandwidth.count() / devices_per_chip());
  }

  // Cycles of "latency.NAME" and "interval.NAME" (names: isa/keys.h); nullopt
  // where the chip does not have the operation. On v5e and v5p the third XLU
  // has latencies of its own, "xlu_rotate.2".
  std::optional<int> Latency(absl::string_view name) const;
  std::optional<int> Interval(absl::string_view name) const;
  // "policy.NAME" in its base unit.
  std::optional<double> Policy(absl::string_view name) const;

  // LHS rows per cycle and MXU: rows per matmul / issue interval. A type that
  // the MXU lacks runs at the rate of the type that it is converted to.
  double MxuRowsPerCycle(MatmulType type) const;
  // Per chip: cores * mxus * rows * cols * 2 * rows per cycle * clock.
  FlopsPerSecond PeakMatmul(MatmulType type) const;
  // Per chip, one operation per ALU and cycle on 32-bit lanes.
  FlopsPerSecond PeakVpu() const;

  // Any number by key, in file order.
  const Parameter* Find(absl::string_view key) const;
  const std::vector<Parameter>& parameters() const { return parameters_; }
  // The numbers that nothing confirms.
  std::vector<const Parameter*> Assumed() const;

  // A copy with one number changed. `value` is in the base unit. Rounds a
  // number that must be whole, never to zero. Efficiencies stay within (0, 1].
  absl::StatusOr<ChipSpec> WithValue(absl::string_view key, double value) const;
  absl::StatusOr<ChipSpec> WithScaled(absl::string_view key,
                                      double factor) const;

  // Changes with any number that a result can depend on (not with sources).
  uint64_t fingerprint() const { return fingerprint_; }
  // The chip as text that Parse reads back to the same chip.
  std::string ToText() const;

 private:
  absl::Status Bind();

  std::string name_, title_;
  int generation_ = 0;
  std::vector<Parameter> parameters_;
  std::map<std::string, int, std::less<>> index_;
  CoreSpec core_;
  SlotSpec slots_{};
  VmemSpec vmem_;
  Bytes smem_, cmem_;
  HbmSpec hbm_;
  DmaSpec dma_;
  IciSpec ici_;
  HostLinkSpec host_link_;
  SlicesProto slices_;
  std::vector<PriceProto> prices_;
  uint64_t fingerprint_ = 0;
};

}  // namespace ptxla::chips

#endif  // PTXLA_CHIPS_CHIP_SPEC_H_
