#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/analysis/planes_in_place.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/ir/verifier.h"
#include "hlo_backend/lowering/schedule/lowerer.h"

namespace ptxla::lowering {

using hlo::Computation;
using hlo::Instruction;
using hlo::Shape;

absl::StatusOr<isa::BufferSlice> Lowerer::PlaceOf(const Instruction* i,
                                                  int leaf) const {
  if (const isa::BufferSlice* slice = placement_.Find(i, leaf)) {
    return *slice;
  }
  return absl::InternalError(
      absl::StrCat(i->name(), ": leaf ", leaf, " has no place in memory"));
}

absl::Status Lowerer::AppendPlaces(
    const Instruction* i, std::vector<isa::BufferSlice>* places) const {
  int leaf = 0;
  absl::Status status;
  hlo::ForEachLeaf(i->shape(), [&](const Shape& s, const hlo::ShapeIndex&) {
    const int number = leaf++;
    if (!s.IsArray() || !status.ok()) return;
    auto place = PlaceOf(i, number);
    if (!place.ok()) {
      status = place.status();
      return;
    }
    places->push_back(*place);
  });
  return status;
}

static_assert(hlo::kPlaneAlignment % isa::kVmemAlignment == 0);

absl::Status Lowerer::AppendStarts(const Instruction& planes, int arg,
                                   isa::Call* call) const {
  const auto parts = hlo::PlanesOf(planes);
  if (!parts.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat(
        hlo::Describe(planes), ": backend_config \"in place\" is for whole ",
        "planes of a tiled array; without it a kernel copies this part"));
  }
  for (const hlo::PartOfDim& part : *parts) {
    const Instruction* index = hlo::StartOfPlanes(planes, part.dim);
    isa::MovingArg moving;
    moving.arg = arg;
    ASSIGN_OR_RETURN(moving.index, PlaceOf(index, 0));
    moving.is_unsigned = index->shape().type() == hlo::PrimitiveType::kU32;
    moving.last = part.last;
    moving.stride = part.stride;
    call->moving.push_back(moving);
  }
  return absl::OkStatus();
}

absl::Status Lowerer::AppendMoving(const Instruction& value,
                                   isa::Call* call) const {
  const Instruction* name = &value;
  while (name->opcode() == hlo::Opcode::kBitcast) name = name->operand(0);
  if (name->opcode() != hlo::Opcode::kDynamicSlice || !hlo::IsInPlace(*name)) {
    return absl::OkStatus();
  }
  return AppendStarts(*name, static_cast<int>(call->args.size()), call);
}

absl::Status Lowerer::AppendMovingResults(const Instruction& kernel,
                                          isa::Call* call) const {
  const int first = static_cast<int>(call->args.size());
  for (const Instruction* user : kernel.users()) {
    const Instruction* value = &kernel;
    int result = 0;
    while (user->opcode() == hlo::Opcode::kGetTupleElement ||
           user->opcode() == hlo::Opcode::kBitcast) {
      if (user->opcode() == hlo::Opcode::kGetTupleElement) {
        result = static_cast<int>(user->tuple_index());
      }
      value = user;
      if (value->user_count() != 1) break;
      user = value->users()[0];
    }
    if (user->opcode() == hlo::Opcode::kDynamicUpdateSlice &&
        hlo::IsInPlace(*user) && user->operand(1) == value) {
      RETURN_IF_ERROR(AppendStarts(*user, first + result, call));
    }
  }
  return absl::OkStatus();
}

int64_t Lowerer::BytesOf(const Instruction& i) {
  int64_t total = 0;
  hlo::ForEachLeaf(i.shape(), [&](const Shape& s, const hlo::ShapeIndex&) {
    if (s.IsArray()) total += TiledLayoutOf(s).ByteSize();
  });
  return total;
}

absl::Status Lowerer::Constant(const Instruction& i) {
  const isa::BufferSlice* place = placement_.Find(&i, 0);
  if (place == nullptr || !i.shape().IsArray()) return absl::OkStatus();
  if (i.literal().IsElided()) {
    return absl::UnimplementedError(
        absl::StrCat(hlo::Describe(i), ": the constant's value was elided; ",
                     "--elided=iota or zero gives it one"));
  }
  hlo::Literal literal = i.literal();
  program_.constants.push_back(
      {*place, TiledLayoutOf(i.shape()).Pack(literal.mutable_bytes())});
  return absl::OkStatus();
}

absl::Status Lowerer::DeviceNumber(const Instruction& i) {
  ASSIGN_OR_RETURN(const isa::BufferSlice place, PlaceOf(&i, 0));
  hlo::Literal first(Shape::Scalar(i.shape().type()));
  first.SetInt(0, 0);
  program_.constants.push_back(
      {place, TiledLayoutOf(i.shape()).Pack(first.mutable_bytes())});
  return absl::OkStatus();
}

absl::Status Lowerer::Leaves() {
  const Computation& entry = *module_.entry();
  const auto add = [&](const Instruction& i, const std::string& prefix,
                       std::vector<isa::Leaf>* leaves) -> absl::Status {
    int number = 0;
    absl::Status status;
    hlo::ForEachLeaf(i.shape(),
                     [&](const Shape& s, const hlo::ShapeIndex& index) {
                       const int leaf = number++;
                       if (!s.IsArray() || !status.ok()) return;
                       isa::Leaf l;
                       l.name = prefix;
                       if (!index.empty() || prefix.empty()) {
                         absl::StrAppend(&l.name, "{");
                         for (size_t k = 0; k < index.size(); ++k) {
                           absl::StrAppend(&l.name, k ? "," : "", index[k]);
                         }
                         absl::StrAppend(&l.name, "}");
                       }
                       l.shape = s.ToStringWithLayout();
                       l.layout = TiledLayoutOf(s);
                       auto place = PlaceOf(&i, leaf);
                       if (!place.ok()) {
                         status = place.status();
                         return;
                       }
                       l.where = *place;
                       leaves->push_back(std::move(l));
                     });
    return status;
  };
  for (const Instruction* p : entry.parameters()) {
    RETURN_IF_ERROR(add(*p, p->name(), &program_.parameters));
  }
  return add(*entry.root(), "", &program_.outputs);
}

}  // namespace ptxla::lowering
