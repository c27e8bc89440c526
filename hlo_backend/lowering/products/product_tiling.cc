#include "hlo_backend/lowering/products/product_tiling.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/units.h"
#include "hlo_backend/lowering/products/product_runs.h"
#include "hlo_backend/lowering/products/product_traffic.h"
#include "hlo_backend/lowering/products/product_visits.h"

namespace ptxla::lowering {
namespace {

// Straight code of a step of the TPU compiler's windows, in our own limits.
// ASSUMED: its own code of them is within one.
constexpr int64_t kCompilersBundles = 2;

// That make a register of 16 rows of one batch member out of two of two.
constexpr double kGatherOperations = 3;

// Vector operations that bring 8 rows into the form of the MXU, beside packing.
int64_t OperationsOf(const ProductOperand& o) {
  return o.computed ? o.operations : o.conversion;
}

// The same for so many elements, where they count apart from the stream's own.
int64_t ConversionWork(const ProductOperand& o, int64_t elements) {
  if (!Converts(o)) return 0;
  return elements / 1024 * OperationsOf(o) + elements / 2048;
}

int64_t FunctionWork(const ProductOperand& o, int64_t elements) {
  return o.computed ? elements / 1024 * o.functions : 0;
}

// Vector operations that make a register of rows for the arrays under the
// matmuls; of several passes, on average.
double RowOperations(const ProductOperand& o, const ProductProblem& p,
                     const ArrayShape& a, bool is_lhs) {
  if (Converts(o) || a.unit == 32) return 0;
  if (o.type == hlo::PrimitiveType::kBf16) {
    return o.gathered ? kGatherOperations : 0;
  }
  double sum = 0;
  for (const ProductPass& pass : p.passes) {
    const int part = is_lhs ? pass.lhs : pass.rhs;
    sum += a.bf16 ? 1 + 5 * part : 12 * std::max(0, part - 1);
  }
  return sum / static_cast<double>(p.passes.size()) + 2 * o.conversion;
}

// Of a register of 16 rows.
int64_t LoadsOf(const ProductOperand& o) {
  return o.gathered || o.type == hlo::PrimitiveType::kF32 ? 2 : 1;
}

// Of a block of rows whose columns come in several steps: what the last of them
// takes longer than the others, when rows go through the XLU.
int64_t TurnCycles(const ProductProblem& p, const ProductTile& t,
                   const isa::MachineModel& machine) {
  if (t.grid_n == 1 || !p.rows_in_turn) return 0;
  const int64_t tiles =
      p.row_results * t.block_b * CeilOfRatio<int64_t>(t.block_m, 8);
  return CeilOfRatio(tiles, kRowTilesInTurn) *
             machine.Latency(isa::LatencyKey::kXluMax) +
         CeilOfRatio<int64_t>(tiles, std::max(1, machine.xlus)) *
             machine.Interval(isa::IntervalKey::kXlu);
}

// Bundles of one grid step, about: of its products, and of what does not hide
// under them.
class StepCycles {
 public:
  StepCycles(const ProductProblem& p, const ProductTile& t, const ArrayShape& a,
             const isa::MachineModel& machine)
      : p_(p),
        t_(t),
        a_(a),
        machine_(machine),
        visits_(PlanVisits(p, t, a)),
        block_(PaddedBlock::Of(t, a)),
        mxus_(t.split_b * t.split_n * t.split_m),
        results_(visits_.groups * visits_.results * mxus_),
        visit_(Visit()) {}

  // Partial sums wait: from step to step, or between the arrays' tiles of K.
  bool Accumulates() const { return visits_.k_visits * t_.grid_k > 1; }

  // The epilogue comes with the last visit of K in the last of grid_k steps, or
  // under the visits that follow: then only the last columns' adds to them.
  int64_t Products() const {
    const int64_t last_visit = std::max(
        {visit_, Slots(results_ * (1 + p_.epilogue_ops), isa::Slot::kVector),
         Slots(results_ * p_.epilogue_functions, isa::Slot::kEup)});
    const int64_t plain = visits_.macros * visits_.k_visits * visit_;
    const int64_t finishing =
        PutsOffEpilogue(p_, visits_, mxus_, machine_)
            ? std::max(plain, (visits_.macros - 1) * last_visit) + last_visit
            : plain + visits_.macros * (last_visit - visit_);
    return ((t_.grid_k - 1) * plain + finishing) / t_.grid_k +
           visits_.push_cycles + a_.latency;
  }

