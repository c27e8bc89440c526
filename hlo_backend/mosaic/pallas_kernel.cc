#include "hlo_backend/mosaic/pallas_kernel.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/mosaic/bytecode_reader.h"
#include "hlo_backend/mosaic/index_math.h"
#include "hlo_backend/mosaic/known_divisors.h"
#include "hlo_backend/mosaic/operand_counts.h"

namespace ptxla::mosaic {
namespace {

// The text behind `"body":` of the call's configuration, a JSON object. Base64
// has no character that JSON would escape.
absl::StatusOr<std::string> BodyOf(absl::string_view config) {
  constexpr absl::string_view kKey = "\"body\"";
  const size_t key = config.find(kKey);
  if (key == absl::string_view::npos) {
    return absl::NotFoundError("the call carries no kernel");
  }
  const size_t open = config.find('"', key + kKey.size());
  const size_t close =
      open == absl::string_view::npos ? open : config.find('"', open + 1);
  std::string bytes;
  if (close == absl::string_view::npos ||
      !absl::Base64Unescape(config.substr(open + 1, close - open - 1),
                            &bytes)) {
    return absl::InvalidArgumentError("the kernel's body is not base64");
  }
  return bytes;
}

absl::Status Broken(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("Mosaic kernel: ", what));
}

// Elements of more than any memory has: sizes in bits stay far below 2^63.
bool IsTooLarge(absl::Span<const int64_t> dims) {
  constexpr double kMostElements = 1e12;
  double elements = 1;
  for (const int64_t d : dims) {
    elements *= std::max(1.0, std::abs(static_cast<double>(d)));
  }
  return elements > kMostElements;
}

absl::Status ReadGrid(PallasKernel* k) {
  if (const Attribute* bounds = k->function->Find("iteration_bounds")) {
    k->grid = bounds->integers;
  }
  for (const int64_t bound : k->grid) {
    if (bound != kDynamic && (bound < 1 || bound > (int64_t{1} << 31))) {
      return Broken("a grid bound is out of range");
    }
  }
  k->parallel.assign(k->grid.size(), false);
  if (const Attribute* semantics = k->function->Find("dimension_semantics")) {
    for (size_t d = 0; d < semantics->elements.size() && d < k->grid.size();
         ++d) {
      k->parallel[d] =
          absl::StrContains(semantics->elements[d]->text, "<parallel>");
    }
  }
  if (const Attribute* n = k->function->Find("scalar_prefetch")) {
    k->scalar_prefetch = n->integer;
  }
  return absl::OkStatus();
}

// Arguments of the body: grid indices, prefetched scalars, windows, scratch.
absl::Status ReadWindows(PallasKernel* k) {
  const std::vector<int>& arguments = k->body().arguments;
  const Attribute* scratch = k->function->Find("scratch_operands");
  const auto all = static_cast<int64_t>(arguments.size());
  const int64_t kept = scratch == nullptr ? 0 : scratch->integer;
  if (k->scalar_prefetch < 0 || k->scalar_prefetch > all || kept < 0 ||
      kept > all) {
    return Broken("more arguments are named than there are");
  }
  const int64_t first =
      static_cast<int64_t>(k->grid.size()) + k->scalar_prefetch;
  const int64_t last = all - kept;
  if (first > last) return Broken("more arguments are named than there are");
  const Attribute* parameters = k->function->Find("window_params");
  for (int64_t a = first; a < last; ++a) {
    PallasWindow w;
    w.type = k->module.values[arguments[a]];
    if (!w.type->IsMemRef()) return Broken("a window is not a memref");
    const size_t number = static_cast<size_t>(a - first);
    if (parameters != nullptr && number < parameters->elements.size()) {
      const Attribute& p = *parameters->elements[number];
      const Attribute* map = p.Find("transform_indices");
      const Attribute* block = p.Find("window_bounds");
      if (map != nullptr) w.map = k->module.Function(map->text);
      if (block != nullptr) w.block = block->integers;
    }
    if (IsTooLarge(w.type->dims) || IsTooLarge(w.block)) {
      return Broken("a window is larger than any memory");
    }
    k->windows.push_back(std::move(w));
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<std::optional<int64_t>> PallasWindow::BlockAt(
    const PallasKernel& kernel, const std::vector<int64_t>& index,
    ScalarMemory* memory) const {
  if (map == nullptr) return {};
  // The arguments of the map are the first of the body's.
  return Call(kernel.module, *map, {index.begin(), index.end()}, memory,
              kernel.body().arguments);
}

int64_t PallasKernel::BoundOf(int dimension) const {
  for (const PallasWindow& w : windows) {
    if (w.map == nullptr) continue;
    const Block& block = w.map->regions[0].blocks[0];
    // A load `memref.load %array, %index`, the index this dimension, cast.
    std::vector<int> same = {block.arguments[dimension]};
    for (const Operation& op : block.operations) {
      const bool follows =
          !op.operands.empty() && op.operands.back() == same.back();
      if (op.name == "arith.index_cast" && follows) {
        same.push_back(op.results[0]);
      } else if (op.name == "memref.load" && follows) {
        const Type& array = *module.values[op.operands[0]];
        if (array.dims.size() == 1) return array.dims[0];
      }
    }
  }
  return 0;
}

absl::StatusOr<PallasKernel> PallasKernelOf(absl::string_view backend_config) {
  ASSIGN_OR_RETURN(const std::string bytes, BodyOf(backend_config));
  PallasKernel k;
  ASSIGN_OR_RETURN(k.module, ReadBytecode(bytes));
  RETURN_IF_ERROR(CheckOperandCounts(k.module));
  RenameKnownDivisions(&k.module);
  const std::vector<const Operation*> functions = k.module.Functions();
  if (functions.empty()) return Broken("no function");
  k.function = functions[0];
  for (const Operation* f : functions) {
    if (f->regions.size() != 1 || f->regions[0].blocks.empty()) {
      return Broken("a function without a body");
    }
  }
  if (const Attribute* name = k.function->Find("sym_name")) {
    k.name = name->text;
  }
  RETURN_IF_ERROR(ReadGrid(&k));
  RETURN_IF_ERROR(ReadWindows(&k));
  for (const PallasWindow& w : k.windows) {
    if (w.map != nullptr &&
        w.map->regions[0].blocks[0].arguments.size() < k.grid.size()) {
      return Broken("an index map takes fewer indices than the grid has");
    }
  }
  return k;
}

}  // namespace ptxla::mosaic
