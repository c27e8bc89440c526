#include "hlo_backend/passes/compact_entry.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/ir/fingerprint.h"
#include "hlo_backend/passes/dimension_utils.h"

namespace ptxla::hlo {
namespace {

DimVector Inverse(absl::Span<const int64_t> permutation) {
  DimVector inverse(permutation.size(), 0);
  for (size_t d = 0; d < permutation.size(); ++d) {
    inverse[permutation[d]] = static_cast<int64_t>(d);
  }
  return inverse;
}

Layout LayoutOf(const DimVector& major_to_minor) {
  Layout layout = Layout::RowMajor(static_cast<int>(major_to_minor.size()));
  layout.minor_to_major.assign(major_to_minor.rbegin(), major_to_minor.rend());
  return layout;
}

// Dimensions from major to minor.
DimVector CompactOrder(const Shape& shape, int generation) {
  DimVector order(shape.rank(), 0);
  std::iota(order.begin(), order.end(), 0);
  if (!shape.IsArray() || shape.rank() < 3 || shape.ElementCount() == 0) {
    return order;
  }
  DimVector best = order;
  // Tiles of one row pad nothing either; a dimension of size 1 still goes
  // outside where there are others.
  std::pair<int64_t, bool> least = {INT64_MAX, true};
  do {
    Shape s = shape;
    s.set_layout(LayoutOf(order));
    const std::pair<int64_t, bool> cost = {
        PaddedBytes(WithTpuLayout(s, generation)),
        shape.dim(static_cast<int>(order[order.size() - 2])) == 1};
    if (cost >= least) continue;
    least = cost;
    best = order;
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

bool HasDefaultOrder(const Shape& s) {
  return !s.IsArray() || !s.has_layout() || s.layout().IsRowMajor();
}

// The order in which an array of the entry will lie: that of the header where
// it is a wish (not the default one), else the compact one.
DimVector EntryOrder(const Shape& shape, const Shape& header, int generation) {
  if (HasDefaultOrder(header)) return CompactOrder(shape, generation);
  DimVector order = header.layout().minor_to_major;
  std::reverse(order.begin(), order.end());
  if (shape.rank() < 3) std::iota(order.begin(), order.end(), 0);
  return order;
}

bool HasWindows(const Computation& c) {
  for (const Instruction* i : c.instructions()) {
    if (i->opcode() == Opcode::kConvolution ||
        i->opcode() == Opcode::kReduceWindow ||
        i->opcode() == Opcode::kSelectAndScatter) {
      return true;
    }
  }
  return false;
}

class Compacter {
 public:
  Compacter(Module* module, int generation)
      : entry_(module->entry()),
        header_(*module->mutable_config()->entry_layout),
        b_(entry_),
        generation_(generation) {}

  bool Run() {
    for (int p = 0; p < entry_->parameter_count(); ++p) {
      Parameter(entry_->parameter(p), &header_.parameters[p]);
    }
    Instruction* root = entry_->root();
    if (root->opcode() == Opcode::kTuple) {
      for (int k = 0; k < root->operand_count(); ++k) {
        Shape* shape = header_.result.mutable_element(k);
        if (!shape->IsArray()) continue;
        Instruction* value = Result(root->operand(k), shape);
        if (value != root->operand(k)) root->ReplaceOperand(k, value);
      }
    } else if (root->shape().IsArray()) {
      entry_->SetRoot(Result(root, &header_.result));
    }
    return changed_;
  }

 private:
  Instruction* Transposed(Instruction* x, const DimVector& permutation) {
    return IsIdentityMapping(permutation) ? x : b_.Transpose(x, permutation);
  }

  Instruction* Reshaped(Instruction* x, const Shape& shape) {
    return x->shape().SameDims(shape) ? x : b_.Reshape(x, shape.dims());
  }

  // Only dimensions of size 1 change places.
  static bool KeepsOrder(const DimVector& dims, const DimVector& order) {
    DimVector moved;
    for (int64_t d : order) {
      if (dims[d] != 1) moved.push_back(d);
    }
    return IsIncreasing(moved);
  }

  // `x` has the dimensions of an array with dimensions `dims` that are not of
  // size 1 in the order `from`: the same in the order `to`, as an array with
  // dimensions `result`.
  Instruction* Reordered(Instruction* x, const DimVector& dims,
                         const DimVector& from, const DimVector& to,
                         absl::Span<const int64_t> result) {
    DimVector places, sizes, permutation;
    for (const int64_t d : from) {
      if (dims[d] == 1) continue;
      places.push_back(d);
      sizes.push_back(dims[d]);
    }
    for (const int64_t d : to) {
      if (dims[d] == 1) continue;
      permutation.push_back(std::find(places.begin(), places.end(), d) -
                            places.begin());
    }
    x = Transposed(b_.Reshape(x, sizes), permutation);
    return b_.Reshape(x, result);
  }

  static DimVector InOrder(int rank) {
    DimVector order(rank, 0);
    std::iota(order.begin(), order.end(), 0);
    return order;
  }

  void Parameter(Instruction* parameter, Shape* shape) {
    if (!parameter->shape().IsArray()) return;
    const DimVector order = EntryOrder(parameter->shape(), *shape, generation_);
    if (IsIdentityMapping(order)) return;
    const DimVector inverse = Inverse(order);
    const std::vector<Instruction*> users(parameter->users().begin(),
                                          parameter->users().end());
    shape->set_layout(LayoutOf(order));
    changed_ = true;
    if (users.empty()) return;
    const DimVector& shape_of = parameter->shape().dims();
    Instruction* as_it_lies = b_.Transpose(parameter, order);
    Instruction* logical = nullptr;
    for (Instruction* user : users) {
      if (user->opcode() == Opcode::kReshape &&
          SameUpToDegenerateDims(user->shape(), parameter->shape())) {
        entry_->Replace(user,
                        KeepsOrder(shape_of, order)
                            ? Reshaped(as_it_lies, user->shape())
                            : Reordered(as_it_lies, shape_of, order,
                                        InOrder(parameter->shape().rank()),
                                        user->shape().dims()));
        continue;
      }
      if (user->opcode() == Opcode::kTranspose) {
        DimVector rest;
        for (int64_t d : user->dimensions()) rest.push_back(inverse[d]);
        entry_->Replace(user, Transposed(as_it_lies, rest));
        continue;
      }
      if (IsMovedConversion(*user)) {
        Instruction* converted = b_.Convert(as_it_lies, user->shape().type());
        const std::vector<Instruction*> moves(user->users().begin(),
                                              user->users().end());
        for (Instruction* move : moves) {
          DimVector rest;
          for (int64_t d : move->dimensions()) rest.push_back(inverse[d]);
          entry_->Replace(move, Transposed(converted, rest));
        }
        continue;
      }
      if (logical == nullptr) logical = b_.Transpose(as_it_lies, inverse);
      parameter->ReplaceUseIn(user, logical);
    }
  }

  // A conversion that is only transposed.
  static bool IsMovedConversion(const Instruction& i) {
    return i.opcode() == Opcode::kConvert && !i.IsRoot() &&
           std::all_of(i.users().begin(), i.users().end(),
                       [](const Instruction* user) {
                         return user->opcode() == Opcode::kTranspose;
                       });
  }

  // What stands for a result: a transpose back of the array as it lies.
  Instruction* Result(Instruction* value, Shape* shape) {
    const DimVector order = EntryOrder(value->shape(), *shape, generation_);
    if (IsIdentityMapping(order)) return value;
    shape->set_layout(LayoutOf(order));
    changed_ = true;
    if (value->opcode() == Opcode::kParameter) return value;
    if (KeepsOrder(value->shape().dims(), order)) {
      Instruction* source =
          value->opcode() == Opcode::kReshape ? value->operand(0) : value;
      const Shape lies = Shape::Array(value->shape().type(),
                                      Permuted(value->shape().dims(), order));
      return b_.Transpose(Reshaped(source, lies), Inverse(order));
    }
    if (value->opcode() == Opcode::kReshape &&
        SameUpToDegenerateDims(value->operand(0)->shape(), value->shape())) {
      const DimVector dims(value->shape().dims().begin(),
                           value->shape().dims().end());
      return b_.Transpose(
          Reordered(value->operand(0), dims, InOrder(value->shape().rank()),
                    order, Permuted(dims, order)),
          Inverse(order));
    }
    if (value->opcode() != Opcode::kTranspose) {
      return b_.Transpose(b_.Transpose(value, order), Inverse(order));
    }
    Instruction* as_it_lies =
        Transposed(value->operand(0), Permuted(value->dimensions(), order));
    return b_.Transpose(as_it_lies, Inverse(order));
  }

  Computation* entry_;
  ProgramShape& header_;
  Builder b_;
  int generation_;
  bool changed_ = false;
};

// transpose(x) lies where `x` does, whose dimensions are in this order.
bool Names(const Instruction& transpose, const Shape& in_header) {
  if (!in_header.has_layout()) return false;
  DimVector order = in_header.layout().minor_to_major;
  std::reverse(order.begin(), order.end());
  return transpose.dimensions() == absl::MakeConstSpan(order);
}

}  // namespace

DimVector CompactParameterOrder(const Instruction& parameter, int generation) {
  const auto& header = parameter.module()->config().entry_layout;
  if (parameter.parent() != parameter.module()->entry()) {
    DimVector order(parameter.shape().rank(), 0);
    std::iota(order.begin(), order.end(), 0);
    return order;
  }
  return EntryOrder(parameter.shape(),
                    header.has_value()
                        ? header->parameters[parameter.parameter_number()]
                        : parameter.shape(),
                    generation);
}

bool NamesEntryLayout(const Instruction& transpose) {
  const auto& header = transpose.module()->config().entry_layout;
  if (!header.has_value() ||
      transpose.parent() != transpose.module()->entry()) {
    return false;
  }
  const Instruction* x = transpose.operand(0);
  if (x->opcode() == Opcode::kParameter &&
      Names(transpose, header->parameters[x->parameter_number()])) {
    return true;
  }
  const Instruction* root = transpose.parent()->root();
  const auto is_result = [&](const Shape& shape) {
    if (!shape.IsArray() || !shape.has_layout()) return false;
    DimVector order = shape.layout().minor_to_major;
    std::reverse(order.begin(), order.end());
    return !IsIdentityMapping(order) &&
           transpose.dimensions() == absl::MakeConstSpan(Inverse(order));
  };
  if (root == &transpose) return is_result(header->result);
  if (root->opcode() != Opcode::kTuple) return false;
  for (int k = 0; k < root->operand_count(); ++k) {
    if (root->operand(k) == &transpose && is_result(header->result.element(k)))
      return true;
  }
  return false;
}

absl::StatusOr<bool> CompactEntryPass::Run(Module* module,
                                           const PassContext& context) {
  if (module->config().is_scheduled || !HasWindows(*module->entry())) {
    return false;
  }
  auto& header = module->mutable_config()->entry_layout;
  if (!header.has_value()) header = module->entry()->program_shape();
  // What names a layout that the instructions have already changes the header
  // alone.
  const uint64_t before = FingerprintOf(*module);
  if (Compacter(module, context.chip->generation()).Run()) {
    module->entry()->RemoveDead();
  }
  return FingerprintOf(*module) != before;
}

}  // namespace ptxla::hlo
