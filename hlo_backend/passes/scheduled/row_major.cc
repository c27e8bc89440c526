#include "hlo_backend/passes/scheduled/row_major.h"

#include <algorithm>
#include <vector>

#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/layout/dimension_order.h"
#include "hlo_backend/passes/scheduled/row_major_body.h"
#include "hlo_backend/passes/scheduled/row_major_dot.h"

namespace ptxla::hlo {
namespace {

class Normalizer {
 public:
  Normalizer(Computation* c, int generation, bool shares)
      : c_(c), shares_(shares), body_(c, generation) {}

  void Run() {
    for (Instruction* i : c_->PostOrder()) {
      if (i->opcode() == Opcode::kTuple && i->IsRoot()) continue;
      Instruction* value = HasOrder(i->shape()) ? Normalized(i) : nullptr;
      body_.Set(i, value != nullptr ? value : AsItIs(i));
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
  // The value as it was before; `i` is an instruction of the old body.
  Instruction* Original(const Instruction* i) {
    Instruction* value = body_.of(i);
    return i->shape().IsArray() ? body_.As(value, i->shape()) : value;
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
    return HasOrder(i->shape()) ? body_.As(value, RowMajorOf(i->shape()))
                                : value;
  }

  // Null: as it is.
  Instruction* Normalized(Instruction* i) {
    for (const Instruction* o : i->operands()) {
      if (!HasOrder(o->shape())) return nullptr;
    }
    switch (i->opcode()) {
      case Opcode::kBitcast:
        return i->shape().type() == i->operand(0)->shape().type()
                   ? body_.As(body_.of(i->operand(0)), RowMajorOf(i->shape()))
                   : nullptr;
      case Opcode::kBroadcast:
        return Broadcast(i);
      case Opcode::kIota:
        return body_.Like(
            i, Opcode::kIota, RowMajorOf(i->shape()), {},
            IotaAttrs{PlacesOf(i->shape())[i->attrs<IotaAttrs>().dimension]});
      case Opcode::kReduce:
        return i->operand_count() == 2 ? Reduce(i) : nullptr;
      case Opcode::kDot:
        return RowMajorDot(i, shares_, &body_);
      case Opcode::kConvolution:
        return Convolution(i);
      case Opcode::kReduceWindow:
      case Opcode::kSelectAndScatter:
        return Windowed(i);
      case Opcode::kTranspose:
      case Opcode::kCopy:
        return Moved(i);
      case Opcode::kGather:
        return Gather(i);
      default:
        return i->IsElementwise() ? Elementwise(i) : nullptr;
    }
  }

  Instruction* Elementwise(const Instruction* i) {
    std::vector<Instruction*> operands;
    for (const Instruction* o : i->operands()) {
      if (o->shape().rank() != i->shape().rank()) {
        if (!o->shape().IsScalar()) return nullptr;
        operands.push_back(body_.of(o));
        continue;
      }
      const DimVector permutation =
          Permuted(PlacesOf(o->shape()), OrderOf(i->shape()));
      if (IsIncreasing(permutation)) {
        operands.push_back(body_.of(o));
        continue;
      }
      Shape shape = RowMajorOf(i->shape());
      shape.set_type(o->shape().type());
      shape = WithTpuLayout(shape, body_.generation());
      operands.push_back(body_.Transposed(body_.of(o), permutation, shape));
    }
    return c_->AddLike(*i, RowMajorOf(i->shape()), operands);
  }

  Instruction* Broadcast(const Instruction* i) {
    const Instruction* x = i->operand(0);
    const DimVector places = PlacesOf(i->shape());
    DimVector dimensions;
    for (int64_t d : OrderOf(x->shape())) {
      dimensions.push_back(places[i->dimensions()[d]]);
    }
    Instruction* value = body_.of(x);
    if (!IsIncreasing(dimensions)) {
      // What is broadcast lies in another order than in the result.
      DimVector permutation(dimensions.size());
      for (size_t k = 0; k < permutation.size(); ++k) {
        permutation[k] = static_cast<int64_t>(k);
      }
      std::sort(
          permutation.begin(), permutation.end(),
          [&](int64_t a, int64_t b) { return dimensions[a] < dimensions[b]; });
      value = body_.Transposed(
          value, permutation,
          body_.Array(value->shape().type(),
                      Permuted(value->shape().dims(), permutation)));
      std::sort(dimensions.begin(), dimensions.end());
    }
    return body_.Like(i, Opcode::kBroadcast, RowMajorOf(i->shape()), {value},
                      DimensionsAttrs{dimensions});
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
    return body_.Result(i, Opcode::kReduce,
                        {body_.of(i->operand(0)), body_.of(i->operand(1))},
                        DimensionsAttrs{dimensions}, natural);
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
    return body_.Like(i, Opcode::kConvolution, RowMajorOf(i->shape()),
                      {body_.of(i->operand(0)), body_.of(i->operand(1))},
                      attrs);
  }

  // A window of every dimension, over arrays that lie alike.
  Instruction* Windowed(const Instruction* i) {
    const DimVector order = OrderOf(i->shape());
    std::vector<Instruction*> operands;
    for (const Instruction* o : i->operands()) {
      if (!o->shape().IsScalar() && OrderOf(o->shape()) != order) {
        return nullptr;
      }
      operands.push_back(body_.of(o));
    }
    WindowAttrs attrs = i->attrs<WindowAttrs>();
    const Window window = attrs.window;
    for (size_t k = 0; k < order.size(); ++k) {
      attrs.window.dims[k] = window.dims[order[k]];
    }
    return body_.Like(i, i->opcode(), RowMajorOf(i->shape()), operands, attrs);
  }

  // Of whole planes, which lie alike in the array and in the result.
  Instruction* Gather(const Instruction* i) {
    const Shape& x = i->operand(0)->shape();
    GatherAttrs attrs = i->attrs<GatherAttrs>();
    const DimVector order = OrderOf(x);
    if (attrs.start_index_map != DimVector{0} ||
        attrs.collapsed_slice_dims != DimVector{0} ||
        !attrs.operand_batching_dims.empty() || order[0] != 0 ||
        i->operand(1)->shape().rank() != 1 || OrderOf(i->shape()) != order) {
      return nullptr;
    }
    for (int d = 1; d < x.rank(); ++d) {
      if (attrs.slice_sizes[d] != x.dim(d) || attrs.offset_dims[d - 1] != d) {
        return nullptr;
      }
    }
    attrs.slice_sizes = Permuted(attrs.slice_sizes, order);
    return body_.Like(i, Opcode::kGather, RowMajorOf(i->shape()),
                      {body_.of(i->operand(0)), body_.of(i->operand(1))},
                      attrs);
  }

  // A transpose, or a copy into another order.
  Instruction* Moved(const Instruction* i) {
    const DimVector places = PlacesOf(i->operand(0)->shape());
    DimVector permutation;
    for (int64_t d : OrderOf(i->shape())) {
      permutation.push_back(
          places[i->opcode() == Opcode::kTranspose ? i->dimensions()[d] : d]);
    }
    Instruction* value = body_.of(i->operand(0));
    const Shape shape = RowMajorOf(i->shape());
    // Other tiles are other places.
    if (IsIncreasing(permutation) &&
        !(value->shape().layout().tiles == shape.layout().tiles)) {
      return body_.Like(i, Opcode::kCopy, shape, {value}, {});
    }
    return body_.Transposed(value, permutation, shape);
  }

  Computation* c_;
  const bool shares_;
  RowMajorBody body_;
};

}  // namespace

bool MakeRowMajor(Computation* c, int generation, bool shares) {
  bool needed = false;
  for (const Instruction* i : c->instructions()) {
    needed |= HasOrder(i->shape()) && !i->shape().layout().IsRowMajor();
  }
  if (needed) Normalizer(c, generation, shares).Run();
  return needed;
}

}  // namespace ptxla::hlo
