#include "hlo_backend/analysis/window_config.h"

#include <algorithm>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "base/units.h"
#include "hlo_backend/analysis/tiled_layout.h"

namespace ptxla::hlo {
namespace {

// "name":["1","32"] as numbers; empty if it is not there, or is something else.
std::vector<int64_t> ListOf(absl::string_view config, absl::string_view name) {
  const std::string key = absl::StrCat("\"", name, "\":[");
  const size_t at = config.find(key);
  if (at == absl::string_view::npos) return {};
  config.remove_prefix(at + key.size());
  const size_t end = config.find(']');
  if (end == absl::string_view::npos) return {};
  std::vector<int64_t> list;
  for (absl::string_view item : absl::StrSplit(config.substr(0, end), ',')) {
    int64_t number = 0;
    if (!absl::ConsumePrefix(&item, "\"") ||
        !absl::ConsumeSuffix(&item, "\"") || !absl::SimpleAtoi(item, &number) ||
        number < 1) {
      return {};
    }
    list.push_back(number);
  }
  return list;
}

}  // namespace

int64_t WindowConfig::Steps() const {
  int64_t steps = 1;
  for (const int64_t bound : iterations) steps *= bound;
  return steps;
}

std::optional<WindowConfig> WindowConfigOf(const Instruction& instruction) {
  absl::string_view config = instruction.backend_config();
  const size_t at = config.find("\"window_config\":{");
  if (at == absl::string_view::npos) return std::nullopt;
  config.remove_prefix(at);
  WindowConfig result;
  result.output = ListOf(config, "output_window_bounds");
  result.iterations = ListOf(config, "iteration_bounds");
  if (result.output.empty() || result.iterations.empty()) return std::nullopt;
  return result;
}

std::optional<ProductWindows> WindowsOfProduct(
    const WindowConfig& config, const std::vector<int64_t>& extents) {
  const size_t rank = extents.size();
  std::vector<int64_t> window = config.output;
  // The compiler's own result may have dimensions of size 1 in front.
  while (window.size() > rank && window.front() == 1) {
    window.erase(window.begin());
  }
  if (rank < 2 || window.size() != rank) return std::nullopt;
  ProductWindows result;
  int64_t steps = 1;
  bool cut = false;  // an outer dimension is: inner ones must be whole
  for (size_t d = 0; d < rank; ++d) {
    const int64_t unit = d + 1 == rank ? kLanes : d + 2 == rank ? kTileRows : 1;
    const int64_t tiles = CeilOfRatio(extents[d], unit);
    const int64_t of_step = std::min(window[d], tiles);
    steps *= CeilOfRatio(tiles, of_step);
    if (d + 1 == rank) {
      result.columns = of_step * unit;
    } else if (d + 2 == rank) {
      result.rows = of_step * unit;
    } else {
      if (cut && of_step < tiles) return std::nullopt;
      if (tiles % of_step != 0) return std::nullopt;
      cut = cut || of_step > 1;
      result.planes *= of_step;
    }
  }
  if (config.Steps() % steps != 0) return std::nullopt;
  result.k_steps = config.Steps() / steps;
  return result;
}

}  // namespace ptxla::hlo
