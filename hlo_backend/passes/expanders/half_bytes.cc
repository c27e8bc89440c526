#include "hlo_backend/passes/expanders/half_bytes.h"

#include <optional>
#include <vector>

#include "base/units.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/expanders/expand_each.h"

namespace ptxla::hlo {
namespace {

constexpr int64_t kRows = 8;  // in a word
// Before v4 half a byte lies in a byte of its own.
constexpr int kFirstGeneration = 4;

bool IsHalfBytes(const Shape& shape) {
  return shape.IsArray() && BitWidth(shape.type()) == 4;
}

// Holds every value of the type.
PrimitiveType BytesOf(PrimitiveType half) {
  if (IsFloat(half)) return PrimitiveType::kF8E4M3Fn;
  return IsSigned(half) ? PrimitiveType::kS8 : PrimitiveType::kU8;
}

// Does the movement leave words of rows, dimension `row`, together?
bool MovesWords(const Instruction& i, int row) {
  const Shape& shape = i.shape();
  const auto whole = [&](const Shape& s) { return s.dim(row) % kRows == 0; };
  switch (i.opcode()) {
    case Opcode::kSlice: {
      const auto& a = i.attrs<SliceAttrs>();
      const bool all = shape.dim(row) == i.operand(0)->shape().dim(row);
      return a.strides[row] == 1 &&
             (all || (a.starts[row] % kRows == 0 && whole(shape)));
    }
    case Opcode::kDynamicSlice:
      return shape.dim(row) == i.operand(0)->shape().dim(row);
    case Opcode::kDynamicUpdateSlice:
      return shape.dim(row) == i.operand(1)->shape().dim(row);
    case Opcode::kConcatenate:
      if (i.dimensions()[0] != row) return true;
      for (const Instruction* operand : i.operands()) {
        if (!whole(operand->shape())) return false;
      }
      return true;
    default:
      return false;
  }
}

bool MovesElements(const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::kConcatenate:
    case Opcode::kDynamicSlice:
    case Opcode::kDynamicUpdateSlice:
    case Opcode::kGather:
    case Opcode::kPad:
    case Opcode::kReverse:
    case Opcode::kScatter:
    case Opcode::kSlice:
      return true;
    default:
      return false;
  }
}

Instruction* ThroughBytes(Instruction* i) {
  if (!MovesElements(*i) || !IsHalfBytes(i->shape()) ||
      (i->opcode() == Opcode::kScatter &&
       i->to_apply()->root()->opcode() != Opcode::kParameter)) {
    return nullptr;
  }
  const int rank = i->shape().rank();
  if (rank >= 2 && MovesWords(*i, rank - 2)) return nullptr;
  const PrimitiveType half = i->shape().type();
  const PrimitiveType byte = BytesOf(half);
  Builder b(i->parent());
  b.set_metadata(i->shared_metadata());
  std::vector<Instruction*> operands;
  for (Instruction* operand : i->operands()) {
    operands.push_back(IsHalfBytes(operand->shape()) ? b.Convert(operand, byte)
                                                     : operand);
  }
  Shape bytes = i->shape();
  bytes.set_type(byte);
  Instruction* moved = i->parent()->AddLike(*i, bytes, operands);
  if (i->opcode() == Opcode::kScatter) {
    Computation* body = i->parent()->module()->AddComputation("replace");
    Builder in(body);
    in.Parameter(0, Shape::Scalar(byte));
    body->SetRoot(in.Parameter(1, Shape::Scalar(byte)));
    moved->SetCalled({body});
  }
  return b.Convert(moved, half);
}

// The array as words; nothing: its rows are not those of words.
std::optional<Shape> WordsOf(const Shape& shape, int row) {
  if (!shape.has_layout()) return std::nullopt;
  Layout layout = shape.layout();
  if (layout.minor_to_major.size() < 2 || layout.minor_to_major[1] != row ||
      layout.tiles.size() != 2 || layout.tiles[0].dimensions.size() != 2 ||
      layout.tiles[0].dimensions[0] % kRows != 0 ||
      layout.tiles[1].dimensions[0] != kRows) {
    return std::nullopt;
  }
  layout.tiles.resize(1);
  layout.tiles[0].dimensions[0] /= kRows;
  layout.element_size_in_bits = 0;
  DimVector dims(shape.dims().begin(), shape.dims().end());
  dims[row] = CeilOfRatio(dims[row], kRows);
  Shape words = Shape::Array(PrimitiveType::kS32, dims);
  *words.mutable_layout() = layout;
  return words;
}

Instruction* AsWords(Instruction* i) {
  if (!IsHalfBytes(i->shape()) || !i->shape().has_layout() ||
      i->shape().rank() < 2) {
    return nullptr;
  }
  const auto row = static_cast<int>(i->shape().layout().minor_to_major[1]);
  const std::optional<Shape> words = WordsOf(i->shape(), row);
  if (!MovesWords(*i, row) || !words.has_value()) return nullptr;
  Builder b(i->parent());
  b.set_metadata(i->shared_metadata());
  std::vector<Instruction*> operands;
  for (Instruction* operand : i->operands()) {
    if (!IsHalfBytes(operand->shape())) {
      operands.push_back(operand);
      continue;
    }
    const std::optional<Shape> part = WordsOf(operand->shape(), row);
    if (!part.has_value()) return nullptr;
    operands.push_back(b.Bitcast(operand, *part));
  }
  Instruction* moved = i->parent()->AddLike(*i, *words, operands);
  if (i->opcode() == Opcode::kSlice) {
    auto* a = moved->mutable_attrs<SliceAttrs>();
    a->starts[row] /= kRows;
    a->limits[row] = CeilOfRatio(a->limits[row], kRows);
  } else if (i->opcode() == Opcode::kDynamicSlice) {
    moved->mutable_attrs<DynamicSliceAttrs>()->sizes[row] = words->dim(row);
  }
  return b.Bitcast(moved, i->shape());
}

// What is turned, in the layouts that it has.
Instruction* TurnedAsBytes(Instruction* i, int generation) {
  if (!IsHalfBytes(i->shape()) || !i->shape().has_layout()) return nullptr;
  const bool turns = i->opcode() == Opcode::kTranspose ||
                     i->opcode() == Opcode::kReshape ||
                     (i->opcode() == Opcode::kCopy &&
                      i->shape().layout().minor_to_major !=
                          i->operand(0)->shape().layout().minor_to_major);
  if (!turns) return nullptr;
  const auto as_bytes = [&](Shape shape) {
    shape.set_type(BytesOf(shape.type()));
    Layout order;
    order.minor_to_major = shape.layout().minor_to_major;
    *shape.mutable_layout() = order;
    return WithTpuLayout(shape, generation);
  };
  Builder b(i->parent());
  b.set_metadata(i->shared_metadata());
  const auto converted = [&](Instruction* x, const Shape& to) {
    Instruction* convert = b.Convert(x, to.type());
    *convert->mutable_shape() = to;
    return convert;
  };
  Instruction* bytes =
      converted(i->operand(0), as_bytes(i->operand(0)->shape()));
  Instruction* turned = i->parent()->AddLike(*i, as_bytes(i->shape()), {bytes});
  return converted(turned, i->shape());
}

bool HasWords(const PassContext& context) {
  return GenerationOf(context) >= kFirstGeneration;
}

}  // namespace

absl::StatusOr<bool> HalfByteExpanderPass::Run(Module* module,
                                               const PassContext& context) {
  if (!HasWords(context)) return false;
  return ExpandEach(module, ThroughBytes);
}

absl::StatusOr<bool> HalfByteWordsPass::Run(Module* module,
                                            const PassContext& context) {
  if (!HasWords(context)) return false;
  return ExpandEach(module, [&](Instruction* i) {
    Instruction* words = AsWords(i);
    return words != nullptr ? words : TurnedAsBytes(i, GenerationOf(context));
  });
}

}  // namespace ptxla::hlo
