#include "isa/vmem_banks.h"

namespace ptxla::isa {

uint64_t LoadBanks(Opcode op, int64_t address, int64_t stride, int group,
                   int banks) {
  uint64_t result = 0;
  const int rows = op == Opcode::kVldBcast   ? 1
                   : op == Opcode::kVldPairs ? kSublanes / 2
                                             : kSublanes;
  const bool strided = op == Opcode::kVldStr;
  if ((banks & (banks - 1)) == 0 && address % kRowBytes == 0 &&
      (!strided || stride % kRowBytes == 0)) {
    // Nearly all loads: whole rows and a power of two, no division.
    const int64_t first = address / kRowBytes;
    const int64_t step = stride / kRowBytes;
    for (int s = 0; s < rows; ++s) {
      const int64_t row = strided ? s / group * step + s % group : s;
      result |= uint64_t{1} << ((first + row) & (banks - 1));
    }
    return result;
  }
  for (int s = 0; s < rows; ++s) {
    int64_t at = address + int64_t{s} * kRowBytes;
    if (op == Opcode::kVldStr) {
      at = address + s / group * stride + int64_t{s % group} * kRowBytes;
    }
    const int64_t bank = at / kRowBytes % banks;
    result |= uint64_t{1} << (bank < 0 ? bank + banks : bank);
  }
  return result;
}

std::optional<int64_t> ResidentBankOffset(const Window& window, int64_t cycle) {
  int64_t offset = window.hbm_offset;
  for (const WindowDim& dim : window.dims) {
    offset += dim.origin * dim.hbm_stride;
    if (dim.grid_dim >= 0 && dim.Advance() * dim.hbm_stride % cycle != 0) {
      return std::nullopt;
    }
  }
  return (offset % cycle + cycle) % cycle;
}

}  // namespace ptxla::isa
