#include "hlo_backend/passes/scheduled/product_dims.h"

#include <algorithm>
#include <vector>

#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/analysis/vector_loops.h"

namespace ptxla::hlo {
namespace {

bool IsRowMajor(const Shape& shape) {
  return shape.IsArray() && shape.has_layout() && shape.layout().IsRowMajor();
}

// The dimension of `dims` that each one of `shape` is; -1: one of size 1 that
// has none. Empty: they differ by more.
DimVector PlacesIn(const Shape& shape, const DimVector& dims) {
  DimVector places;
  size_t next = 0;
  for (const int64_t d : shape.dims()) {
    if (next < dims.size() && d == dims[next]) {
      places.push_back(static_cast<int64_t>(next++));
    } else if (d == 1) {
      places.push_back(-1);
    } else {
      return {};
    }
  }
  return next == dims.size() ? places : DimVector{};
}

class UnitDims {
 public:
  UnitDims(Computation* c, int generation) : c_(c), generation_(generation) {}

  void Run() {
    for (const Instruction* i : c_->instructions()) {
      if (i->opcode() != Opcode::kDot) continue;
      for (const Shape* s :
           {&i->shape(), &i->operand(0)->shape(), &i->operand(1)->shape()}) {
        products_.emplace_back(s->dims().begin(), s->dims().end());
      }
    }
    for (Instruction* i : c_->PostOrder()) {
      if (!IsRowMajor(i->shape())) continue;
      Instruction* made = Made(i);
      if (made != nullptr) c_->Replace(i, As(made, i->shape()));
    }
    JoinBitcasts();
    c_->RemoveDead();
    // What was added stands at the end of the list.
    c_->Reorder(c_->PostOrder());
  }

 private:
  // Of a product; nullptr: of none, or without more dimensions than it. Tiles
  // stay, so the two minor dimensions do.
  const DimVector* ProductOf(const Shape& shape) const {
    for (const DimVector& dims : products_) {
      const size_t rank = dims.size();
      if (rank < 2 || shape.rank() <= static_cast<int>(rank)) continue;
      const DimVector places = PlacesIn(shape, dims);
      if (places.empty() || places.back() < 0 ||
          places[places.size() - 2] < 0) {
        continue;
      }
      return &dims;
    }
    return nullptr;
  }

  // Null: it stays.
  Instruction* Made(Instruction* i) {
    const bool reduces =
        i->opcode() == Opcode::kReduce && i->operand_count() == 2;
    const Shape& shape = reduces ? i->operand(0)->shape() : i->shape();
    if (!IsRowMajor(shape)) return nullptr;
    const DimVector* dims = ProductOf(shape);
    if (dims == nullptr) return nullptr;
    const DimVector places = PlacesIn(shape, *dims);
    if (reduces) return Reduce(i, *dims, places);
    if (i->opcode() == Opcode::kBroadcast) {
      DimVector dimensions;
      for (const int64_t d : i->dimensions()) {
        if (places[d] < 0) return nullptr;
        dimensions.push_back(places[d]);
      }
      return c_->Add(Opcode::kBroadcast, InDims(shape, *dims), {i->operand(0)},
                     DimensionsAttrs{dimensions});
    }
    if (!IsLoopElementwise(*i)) return nullptr;
    std::vector<Instruction*> operands;
    for (Instruction* o : i->operands()) {
      const bool scalar = o->shape().IsScalar();
      if (!scalar && !IsRowMajor(o->shape())) return nullptr;
      operands.push_back(scalar ? o : As(o, InDims(o->shape(), *dims)));
    }
    return c_->AddLike(*i, InDims(shape, *dims), operands);
  }

  Instruction* Reduce(Instruction* i, const DimVector& dims,
                      const DimVector& places) {
    DimVector over;
    for (const int64_t d : i->dimensions()) {
      if (places[d] >= 0) over.push_back(places[d]);
    }
    if (over.empty()) return nullptr;
    DimVector kept;
    for (size_t d = 0; d < dims.size(); ++d) {
      if (std::find(over.begin(), over.end(), static_cast<int64_t>(d)) ==
          over.end()) {
        kept.push_back(dims[d]);
      }
    }
    const Shape result =
        static_cast<int>(kept.size()) == i->shape().rank()
            ? i->shape()
            : WithTpuLayout(Shape::Array(i->shape().type(), kept), generation_);
    Instruction* value =
        As(i->operand(0), InDims(i->operand(0)->shape(), dims));
    return c_->Add(Opcode::kReduce, result, {value, i->operand(1)},
                   DimensionsAttrs{over}, {i->to_apply()});
  }

  // `shape` with other dimensions, in its tiles.
  static Shape InDims(const Shape& shape, const DimVector& dims) {
    Shape result = Shape::Array(shape.type(), dims);
    Layout layout = shape.layout();
    layout.minor_to_major.clear();
    for (auto d = static_cast<int64_t>(dims.size()) - 1; d >= 0; --d) {
      layout.minor_to_major.push_back(d);
    }
    *result.mutable_layout() = layout;
    return result;
  }

  Instruction* As(Instruction* value, const Shape& shape) {
    if (value->shape() == shape) return value;
    if (value->opcode() == Opcode::kBitcast &&
        value->operand(0)->shape() == shape) {
      return value->operand(0);
    }
    return c_->Add(Opcode::kBitcast, shape, {value});
  }

  void JoinBitcasts() {
    const auto is_view = [](const Instruction& i) {
      return i.opcode() == Opcode::kBitcast &&
             i.shape().type() == i.operand(0)->shape().type();
    };
    for (Instruction* i : c_->PostOrder()) {
      while (is_view(*i) && is_view(*i->operand(0))) {
        i->ReplaceOperand(0, i->operand(0)->operand(0));
      }
      if (is_view(*i) && i->shape() == i->operand(0)->shape() && !i->IsRoot()) {
        c_->Replace(i, i->operand(0));
      }
    }
  }

  Computation* c_;
  const int generation_;
  std::vector<DimVector> products_;  // dimensions of results and operands
};

}  // namespace

void TakeProductDims(Computation* c, int generation) {
  UnitDims(c, generation).Run();
}

}  // namespace ptxla::hlo
