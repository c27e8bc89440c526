#include "hlo_backend/lowering/products/product_tiling.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/units.h"
#include "hlo_backend/lowering/products/product_runs.h"
#include "hlo_backend/lowering/products/product_visits.h"

namespace ptxla::lowering {
namespace {

int64_t BytesOf(const ProductOperand& o, int64_t elements) {
  return o.computed ? elements * o.bytes_per_element
                    : elements * hlo::BitWidth(o.type) / 8;
}

// That make a register of 16 rows of one batch member out of two of two.
constexpr double kGatherOperations = 3;

bool Converts(const ProductOperand& o) { return o.computed || o.slow; }

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

// Batch members of an operand's block: in rows of tiles they come by 8.
int64_t Members(const ProductProblem& p, const ProductOperand& o,
                const ProductTile& t) {
  const int64_t planes = std::max<int64_t>(1, t.block_b / o.shared_by);
  if (!o.gathered) return planes;
  const int64_t of_tile = std::min(planes, p.members);
  return planes / of_tile * RoundUpTo<int64_t>(of_tile, 8);
}

// Steps along the batch that fetch an operand, of which `own` blocks lie along
// the other dimension: steps of members that share one follow one another.
int64_t BatchFetches(const ProductOperand& o, const ProductTile& t,
                     int64_t own) {
  const bool stays = o.shared_by > t.block_b && own == 1 && t.grid_k == 1;
  return stays ? CeilOfRatio(t.grid_b * t.block_b, o.shared_by) : t.grid_b;
}

// Of a register of 16 rows.
int64_t LoadsOf(const ProductOperand& o) {
  return o.gathered || o.type == hlo::PrimitiveType::kF32 ? 2 : 1;
}

// How often the windows of an operand are fetched over the grid of a batch
// member, in `own` blocks: once each where the dimension that it does not
// depend on, of `other` steps, is walked inside of its own. `changes`: every
// step has another member.
int64_t Fetches(int64_t own, int64_t other, bool other_is_inner, int64_t grid_k,
                bool changes) {
  const bool stays = (other_is_inner || own == 1) && grid_k == 1 && !changes;
  return own * grid_k * (stays ? 1 : other);
}

// What an epilogue reads for several members at once.
struct SharedReads {
  int64_t fetches = 0;                // of the window that moves most often
  int64_t bytes = 0, vmem_bytes = 0;  // of all
};

SharedReads SharedReadsOf(const ProductProblem& p, const ProductTile& t,
                          int64_t elements) {
  SharedReads reads;
  const int64_t blocks = t.grid_m * t.grid_n;
  for (const SharedTiles& shared : p.shared_tiles) {
    const int64_t bytes =
        shared.members.Planes(t.block_b) * elements * shared.bytes_per_element;
    const int64_t along_b = shared.members.Moves(t.block_b, t.grid_b);
    const bool stays = t.b_inner || blocks == 1;
    const int64_t fetches = blocks * (stays ? along_b : t.grid_b);
    reads.fetches = std::max(reads.fetches, fetches);
    reads.bytes += fetches * bytes;
    reads.vmem_bytes += (fetches > 1 ? 2 : 1) * bytes;
  }
  return reads;
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

}  // namespace

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
  const VisitPlan v = PlanVisits(p, t, a);
  const int64_t rows = RoundUpTo<int64_t>(t.block_m, a.unit);
  const int64_t cols = RoundUpTo<int64_t>(t.block_n, 128);
  const int64_t depth = RoundUpTo<int64_t>(t.block_k, 128);
  const int64_t lhs_bytes = BytesOf(p.lhs, Members(p, p.lhs, t) * rows * depth);
  const int64_t rhs_bytes = BytesOf(p.rhs, Members(p, p.rhs, t) * depth * cols);
  const int64_t out_bytes = t.block_b * rows * cols * p.out_bytes_per_element;
  const int64_t epilogue_bytes =
      t.block_b * rows * cols * p.epilogue_bytes_per_element;

