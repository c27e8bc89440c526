#include "isa/index_tables.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"

namespace ptxla::isa {

absl::Status CheckTable(const Kernel& kernel, const WindowDim& dim) {
  if (dim.table.empty()) {
    if (dim.table_arg < 0) return absl::OkStatus();
    return absl::InternalError("a table on data without assumed entries");
  }
  if (dim.grid_dim < 0) return absl::InternalError("a table that never moves");
  const int64_t entries =
      CeilOfRatio(kernel.grid[dim.grid_dim], dim.grid_divisor);
  if (static_cast<int64_t>(dim.table.size()) != entries) {
    return absl::InternalError(absl::StrCat("a table of ", dim.table.size(),
                                            " entries, not ", entries));
  }
  if (dim.table_arg >= static_cast<int>(kernel.args.size()) ||
      (dim.table_arg >= 0 &&
       kernel.args[dim.table_arg].bytes < entries * int64_t{4})) {
    return absl::InternalError("its table's argument is too short");
  }
  for (const int64_t block : dim.table) {
    if (block < 0 || dim.origin + block * dim.Advance() >= dim.extent) {
      return absl::InternalError(
          absl::StrCat("its table names block ", block, ", which is outside"));
    }
  }
  return absl::OkStatus();
}

bool HasDataTables(const Kernel& kernel) {
  for (const Window& w : kernel.windows) {
    for (const WindowDim& dim : w.dims) {
      if (dim.table_arg >= 0) return true;
    }
  }
  return false;
}

absl::Status ReadTables(absl::Span<const ArgMemory> args,
                        absl::Span<const uint8_t> vmem,
                        absl::Span<const uint8_t> smem, Kernel* kernel) {
  for (Window& w : kernel->windows) {
    for (WindowDim& dim : w.dims) {
      if (dim.table_arg < 0) continue;
      const ArgMemory& arg = args[dim.table_arg];
      const Space space = kernel->args[dim.table_arg].space;
      absl::Span<const uint8_t> bytes = arg.bytes;
      if (space == Space::kVmem) bytes = vmem.subspan(arg.address);
      if (space == Space::kSmem) bytes = smem.subspan(arg.address);
      for (size_t i = 0; i < dim.table.size(); ++i) {
        int32_t entry;
        std::memcpy(&entry, bytes.data() + 4 * i, sizeof(entry));
        dim.table[i] = entry;
      }
      RETURN_IF_ERROR(CheckTable(*kernel, dim)) << "from arg" << dim.table_arg;
    }
  }
  return absl::OkStatus();
}

}  // namespace ptxla::isa
