#include "memory_model/output_sharing.h"

#include <algorithm>

namespace ptxla::memory {

void OutputSharing::AddOutput(int id, int colour, Bytes bytes,
                              int32_t written) {
  // What is written from the start on holds nothing else.
  if (written <= 0 || bytes.count() == 0) return;
  outputs_.push_back({id, colour, bytes.count(), written, {}});
}

void OutputSharing::Finish() {
  std::stable_sort(
      outputs_.begin(), outputs_.end(),
      [](const Output& a, const Output& b) { return a.bytes < b.bytes; });
}

bool OutputSharing::IsFree(const Output& output, Life life) {
  // The first that ends at or after the start of this one.
  auto it = output.taken.lower_bound(life.first);
  return it == output.taken.end() || it->second > life.last;
}

int OutputSharing::Take(int colour, Bytes bytes, Life life) {
  auto it = std::lower_bound(
      outputs_.begin(), outputs_.end(), bytes.count(),
      [](const Output& o, int64_t size) { return o.bytes < size; });
  for (; it != outputs_.end(); ++it) {
    if (it->written <= life.last || it->colour != colour) continue;
    if (!IsFree(*it, life)) continue;
    it->taken[life.last] = life.first;
    return it->id;
  }
  return -1;
}

}  // namespace ptxla::memory
