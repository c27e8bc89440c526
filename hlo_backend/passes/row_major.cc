#include "hlo_backend/passes/row_major.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo_backend/analysis/tiled_layout.h"

namespace ptxla::hlo {
namespace {

// Logical dimensions, major to minor.
DimVector OrderOf(const Shape& shape) {
  const DimVector& m = shape.layout().minor_to_major;
  return DimVector(m.rbegin(), m.rend());
}

DimVector Inverse(const DimVector& order) {
  DimVector inverse(order.size());
  for (size_t k = 0; k < order.size(); ++k) {
    inverse[order[k]] = static_cast<int64_t>(k);
  }
  return inverse;
}

// Where each dimension of the shape stands when it is row-major.
DimVector PlacesOf(const Shape& shape) { return Inverse(OrderOf(shape)); }

bool IsPlain(const Shape& shape) {
  return shape.IsArray() && shape.has_layout() && !shape.HasDynamicDims();
}

// The array with its dimensions in the order in which they lie.
Shape Normal(const Shape& shape) {
  DimVector dims;
  for (int64_t d : OrderOf(shape)) {
    dims.push_back(shape.dim(static_cast<int>(d)));
  }
  Shape normal = Shape::Array(shape.type(), dims);
  Layout layout = shape.layout();
  layout.minor_to_major = Layout::RowMajor(shape.rank()).minor_to_major;
  normal.set_layout(layout);
  return normal;
}

class Normalizer {
 public:
  Normalizer(Computation* c, int generation, bool shares)
      : c_(c), generation_(generation), shares_(shares) {}

  void Run() {
    for (Instruction* i : c_->PostOrder()) {
      if (i->opcode() == Opcode::kTuple && i->IsRoot()) continue;
      normal_[i] = IsPlain(i->shape()) ? Normalized(i) : nullptr;
      if (normal_[i] == nullptr) normal_[i] = AsItIs(i);
    }
    Instruction* root = c_->root();
    if (root->opcode() != Opcode::kTuple) {
      c_->SetRoot(Original(root));
    } else {
      for (int k = 0; k < root->operand_count(); ++k) {
        root->ReplaceOperand(k, Original(root->operand(k)));
      }
    }
    c_->RemoveDead();
  }

 private:
  Instruction* As(Instruction* value, const Shape& shape) {
    if (value->shape() == shape) return value;
    return c_->Add(Opcode::kBitcast, shape, {value});
  }

  // The value as it was before; `i` is an instruction of the old body.
  Instruction* Original(const Instruction* i) {
    Instruction* value = normal_.at(i);
    return i->shape().IsArray() ? As(value, i->shape()) : value;
  }

  // Between operands and a result as they were.
  Instruction* AsItIs(Instruction* i) {
    Instruction* value = i;
    if (i->opcode() != Opcode::kParameter && !i->IsConstant()) {
      std::vector<Instruction*> operands;
      for (const Instruction* o : i->operands()) {
        operands.push_back(Original(o));
      }
      value = c_->AddLike(*i, i->shape(), operands);
    }
    return IsPlain(i->shape()) ? As(value, Normal(i->shape())) : value;
  }

  // Null: as it is.
  Instruction* Normalized(Instruction* i) {
    for (const Instruction* o : i->operands()) {
      if (!IsPlain(o->shape())) return nullptr;
    }
    switch (i->opcode()) {
      case Opcode::kBitcast:
        return i->shape().type() == i->operand(0)->shape().type()
                   ? As(normal_.at(i->operand(0)), Normal(i->shape()))
                   : nullptr;
      case Opcode::kBroadcast:
        return Broadcast(i);
      case Opcode::kIota:
        return Like(
            i, Opcode::kIota, Normal(i->shape()), {},
            IotaAttrs{PlacesOf(i->shape())[i->attrs<IotaAttrs>().dimension]});
      case Opcode::kReduce:
        return i->operand_count() == 2 ? Reduce(i) : nullptr;
      case Opcode::kDot:
        return Dot(i);
      case Opcode::kConvolution:
        return Convolution(i);
      case Opcode::kReduceWindow:
      case Opcode::kSelectAndScatter:
        return Windowed(i);
      case Opcode::kTranspose:
      case Opcode::kCopy:
        return Moved(i);
      default:
        return i->IsElementwise() ? Elementwise(i) : nullptr;
    }
  }

