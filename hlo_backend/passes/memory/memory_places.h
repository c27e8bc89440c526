// Which array of which instruction a value is, seen through what only names
// memory: the terms in which copy insertion reasons.
#ifndef PTXLA_HLO_BACKEND_PASSES_MEMORY_MEMORY_PLACES_H_
#define PTXLA_HLO_BACKEND_PASSES_MEMORY_MEMORY_PLACES_H_

#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "base/range_maximum.h"
#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {

// get-tuple-element, bitcast, add-dependency and slices in place
// (analysis/planes_in_place.h): their result lies where their operand lies.
bool OnlyNamesMemory(const Instruction& instruction);

// Half of the words of a 64-bit array lies where the array lies.
enum class Plane : uint8_t { kWhole, kLow, kHigh };
// Of X64SplitLow and X64SplitHigh; kWhole: another instruction.
Plane PlaneOf(const Instruction& instruction);

// The instruction behind names, the element of its tuple (-1: the whole), and
// the half of its words.
struct MemoryPlace {
  const Instruction* maker = nullptr;
  int64_t index = -1;
  Plane plane = Plane::kWhole;
  bool operator==(const MemoryPlace& o) const {
    return maker == o.maker && index == o.index && plane == o.plane;
  }
  bool Overlaps(const MemoryPlace& o) const {
    return maker == o.maker && index == o.index &&
           (plane == o.plane || plane == Plane::kWhole ||
            o.plane == Plane::kWhole);
  }
  template <class H>
  friend H AbslHashValue(H h, const MemoryPlace& p) {
    return H::combine(std::move(h), p.maker, p.index, p.plane);
  }
};
MemoryPlace PlaceOf(const Instruction* value);

using Positions = absl::flat_hash_map<const Instruction*, int>;
// Positions in insertion order: of a scheduled computation its schedule.
Positions PositionsOf(const Computation& computation);

// The last position that reads the place or a part of it, -1 if none does. The
// root does not count, and neither does `except`.
int LastRead(const MemoryPlace& place, const Positions& positions,
             const Instruction* except = nullptr);

// Of a fused computation: the parameter feeds an operand of a dot, perhaps
// through elementwise work.
bool FeedsADot(const Instruction& parameter);

// A convolution of groups, of which kernels make depthwise ones alone (planes
// and weights with zeros stand for others).
bool IsDepthwise(const Instruction& kernel);
// Its gradient of weights: a group for each feature of both operands.
bool IsDepthwiseGradient(const Instruction& kernel);

// Is `value` the input of the kernel's convolution? Its windows reach beyond
// the array, where only a copy of them in a slot can hold zeros. So do those of
// sliding windows, and of some operands of products (analysis/member_rows.h).
bool ReadsWindows(const Instruction& kernel, const Instruction& value);

// Of what ReadsWindows: an input of a convolution that the kernel can read in
// VMEM where it lies; that of a sliding window, whose step has whole axes then,
// and what the gradient of one reads, whose ends leave out what is beyond it.
bool ReadsPlanesInPlace(const Instruction& kernel, const Instruction& value);
// The convolution that a kernel is, or is around; null: none.
const Instruction* ConvolutionOf(const Instruction& kernel);

// Adds what lies in VMEM already, from its maker to its last reader.
void AddVmemResidents(const Computation& computation,
                      const Positions& positions, RangeMaximum* live);

// Whether `maker` reads `value` (one of its operands) element by element where
// it writes its result (of several that of this number), so that both may lie
// in one place.
bool ReadsInStep(const Instruction& value, const Instruction& maker,
                 int64_t result = -1);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_MEMORY_MEMORY_PLACES_H_
