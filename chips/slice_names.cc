// "v5e-8" to a box of chips: names, shapes and the nearest legal ones.
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status.h"
#include "base/suggest.h"
#include "chips/topology.h"

namespace ptxla::chips {
namespace {

constexpr int kCube = 4;  // the edge that optical switches close into a torus

int Product(const std::vector<int>& shape) {
  int n = 1;
  for (int s : shape) n *= s;
  return n;
}

int UnitsPerChip(const ChipSpec& chip) {
  return chip.slices().unit() == TENSOR_CORES ? chip.core().cores_per_chip : 1;
}

std::optional<std::vector<int>> ParseShape(absl::string_view text) {
  std::vector<int> shape;
  for (absl::string_view part : absl::StrSplit(text, 'x')) {
    int size = 0;
    if (!absl::SimpleAtoi(part, &size) || size < 1) return std::nullopt;
    shape.push_back(size);
  }
  return shape;
}

// The most cubic box of `chips` chips made of whole cubes, sides ascending.
std::optional<std::vector<int>> CubeShape(const ChipSpec& chip, int chips) {
  const auto& pod = chip.slices().pod();
  const int cubes = chips / (kCube * kCube * kCube);
  if (chips <= 0 || chips % (kCube * kCube * kCube) != 0) return std::nullopt;
  std::optional<std::vector<int>> best;
  int best_sum = 0;
  for (int a = 1; a * a * a <= cubes; ++a) {
    if (cubes % a != 0) continue;
    for (int b = a; a * b * b <= cubes; ++b) {
      if ((cubes / a) % b != 0) continue;
      const int c = cubes / a / b;
      if (kCube * a > pod[0] || kCube * b > pod[1] || kCube * c > pod[2]) {
        continue;
      }
      if (!best || a + b + c < best_sum) {
        best = {kCube * a, kCube * b, kCube * c};
        best_sum = a + b + c;
      }
    }
  }
  return best;
}

std::optional<std::vector<int>> ShapeOfCount(const ChipSpec& chip, int count) {
  const int units = UnitsPerChip(chip);
  if (count % units != 0) return std::nullopt;
  for (const std::string& text : chip.slices().shape()) {
    std::optional<std::vector<int>> shape = ParseShape(text);
    if (shape && Product(*shape) == count / units) return shape;
  }
  if (chip.slices().wrap() == CUBES_OF_4) return CubeShape(chip, count / units);
  return std::nullopt;
}

absl::Status NoSuchSlice(const ChipSpec& chip, absl::string_view name,
                         int count) {
  std::string below, above;
  for (const std::vector<int>& shape : NamedShapes(chip)) {
    if (Product(shape) * UnitsPerChip(chip) < count) {
      below = SliceName(chip, shape);
    } else if (above.empty()) {
      above = SliceName(chip, shape);
    }
  }
  std::vector<std::string> nearest;
  if (!below.empty()) nearest.push_back(below);
  if (!above.empty()) nearest.push_back(above);
  return absl::InvalidArgumentError(absl::StrCat(
      "there is no slice \"", name, "\" of ", chip.title(), "; ",
      "nearest: ", absl::StrJoin(nearest, ", "), " (the number counts ",
      UnitsPerChip(chip) > 1 ? "TensorCores" : "chips",
      "; any box: ", chip.name(), ":", absl::StrJoin(chip.slices().pod(), "x"),
      " or smaller)"));
}

absl::StatusOr<ChipSpec> FindChip(absl::string_view prefix,
                                  const SliceOptions& options) {
  if (options.chip == nullptr) return ChipSpec::Load(prefix);
  for (const std::string& own : options.chip->slices().name_prefix()) {
    if (own == prefix) return *options.chip;
  }
  if (options.chip->name() == prefix) return *options.chip;
  auto chip = ChipSpec::Load(prefix);
  if (chip.ok()) return chip;
  std::vector<std::string> known = ChipSpec::Names();
  known.push_back(options.chip->name());
  return UnknownName("chip", prefix, known);
}

absl::StatusOr<std::vector<int>> BoxShape(const ChipSpec& chip,
                                          absl::string_view text) {
  std::optional<std::vector<int>> shape = ParseShape(text);
  const auto& pod = chip.slices().pod();
  if (!shape || shape->size() > static_cast<size_t>(pod.size())) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text, "\" is not a box of ", chip.title(),
                     ": expected sizes as in ", absl::StrJoin(pod, "x")));
  }
  while (shape->size() < static_cast<size_t>(pod.size())) shape->push_back(1);
  std::vector<int> sorted = *shape;
  std::vector<int> largest(pod.begin(), pod.end());
  std::sort(sorted.begin(), sorted.end());
  std::sort(largest.begin(), largest.end());
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] > largest[i]) {
      return absl::InvalidArgumentError(
          absl::StrCat("a box ", text, " does not fit into the pod of ",
                       chip.title(), ", ", absl::StrJoin(pod, "x"), " chips"));
    }
  }
  return *shape;
}

}  // namespace

