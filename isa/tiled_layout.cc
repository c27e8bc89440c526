#include "isa/tiled_layout.h"

#include <cstring>

#include "base/check.h"
#include "base/units.h"

namespace ptxla::isa {
namespace {

// Physical dimensions, major to minor.
std::vector<int64_t> PhysicalDims(const TiledLayout& l) {
  std::vector<int64_t> result;
  const int rank = static_cast<int>(l.dims.size());
  for (int i = 0; i < rank; ++i) {
    result.push_back(
        l.dims[l.minor_to_major.empty() ? i : l.minor_to_major[rank - 1 - i]]);
  }
  return result;
}

// The last dimensions of `dims` cut by `tile`, which is padded in front with
// dimensions of 1 if `dims` has fewer.
std::vector<int64_t> CutDims(std::vector<int64_t> dims,
                             const std::vector<int64_t>& tile) {
  while (dims.size() < tile.size()) dims.insert(dims.begin(), 1);
  const int shift = static_cast<int>(dims.size() - tile.size());
  for (int i = 0; i < tile.size(); ++i) {
    dims[shift + i] = CeilOfRatio(dims[shift + i], tile[i]);
  }
  dims.insert(dims.end(), tile.begin(), tile.end());
  return dims;
}

std::vector<int64_t> CutIndex(std::vector<int64_t> index,
                              const std::vector<int64_t>& tile) {
  while (index.size() < tile.size()) index.insert(index.begin(), 0);
  const int shift = static_cast<int>(index.size() - tile.size());
  std::vector<int64_t> inner(tile.size());
  for (int i = 0; i < tile.size(); ++i) {
    inner[i] = index[shift + i] % tile[i];
    index[shift + i] /= tile[i];
  }
  index.insert(index.end(), inner.begin(), inner.end());
  return index;
}

std::vector<int64_t> FinalDims(const TiledLayout& l) {
  std::vector<int64_t> dims = PhysicalDims(l);
  for (const auto& tile : l.tiles) dims = CutDims(std::move(dims), tile);
  return dims;
}

// Calls fn(logical position, element offset) for every element. Each dimension
// of the tiled form comes from one logical dimension, so an element's offset is
// a sum of one term per dimension, read from a table.
template <class Fn>
void ForEachElement(const TiledLayout& l, Fn fn) {
  const int rank = static_cast<int>(l.dims.size());
  std::vector<std::vector<int64_t>> terms(rank);
  std::vector<int64_t> index(rank, 0);
  for (int d = 0; d < rank; ++d) {
    for (int64_t i = 0; i < l.dims[d]; ++i) {
      index[d] = i;
      terms[d].push_back(l.ElementOffset(index));
    }
    index[d] = 0;
  }
  const int64_t n = l.NumElements();
  if (rank == 0) return fn(0, 0);
  const std::vector<int64_t>& inner = terms.back();
  for (int64_t i = 0; i < n;) {
    int64_t base = 0;
    for (int d = 0; d + 1 < rank; ++d) base += terms[d][index[d]];
    for (int64_t term : inner) fn(i++, base + term);
    for (int d = rank - 2; d >= 0; --d) {
      if (++index[d] < l.dims[d]) break;
      index[d] = 0;
    }
  }
}

// Elements of less than a byte, low bits first; some lie in two bytes.
void PutBits(int64_t at, int bits, uint8_t value, std::string* out) {
  for (int b = 0; b < bits; ++b) {
    char& byte = (*out)[(at + b) / 8];
    const int shift = static_cast<int>((at + b) % 8);
    byte =
        static_cast<char>((byte & ~(1 << shift)) | (value >> b & 1) << shift);
  }
}

uint8_t GetBits(absl::Span<const uint8_t> from, int64_t at, int bits) {
  int value = 0;
  for (int b = 0; b < bits; ++b) {
    value |= (from[(at + b) / 8] >> (at + b) % 8 & 1) << b;
  }
  return static_cast<uint8_t>(value);
}

}  // namespace

int64_t TiledLayout::NumElements() const {
  int64_t n = 1;
  for (int64_t d : dims) n *= d;
  return n;
}

int64_t TiledLayout::PaddedElements() const {
  int64_t n = 1;
  for (int64_t d : FinalDims(*this)) n *= d;
  return n;
}

int64_t TiledLayout::ByteSize() const {
  return CeilOfRatio<int64_t>(PaddedElements() * bits, 8);
}

int64_t TiledLayout::ElementOffset(absl::Span<const int64_t> index) const {
  CHECK_EQ(index.size(), dims.size());
  const int rank = static_cast<int>(dims.size());
  std::vector<int64_t> at;
  for (int i = 0; i < rank; ++i) {
    at.push_back(
        index[minor_to_major.empty() ? i : minor_to_major[rank - 1 - i]]);
  }
  std::vector<int64_t> sizes = PhysicalDims(*this);
  for (const auto& tile : tiles) {
    at = CutIndex(std::move(at), tile);
    sizes = CutDims(std::move(sizes), tile);
  }
  int64_t offset = 0;
  for (int i = 0; i < at.size(); ++i) offset = offset * sizes[i] + at[i];
  return offset;
}

std::string TiledLayout::Pack(absl::Span<const uint8_t> logical,
                              uint8_t padding) const {
  std::string out(ByteSize(), static_cast<char>(padding));
  const int width = bits < 8 ? 1 : bits / 8;
  CHECK_EQ(logical.size(), NumElements() * width);
  const int64_t plane = ByteSize() / 2;
  ForEachElement(*this, [&](int64_t i, int64_t offset) {
    if (bits == 64) {
      std::memcpy(&out[offset * 4], &logical[i * 8], 4);
      std::memcpy(&out[plane + offset * 4], &logical[i * 8 + 4], 4);
    } else if (bits < 8) {
      PutBits(offset * bits, bits, logical[i], &out);
    } else {
      std::memcpy(&out[offset * width], &logical[i * width], width);
    }
  });
  return out;
}

std::vector<uint8_t> TiledLayout::Unpack(
    absl::Span<const uint8_t> physical) const {
  const int width = bits < 8 ? 1 : bits / 8;
  CHECK_GE(physical.size(), ByteSize());
  std::vector<uint8_t> out(NumElements() * width);
  const int64_t plane = ByteSize() / 2;
  ForEachElement(*this, [&](int64_t i, int64_t offset) {
    if (bits == 64) {
      std::memcpy(&out[i * 8], &physical[offset * 4], 4);
      std::memcpy(&out[i * 8 + 4], &physical[plane + offset * 4], 4);
    } else if (bits < 8) {
      out[i] = GetBits(physical, offset * bits, bits);
    } else {
      std::memcpy(&out[i * width], &physical[offset * width], width);
    }
  });
  return out;
}

}  // namespace ptxla::isa
