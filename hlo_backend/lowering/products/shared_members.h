// Which planes (or rows) of an array the members of a product's batch read, if
// the array has some neighbouring dimensions of the batch only: a bias
// [heads, rows, columns] of scores [batch, heads, rows, columns], or a mask
// [batch, rows, columns] of them.
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_SHARED_MEMBERS_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_SHARED_MEMBERS_H_

#include <cstdint>
#include <vector>

#include "isa/kernel.h"

namespace ptxla::lowering {

struct SharedMembers {
  // So many members in a row read the same one, and `count` of those are
  // repeated until the batch ends.
  int64_t inner = 1, count = 1;

  int64_t Of(int64_t member) const { return member / inner % count; }
  // Can a step have `block` members? They are part of those that share one, or
  // read several whole ones that follow one another.
  bool Fits(int64_t block) const;
  // Planes that a step with `block` members reads, and how often others take
  // their place while `steps` such steps follow one another.
  int64_t Planes(int64_t block) const;
  int64_t Moves(int64_t block, int64_t steps) const;
};

// A window of them that streams from HBM.
struct SharedTiles {
  SharedMembers members;
  int64_t bytes_per_element = 4;
};

// The window of such an array, from one with a plane for each of the `block`
// members of a step: moves along `grid_dim` as its members do.
void ShareWindow(const SharedMembers& members, int64_t block, int grid_dim,
                 const std::vector<int64_t>& grid, isa::Window* window);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_SHARED_MEMBERS_H_