  Instruction* Like(const Instruction* i, Opcode opcode, const Shape& shape,
                    const std::vector<Instruction*>& operands,
                    Attributes attributes) {
    const std::vector<Computation*> called(i->called().begin(),
                                           i->called().end());
    Instruction* made =
        c_->Add(opcode, shape, operands, std::move(attributes), called);
    made->set_metadata(i->shared_metadata());
    return made;
  }

  // Dimension k of the result is dimension permutation[k] of the value.
  Instruction* Permuted(Instruction* value, const DimVector& permutation,
                        const Shape& shape) {
    if (std::is_sorted(permutation.begin(), permutation.end())) {
      return As(value, shape);
    }
    return c_->Add(Opcode::kTranspose, shape, {value},
                   DimensionsAttrs{permutation});
  }

  Instruction* Elementwise(const Instruction* i) {
    std::vector<Instruction*> operands;
    for (const Instruction* o : i->operands()) {
      if (o->shape().rank() != i->shape().rank()) {
        if (!o->shape().IsScalar()) return nullptr;
        operands.push_back(normal_.at(o));
        continue;
      }
      const DimVector places = PlacesOf(o->shape());
      DimVector permutation;
      for (int64_t d : OrderOf(i->shape())) permutation.push_back(places[d]);
      Shape shape = Normal(i->shape());
      shape.set_type(o->shape().type());
      shape = WithTpuLayout(shape, generation_);
      operands.push_back(std::is_sorted(permutation.begin(), permutation.end())
                             ? normal_.at(o)
                             : Permuted(normal_.at(o), permutation, shape));
    }
    return c_->AddLike(*i, Normal(i->shape()), operands);
  }

  Instruction* Broadcast(const Instruction* i) {
    const Instruction* x = i->operand(0);
    const DimVector places = PlacesOf(i->shape());
    DimVector dimensions;
    for (int64_t d : OrderOf(x->shape())) {
      dimensions.push_back(places[i->dimensions()[d]]);
    }
    Instruction* value = normal_.at(x);
    if (!std::is_sorted(dimensions.begin(), dimensions.end())) {
      // What is broadcast lies in another order than in the result.
      DimVector permutation(dimensions.size());
      for (size_t k = 0; k < permutation.size(); ++k) {
        permutation[k] = static_cast<int64_t>(k);
      }
      std::sort(
          permutation.begin(), permutation.end(),
          [&](int64_t a, int64_t b) { return dimensions[a] < dimensions[b]; });
      value = Permuted(value, permutation, InOrder(value, permutation));
      std::sort(dimensions.begin(), dimensions.end());
    }
    return Like(i, Opcode::kBroadcast, Normal(i->shape()), {value},
                DimensionsAttrs{dimensions});
  }

  Shape InOrder(const Instruction* value, const DimVector& permutation) const {
    DimVector dims;
    for (int64_t d : permutation) {
      dims.push_back(value->shape().dim(static_cast<int>(d)));
    }
    return WithTpuLayout(Shape::Array(value->shape().type(), dims),
                         generation_);
  }

  // A result that comes with its logical dimensions in the order `natural`, as
  // `i` lies.
  Instruction* Result(const Instruction* i, Opcode opcode,
                      const std::vector<Instruction*>& operands,
                      Attributes attributes, const DimVector& natural) {
    const DimVector wanted = OrderOf(i->shape());
    if (natural == wanted) {
      return Like(i, opcode, Normal(i->shape()), operands,
                  std::move(attributes));
    }
    DimVector dims;
    for (int64_t d : natural) {
      dims.push_back(i->shape().dim(static_cast<int>(d)));
    }
    const Shape shape =
        WithTpuLayout(Shape::Array(i->shape().type(), dims), generation_);
    Instruction* made = Like(i, opcode, shape, operands, std::move(attributes));
    const DimVector places = Inverse(natural);
    DimVector permutation;
    for (int64_t d : wanted) permutation.push_back(places[d]);
    return Permuted(made, permutation, Normal(i->shape()));
  }

