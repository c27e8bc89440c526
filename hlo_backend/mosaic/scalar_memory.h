// The scalar memory of a kernel while its grid is walked: arrays that the call
// fills before the first step, and what the kernel itself stores.
//
//   ScalarMemory memory;
//   memory.Fill(lengths, [](int64_t) { return 2048; });
//   memory.Store(flag, 0, 1);
//   memory.Load(flag, 0)       // 1
//   memory.Load(other, 0)      // nullopt: depends on data
//
// Arrays are known by the value id of the body's argument, elements by their
// number in row-major order.
#ifndef PTXLA_HLO_BACKEND_MOSAIC_SCALAR_MEMORY_H_
#define PTXLA_HLO_BACKEND_MOSAIC_SCALAR_MEMORY_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace ptxla::mosaic {

class ScalarMemory {
 public:
  using Values = std::function<std::optional<int64_t>(int64_t)>;

  void Fill(int array, Values values) { arrays_[array] = std::move(values); }

  std::optional<int64_t> Load(int array, std::optional<int64_t> at) const {
    if (!at) return std::nullopt;
    const auto stored = stored_.find({array, *at});
    if (stored != stored_.end()) return stored->second;
    const auto filled = arrays_.find(array);
    return filled == arrays_.end() ? std::nullopt : filled->second(*at);
  }
  // At an address that is not known: nothing of the array is, from now on.
  void Store(int array, std::optional<int64_t> at,
             std::optional<int64_t> value) {
    if (at) {
      stored_[{array, *at}] = value;
      return;
    }
    arrays_.erase(array);
    for (auto& [place, old] : stored_) {
      if (place.first == array) old = std::nullopt;
    }
  }

 private:
  absl::flat_hash_map<int, Values> arrays_;
  absl::flat_hash_map<std::pair<int, int64_t>, std::optional<int64_t>> stored_;
};

}  // namespace ptxla::mosaic

#endif  // PTXLA_HLO_BACKEND_MOSAIC_SCALAR_MEMORY_H_
