#include "chips/parameters.h"

#include <cmath>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"

namespace ptxla::chips {
namespace {

using D = Dimension;
constexpr bool kInt = true, kReal = false, kMust = true, kMay = false;

// Grouped as in a chip file.
constexpr ParameterRule kRules[] = {
    {"clock.core", D::kFrequency, kReal, kMust, "TensorCore clock"},
    {"cores.per_chip", D::kCount, kInt, kMust, "TensorCores of a chip"},
    {"cores.per_device", D::kCount, kInt, kMust,
     "TensorCores that one program drives (2: megacore)"},
    {"mxu.count", D::kCount, kInt, kMust, "systolic arrays of a core"},
    {"mxu.rows", D::kCount, kInt, kMust, "contraction size K of an array"},
    {"mxu.cols", D::kCount, kInt, kMust, "output columns N of an array"},
    {"mxu.staging_registers", D::kCount, kInt, kMust,
     "weight tiles an array holds besides the one in use"},
    {"vreg.lanes", D::kCount, kInt, kMust, "lanes of a vector register"},
    {"vreg.sublanes", D::kCount, kInt, kMust, "sublanes of a vector register"},
    {"vreg.count", D::kCount, kInt, kMust, "vector registers"},
    {"sreg.count", D::kCount, kInt, kMust, "scalar registers"},
    {"preg.count", D::kCount, kInt, kMust, "predicate registers"},
    {"mask.count", D::kCount, kInt, kMust, "vector mask registers"},
    {"branch.delay_slots", D::kCount, kInt, kMust,
     "bundles that run after a branch"},
    {"slot.mxu", D::kCount, kInt, kMust, "MXU push, matmul per bundle"},
    {"slot.xlu", D::kCount, kInt, kMust, "cross-lane ops per bundle"},
    {"slot.valu", D::kCount, kInt, kMust, "vector ALU ops per bundle"},
    {"slot.vpop", D::kCount, kInt, kMust, "result pops per bundle"},
    {"slot.eup", D::kCount, kInt, kMust, "transcendental ops per bundle"},
    {"slot.vload", D::kCount, kInt, kMust, "vector loads per bundle"},
    {"slot.vstore", D::kCount, kInt, kMust, "vector stores per bundle"},
    {"slot.salu", D::kCount, kInt, kMust, "scalar ops per bundle"},
    {"slot.misc", D::kCount, kInt, kMust, "vector misc ops per bundle"},
    {"slot.load_store", D::kCount, kInt, kMust,
     "loads, stores and misc together per bundle"},
    {"slot.bundle", D::kCount, kInt, kMust, "instructions per bundle"},
    {"vmem.size", D::kBytes, kInt, kMust, "VMEM of a core"},
    {"vmem.usable", D::kBytes, kInt, kMust, "VMEM that a program may use"},
    {"vmem.scoped_limit", D::kBytes, kInt, kMust, "VMEM of one kernel"},
    {"vmem.banks", D::kCount, kInt, kMust,
     "banks that serve one load each per cycle; 0: no such rule"},
    {"vmem.bank_interleave", D::kBytes, kInt, kMust,
     "bytes before the next bank"},
    {"smem.size", D::kBytes, kInt, kMust, "scalar memory of a core"},
    {"cmem.size", D::kBytes, kInt, kMust, "CMEM of a chip; 0: none"},
    {"hbm.nominal", D::kBytes, kInt, kMust, "HBM of a chip"},
    {"hbm.usable", D::kBytes, kInt, kMust, "HBM left to programs"},
    {"hbm.bandwidth", D::kRate, kReal, kMust, "HBM of a chip, pin rate"},
    {"hbm.efficiency_read", D::kFraction, kReal, kMust,
     "long read streams, of the pin rate"},
    {"hbm.efficiency_write", D::kFraction, kReal, kMust,
     "long write streams, of the pin rate"},
    {"hbm.turnaround", D::kFraction, kReal, kMust,
     "more time per byte of a 1:1 mix of reads and writes"},
    {"hbm.in_place", D::kFraction, kReal, kMay,
     "more time per byte of arrays that are written where they are read"},
    {"hbm.block_half", D::kBytes, kReal, kMust,
     "random blocks of this size run at half the stream rate"},
    {"hbm.latency", D::kTime, kReal, kMust, "start-up of a DMA"},
    {"hbm.core_share", D::kFraction, kReal, kMust,
     "most of the HBM rate that one core can draw"},
    {"hbm.temp_slot", D::kBytes, kInt, kMust,
     "temporaries begin at multiples of it"},
    {"hbm.table_unit", D::kBytes, kInt, kMust,
     "tables of addresses take multiples of it"},
    {"dma.granule", D::kBytes, kInt, kMust, "unit of DMA sizes"},
    {"dma.descriptor", D::kTime, kReal, kMust,
     "least time between descriptors of HBM and host"},
    {"dma.on_chip", D::kRate, kReal, kMust,
     "DMA between on-chip memories, all cores of a device together"},
    {"dma.on_chip_latency", D::kTime, kReal, kMust,
     "start-up of a DMA between on-chip memories"},
    {"kernel.prologue", D::kCycles, kInt, kMust, "once per program"},
    {"kernel.entry", D::kCycles, kInt, kMust, "once per kernel"},
    {"kernel.step", D::kCycles, kInt, kMust, "per grid step, outside the body"},
    {"kernel.step_window", D::kCycles, kInt, kMust,
     "more per grid step for each window"},
    {"ici.links", D::kCount, kInt, kMust, "links of a chip"},
    {"ici.link", D::kRate, kReal, kMust, "one link, one way, raw"},
    {"ici.efficiency", D::kFraction, kReal, kMust, "achieved over raw"},
    {"ici.hop", D::kTime, kReal, kMust, "latency per hop"},
    {"ici.collective_startup", D::kTime, kReal, kMust, "per collective"},
    {"ici.permute_startup", D::kTime, kReal, kMust, "per permute"},
    {"pcie.bandwidth", D::kRate, kReal, kMust, "host link of a chip, each way"},
    {"dcn.bandwidth", D::kRate, kReal, kMust, "data centre network per chip"},
    {"dcn.latency", D::kTime, kReal, kMust, "data centre network"},
    {"host.chips_single", D::kCount, kInt, kMust, "chips of a lone host"},
    {"host.chips_multi", D::kCount, kInt, kMust,
     "chips per host of a slice of several hosts"},
    {"power.chip", D::kPower, kReal, kMay, "electrical power of a chip"},
};

constexpr ParameterRule kLatency = {"latency.*", D::kCycles, kInt, kMay,
                                    "issue of producer to issue of consumer"};
constexpr ParameterRule kInterval = {"interval.*", D::kCycles, kInt, kMay,
                                     "between two operations of one unit"};
constexpr ParameterRule kFifo = {"fifo.*", D::kCount, kInt, kMay,
                                 "results that a queue holds before its pop"};
constexpr ParameterRule kPolicy = {"policy.*", D::kAny, kReal, kMay,
                                   "a number in a rule of the TPU compiler"};
constexpr ParameterRule kHost = {"host.*", D::kAny, kReal, kMay,
                                 "cost on the host"};

struct Unit {
  const char* name;
  Dimension dimension;
  double factor;
};

constexpr Unit kUnits[] = {
    {"per bundle", D::kCount, 1},
    {"per core", D::kCount, 1},
    {"per chip", D::kCount, 1},
    {"per device", D::kCount, 1},
    {"per host", D::kCount, 1},
    {"per array", D::kCount, 1},
    {"rows", D::kCount, 1},
    {"columns", D::kCount, 1},
    {"bundles", D::kCount, 1},
    {"banks", D::kCount, 1},
    {"registers", D::kCount, 1},
    {"lanes", D::kCount, 1},
    {"sublanes", D::kCount, 1},
    {"count", D::kCount, 1},
    {"cycles", D::kCycles, 1},
    {"Hz", D::kFrequency, 1},
    {"MHz", D::kFrequency, 1e6},
    {"GHz", D::kFrequency, 1e9},
    {"B", D::kBytes, 1},
    {"KiB", D::kBytes, 1024.},
    {"MiB", D::kBytes, 1048576.},
    {"GiB", D::kBytes, 1073741824.},
    {"GB", D::kBytes, 1e9},
    {"B/s", D::kRate, 1},
    {"GB/s", D::kRate, 1e9},
    {"GiB/s", D::kRate, 1073741824.},
    {"s", D::kTime, 1},
    {"ms", D::kTime, 1e-3},
    {"us", D::kTime, 1e-6},
    {"ns", D::kTime, 1e-9},
    {"fraction", D::kFraction, 1},
    {"ratio", D::kFraction, 1},  // where the rule takes any unit: may exceed 1
    {"W", D::kPower, 1},
};

}  // namespace

absl::Span<const ParameterRule> KnownParameters() { return kRules; }

const ParameterRule* FindParameterRule(absl::string_view key) {
  for (const ParameterRule& rule : kRules) {
    if (key == rule.key) return &rule;
  }
  if (absl::StartsWith(key, "latency.")) return &kLatency;
  if (absl::StartsWith(key, "interval.")) return &kInterval;
  if (absl::StartsWith(key, "fifo.")) return &kFifo;
  if (absl::StartsWith(key, "policy.")) return &kPolicy;
  if (absl::StartsWith(key, "host.")) return &kHost;
  return nullptr;
}

absl::StatusOr<double> ToBaseUnit(double written, absl::string_view unit,
                                  Dimension dimension) {
  std::vector<std::string> allowed;
  for (const Unit& u : kUnits) {
    if (dimension != D::kAny && u.dimension != dimension) continue;
    if (unit == u.name) return written * u.factor;
    allowed.push_back(u.name);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      unit.empty() ? "no unit"
                   : absl::StrCat("unit \"", unit, "\" does not fit"),
      "; expected one of: ", absl::StrJoin(allowed, ", ")));
}

}  // namespace ptxla::chips
