#include "hlo_backend/lowering/products/window_cost.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/units.h"
#include "chips/compiler_policy.h"
#include "hlo_backend/lowering/products/product_traffic.h"

namespace ptxla::lowering {
namespace {

// Where K is cut, sums are loaded, added to and stored: so many cycles for each
// register of them, in every step that does not wait for transfers and in two
// at least.
constexpr double kAddCycles = 0.75;
// A weight tile takes at least this part of WindowRates::step, however few rows
// it meets: 128 of them on v6e and tpu7x (ASSUMED on others: 32).
constexpr double kTileOfStep = 1.0 / 32;
// Of a prologue, the vector work of this share of the matmuls' cycles is done
// beside them; the rest is added. DERIVED: libtpu 0.0.42.1's estimates of
// products on v6e behind relu, one and three multiplications and a norm are
// met within 0.1 % so.
constexpr double kHiddenPrologue = 0.25;

// How often each dimension of the grid is walked by one core.
struct Walk {
  int64_t b = 1, m = 1, n = 1, k = 1;
};

std::optional<Walk> WalkOf(const ProductProblem& p, const ProductTile& t,
                           int cores) {
  Walk walk = {t.grid_b, t.grid_m, t.grid_n, t.grid_k};
  if (cores == 1) return walk;
  const CoreShare share = CoreShare::Of(p.kept, t, cores);
  if (share.bound % cores != 0 && share.bound > 1) return std::nullopt;
  switch (share.axis) {
    case CoreShare::Axis::kNone:
      break;
    case CoreShare::Axis::kBatch:
      walk.b = CeilOfRatio<int64_t>(walk.b, cores);
      break;
    case CoreShare::Axis::kRows:
      walk.m = CeilOfRatio<int64_t>(walk.m, cores);
      break;
    case CoreShare::Axis::kColumns:
      walk.n = CeilOfRatio<int64_t>(walk.n, cores);
      break;
    case CoreShare::Axis::kDepth:
      walk.k = CeilOfRatio<int64_t>(walk.k, cores);
      break;
  }
  return walk;
}

// Bytes of a step's windows. Rows are the compiler's, which end with tiles
// of 8.
struct StepBytes {
  StepBytes(const ProductProblem& p, const ProductTile& t,
            const ArrayShape& a) {
    const ProductTraffic traffic = ProductTraffic::Of(p, t, a, false);
    const double rows = static_cast<double>(t.block_m) /
                        static_cast<double>(PaddedBlock::Of(t, a).rows);
    lhs = rows * static_cast<double>(traffic.lhs_bytes);
    rhs = static_cast<double>(traffic.rhs_bytes);
    out = rows * static_cast<double>(traffic.out_bytes);
    epilogue = rows * static_cast<double>(traffic.epilogue_bytes);
  }
  double lhs, rhs, out, epilogue;
};

// An operand has a copy of its window beside the slots, of 16 bits where it is
// wider, and weights that lie as [N, K] have another; a result has slots of
// f32, whatever is stored, and wherever.
double WantedBytes(const ProductProblem& p, const ProductTile& t,
                   const StepBytes& bytes, double elements) {
  const auto slots = [](bool moves) { return moves ? 2.0 : 1.0; };
  const auto copy = [](const ProductOperand& o, double window) {
    const double of_element = o.computed
                                  ? static_cast<double>(o.bytes_per_element)
                                  : hlo::BitWidth(o.type) / 8.0;
    return window * std::min(1.0, 2 / of_element);
  };
  const bool cut = t.grid_k > 1 || t.grid_b > 1;
  const double lhs =
      copy(p.lhs, bytes.lhs) +
      (p.lhs.resident ? 0 : slots(cut || t.grid_m > 1) * bytes.lhs);
  const double rhs =
      copy(p.rhs, bytes.rhs) * (p.rhs.transposed ? 2 : 1) +
      (p.rhs.resident ? 0 : slots(cut || t.grid_n > 1) * bytes.rhs);
  return lhs + rhs +
         slots(t.grid_b * t.grid_m * t.grid_n > 1) *
             (4 * elements + bytes.epilogue);
}

}  // namespace

std::optional<WindowRates> WindowRatesOf(const chips::ChipSpec& chip) {
  const auto bandwidth = chip.Policy("window_bandwidth");
  const auto load = chip.Policy("window_load");
  const auto store = chip.Policy("window_store");
  const auto step = chip.Policy("window_step");
  const auto bytes = chip.Policy("window_bytes");
  if (!bandwidth || !load || !store || !step || !bytes) return std::nullopt;
  const double hz = chip.core().clock.frequency().count();
  return WindowRates{*bandwidth / hz,
                     *load,
                     *store,
                     *step,
                     static_cast<double>(chip.slots().valu),
                     *bytes};
}

double WindowCost::PrologueCycles(const ProductTile& t) const {
  const auto cycles = [&](const ProductOperand& o, int64_t elements) {
    if (!o.computed) return 0.0;
    const double registers = static_cast<double>(elements) / 1024;
    return registers *
           std::max(static_cast<double>(o.operations) / rates_.vector_slots,
                    static_cast<double>(o.functions));
  };
  return cycles(p_.lhs, t.block_b * t.block_m * t.block_k) +
         cycles(p_.rhs, t.block_b * t.block_k * t.block_n);
}

std::optional<int64_t> WindowCost::Of(const ProductTile& t) const {
  const std::optional<Walk> walk = WalkOf(p_, t, cores_);
  if (!walk) return std::nullopt;
  const auto elements = static_cast<double>(t.block_b * t.block_m * t.block_n);
  if (elements * 4 > rates_.vmem_bytes) return std::nullopt;
  const StepBytes bytes(p_, t, a_);
  if (WantedBytes(p_, t, bytes, elements) > rates_.vmem_bytes) {
    return std::nullopt;
  }
  // The matmuls of a step.
  const auto tiles =
      static_cast<double>(t.block_b * CeilOfRatio<int64_t>(t.block_n, a_.size) *
                          CeilOfRatio<int64_t>(t.block_k, a_.size));
  const double of_tile =
      std::max(static_cast<double>(t.block_m * a_.interval) / a_.rows / a_.mxus,
               rates_.step * kTileOfStep);
  const double streamed = tiles * of_tile;
  const double matmuls =
      streamed + rates_.step +
      std::max(0.0, PrologueCycles(t) - kHiddenPrologue * streamed);
  const double adds = t.grid_k > 1 ? kAddCycles * elements / 1024 : 0;
  // What it stores, and fetches where blocks change.
  const auto transfer = [&](double of) { return of / rates_.bytes_per_cycle; };
  const double store =
      bytes.out == 0
          ? 0
          : rates_.store +
                transfer(bytes.out + 4 * elements * p_.narrow_results);
  const double read = transfer(bytes.epilogue);
  const auto load = [&](bool lhs, bool rhs) {
    lhs &= !p_.lhs.resident;
    rhs &= !p_.rhs.resident;
    // What is computed is fetched apart.
    const bool apart = lhs && rhs && (p_.lhs.computed || p_.rhs.computed);
    const int fetches = apart ? 2 : lhs || rhs ? 1 : 0;
    return fetches * rates_.load +
           transfer((lhs ? bytes.lhs : 0) + (rhs ? bytes.rhs : 0));
  };
  // Of changes of K, of the inner and of the outer dimension, of the batch.
  const bool k = walk->k > 1;
  const bool rows_inside = !t.n_inner;
  const int64_t inner = rows_inside ? walk->m : walk->n;
  const int64_t outer = rows_inside ? walk->n : walk->m;
  const double inner_load = rows_inside ? load(true, k) : load(k, true);
  const double outer_load =
      rows_inside ? load(inner > 1 || k, true) : load(true, inner > 1 || k);
  const std::array<std::pair<int64_t, double>, 4> changes = {{
      {walk->b * outer * inner * (walk->k - 1), load(true, true)},
      {walk->b * outer * (inner - 1), inner_load + read + store},
      {walk->b * (outer - 1), outer_load + read + store},
      {walk->b - 1, load(true, true) + read + store},
  }};
  double cycles = load(true, true) + read + matmuls + store;
  int64_t unseen = 0;  // transfers
  for (const auto& [times, transfers] : changes) {
    cycles += static_cast<double>(times) * std::max(matmuls, transfers);
    if (transfers <= matmuls) unseen += times;
  }
  cycles += adds * static_cast<double>(1 + std::max<int64_t>(1, unseen));
  return static_cast<int64_t>(cycles);
}

}  // namespace ptxla::lowering
