// What works on the numbers of points and hangs together, for minor_planes.h:
// who belongs to it, in which order its dimensions would come, who has it as it
// was, and whether another order pays.
//
//   PointGroup group(computation, generation);
//   group.Gather(add, &seen);
//   if (group.Pays()) ...                    // group.Order(*i) of each member
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_POINT_GROUP_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_POINT_GROUP_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"
#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {

class PointGroup {
 public:
  PointGroup(Computation* c, int generation);

  // All that hangs together with `first`, which `seen` gets, too.
  void Gather(Instruction* first, absl::flat_hash_set<Instruction*>* seen);
  // Half as many bytes move in the other order, with the transposes at the
  // borders.
  bool Pays() const;

  bool Has(const Instruction* i) const { return members_.contains(i); }
  absl::Span<Instruction* const> members() const { return order_; }
  // The numbers of a point in front, or before the last dimension of points.
  DimVector Order(const Instruction& i) const;
  DimVector OrderOfRank(int rank) const;

  // What is left of a point's numbers is small, or nothing.
  static bool Reduces(const Instruction& user);
  static bool PicksNumber(const Instruction& user);

 private:
  void Join(const Instruction& from, Instruction* i);
  void ChooseOrder();
  bool IsTurnedProduct(const Instruction& i) const;
  bool IsState(const Instruction& o) const;
  bool IsNextState(const Instruction& i) const;
  int64_t Bytes(const Instruction& i, bool planes) const;
  int64_t Packed(const Instruction& i) const;
  const Instruction* LeavesAsLanes(const Instruction& i) const;
  bool LeavesWhole(const Instruction& i) const;

  Computation* c_;
  const int generation_;
  const bool is_loop_;    // the body of one
  bool in_rows_ = false;  // where the numbers of a point come
  bool turns_products_ = false;
  std::vector<Instruction*> order_;
  absl::flat_hash_set<const Instruction*> members_;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_POINT_GROUP_H_
