#include "hlo_backend/passes/products/turned_heads.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "hlo_backend/analysis/product_batch.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/control_edges.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/layout/transposed.h"
#include "hlo_backend/passes/products/swapped_dot.h"
#include "hlo_backend/passes/products/turned_value.h"

namespace ptxla::hlo {
namespace {

// Dimensions [lead.., tokens, heads.., depth] of an array.
struct Heads {
  Heads(absl::Span<const int64_t> dims, int lead)
      : dims(dims.begin(), dims.end()), lead(lead) {}

  int rank() const { return static_cast<int>(dims.size()); }
  int64_t columns() const {
    return std::accumulate(dims.begin() + lead + 1, dims.end(), int64_t{1},
                           std::multiplies<>());
  }
  // [.., heads.., depth, tokens] and [.., heads.., tokens, depth].
  DimVector Turned() const {
    DimVector result = dims;
    std::rotate(result.begin() + lead, result.begin() + lead + 1, result.end());
    return result;
  }
  DimVector Members() const {
    DimVector result = dims;
    std::rotate(result.begin() + lead, result.begin() + lead + 1,
                result.end() - 1);
    return result;
  }
  DimVector Lanes() const {
    DimVector result(dims.begin(), dims.begin() + lead);
    result.push_back(columns());
    result.push_back(dims[lead]);
    return result;
  }

  // Whether tiles are fuller with the tokens in the lanes.
  bool LieFuller(PrimitiveType type, int generation) const {
    return AreFullerTurned(dims.back(),
                           TpuBytes(Shape::Array(type, Turned()), generation),
                           TpuBytes(Shape::Array(type, Members()), generation));
  }

  DimVector dims;
  int lead;
};

class Turner {
 public:
  Turner(Computation* c, int generation)
      : c_(c), b_(c), generation_(generation) {}

  void Turn(Instruction* dot) {
    if (gone_.contains(dot) || (dot->users().empty() && !dot->IsRoot()) ||
        HasControlEdges(*dot) || dot->shape().has_layout()) {
      return;
    }
    b_.set_metadata(dot->shared_metadata());
    for (int side = 0; side < 2; ++side) {
      Instruction* turned = WithOperandTurned(dot, side);
      if (turned == nullptr) continue;
      c_->Replace(dot, turned);
      dot = turned;
    }
    TurnResult(dot);
  }

 private:
  // Null: the operand is not made of rows of several heads, or stays.
  Instruction* WithOperandTurned(Instruction* dot, int side) {
    DotAttrs attrs = dot->attrs<DotAttrs>();
    auto& batch = side == 0 ? attrs.lhs_batch : attrs.rhs_batch;
    auto& contracting =
        side == 0 ? attrs.lhs_contracting : attrs.rhs_contracting;
    Instruction* operand = dot->operand(side);
    Instruction* shared = nullptr;  // the broadcast to heads of a group
    if (SharedMatrix(*dot, side) != nullptr) {
      shared = operand;
      operand = operand->operand(0);
    }
    const int rank = operand->shape().rank();
    DimVector order = Identity(rank);  // of `operand`, in dimensions of `split`
    Instruction* split = operand;
    if (operand->opcode() == Opcode::kTranspose) {
      order.assign(operand->dimensions().begin(), operand->dimensions().end());
      split = operand->operand(0);
    }
    const int members = rank - 2;
    if (rank < 3 || contracting.size() != 1 ||
        (shared == nullptr && static_cast<int>(batch.size()) != members)) {
      return nullptr;
    }
    // [lead.., tokens, heads.., depth]: all but two are the batch's.
    DimVector of_batch;
    for (int k = 0; k < members; ++k) {
      of_batch.push_back(order[shared == nullptr ? batch[k] : k]);
    }
    int lead = 0;
    while (Contains(of_batch, lead)) ++lead;
    if (lead >= rank - 2 || Contains(of_batch, rank - 1)) return nullptr;
    // Where dimensions of `split` go.
    DimVector place;
    for (int d = 0; d < rank; ++d) place.push_back(d <= lead ? d : d - 1);
    place[lead] = rank - 1;
    if (shared != nullptr) {
      for (int k = 0; k < members; ++k) {
        if (place[of_batch[k]] != k) return nullptr;
      }
    }
    TurnedValue value(c_, generation_, split, lead);
    if (!value.Pays()) return nullptr;
    Instruction* turned = value.Make();
    if (shared == nullptr) {
      for (int64_t& d : batch) d = place[order[d]];
      contracting[0] = place[order[contracting[0]]];
    } else {
      const int more = shared->shape().rank() - rank;
      contracting[0] = place[order[contracting[0] - more]] + more;
      DimVector dims(shared->shape().dims().begin(),
                     shared->shape().dims().end() - 2);
      dims.push_back(turned->shape().dim(rank - 2));
      dims.push_back(turned->shape().dim(rank - 1));
      turned = b_.Broadcast(turned, dims, shared->dimensions());
    }
    std::vector<Instruction*> operands(dot->operands().begin(),
                                       dot->operands().end());
    operands[side] = turned;
    Instruction* product = c_->AddLike(*dot, dot->shape(), operands);
    *product->mutable_attrs<DotAttrs>() = std::move(attrs);
    return product;
  }