  // 16 rows of 128 lanes enter the XLU in one push, under the products of the
  // first columns (stream_transposes.h), which wait for the first tile. A
  // block of the LHS is transposed once if it stays while N is walked.
  int64_t Transposes() const {
    if (!p_.lhs.transposed) return 0;
    const int64_t interval =
        machine_.Interval(isa::IntervalKey::kXluTransposeB16);
    const int64_t units = std::max(1, machine_.xlus);
    const int64_t lanes = RoundUpTo<int64_t>(t_.block_m, isa::kLanes);
    const int64_t tiles = t_.block_b * lanes * block_.depth / (128 * 128);
    const int64_t turns = CeilOfRatio(tiles, units);
    // Values per row of the weights go through the XLUs too.
    const int64_t values = p_.rhs.row_entries * t_.block_b *
                           (p_.rhs.transposed ? block_.cols : block_.depth) / 8;
    const int64_t xlu_cycles =
        turns * 8 * interval +
        CeilOfRatio(values, units) * machine_.Interval(isa::IntervalKey::kXlu);
    const int64_t k_rows = RoundUpTo<int64_t>(std::min(t_.block_k, p_.k), 16);
    const int64_t conversions =
        Slots(t_.block_b * lanes * k_rows / 1024 * OperationsOf(p_.lhs),
              isa::Slot::kVector);
    const int64_t under = visits_.macros_b * visits_.k_visits * visit_;
    const int64_t transpose =
        std::max<int64_t>(0, std::max(xlu_cycles, conversions) - under) +
        machine_.Latency(isa::LatencyKey::kXluTransposeB16) + 8 * interval;
    return t_.n_inner && t_.grid_k == 1 ? transpose / t_.grid_n + 1 : transpose;
  }

  // Slow conversions run under `bundles` of matmuls, except of a block that
  // several steps use: what they take beyond.
  int64_t Conversions(int64_t bundles) const {
    const auto [rows, cols, depth] = block_;
    const int64_t lhs_work =
        p_.lhs.transposed ? 0
                          : ConversionWork(p_.lhs, t_.block_b * rows * depth);
    const int64_t rhs_work = ConversionWork(p_.rhs, t_.block_b * depth * cols);
    if (lhs_work + rhs_work == 0) return 0;
    // Cores that share the dimension that a block stays for start in the
    // middle of it.
    const bool lhs_stays = t_.n_inner && t_.grid_k == 1 && t_.grid_n > 1 &&
                           t_.grid_b * t_.grid_m > 1;
    const bool rhs_stays = !t_.n_inner && t_.grid_k == 1 && t_.grid_m > 1 &&
                           t_.grid_b * t_.grid_n > 1;
    const int64_t tiles = t_.block_b * rows * cols / 1024;
    const int64_t work = (lhs_stays ? 0 : lhs_work) +
                         (rhs_stays ? 0 : rhs_work) +
                         tiles * (visits_.k_visits - 1 + p_.epilogue_ops);
    const int64_t functions =
        (lhs_stays ? 0 : FunctionWork(p_.lhs, t_.block_b * rows * depth)) +
        (rhs_stays ? 0 : FunctionWork(p_.rhs, t_.block_b * depth * cols)) +
        tiles * p_.epilogue_functions;
    const int64_t units = std::max(Slots(work, isa::Slot::kVector),
                                   Slots(functions, isa::Slot::kEup)) +
                          a_.latency;
    return std::max<int64_t>(0, units - bundles) +
           (lhs_stays ? Slots(lhs_work, isa::Slot::kVector) / t_.grid_n : 0) +
           (rhs_stays ? Slots(rhs_work, isa::Slot::kVector) / t_.grid_m : 0);
  }

  // A pass over the rows of the block comes after the stream.
  int64_t RowPass() const {
    const int64_t registers = t_.block_b * block_.rows * block_.cols / 1024;
    const auto cycles =
        static_cast<int64_t>(p_.row_cycles * static_cast<double>(registers));
    return t_.grid_k > 1 ? cycles / t_.grid_k : cycles;
  }

