#include "hlo_backend/lowering/pooling/tap_groups.h"

#include <algorithm>

namespace ptxla::lowering {
namespace {

// A register each; the planes that they meet need twice as many or more, of 64
// that there are (ASSUMED: all of 3x3, two rows of 5x5, one of 7x7).
constexpr int64_t kMostTaps = 12;

std::vector<TapSpan> Cut(int64_t taps, int64_t most) {
  std::vector<TapSpan> spans;
  for (int64_t first = 0; first < taps; first += most) {
    spans.push_back({first, std::min(most, taps - first)});
  }
  return spans;
}

}  // namespace

int64_t TapGroup::Count() const {
  int64_t count = last.count;
  for (const TapSpan& span : outer) count *= span.count;
  return count;
}

std::vector<TapGroup> GroupTaps(const std::vector<WindowAxis>& axes) {
  std::vector<TapGroup> groups = {{}};
  int64_t room = kMostTaps;
  for (size_t a = axes.size(); a-- > 0;) {
    std::vector<TapGroup> cut;
    const int64_t most = std::min(axes[a].taps, std::max<int64_t>(room, 1));
    for (const TapSpan& span : Cut(axes[a].taps, most)) {
      for (TapGroup group : groups) {
        if (a + 1 == axes.size()) {
          group.last = span;
        } else {
          group.outer.insert(group.outer.begin(), span);
        }
        cut.push_back(group);
      }
    }
    groups = std::move(cut);
    room /= most;
  }
  return groups;
}

bool Meets(const TapRun& run, const TapSpan& taps) {
  return std::any_of(run.numbers.begin(), run.numbers.end(),
                     [&](int64_t tap) { return taps.Has(tap); });
}

}  // namespace ptxla::lowering
