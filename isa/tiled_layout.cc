#include "isa/tiled_layout.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "base/units.h"

namespace ptxla::isa {
namespace {

// Physical dimensions, major to minor.
std::vector<int64_t> PhysicalDims(const TiledLayout& l) {
  std::vector<int64_t> result;
  const int rank = static_cast<int>(l.dims.size());
  result.reserve(rank);
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

// By dimension of the tiled form: the logical dimension that it comes from, and
// its index for each index of that.
struct TiledDim {
  int from = 0;
  int64_t size = 1;
  std::vector<int64_t> index;
};

// The last dimensions are cut by `tile`.
std::vector<TiledDim> Cut(std::vector<TiledDim> dims,
                          const std::vector<int64_t>& tile) {
  while (dims.size() < tile.size())
    dims.insert(dims.begin(), TiledDim{-1, 1, {}});
  const size_t shift = dims.size() - tile.size();
  for (size_t k = 0; k < tile.size(); ++k) {
    TiledDim inner = dims[shift + k];
    inner.size = tile[k];
    for (int64_t& i : inner.index) i %= tile[k];
    TiledDim& outer = dims[shift + k];
    outer.size = CeilOfRatio(outer.size, tile[k]);
    for (int64_t& i : outer.index) i /= tile[k];
    dims.push_back(std::move(inner));
  }
  return dims;
}

// An element's offset is a sum of one term for each logical dimension, as each
// dimension of the tiled form comes from one of those. By dimension: the terms.
std::vector<std::vector<int64_t>> OffsetTerms(const TiledLayout& l) {
  const int rank = static_cast<int>(l.dims.size());
  std::vector<TiledDim> dims;
  for (int k = 0; k < rank; ++k) {
    const auto d = static_cast<int>(
        l.minor_to_major.empty() ? k : l.minor_to_major[rank - 1 - k]);
    TiledDim dim{d, l.dims[d], std::vector<int64_t>(l.dims[d])};
    std::iota(dim.index.begin(), dim.index.end(), 0);
    dims.push_back(std::move(dim));
  }
  for (const auto& tile : l.tiles) dims = Cut(std::move(dims), tile);
  std::vector<std::vector<int64_t>> terms(rank);
  for (int d = 0; d < rank; ++d) terms[d].resize(l.dims[d]);
  int64_t stride = 1;
  for (size_t k = dims.size(); k-- > 0;) {
    const TiledDim& dim = dims[k];
    if (dim.from >= 0) {
      for (size_t i = 0; i < dim.index.size(); ++i) {
        terms[dim.from][i] += dim.index[i] * stride;
      }
    }
    stride *= dim.size;
  }
  return terms;
}

// Elements of the last logical dimension that follow one another in memory too:
// the number of them that divides all such runs.
int64_t RunOf(const std::vector<int64_t>& terms) {
  int64_t run = static_cast<int64_t>(terms.size()), begin = 0;
  for (int64_t i = 1; i <= static_cast<int64_t>(terms.size()); ++i) {
    if (i < static_cast<int64_t>(terms.size()) &&
        terms[i] == terms[i - 1] + 1) {
      continue;
    }
    run = std::gcd(run, i - begin);
    begin = i;
  }
  return std::max<int64_t>(run, 1);
}

// Calls fn(logical position, element offset, count) for elements that follow
// one another on both sides, until all have been named.
template <class Fn>
void ForEachRun(const TiledLayout& l, Fn fn) {
  const int rank = static_cast<int>(l.dims.size());
  const int64_t n = l.NumElements();
  if (rank == 0) return fn(0, 0, 1);
  const std::vector<std::vector<int64_t>> terms = OffsetTerms(l);
  const std::vector<int64_t>& inner = terms.back();
  const int64_t run = RunOf(inner);
  std::vector<int64_t> index(rank, 0);
  for (int64_t i = 0; i < n;) {
    int64_t base = 0;
    for (int d = 0; d + 1 < rank; ++d) base += terms[d][index[d]];
    for (int64_t k = 0; k < static_cast<int64_t>(inner.size()); k += run) {
      fn(i, base + inner[k], run);
      i += run;
    }
    for (int d = rank - 2; d >= 0; --d) {
      if (++index[d] < l.dims[d]) break;
      index[d] = 0;
    }
  }
}

// Elements of less than a byte, low bits first; some lie in two bytes.
void PutBits(int64_t at, int bits, uint8_t value, uint8_t* out) {
  for (int b = 0; b < bits; ++b) {
    uint8_t& byte = out[(at + b) / 8];
    const int shift = static_cast<int>((at + b) % 8);
    byte = static_cast<uint8_t>((byte & ~(1 << shift)) | (value >> b & 1)
                                                             << shift);
  }
}

uint8_t GetBits(const uint8_t* from, int64_t at, int bits) {
  int value = 0;
  for (int b = 0; b < bits; ++b) {
    value |= (from[(at + b) / 8] >> (at + b) % 8 & 1) << b;
  }
  return static_cast<uint8_t>(value);
}

// Elements of whole bytes between the dense form and the tiled one.
template <int kWidth, bool kPack>
void CopyElements(const TiledLayout& l, uint8_t* dense, uint8_t* tiled) {
  ForEachRun(l, [&](int64_t i, int64_t offset, int64_t count) {
    uint8_t* from = kPack ? dense + i * kWidth : tiled + offset * kWidth;
    uint8_t* to = kPack ? tiled + offset * kWidth : dense + i * kWidth;
    if (count == 1) {
      std::memcpy(to, from, kWidth);
    } else {
      std::memcpy(to, from, count * kWidth);
    }
  });
}

// Elements of any width; kPack: into the tiled form, else out of it.
template <bool kPack>
void Copy(const TiledLayout& l, uint8_t* dense, uint8_t* tiled) {
  if (l.bits == 8) return CopyElements<1, kPack>(l, dense, tiled);
  if (l.bits == 16) return CopyElements<2, kPack>(l, dense, tiled);
  if (l.bits == 32) return CopyElements<4, kPack>(l, dense, tiled);
  const int64_t plane = l.ByteSize() / 2;
  const auto word = [](uint8_t* logical, uint8_t* physical) {
    std::memcpy(kPack ? physical : logical, kPack ? logical : physical, 4);
  };
  ForEachRun(l, [&](int64_t i, int64_t offset, int64_t count) {
    for (int64_t k = 0; k < count; ++k, ++i, ++offset) {
      if (l.bits == 64) {
        word(dense + i * 8, tiled + offset * 4);
        word(dense + i * 8 + 4, tiled + plane + offset * 4);
      } else if (kPack) {
        PutBits(offset * l.bits, l.bits, dense[i], tiled);
      } else {
        dense[i] = GetBits(tiled, offset * l.bits, l.bits);
      }
    }
  });
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
  at.reserve(rank);
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
  CHECK_EQ(logical.size(), NumElements() * (bits < 8 ? 1 : bits / 8));
  // Read only.
  Copy<true>(*this, const_cast<uint8_t*>(logical.data()),
             reinterpret_cast<uint8_t*>(out.data()));
  return out;
}

std::vector<uint8_t> TiledLayout::Unpack(
    absl::Span<const uint8_t> physical) const {
  CHECK_GE(physical.size(), ByteSize());
  std::vector<uint8_t> out(NumElements() * (bits < 8 ? 1 : bits / 8));
  // Read only.
  Copy<false>(*this, out.data(), const_cast<uint8_t*>(physical.data()));
  return out;
}

}  // namespace ptxla::isa
