#include "hlo_backend/passes/expanders/counting_indices.h"

#include <algorithm>
#include <vector>

#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/dimension_utils.h"

namespace ptxla::hlo {
namespace {

bool IsZeros(const Instruction& i) {
  const Instruction* x = &i;
  while (x->opcode() == Opcode::kBroadcast) x = x->operand(0);
  return x->opcode() == Opcode::kConstant && x->shape().IsScalar() &&
         !x->literal().IsElided() && x->literal().GetDouble(0) == 0;
}

// Of a reshape that adds and drops dimensions of size 1: the operand's
// dimension; -1: none.
int64_t OfOperand(const Instruction& reshape, int64_t dim) {
  const auto from = NonUnitPositions(reshape.operand(0)->shape().dims());
  const auto to = NonUnitPositions(reshape.shape().dims());
  if (DropUnitDims(reshape.shape().dims()) !=
      DropUnitDims(reshape.operand(0)->shape().dims())) {
    return -1;
  }
  const auto at = std::find(to.begin(), to.end(), dim);
  return at == to.end() ? -1 : from[at - to.begin()];
}

// What the parts of an index vector stand for.
struct Parts {
  std::vector<Instruction*> rest;
  DimVector rest_map;                    // the operand's dimensions of them
  DimVector operand_dims, indices_dims;  // of those that count
};

// `map`: the operand's dimension of each part; `removed`: those that windows
// lack.
bool Divide(Instruction* i, int64_t vector_dim, const DimVector& map,
            const DimVector& removed, Parts* parts) {
  Instruction* indices = i->operand(1);
  const Shape& x = i->operand(0)->shape();
  if (indices->opcode() != Opcode::kConcatenate ||
      indices->dimensions()[0] != vector_dim ||
      indices->operand_count() != static_cast<int>(map.size())) {
    return false;
  }
  const int n = indices->operand_count();
  for (int k = 0; k < n; ++k) {
    Instruction* part = indices->operand(k);
    int64_t along = -1;
    // One of them is an index still.
    const bool last = parts->rest.empty() && k + 1 == n;
    for (int64_t e = 0; e < indices->shape().rank() && !last; ++e) {
      if (e != vector_dim && !Contains(parts->indices_dims, e) &&
          Contains(removed, map[k]) &&
          indices->shape().dim(static_cast<int>(e)) ==
              x.dim(static_cast<int>(map[k])) &&
          x.dim(static_cast<int>(map[k])) > 1 && CountsAlong(*part, e)) {
        along = e;
      }
    }
    if (along < 0) {
      parts->rest.push_back(part);
      parts->rest_map.push_back(map[k]);
    } else {
      parts->operand_dims.push_back(map[k]);
      parts->indices_dims.push_back(along);
    }
  }
  return !parts->operand_dims.empty();
}

DimVector Without(const DimVector& dims, const DimVector& some) {
  DimVector rest;
  for (const int64_t d : dims) {
    if (!Contains(some, d)) rest.push_back(d);
  }
  return rest;
}

// Pairs of batching dimensions, in the operand's order.
void Join(const Parts& parts, DimVector* operand, DimVector* indices) {
  for (size_t k = 0; k < parts.operand_dims.size(); ++k) {
    const auto at = std::lower_bound(operand->begin(), operand->end(),
                                     parts.operand_dims[k]);
    indices->insert(indices->begin() + (at - operand->begin()),
                    parts.indices_dims[k]);
    operand->insert(at, parts.operand_dims[k]);
  }
}

bool IsWordOfCounts(const Shape& x) {
  return x.type() == PrimitiveType::kS32 || x.type() == PrimitiveType::kU32;
}

}  // namespace

bool CountsAlong(const Instruction& value, int64_t dim) {
  switch (value.opcode()) {
    case Opcode::kIota: {
      const PrimitiveType type = value.shape().type();
      if (value.attrs<IotaAttrs>().dimension != dim || !IsInteger(type)) {
        return false;
      }
      // What does not fit its type begins again.
      const int bits = std::min(BitWidth(type) - (IsSigned(type) ? 1 : 0), 62);
      return value.shape().dim(static_cast<int>(dim)) <= int64_t{1} << bits;
    }
    case Opcode::kReshape: {
      const int64_t from = OfOperand(value, dim);
      return from >= 0 && CountsAlong(*value.operand(0), from);
    }
    case Opcode::kBroadcast: {
      const auto dims = value.dimensions();
      const auto at = std::find(dims.begin(), dims.end(), dim);
      return at != dims.end() &&
             CountsAlong(*value.operand(0), at - dims.begin());
    }
    case Opcode::kConvert:
    case Opcode::kBitcastConvert: {
      // Between types that hold every position.
      const Shape& from = value.operand(0)->shape();
      return IsWordOfCounts(value.shape()) && IsWordOfCounts(from) &&
             CountsAlong(*value.operand(0), dim);
    }
    case Opcode::kSelect: {
      const Instruction& p = *value.operand(0);
      return p.opcode() == Opcode::kCompare &&
             p.attrs<CompareAttrs>().direction == CompareDirection::kLt &&
             IsZeros(*p.operand(1)) && CountsAlong(*p.operand(0), dim) &&
             CountsAlong(*value.operand(2), dim);
    }
    default:
      return false;
  }
}

Instruction* WithoutCountingIndices(Instruction* i) {
  Builder b(i->parent());
  b.set_metadata(i->shared_metadata());
  Parts parts;
  if (i->opcode() != Opcode::kScatter || i->operand_count() != 3) {
    return nullptr;
  }
  ScatterAttrs a = i->attrs<ScatterAttrs>();
  if (!Divide(i, a.index_vector_dim, a.scatter_dims_to_operand_dims,
              a.inserted_window_dims, &parts)) {
    return nullptr;
  }
  Join(parts, &a.input_batching_dims, &a.scatter_indices_batching_dims);
  a.scatter_dims_to_operand_dims = parts.rest_map;
  a.inserted_window_dims = Without(a.inserted_window_dims, parts.operand_dims);
  Instruction* rest = parts.rest.size() == 1
                          ? parts.rest[0]
                          : b.Concatenate(parts.rest, a.index_vector_dim);
  return b.Scatter({i->operand(0)}, rest, {i->operand(2)}, i->to_apply(), a);
}

}  // namespace ptxla::hlo