 private:
  int64_t Slots(int64_t uses, isa::Slot slot) const {
    return CeilOfRatio<int64_t>(uses, std::max(1, machine_.Slots(slot)));
  }

  // Cycles of a visit: the resource that takes longest.
  int64_t Visit() const {
    const VisitPlan& v = visits_;
    const int64_t lhs_sources = t_.split_n == mxus_ ? 1 : mxus_ / t_.split_n;
    const int64_t pushed = v.pushes * mxus_ /
                           (t_.split_b * t_.split_n == mxus_ ? 1 : t_.split_m) *
                           (a_.size / 128);
    const int64_t push_loads = pushed * LoadsOf(p_.rhs);
    const int64_t waiting = Accumulates() ? results_ : 0;
    const int64_t loads = v.groups * v.lhs_vregs * lhs_sources *
                              (p_.lhs.gathered ? LoadsOf(p_.lhs) : 1) +
                          push_loads + waiting;
    const int64_t halves = v.tile_k == 256 || v.form == WeightForm::kTwoRows;
    const auto row_operations = static_cast<int64_t>(
        static_cast<double>(v.groups * lhs_sources * (1 + halves)) *
            RowOperations(p_.lhs, p_, a_, true) +
        static_cast<double>(pushed) * RowOperations(p_.rhs, p_, a_, false));
    const int64_t adds =
        waiting + (ConvertsSums(p_) ? results_ : 0) + row_operations;
    return std::max(
        {v.groups * v.group_cycles, v.push_cycles,
         Slots(loads, isa::Slot::kLoad), Slots(results_, isa::Slot::kStore),
         Slots(adds, isa::Slot::kVector), Slots(results_, isa::Slot::kPop)});
  }

  const ProductProblem& p_;
  const ProductTile& t_;
  const ArrayShape& a_;
  const isa::MachineModel& machine_;
  const VisitPlan visits_;
  const PaddedBlock block_;
  const int64_t mxus_;     // that work
  const int64_t results_;  // registers of sums of a visit
  const int64_t visit_;    // cycles
};

// How long the grid takes, with what is seen of its loads and stores.
class GridTime {
 public:
  GridTime(const ProductProblem& p, const ProductTile& t,
           const ProductTraffic& traffic, const isa::MachineModel& machine,
           const ProductLimits& limits)
      : p_(p), t_(t), traffic_(traffic), machine_(machine), limits_(limits) {
    const CoreShare share = CoreShare::Of(p.kept, t, limits.cores);
    const int64_t split = share.bound;
    shares_k_ = share.axis == CoreShare::Axis::kDepth;
    steps_ = t.Steps() / split * CeilOfRatio<int64_t>(split, limits.cores);
    // Cores load and store at the same time, also what all of them load.
    loaders_ = std::min<int64_t>(split, limits.cores);
    lhs_run_ = LhsInRuns(traffic.lhs_bytes, p, t, limits);
    rhs_run_ = RhsInRuns(traffic.rhs_bytes, p, t, limits);
    out_run_ = ResultInRuns(traffic.out_bytes, p, t, limits);
  }

  int64_t FirstLoad() const {
    return loaders_ * Dma((traffic_.lhs_fetches > 0 ? lhs_run_ : 0) +
                          (traffic_.rhs_fetches > 0 ? rhs_run_ : 0)) +
           limits_.hbm_latency_cycles;
  }
  int64_t LastStore() const {
    return loaders_ * Dma(out_run_) + limits_.hbm_latency_cycles;
  }

  // What cores that share K send one another: the sums of each.
  int64_t PeerBytes(const PaddedBlock& block) const {
    return shares_k_ ? t_.block_b * block.rows * block.cols * 4 : 0;
  }
  int64_t Exchange(const PaddedBlock& block) const {
    const int64_t bytes = limits_.cores * PeerBytes(block);
    if (bytes == 0) return 0;
    return limits_.peer_latency_cycles +
           static_cast<int64_t>(bytes / limits_.peer_bytes_per_cycle);
  }