  // Cycles of a visit: the resource that takes longest.
  const int64_t mxus = t.split_b * t.split_n * t.split_m;  // that work
  const int64_t matmul = v.groups * v.group_cycles;
  const int64_t push = v.push_cycles;
  const bool accumulates = v.k_visits * t.grid_k > 1;
  const int64_t results = v.groups * v.results * mxus;
  const int64_t lhs_sources = t.split_n == mxus ? 1 : mxus / t.split_n;
  const int64_t push_loads = v.pushes * mxus /
                             (t.split_b * t.split_n == mxus ? 1 : t.split_m) *
                             (a.size / 128) * LoadsOf(p.rhs);
  const int64_t loads = v.groups * v.lhs_vregs * lhs_sources *
                            (p.lhs.gathered ? LoadsOf(p.lhs) : 1) +
                        push_loads + (accumulates ? results : 0);
  const int64_t stores = results;
  const int64_t halves = v.tile_k == 256 || v.form == WeightForm::kTwoRows;
  const auto row_operations = static_cast<int64_t>(
      static_cast<double>(v.groups * lhs_sources * (1 + halves)) *
      RowOperations(p.lhs, p, a, true));
  const int64_t adds = (accumulates ? results : 0) +
                       (ConvertsSums(p) ? results : 0) + row_operations;
  const auto slot_cycles = [&](int64_t uses, isa::Slot slot) {
    return CeilOfRatio<int64_t>(uses, std::max(1, machine.Slots(slot)));
  };
  const int64_t visit =
      std::max({matmul, push, slot_cycles(loads, isa::Slot::kLoad),
                slot_cycles(stores, isa::Slot::kStore),
                slot_cycles(adds, isa::Slot::kVector),
                slot_cycles(results, isa::Slot::kPop)});
  const int64_t last_visit = std::max(
      {visit, slot_cycles(results * (1 + p.epilogue_ops), isa::Slot::kVector),
       slot_cycles(results * p.epilogue_functions, isa::Slot::kEup)});
  ProductCost c;
  // The epilogue comes with the last visit of K in the last of grid_k steps, or
  // under the visits that follow: then only the last columns' adds to them.
  const int64_t plain = v.macros * v.k_visits * visit;
  const int64_t finishing =
      PutsOffEpilogue(p, v, mxus, machine)
          ? std::max(plain, (v.macros - 1) * last_visit) + last_visit
          : plain + v.macros * (last_visit - visit);
  c.step_bundles =
      ((t.grid_k - 1) * plain + finishing) / t.grid_k + push + a.latency;
  if (p.lhs.transposed) {
    // 16 rows of 128 lanes enter the XLU in one push, under the products of the
    // first columns (stream_transposes.h), which wait for the first tile. A
    // block of the LHS is transposed once if it stays while N is walked.
    const int64_t interval =
        machine.Interval(isa::IntervalKey::kXluTransposeB16);
    const int64_t units = std::max(1, machine.xlus);
    const int64_t lanes = RoundUpTo<int64_t>(t.block_m, isa::kLanes);
    const int64_t tiles = t.block_b * lanes * depth / (128 * 128);
    const int64_t turns = CeilOfRatio(tiles, units);
    // Values per row of the weights go through the XLUs too.
    const int64_t values =
        p.rhs.row_entries * t.block_b * (p.rhs.transposed ? cols : depth) / 8;
    const int64_t xlu_cycles =
        turns * 8 * interval +
        CeilOfRatio(values, units) * machine.Interval(isa::IntervalKey::kXlu);
    const int64_t k_rows = RoundUpTo<int64_t>(std::min(t.block_k, p.k), 16);
    const int64_t conversions =
        slot_cycles(t.block_b * lanes * k_rows / 1024 * OperationsOf(p.lhs),
                    isa::Slot::kVector);
    const int64_t under = v.macros_b * v.k_visits * visit;
    const int64_t transpose =
        std::max<int64_t>(0, std::max(xlu_cycles, conversions) - under) +
        machine.Latency(isa::LatencyKey::kXluTransposeB16) + 8 * interval;
    c.step_bundles +=
        t.n_inner && t.grid_k == 1 ? transpose / t.grid_n + 1 : transpose;
  }