std::vector<std::vector<int>> NamedShapes(const ChipSpec& chip) {
  std::vector<std::vector<int>> shapes;
  for (const std::string& text : chip.slices().shape()) {
    if (std::optional<std::vector<int>> shape = ParseShape(text)) {
      shapes.push_back(*std::move(shape));
    }
  }
  if (chip.slices().wrap() == CUBES_OF_4) {
    const int cube = kCube * kCube * kCube;
    const std::vector<int> pod(chip.slices().pod().begin(),
                               chip.slices().pod().end());
    for (int chips = cube; chips <= Product(pod); chips += cube) {
      if (auto shape = CubeShape(chip, chips)) shapes.push_back(*shape);
    }
  }
  return shapes;
}

std::string SliceName(const ChipSpec& chip, const std::vector<int>& shape) {
  const std::string prefix = chip.slices().name_prefix_size() > 0
                                 ? chip.slices().name_prefix(0)
                                 : chip.name();
  return absl::StrCat(prefix, "-", Product(shape) * UnitsPerChip(chip));
}

absl::StatusOr<Slice> ParseSlice(absl::string_view name,
                                 const SliceOptions& options) {
  absl::string_view rest = name;
  int num_slices = 1;
  const size_t x = rest.find('x');
  if (int n = 0; x != absl::string_view::npos && x > 0 &&
                 absl::SimpleAtoi(rest.substr(0, x), &n)) {
    if (n < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", name, "\": a number of slices is at least 1"));
    }
    num_slices = n;
    rest.remove_prefix(x + 1);
  }
  const size_t colon = rest.find(':');
  const size_t dash = rest.rfind('-');
  Slice slice;
  std::vector<int> shape;
  if (colon != absl::string_view::npos) {
    ASSIGN_OR_RETURN(slice.chip, FindChip(rest.substr(0, colon), options));
    ASSIGN_OR_RETURN(shape, BoxShape(slice.chip, rest.substr(colon + 1)));
  } else if (dash != absl::string_view::npos) {
    int count = 0;
    ASSIGN_OR_RETURN(slice.chip, FindChip(rest.substr(0, dash), options));
    if (!absl::SimpleAtoi(rest.substr(dash + 1), &count) || count < 1) {
      return absl::InvalidArgumentError(absl::StrCat(
          "\"", name, "\": expected a number after the dash, as in \"",
          rest.substr(0, dash), "-8\""));
    }
    std::optional<std::vector<int>> found = ShapeOfCount(slice.chip, count);
    if (!found && count == 1) {
      found = std::vector<int>(slice.chip.slices().pod_size(), 1);
    }
    if (!found) return NoSuchSlice(slice.chip, name, count);
    shape = *std::move(found);
  } else {
    ASSIGN_OR_RETURN(slice.chip, FindChip(rest, options));
    shape.assign(std::max(1, slice.chip.slices().pod_size()), 1);
  }
  const CoreSpec& core = slice.chip.core();
  int cores = options.cores_per_chip;
  if (cores < 0 || cores > core.cores_per_chip) {
    return absl::InvalidArgumentError(
        absl::StrCat("--cores-per-chip=", cores, ": a chip of ",
                     slice.chip.title(), " has ", core.cores_per_chip));
  }
  int devices = slice.chip.devices_per_chip();
  if (cores == 0) {
    cores = core.cores_per_chip;
  } else if (cores < devices) {
    devices = cores;
  }
  slice.chip.UseCores(cores / devices);
  const int chips = Product(shape);
  const HostLinkSpec& host = slice.chip.host_link();
  slice.topology = Topology(
      std::string(name), AxesOfBox(slice.chip, shape), num_slices, cores,
      devices,
      chips <= host.chips_per_host_single ? chips : host.chips_per_host_multi);
  return slice;
}

}  // namespace ptxla::chips
