// The data movement of windows and descriptors between an argument's bytes and
// a core's memory.
#ifndef PTXLA_ISA_DMA_COPY_H_
#define PTXLA_ISA_DMA_COPY_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "isa/grid.h"
#include "isa/kernel.h"

namespace ptxla::isa {

// Copies `box` between `arg` and the slot that starts at byte `slot` of
// `memory`, into the slot if `to_slot`.
absl::Status CopyBox(const Window& window, const Box& box, bool to_slot,
                     absl::Span<uint8_t> arg, int64_t slot,
                     absl::Span<uint8_t> memory);

// Copies the descriptor's box from `source` + source_offset to `destination` +
// destination_offset.
absl::Status CopyDescriptor(const DmaDescriptor& descriptor,
                            absl::Span<const uint8_t> source,
                            int64_t source_offset,
                            absl::Span<uint8_t> destination,
                            int64_t destination_offset);

}  // namespace ptxla::isa

#endif  // PTXLA_ISA_DMA_COPY_H_
