#include "isa/dma_copy.h"

#include <array>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"

namespace ptxla::isa {
namespace {

struct Dim {
  int64_t count;
  int64_t from_stride;
  int64_t to_stride;
};

// Copies runs of `inner` bytes over all dims, outer to inner, checking each.
absl::Status CopyRuns(const std::vector<Dim>& dims, int d, int64_t inner,
                      absl::Span<const uint8_t> from, int64_t from_at,
                      absl::Span<uint8_t> to, int64_t to_at) {
  if (d == dims.size()) {
    if (from_at < 0 || from_at + inner > from.size() || to_at < 0 ||
        to_at + inner > to.size()) {
      return absl::InternalError(
          absl::StrCat("DMA of ", inner, " bytes from byte ", from_at, " of ",
                       from.size(), " to byte ", to_at, " of ", to.size()));
    }
    std::memmove(to.data() + to_at, from.data() + from_at, inner);
    return absl::OkStatus();
  }
  for (int64_t i = 0; i < dims[d].count; ++i) {
    absl::Status status =
        CopyRuns(dims, d + 1, inner, from, from_at + i * dims[d].from_stride,
                 to, to_at + i * dims[d].to_stride);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CopyBox(const Window& window, const Box& box, bool to_slot,
                     absl::Span<uint8_t> arg, int64_t slot,
                     absl::Span<uint8_t> memory) {
  if (box.empty()) return absl::OkStatus();
  std::vector<Dim> dims;
  for (int d = 0; d < window.dims.size(); ++d) {
    const WindowDim& dim = window.dims[d];
    dims.push_back({box.size[d], to_slot ? dim.hbm_stride : dim.vmem_stride,
                    to_slot ? dim.vmem_stride : dim.hbm_stride});
  }
  const int64_t at = slot + box.vmem_start;
  return to_slot ? CopyRuns(dims, 0, window.inner_bytes, arg, box.hbm_start,
                            memory, at)
                 : CopyRuns(dims, 0, window.inner_bytes, memory, at, arg,
                            box.hbm_start);
}

absl::Status CopyDescriptor(const DmaDescriptor& descriptor,
                            absl::Span<const uint8_t> source,
                            int64_t source_offset,
                            absl::Span<uint8_t> destination,
                            int64_t destination_offset) {
  std::vector<Dim> dims;
  for (const DmaDescriptor::Dim& dim : descriptor.dims) {
    dims.push_back({dim.count, dim.src_stride, dim.dst_stride});
  }
  return CopyRuns(dims, 0, descriptor.inner_bytes, source, source_offset,
                  destination, destination_offset);
}

}  // namespace ptxla::isa
