#include "hlo_backend/passes/layout/linear_copies.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/passes/layout/transpose_splitter.h"
#include "hlo_backend/passes/scheduled/part_names.h"

namespace ptxla::hlo {
namespace {

// A dimension of the copied array, or one half of it.
struct Part {
  int dim = 0;
  bool minor = false;  // the last 128 of a dimension in two
  int64_t size = 0;
  bool operator==(const Part& o) const {
    return dim == o.dim && minor == o.minor;
  }
};

// Dimensions in the order of memory, without those of size 1.
std::vector<Part> PartsOf(const Shape& shape) {
  std::vector<Part> parts;
  const auto& order = shape.layout().minor_to_major;
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const int dim = static_cast<int>(*it);
    if (shape.dim(dim) != 1) parts.push_back({dim, false, shape.dim(dim)});
  }
  return parts;
}

void Split(int dim, std::vector<Part>* parts) {
  const auto at = std::find(parts->begin(), parts->end(), Part{dim});
  if (at == parts->end()) return;
  const int64_t rows = at->size / kLanes;
  *at = {dim, true, kLanes};
  if (rows > 1) parts->insert(at, {dim, false, rows});
}

Shape ShapeOf(const std::vector<Part>& parts, PrimitiveType type,
              int generation) {
  DimVector dims;
  for (const Part& p : parts) dims.push_back(p.size);
  return WithTpuLayout(Shape::Array(type, dims), generation);
}

// Rows of whole registers one behind the other.
bool IsLinear(const Shape& shape) {
  const auto& tiles = shape.layout().tiles;
  const int minor = static_cast<int>(shape.layout().minor_to_major[0]);
  return tiles.size() == 1 && tiles[0].dimensions.size() == 2 &&
         tiles[0].dimensions[0] == 1 && tiles[0].dimensions[1] == kLanes &&
         shape.dim(minor) % kLanes == 0;
}

std::optional<DimVector> Permutation(const std::vector<Part>& from,
                                     const std::vector<Part>& to) {
  if (from.size() != to.size()) return std::nullopt;
  DimVector order;
  for (const Part& p : to) {
    const auto at = std::find(from.begin(), from.end(), p);
    if (at == from.end()) return std::nullopt;
    order.push_back(at - from.begin());
  }
  return order;
}

}  // namespace

bool ReplaceLinearCopy(Instruction* copy, int generation) {
  const Shape &from = copy->operand(0)->shape(), &to = copy->shape();
  if (!from.IsArray() || !from.has_layout() || !to.has_layout() ||
      from.rank() < 2 || BitWidth(from.type()) != 32 ||
      from.type() != to.type() || IsLinear(from) == IsLinear(to)) {
    return false;
  }
  const bool forth = IsLinear(from);
  const Shape &linear = forth ? from : to, &tiled = forth ? to : from;
  std::vector<Part> rows = PartsOf(linear), others = PartsOf(tiled);
  if (rows.size() < 2 || rows.back() == others.back()) return false;
  // In tiles it lies as its own dimensions in the order of memory do.
  if (!(ShapeOf(others, to.type(), generation).layout().tiles ==
        tiled.layout().tiles)) {
    return false;
  }
  const int minor = rows.back().dim;
  Split(minor, &rows);
  Split(minor, &others);
  const Shape row_shape = ShapeOf(rows, to.type(), generation);
  const Shape other_shape = ShapeOf(others, to.type(), generation);
  const int64_t bytes = row_shape.ElementCount() * 4;
  const auto order =
      forth ? Permutation(rows, others) : Permutation(others, rows);
  if (!order || PaddedBytes(row_shape) != bytes ||
      PaddedBytes(other_shape) != PaddedBytes(tiled) ||
      !(other_shape.layout().tiles == tiled.layout().tiles)) {
    return false;
  }
  Computation* c = copy->parent();
  const auto in = [](Shape shape, const Shape& like) {
    shape.mutable_layout()->memory_space = like.memory_space();
    return shape;
  };
  Instruction* x =
      c->Add(Opcode::kBitcast, in(forth ? row_shape : other_shape, from),
             {copy->operand(0)});
  const std::vector<DimVector> steps = TransposeSteps(*order);
  for (size_t k = 0; k < steps.size(); ++k) {
    DimVector dims;
    for (const int64_t d : steps[k]) {
      dims.push_back(x->shape().dim(static_cast<int>(d)));
    }
    Shape shape = WithTpuLayout(Shape::Array(to.type(), dims), generation);
    if (k + 1 == steps.size()) shape = in(shape, to);
    x = c->Add(Opcode::kTranspose, shape, {x}, DimensionsAttrs{steps[k]});
    x->set_metadata(copy->shared_metadata());
    x->set_name(PartName(*copy));
  }
  c->Replace(copy, c->Add(Opcode::kBitcast, Shape(to), {x}));
  return true;
}

}  // namespace ptxla::hlo
