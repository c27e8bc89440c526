// A value of the heads of an attention with its tokens in the lanes, made so
// from the projection on: what is done to queries and keys between the two (a
// rotary embedding, a normalisation of heads, a conversion) is done in the new
// order.
//
//   %q = f32[2,1024,16,64] reshape(f32[2,1024,1024] %x)
//   %a = f32[2,1024,16,32] slice(%q), its first half
//   %m = f32[2,1024,16,32] multiply(%a, broadcast(f32[1024,32] %cos))
// ==>
//   %t = f32[2,16,64,1024] reshape(transpose(%x))         // moves rows once
//   %a = f32[2,16,32,1024] slice(%t)                      // rows of tiles
//   %m = f32[2,16,32,1024] multiply(%a, broadcast(transpose(%cos)))
//
// In rows, halves of a head of 64 would leave three quarters of their lanes
// empty, and the sums over a head would be the XLUs' work.
#ifndef PTXLA_HLO_BACKEND_PASSES_PRODUCTS_TURNED_VALUE_H_
#define PTXLA_HLO_BACKEND_PASSES_PRODUCTS_TURNED_VALUE_H_

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {

// Whether heads of so many bytes with their tokens in the lanes are turned from
// so many with tokens in the rows. `depth`: numbers of a head.
bool AreFullerTurned(int64_t depth, int64_t in_lanes, int64_t in_rows);

class TurnedValue {
 public:
  // What a dimension is; those of a value in the new order increase.
  enum Role : int64_t { kLead = 0, kHead = 100, kDepth = 200, kTokens = 300 };

  // `generation` of the chip: tiles. `value` is [lead.., tokens, heads..,
  // depth], `lead` dimensions in front.
  TurnedValue(Computation* c, int generation, Instruction* value, int lead);

  // Is it made of projections, with nothing else of its size to be moved, and
  // are tiles fuller so?
  bool Pays() const;
  // [lead.., heads.., depth, tokens]. Old values stay where they are.
  Instruction* Make();

 private:
  using Roles = DimVector;
  struct Node {
    Roles roles;
    // Of a reshape: what it is one of, and elementwise work between.
    Instruction* source = nullptr;
    std::vector<Instruction*> between;
    bool projection = false, moved = false;
  };

  bool Visit(Instruction* value, const Roles& roles);
  bool VisitReshape(Instruction* reshape, Node* node);
  bool IsReadElsewhere(const Instruction& value) const;
  Instruction* Turned(Instruction* value);
  Instruction* TurnedReshape(Instruction* reshape, const Node& node);
  bool IsFull(const Roles& roles) const;

  Computation* c_;
  Builder b_;
  const int generation_;
  Instruction* value_;
  const int lead_;
  bool fits_ = false;
  int64_t moved_bytes_ = 0;
  int projections_ = 0;
  absl::flat_hash_map<const Instruction*, Node> nodes_;
  std::vector<const Instruction*> order_;  // of the nodes, users first
  absl::flat_hash_map<const Instruction*, Instruction*> turned_;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_PRODUCTS_TURNED_VALUE_H_