  Instruction* Reduce(const Instruction* i) {
    const Shape& x = i->operand(0)->shape();
    const DimVector places = PlacesOf(x);
    DimVector dimensions, number(x.rank(), -1), natural;
    for (int64_t d : i->dimensions()) {
      dimensions.push_back(places[d]);
      number[d] = -2;
    }
    std::sort(dimensions.begin(), dimensions.end());
    int64_t next = 0;
    for (int64_t& n : number) {
      if (n == -1) n = next++;
    }
    for (int64_t d : OrderOf(x)) {
      if (number[d] >= 0) natural.push_back(number[d]);
    }
    return Result(i, Opcode::kReduce,
                  {normal_.at(i->operand(0)), normal_.at(i->operand(1))},
                  DimensionsAttrs{dimensions}, natural);
  }

  struct Side {
    DimVector batch, contracting;  // places
    DimVector free;                // numbers in the result, as they lie
    Instruction* value;
  };

  Side SideOf(const Instruction* x, const DimVector& batch,
              const DimVector& contracting, int64_t first) {
    Side side;
    const DimVector places = PlacesOf(x->shape());
    for (int64_t d : batch) side.batch.push_back(places[d]);
    for (int64_t d : contracting) side.contracting.push_back(places[d]);
    const auto has = [](const DimVector& list, int64_t d) {
      return std::find(list.begin(), list.end(), d) != list.end();
    };
    DimVector number(places.size(), -1);
    for (int64_t d = 0; d < x->shape().rank(); ++d) {
      if (!has(batch, d) && !has(contracting, d)) number[d] = first++;
    }
    for (int64_t d : OrderOf(x->shape())) {
      if (number[d] >= 0) side.free.push_back(number[d]);
    }
    side.value = normal_.at(x);
    return side;
  }

  Instruction* Dot(const Instruction* i) {
    const DotAttrs& attrs = i->attrs<DotAttrs>();
    if (!attrs.sparsity.empty()) return nullptr;
    const auto batches = static_cast<int64_t>(attrs.lhs_batch.size());
    Side lhs =
        SideOf(i->operand(0), attrs.lhs_batch, attrs.lhs_contracting, batches);
    Side rhs = SideOf(i->operand(1), attrs.rhs_batch, attrs.rhs_contracting,
                      batches + static_cast<int64_t>(lhs.free.size()));
    // Batch dimensions in the order in which the result has them.
    const DimVector wanted = OrderOf(i->shape());
    DimVector natural;
    DotAttrs made = attrs;
    made.lhs_batch.clear();
    made.rhs_batch.clear();
    for (int64_t d : wanted) {
      if (d >= batches) continue;
      natural.push_back(d);
      made.lhs_batch.push_back(lhs.batch[d]);
      made.rhs_batch.push_back(rhs.batch[d]);
    }
    const auto with = [&](const Side& a, const Side& b) {
      DimVector all = natural;
      all.insert(all.end(), a.free.begin(), a.free.end());
      all.insert(all.end(), b.free.begin(), b.free.end());
      return all;
    };
    if (with(rhs, lhs) == wanted && with(lhs, rhs) != wanted) {
      std::swap(lhs, rhs);
      std::swap(made.lhs_batch, made.rhs_batch);
      if (made.precision.operands.size() == 2) {
        std::swap(made.precision.operands[0], made.precision.operands[1]);
      }
    }
    if (shares_ && with(lhs, rhs) != wanted) {
      if (Instruction* shared = Shared(i, lhs, rhs)) return shared;
      if (Instruction* shared = Shared(i, rhs, lhs)) return shared;
    }
    made.lhs_contracting = lhs.contracting;
    made.rhs_contracting = rhs.contracting;
    return Result(i, Opcode::kDot, {lhs.value, rhs.value}, made,
                  with(lhs, rhs));
  }