  // Between the first load and the last store, of steps of so many bundles.
  int64_t Between(int64_t bundles) const {
    const int64_t operands = traffic_.lhs_fetches * lhs_run_ +
                             traffic_.rhs_fetches * rhs_run_ +
                             traffic_.shared.bytes;
    const int64_t epilogue = traffic_.out_moves * traffic_.epilogue_bytes;
    // Cores that share K store the whole result each.
    const int64_t results =
        (shares_k_ ? limits_.cores : 1) * traffic_.out_moves * out_run_;
    // A fetch has the time of one step: the steps between two fetches do not
    // help. What an epilogue reads is fetched too. Beside it the step before is
    // stored.
    const bool reads = traffic_.epilogue_bytes > 0;
    const int64_t fetches = std::min(
        steps_,
        std::max({traffic_.lhs_fetches, traffic_.rhs_fetches,
                  traffic_.shared.fetches, reads ? traffic_.out_moves : 0}));
    const int64_t fetch_bytes =
        operands + epilogue + results / steps_ * fetches;
    const int64_t fetching =
        fetches > 1 ? fetches * limits_.hbm_latency_cycles + Dma(fetch_bytes)
                    : 0;
    const int64_t all = Dma(operands + epilogue + results);
    const int64_t step = bundles + limits_.step_cycles;
    const int64_t even = std::max(
        std::max(fetches * step, fetching) + (steps_ - fetches) * step, all);
    // Two slots carry little from the short steps to the long one.
    const int64_t of_dma = all / steps_;
    const int64_t longest = step + TurnCycles(p_, t_, machine_);
    return even + steps_ / t_.grid_n *
                      (std::max(longest, of_dma) - std::max(step, of_dma));
  }

 private:
  int64_t Dma(int64_t bytes) const {
    return static_cast<int64_t>(bytes / limits_.hbm_bytes_per_cycle);
  }

  const ProductProblem& p_;
  const ProductTile& t_;
  const ProductTraffic& traffic_;
  const isa::MachineModel& machine_;
  const ProductLimits& limits_;
  int64_t steps_ = 1, loaders_ = 1;
  bool shares_k_ = false;
  // Bytes of a block, with what short runs cost HBM.
  int64_t lhs_run_ = 0, rhs_run_ = 0, out_run_ = 0;
};

}  // namespace

ProductLimits ProductLimits::OfCompiler() const {
  ProductLimits wide = *this;
  wide.vmem_bytes = scoped_bytes;
  wide.step_bundles = kCompilersBundles * step_bundles;
  return wide;
}

std::string ProductTile::ToString() const {
  return absl::StrCat(
      "block ", block_b, "x", block_m, "x", block_n, "x", block_k, ", grid ",
      grid_b, "x", grid_m, "x", grid_n, "x", grid_k,
      b_inner   ? " (b inner)"
      : n_inner ? " (n inner)"
                : " (m inner)",
      ", MXUs over batch ", split_b, " n ", split_n, " m ", split_m);
}

ProductCost CostOf(const ProductProblem& p, const ProductTile& t,
                   const ArrayShape& a, const isa::MachineModel& machine,
                   const ProductLimits& limits) {
  const StepCycles step(p, t, a, machine);
  ProductCost c;
  c.step_bundles = step.Products() + step.Transposes();
  const int64_t conversions = step.Conversions(c.step_bundles);
  c.step_bundles += conversions + step.RowPass();
  const ProductTraffic traffic =
      ProductTraffic::Of(p, t, a, step.Accumulates());
  c.hbm_bytes = traffic.hbm_bytes;
  c.vmem_bytes = traffic.vmem_bytes;
  const GridTime time(p, t, traffic, machine, limits);
  const PaddedBlock block = PaddedBlock::Of(t, a);
  const int64_t exchange = time.Exchange(block);
  c.vmem_bytes += time.PeerBytes(block);
  const int64_t first = time.FirstLoad();
  const int64_t last = time.LastStore() + exchange;
  c.exposed = first + last;
  c.cycles = c.exposed + time.Between(c.step_bundles);
  if (limits.cores == 1) {
    const int64_t seen = SeesHbm(p) ? first + last : last;
    c.choice = time.Between(c.step_bundles) + seen / 2;
  } else {
    c.choice =
        first + time.Between(c.step_bundles - conversions / 2) + exchange;
  }
  return c;
}

}  // namespace ptxla::lowering
