#include "hlo_backend/passes/products/turned_heads.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/control_edges.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/layout/transposed.h"
#include "hlo_backend/passes/products/swapped_dot.h"

namespace ptxla::hlo {
namespace {

constexpr int64_t kTileRows = 8;
// Of the bytes of heads in rows, in percent, those of heads in lanes. DERIVED:
// libtpu 0.0.42.1 turns 77 tokens of heads of 64, which takes 80.
constexpr int64_t kMostTurned = 80;

DimVector Identity(int rank) {
  DimVector order(rank);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

DimVector LastTwoSwapped(int rank) {
  DimVector order = Identity(rank);
  std::swap(order[rank - 1], order[rank - 2]);
  return order;
}

// Dimensions [.., tokens, heads, depth] of an array.
struct Heads {
  explicit Heads(absl::Span<const int64_t> dims)
      : dims(dims.begin(), dims.end()) {}

  int rank() const { return static_cast<int>(dims.size()); }
  int64_t tokens() const { return dims[rank() - 3]; }
  int64_t heads() const { return dims[rank() - 2]; }
  int64_t depth() const { return dims[rank() - 1]; }

  DimVector Before(std::initializer_list<int64_t> minor) const {
    DimVector result(dims.begin(), dims.end() - 3);
    result.insert(result.end(), minor.begin(), minor.end());
    return result;
  }
  DimVector Rows() const { return Before({tokens(), heads() * depth()}); }
  DimVector Lanes() const { return Before({heads() * depth(), tokens()}); }
  DimVector Turned() const { return Before({heads(), depth(), tokens()}); }
  DimVector Members() const { return Before({heads(), tokens(), depth()}); }

  // Whether tiles are fuller with the tokens in the lanes.
  bool LieFuller(PrimitiveType type, int generation) const {
    return depth() % kTileRows == 0 &&
           100 * TpuBytes(Shape::Array(type, Turned()), generation) <=
               kMostTurned *
                   TpuBytes(Shape::Array(type, Members()), generation);
  }

  DimVector dims;
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
    Instruction* operand = dot->operand(side);
    const int rank = operand->shape().rank();
    DimVector order = Identity(rank);  // of `operand`, in dimensions of `split`
    Instruction* split = operand;
    if (operand->opcode() == Opcode::kTranspose) {
      order.assign(operand->dimensions().begin(), operand->dimensions().end());
      split = operand->operand(0);
    }
    if (split->opcode() != Opcode::kReshape || rank < 3) return nullptr;
    Instruction* x = split->operand(0);
    const Heads heads(split->shape().dims());
    if (x->shape().rank() == 0 || x->shape().has_layout() ||
        x->shape().dims().back() != heads.heads() * heads.depth() ||
        !heads.LieFuller(x->shape().type(), generation_)) {
      return nullptr;
    }
    DotAttrs attrs = dot->attrs<DotAttrs>();
    auto& batch = side == 0 ? attrs.lhs_batch : attrs.rhs_batch;
    auto& contracting =
        side == 0 ? attrs.lhs_contracting : attrs.rhs_contracting;
    if (static_cast<int>(batch.size()) != rank - 2) return nullptr;
    // Where dimensions of `split` go.
    DimVector place = Identity(rank);
    place[rank - 3] = rank - 1;
    place[rank - 2] = rank - 3;
    place[rank - 1] = rank - 2;
    for (int64_t& d : batch) {
      d = place[order[d]];
      if (d >= rank - 2) return nullptr;  // tokens or depth
    }
    for (int64_t& d : contracting) d = place[order[d]];
    Instruction* rows =
        x->shape().dims() == heads.Rows() ? x : b_.Reshape(x, heads.Rows());
    Instruction* turned = b_.Reshape(
        Transposed(&b_, rows, LastTwoSwapped(rank - 1)), heads.Turned());
    std::vector<Instruction*> operands(dot->operands().begin(),
                                       dot->operands().end());
    operands[side] = turned;
    Instruction* value = c_->AddLike(*dot, dot->shape(), operands);
    *value->mutable_attrs<DotAttrs>() = std::move(attrs);
    return value;
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
    const Heads heads(transpose->shape().dims());
    if (rows->opcode() != Opcode::kReshape || HasControlEdges(*rows) ||
        rows->shape().dims().back() != heads.heads() * heads.depth() ||
        !heads.LieFuller(dot->shape().type(), generation_)) {
      return;
    }
    // [.., heads, tokens, depth], or depth before tokens.
    DimVector order = Identity(rank);
    order[rank - 3] = rank - 2;
    order[rank - 2] = rank - 3;
    const bool depth_last = transpose->dimensions() == order;
    order[rank - 3] = rank - 1;
    order[rank - 1] = rank - 2;
    if (!depth_last && transpose->dimensions() != order) return;
    const Shape shape = Shape::Array(dot->shape().type(), heads.Turned());
    Instruction* lanes =
        b_.Reshape(depth_last ? SwappedDot(dot, shape) : dot, heads.Lanes());
    MakeRows(rows, lanes);
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

  // A product of `rows` with a matrix, of the lanes as they lie.
  Instruction* OfLanes(Instruction* user, const Instruction* rows,
                       Instruction* lanes) {
    if (user->opcode() != Opcode::kDot || user->operand(0) != rows ||
        user->operand(1) == rows || HasControlEdges(*user)) {
      return nullptr;
    }
    DotAttrs attrs = user->attrs<DotAttrs>();
    if (!attrs.sparsity.empty() || !attrs.lhs_batch.empty() ||
        attrs.lhs_contracting.size() != 1 ||
        attrs.lhs_contracting[0] != rows->shape().rank() - 1 ||
        user->operand(1)->shape().rank() != 2) {
      return nullptr;
    }
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
