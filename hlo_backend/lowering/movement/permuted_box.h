// A step of a kernel that permutes dimensions: a box of the result and the box
// of the operand that it comes from, in slots of windows, in scratch, or walked
// where the arrays lie in VMEM.
//
//   auto p = DescribePermutation(instruction);       // or nullopt
//   PermutedBox box(*p, {in_place, copied}, {...});
//   box.AddWindows(block, block, &tiling);            // elements per dimension
//   box.Begin(b);                                     // in the body
//   ... b.Load(kPermutedIn, box.base(kPermutedIn), offset)
//   box.End(b);
#ifndef PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_PERMUTED_BOX_H_
#define PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_PERMUTED_BOX_H_

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/lowering/kernel_plan.h"
#include "hlo_backend/lowering/movement/staged_window.h"
#include "hlo_backend/lowering/physical_array.h"

namespace ptxla::lowering {

inline constexpr int kPermutedIn = 0, kPermutedOut = 1;  // spaces of the code

// Dimensions are those of the result, major to minor: planes, rows, lanes.
struct Permutation {
  PhysicalArray in, out;
  std::vector<int> from;  // physical dimension of the operand
  // Of operand and result, for each of its dimensions: bytes in memory from one
  // unit to the next, an index of a plane, a row of tiles, a tile.
  std::array<std::vector<int64_t>, 2> pitch;
  int rank() const { return static_cast<int>(from.size()); }
  // The result's dimension that is dimension `k` of the operand.
  int To(int k) const;
  // As few planes as there can be: those that follow one another on both sides
  // are one dimension; one that is nowhere more than one plane is none. `dims`
  // of the arrays number what is left.
  void JoinPlanes();
};

// Of a transpose, or a copy between layouts, of arrays of two dimensions or
// more.
std::optional<Permutation> DescribePermutation(const hlo::Instruction& i);

class PermutedBox {
 public:
  // An array in VMEM is walked in place or copied block by block.
  enum class Place { kWindow, kInPlace, kCopied };

  PermutedBox(const Permutation& p, Place in, Place out)
      : p_(p), place_{in, out} {}

  // Elements of a step in each dimension of the result; the operand's slot and
  // the result's may have room for more.
  void AddWindows(const std::vector<int64_t>& of_operand,
                  const std::vector<int64_t>& of_result, Tiling* tiling);

  // Bytes from one unit of dimension `k` of the array to the next: an index of
  // a plane, 8 rows, 128 lanes.
  int64_t Pitch(int side, int k) const { return units_[side][k]; }
  bool InPlace(int side) const { return place_[side] == Place::kInPlace; }

  // Blocks of code.
  void Begin(codegen::CodeBuilder& b);
  void End(codegen::CodeBuilder& b) const;
  codegen::Sca base(int side) const { return base_[side]; }

 private:
  void AddWindow(int side, const std::vector<int64_t>& block, Tiling* tiling);

  const Permutation& p_;
  std::array<Place, 2> place_;
  std::array<StagedWindow, 2> copies_;
  std::array<std::vector<int64_t>, 2> units_;  // bytes, by dimension
  std::array<codegen::Sca, 2> base_;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_PERMUTED_BOX_H_