  // Slow conversions run under the matmuls, except of a block that several
  // steps use.
  const int64_t lhs_work =
      p.lhs.transposed ? 0 : ConversionWork(p.lhs, t.block_b * rows * depth);
  const int64_t rhs_work = ConversionWork(p.rhs, t.block_b * depth * cols);
  const int64_t unconverted = c.step_bundles;
  if (lhs_work + rhs_work > 0) {
    // Cores that share the dimension that a block stays for start in the
    // middle of it.
    const bool lhs_stays =
        t.n_inner && t.grid_k == 1 && t.grid_n > 1 && t.grid_b * t.grid_m > 1;
    const bool rhs_stays =
        !t.n_inner && t.grid_k == 1 && t.grid_m > 1 && t.grid_b * t.grid_n > 1;
    const int64_t tiles = t.block_b * rows * cols / 1024;
    const int64_t work = (lhs_stays ? 0 : lhs_work) +
                         (rhs_stays ? 0 : rhs_work) +
                         tiles * (v.k_visits - 1 + p.epilogue_ops);
    const int64_t functions =
        (lhs_stays ? 0 : FunctionWork(p.lhs, t.block_b * rows * depth)) +
        (rhs_stays ? 0 : FunctionWork(p.rhs, t.block_b * depth * cols)) +
        tiles * p.epilogue_functions;
    c.step_bundles =
        std::max(c.step_bundles,
                 std::max(slot_cycles(work, isa::Slot::kVector),
                          slot_cycles(functions, isa::Slot::kEup)) +
                     a.latency) +
        (lhs_stays ? slot_cycles(lhs_work, isa::Slot::kVector) / t.grid_n : 0) +
        (rhs_stays ? slot_cycles(rhs_work, isa::Slot::kVector) / t.grid_m : 0);
  }
  const int64_t conversions = c.step_bundles - unconverted;
  // A pass over the rows of the block comes after the stream.
  const int64_t registers = t.block_b * rows * cols / 1024;
  const int64_t row_pass =
      static_cast<int64_t>(p.row_cycles * static_cast<double>(registers));
  c.step_bundles += t.grid_k > 1 ? row_pass / t.grid_k : row_pass;

  const bool changes = t.b_inner && t.grid_b > 1;
  const int64_t lhs_fetches =
      p.lhs.resident
          ? 0
          : BatchFetches(p.lhs, t, t.grid_m) *
                Fetches(t.grid_m, t.grid_n, t.n_inner, t.grid_k, changes);
  const int64_t rhs_fetches =
      p.rhs.resident
          ? 0
          : BatchFetches(p.rhs, t, t.grid_n) *
                Fetches(t.grid_n, t.grid_m, !t.n_inner, t.grid_k, changes);
  const int64_t out_moves = t.grid_b * t.grid_m * t.grid_n;
  const SharedReads shared = SharedReadsOf(p, t, rows * cols);
  c.hbm_bytes = lhs_fetches * lhs_bytes + rhs_fetches * rhs_bytes +
                out_moves * (out_bytes + epilogue_bytes) + shared.bytes;
  const auto slots = [](int64_t moves) { return moves > 1 ? 2 : 1; };
  const int64_t mxu_bytes = a.bf16 ? 2 : 4;
  // f32 values that further passes split stay f32 when they are transposed.
  const int64_t turned_bytes = p.passes.size() > 1 ? 4 : mxu_bytes;
  c.vmem_bytes =
      (p.lhs.resident ? 0 : slots(lhs_fetches) * lhs_bytes) +
      (p.rhs.resident ? 0 : slots(rhs_fetches) * rhs_bytes) +
      slots(out_moves) * (out_bytes + epilogue_bytes) + shared.vmem_bytes +
      (accumulates ? t.block_b * rows * cols * 4 : 0) +
      p.row_planes * registers * isa::kVregBytes +
      p.row_results * t.block_b * CeilOfRatio<int64_t>(rows, 8) *
          isa::kVregBytes +
      p.column_results * t.block_b * (cols / isa::kLanes) * isa::kVregBytes +
      p.epilogue_whole_bytes +
      (p.lhs.transposed ? t.block_b * rows * depth * turned_bytes : 0) +
      (Converts(p.lhs) && !p.lhs.transposed
           ? t.block_b * rows * depth * mxu_bytes
           : 0) +
      (Converts(p.rhs) ? t.block_b * depth * cols * mxu_bytes : 0) +
      p.lhs.whole_bytes + p.rhs.whole_bytes +
      p.lhs.row_entries * t.block_b * (p.lhs.transposed ? depth : rows) / 8 *
          isa::kVregBytes +
      p.rhs.row_entries * t.block_b * (p.rhs.transposed ? cols : depth) / 8 *
          isa::kVregBytes;

