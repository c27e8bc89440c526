#include "hlo_backend/lowering/products/fastest_product.h"

#include <optional>
#include <utility>

#include "absl/status/status.h"

namespace ptxla::lowering {
namespace {

// Where no pace fits the registers, so many of the runners-up are tried.
constexpr size_t kOtherTiles = 4;

// A step whose code takes so much longer than the choice of tiles expected says
// that the next best tiles may be better; so many of them are tried.
constexpr double kSlow = 1.25;
constexpr size_t kSlowTiles = 3;

using Make = std::function<ProductTrial(const EpiloguePace&, size_t)>;

void KeepFaster(ProductTrial next, ProductTrial* best) {
  if (next.kernel.ok() ? !best->kernel.ok() || next.step < best->step
                       : !best->kernel.ok()) {
    *best = std::move(next);
  }
}

// One choice of tiles. Unless the first pace fits, the fastest is taken; code
// that issues one instruction after another is never faster than the rest.
ProductTrial FastestPace(absl::Span<const EpiloguePace> paces, size_t choice,
                         const Make& make) {
  ProductTrial best;
  for (size_t n = 0; n < paces.size(); ++n) {
    KeepFaster(make(paces[n], choice), &best);
    const bool in_order_next = n + 1 < paces.size() && paces[n + 1].in_order;
    if (!absl::IsResourceExhausted(best.kernel.status()) &&
        (n == 0 || in_order_next || paces[n].in_order)) {
      break;
    }
  }
  return best;
}

// Some choice from this one on may take less.
bool MayBeFaster(size_t choice, int64_t cycles,
                 absl::FunctionRef<int64_t(size_t)> least) {
  for (; choice <= kOtherTiles; ++choice) {
    if (least(choice) < cycles) return true;
  }
  return false;
}

}  // namespace

bool ProductTrial::IsSlow() const {
  return static_cast<double>(step) > kSlow * static_cast<double>(expected);
}

ProductTrial FastestProduct(absl::Span<const EpiloguePace> paces,
                            const chips::ChipSpec& chip, const Make& make,
                            absl::FunctionRef<int64_t(size_t)> least) {
  ProductTrial best;
  size_t best_choice = 0, slow = 0;
  for (size_t choice = 0; choice <= kOtherTiles && slow <= kSlowTiles;
       ++choice) {
    if (best.kernel.ok()) {
      if (!MayBeFaster(choice, best.cycles, least)) break;
      if (least(choice) >= best.cycles) {
        ++slow;
        continue;
      }
    }
    ProductTrial next = FastestPace(paces, choice, make);
    const bool exhausted = absl::IsResourceExhausted(next.kernel.status());
    const bool fits = next.kernel.ok(), is_slow = next.IsSlow();
    if (fits ? !best.kernel.ok() || next.cycles < best.cycles
             : !best.kernel.ok()) {
      best = std::move(next);
      best_choice = choice;
    }
    if (exhausted) continue;
    if (!fits || !is_slow) break;
    ++slow;
  }
  if (best.kernel.ok() && best.IsSlow() && best.waits) {
    // Long formulas hold so many registers that one runs at a time, and its
    // chains wait where they were written one after another. In the order of a
    // schedule of their own (block_order.h) they may hold a share of them.
    for (const char* policy : {"ordered_share", "ordered_share_tight"}) {
      const std::optional<double> share = chip.Policy(policy);
      if (!share.has_value()) continue;
      EpiloguePace ordered = paces[0];
      ordered.share = *share;
      ordered.in_order = true;
      KeepFaster(make(ordered, best_choice), &best);
    }
  }
  return best;
}

}  // namespace ptxla::lowering