  // The result's heads, joined again to rows, by one reader.
  void TurnResult(Instruction* dot) {
    const int rank = dot->shape().rank();
    if (rank < 3 || dot->user_count() != 1 || dot->IsRoot() ||
        dot->attrs<DotAttrs>().lhs_batch.size() + 2 !=
            static_cast<size_t>(rank)) {
      return;
    }
    Instruction* transpose = dot->users()[0];
    if (transpose->opcode() != Opcode::kTranspose ||
        transpose->user_count() != 1 || transpose->IsRoot() ||
        HasControlEdges(*transpose)) {
      return;
    }
    Instruction* rows = transpose->users()[0];
    const auto dims = transpose->dimensions();
    int lead = 0;
    while (lead < rank && dims[lead] == lead) ++lead;
    if (lead >= rank - 2) return;
    const Heads heads(transpose->shape().dims(), lead);
    if (rows->opcode() != Opcode::kReshape || HasControlEdges(*rows) ||
        rows->shape().dims().back() != heads.columns()) {
      return;
    }
    // [.., heads.., tokens, depth], or depth before tokens.
    DimVector order = Identity(rank);
    std::rotate(order.begin() + lead, order.end() - 2, order.end() - 1);
    const bool depth_last = dims == order;
    order = Identity(rank);
    std::rotate(order.begin() + lead, order.end() - 1, order.end());
    if (!depth_last && dims != order) return;
    if (!heads.LieFuller(dot->shape().type(), generation_) &&
        (depth_last || !IsMultiplied(*rows))) {
      return;
    }
    const Shape shape = Shape::Array(dot->shape().type(), heads.Turned());
    Instruction* lanes =
        b_.Reshape(depth_last ? SwappedDot(dot, shape) : dot, heads.Lanes());
    MakeRows(rows, lanes);
  }

  // By matrices alone, which take tokens in the lanes as they lie.
  static bool IsMultiplied(const Instruction& rows) {
    return !rows.IsRoot() &&
           std::all_of(
               rows.users().begin(), rows.users().end(),
               [&](const Instruction* u) { return MayTakeLanes(*u, rows); });
  }

  // `rows` of what lies with its tokens in the lanes of `lanes`.
  void MakeRows(Instruction* rows, Instruction* lanes) {
    const std::vector<Instruction*> users(rows->users().begin(),
                                          rows->users().end());
    for (Instruction* user : users) {
      if (Instruction* product = OfLanes(user, rows, lanes);
          product != nullptr) {
        gone_.insert(user);
        c_->Replace(user, product);
      }
    }
    if (rows->users().empty() && !rows->IsRoot()) return;
    const DimVector swap = LastTwoSwapped(lanes->shape().rank());
    Instruction* transpose = b_.Transpose(lanes, swap);
    if (transpose->shape().SameDims(rows->shape())) {
      const std::vector<Instruction*> left(rows->users().begin(),
                                           rows->users().end());
      for (Instruction* user : left) {
        if (user->opcode() != Opcode::kTranspose || HasControlEdges(*user)) {
          continue;
        }
        c_->Replace(user, Transposed(&b_, transpose, user->dimensions()));
      }
    }
    c_->Replace(rows, b_.Reshape(transpose, rows->shape().dims()));
  }

  // A product of `rows` with a matrix.
  static bool MayTakeLanes(const Instruction& user, const Instruction& rows) {
    if (user.opcode() != Opcode::kDot || user.operand(0) != &rows ||
        user.operand(1) == &rows || HasControlEdges(user)) {
      return false;
    }
    const DotAttrs& attrs = user.attrs<DotAttrs>();
    return attrs.sparsity.empty() && attrs.lhs_batch.empty() &&
           attrs.lhs_contracting.size() == 1 &&
           attrs.lhs_contracting[0] == rows.shape().rank() - 1 &&
           user.operand(1)->shape().rank() == 2;
  }

  // That, of the lanes as they lie.
  Instruction* OfLanes(Instruction* user, const Instruction* rows,
                       Instruction* lanes) {
    if (!MayTakeLanes(*user, *rows)) return nullptr;
    DotAttrs attrs = user->attrs<DotAttrs>();
    const int rank = lanes->shape().rank();
    attrs.lhs_contracting = {rank - 2};
    DimVector dims = lanes->shape().dims();
    dims[rank - 2] = dims[rank - 1];
    dims[rank - 1] = user->shape().dims().back();
    Instruction* product =
        c_->AddLike(*user, Shape::Array(user->shape().type(), dims),
                    {lanes, user->operand(1)});
    *product->mutable_attrs<DotAttrs>() = std::move(attrs);
    return product->shape().SameDims(user->shape())
               ? product
               : b_.Reshape(product, user->shape().dims());
  }

  Computation* c_;
  Builder b_;
  const int generation_;
  absl::flat_hash_set<const Instruction*> gone_;
};

}  // namespace

void TurnHeads(Computation* c, absl::Span<Instruction* const> dots,
               int generation) {
  Turner turner(c, generation);
  for (Instruction* dot : dots) turner.Turn(dot);
}

}  // namespace ptxla::hlo