  const int64_t split = CoreShare::Of(p.kept, t, limits.cores).bound;
  const int64_t steps =
      t.Steps() / split * CeilOfRatio<int64_t>(split, limits.cores);
  const auto dma = [&](int64_t bytes) {
    return static_cast<int64_t>(bytes / limits.hbm_bytes_per_cycle);
  };
  const int64_t lhs_run = LhsInRuns(lhs_bytes, p, t, limits);
  const int64_t rhs_run = RhsInRuns(rhs_bytes, p, t, limits);
  const int64_t out_run = ResultInRuns(out_bytes, p, t, limits);
  const int64_t run_bytes = lhs_fetches * lhs_run + rhs_fetches * rhs_run +
                            out_moves * (out_run + epilogue_bytes) +
                            shared.bytes;
  // Cores load and store at the same time, also what all of them load.
  const int64_t loaders = std::min<int64_t>(split, limits.cores);
  const int64_t first = loaders * dma((lhs_fetches > 0 ? lhs_run : 0) +
                                      (rhs_fetches > 0 ? rhs_run : 0)) +
                        limits.hbm_latency_cycles;
  const int64_t last = loaders * dma(out_run) + limits.hbm_latency_cycles;
  // A fetch has the time of one step: the steps between two fetches do not
  // help. What an epilogue reads is fetched too. Beside it the step before is
  // stored.
  const bool reads = epilogue_bytes > 0;
  const int64_t fetches =
      std::min(steps, std::max({lhs_fetches, rhs_fetches, shared.fetches,
                                reads ? out_moves : 0}));
  const int64_t fetch_bytes = lhs_fetches * lhs_run + rhs_fetches * rhs_run +
                              (reads ? out_moves * epilogue_bytes : 0) +
                              shared.bytes +
                              out_moves * out_run / steps * fetches;
  const int64_t fetching =
      fetches > 1 ? fetches * limits.hbm_latency_cycles + dma(fetch_bytes) : 0;
  // Between the first load and the last store, of steps of so many bundles.
  const auto inside = [&](int64_t bundles) {
    const int64_t step = bundles + limits.step_cycles;
    const int64_t even =
        std::max(std::max(fetches * step, fetching) + (steps - fetches) * step,
                 dma(run_bytes));
    // Two slots carry little from the short steps to the long one.
    const int64_t of_dma = dma(run_bytes) / steps;
    const int64_t longest = step + TurnCycles(p, t, machine);
    return even + steps / t.grid_n *
                      (std::max(longest, of_dma) - std::max(step, of_dma));
  };
  c.exposed = first + last;
  c.cycles = c.exposed + inside(c.step_bundles);
  if (limits.cores == 1) {
    const int64_t seen = SeesHbm(p) ? first + last : last;
    c.choice = inside(c.step_bundles) + seen / 2;
  } else {
    c.choice = first + inside(c.step_bundles - conversions / 2);
  }
  return c;
}

}  // namespace ptxla::lowering