  // `rows` is a matrix whose free dimension lies in front of the last one of
  // `columns`: shared by the planes of that. Null: it is not.
  Instruction* Shared(const Instruction* i, const Side& rows,
                      const Side& columns) {
    const auto planes = static_cast<int64_t>(columns.free.size()) - 1;
    if (planes < 1 || rows.free.size() != 1 || !rows.batch.empty() ||
        rows.contracting.size() != 1 || columns.contracting[0] < planes) {
      return nullptr;
    }
    DimVector natural = columns.free;
    natural.insert(natural.end() - 1, rows.free[0]);
    if (natural != OrderOf(i->shape())) return nullptr;
    DotAttrs attrs = i->attrs<DotAttrs>();
    if (attrs.precision.operands.size() == 2 &&
        attrs.precision.operands[0] != attrs.precision.operands[1]) {
      return nullptr;
    }
    const Shape& matrix = rows.value->shape();
    DimVector dims, members;
    for (int64_t d = 0; d < planes; ++d) {
      members.push_back(d);
      dims.push_back(columns.value->shape().dim(static_cast<int>(d)));
    }
    dims.insert(dims.end(), matrix.dims().begin(), matrix.dims().end());
    Instruction* shared =
        c_->Add(Opcode::kBroadcast,
                WithTpuLayout(Shape::Array(matrix.type(), dims), generation_),
                {rows.value}, DimensionsAttrs{DimVector{planes, planes + 1}});
    attrs.lhs_batch = attrs.rhs_batch = members;
    attrs.lhs_contracting = {rows.contracting[0] + planes};
    attrs.rhs_contracting = columns.contracting;
    return Like(i, Opcode::kDot, Normal(i->shape()), {shared, columns.value},
                attrs);
  }

  Instruction* Convolution(const Instruction* i) {
    ConvAttrs attrs = i->attrs<ConvAttrs>();
    const DimVector input = PlacesOf(i->operand(0)->shape()),
                    kernel = PlacesOf(i->operand(1)->shape()),
                    output = PlacesOf(i->shape());
    ConvDims& dims = attrs.dims;
    const auto place = [](const DimVector& places, int64_t* dim) {
      *dim = places[*dim];
    };
    place(input, &dims.input_batch);
    place(input, &dims.input_feature);
    place(kernel, &dims.kernel_input_feature);
    place(kernel, &dims.kernel_output_feature);
    place(output, &dims.output_batch);
    place(output, &dims.output_feature);
    for (int64_t& d : dims.input_spatial) place(input, &d);
    for (int64_t& d : dims.kernel_spatial) place(kernel, &d);
    for (int64_t& d : dims.output_spatial) place(output, &d);
    return Like(i, Opcode::kConvolution, Normal(i->shape()),
                {normal_.at(i->operand(0)), normal_.at(i->operand(1))}, attrs);
  }

  // A window of every dimension, over arrays that lie alike.
  Instruction* Windowed(const Instruction* i) {
    const DimVector order = OrderOf(i->shape());
    std::vector<Instruction*> operands;
    for (const Instruction* o : i->operands()) {
      if (!o->shape().IsScalar() && OrderOf(o->shape()) != order) {
        return nullptr;
      }
      operands.push_back(normal_.at(o));
    }
    WindowAttrs attrs = i->attrs<WindowAttrs>();
    const Window window = attrs.window;
    for (size_t k = 0; k < order.size(); ++k) {
      attrs.window.dims[k] = window.dims[order[k]];
    }
    return Like(i, i->opcode(), Normal(i->shape()), operands, attrs);
  }

  // A transpose, or a copy into another order.
  Instruction* Moved(const Instruction* i) {
    const DimVector places = PlacesOf(i->operand(0)->shape());
    DimVector permutation;
    for (int64_t d : OrderOf(i->shape())) {
      permutation.push_back(
          places[i->opcode() == Opcode::kTranspose ? i->dimensions()[d] : d]);
    }
    Instruction* value = normal_.at(i->operand(0));
    const Shape shape = Normal(i->shape());
    // Other tiles are other places.
    if (std::is_sorted(permutation.begin(), permutation.end()) &&
        !(value->shape().layout().tiles == shape.layout().tiles)) {
      return Like(i, Opcode::kCopy, shape, {value}, {});
    }
    return Permuted(value, permutation, shape);
  }

  Computation* c_;
  const int generation_;
  const bool shares_;
  // By instruction of the old body: its value, row-major.
  absl::flat_hash_map<const Instruction*, Instruction*> normal_;
};

}  // namespace

bool MakeRowMajor(Computation* c, int generation, bool shares) {
  bool needed = false;
  for (const Instruction* i : c->instructions()) {
    needed |= IsPlain(i->shape()) && !i->shape().layout().IsRowMajor();
  }
  if (needed) Normalizer(c, generation, shares).Run();
  return needed;
}

}  // namespace ptxla::hlo
