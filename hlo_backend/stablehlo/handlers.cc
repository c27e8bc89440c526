// The table of all operations.
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "hlo_backend/stablehlo/converter.h"

namespace ptxla::hlo::mlir {

Handler FindHandler(absl::string_view name) {
  using Table = absl::flat_hash_map<absl::string_view, Handler>;
  static const Table& table = *[] {
    auto* t = new Table;
    for (auto rows : {ElementwiseHandlers(), MovementHandlers(),
                      ProductHandlers(), ReductionHandlers(), ControlHandlers(),
                      CollectiveHandlers(), TransferHandlers(), ChloHandlers(),
                      OtherDialectHandlers(), QuantizedHandlers()}) {
      for (const auto& [key, handler] : rows) t->emplace(key, handler);
    }
    return t;
  }();
  auto it = table.find(name);
  if (it != table.end()) return it->second;
  // What "mhlo." had and StableHLO left to chlo: mhlo.asin.
  if (!absl::StartsWith(name, "stablehlo.")) return nullptr;
  it = table.find(absl::StrCat("chlo.", name.substr(10)));
  return it == table.end() ? nullptr : it->second;
}

}  // namespace ptxla::hlo::mlir
