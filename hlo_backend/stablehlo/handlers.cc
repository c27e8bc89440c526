// The table of all operations.
#include "hlo_backend/stablehlo/converter.h"

namespace ptxla::hlo::mlir {

Handler FindHandler(absl::string_view name) {
  using Table = absl::flat_hash_map<absl::string_view, Handler>;
  static const Table& table = *[] {
    auto* t = new Table;
    for (auto rows :
         {ElementwiseHandlers(), MovementHandlers(), ProductHandlers(),
          ReductionHandlers(), ControlHandlers(), CollectiveHandlers()}) {
      for (const auto& [key, handler] : rows) t->emplace(key, handler);
    }
    return t;
  }();
  auto it = table.find(name);
  return it == table.end() ? nullptr : it->second;
}

}  // namespace ptxla::hlo::mlir
