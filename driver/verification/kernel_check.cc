#include "driver/verification/kernel_check.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status.h"
#include "driver/verification/kernel_noise.h"
#include "driver/verification/sort_ties.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/lowering/lowering.h"

namespace ptxla::driver {
namespace {

using hlo::Instruction;
using hlo::Literal;
using hlo::PrimitiveType;
using hlo::Shape;

constexpr int kShown = 16;

// A value of several arrays, each of which `fn(shape)` gives.
template <class Fn>
Literal MakeLiteral(const Shape& shape, const Fn& fn) {
  if (!shape.IsTuple()) return fn(shape);
  std::vector<Literal> elements;
  for (const Shape& s : shape.elements()) {
    elements.push_back(MakeLiteral(s, fn));
  }
  return Literal::Tuple(std::move(elements));
}

int Narrowest(const Shape& shape, int bits) {
  hlo::ForEachLeaf(shape, [&](const Shape& s, const hlo::ShapeIndex&) {
    if (hlo::IsFloat(s.type())) bits = std::min(bits, hlo::BitWidth(s.type()));
  });
  return bits;
}

}  // namespace

int NarrowestFloat(const Instruction& i) {
  int bits = Narrowest(i.shape(), 64);
  if (i.opcode() != hlo::Opcode::kFusion) return bits;
  for (const Instruction* fused : i.fused()->instructions()) {
    if (fused->opcode() != hlo::Opcode::kParameter) {
      bits = Narrowest(fused->shape(), bits);
    }
  }
  return bits;
}

Literal LiteralAt(const Shape& shape, const isa::BufferSlice& where,
                  sim::ProgramData* data) {
  const isa::TiledLayout layout = lowering::TiledLayoutOf(shape);
  std::vector<uint8_t> bytes =
      layout.Unpack(data->At(where, layout.ByteSize()));
  if (shape.type() != PrimitiveType::kF64) {
    return Literal::FromBytes(shape, std::move(bytes));
  }
  Literal literal(shape);
  for (int64_t i = 0; i < shape.ElementCount(); ++i) {
    float parts[2];  // the rounded value, and what is left
    std::memcpy(parts, &bytes[8 * i], 8);
    literal.SetDouble(i, static_cast<double>(parts[0]) + parts[1]);
  }
  return literal;
}

KernelCheck::KernelCheck(const hlo::CompiledModule& compiled,
                         const hlo::EvaluatorOptions& options)
    : options_(options) {
  Match(compiled.program.schedule, *compiled.module->entry());
}

void KernelCheck::Match(const isa::Schedule& schedule,
                        const hlo::Computation& computation) {
  // Names are those of one computation: another may have the same.
  absl::flat_hash_map<absl::string_view, const Instruction*> by_name;
  for (const Instruction* i : computation.instructions()) {
    by_name[i->name()] = i;
  }
  const auto find = [&](const isa::Op& op) {
    const auto it = by_name.find(op.info.name);
    CHECK(it != by_name.end()) << op.info.name;
    return it->second;
  };
  for (const isa::Op& op : schedule) {
    if (const auto* call = std::get_if<isa::Call>(&op.action)) {
      calls_[call] = find(op);
    } else if (const auto* loop = std::get_if<isa::While>(&op.action)) {
      Match(loop->condition, *find(op)->while_condition());
      Match(loop->body, *find(op)->while_body());
    } else if (const auto* branch = std::get_if<isa::Conditional>(&op.action)) {
      for (size_t k = 0; k < branch->branches.size(); ++k) {
        Match(branch->branches[k], *find(op)->called()[k]);
      }
    }
  }
}

absl::Status KernelCheck::Before(const isa::Call& call,
                                 sim::ProgramData* data) {
  const Instruction* i = calls_.at(&call);
  // Arrays of the operands, then those of the results.
  places_ = data->PlacesOf(call);
  std::vector<Literal> operands;
  size_t next = 0;
  for (const Instruction* operand : i->operands()) {
    operands.push_back(MakeLiteral(operand->shape(), [&](const Shape& s) {
      return s.IsArray() ? LiteralAt(s, places_[next++], data) : Literal(s);
    }));
  }
  places_.erase(places_.begin(), places_.begin() + static_cast<int64_t>(next));
  std::vector<const Literal*> pointers;
  for (const Literal& l : operands) pointers.push_back(&l);
  expected_ = hlo::EvaluateInstruction(*i, pointers, options_);
  operands_ = std::move(operands);
  return absl::OkStatus();
}

bool KernelCheck::IsAnotherOrder(const Instruction& sort,
                                 sim::ProgramData* data) const {
  std::vector<Literal> results;
  bool same = true;
  hlo::ForEachLeaf(
      sort.shape(), [&](const Shape& s, const hlo::ShapeIndex& at) {
        results.push_back(LiteralAt(s, places_[results.size()], data));
        same &= Compare(expected_->At(at), results.back()).differing == 0;
      });
  if (same) return false;
  std::vector<const Literal*> before, after;
  for (const Literal& l : operands_) before.push_back(&l);
  for (const Literal& l : results) after.push_back(&l);
  return IsSortOf(sort, before, after, options_);
}

absl::Status KernelCheck::After(const isa::Call& call, sim::ProgramData* data) {
  const Instruction* i = calls_.at(&call);
  if (!expected_.ok()) {
    skipped_.push_back(
        absl::StrCat(i->name(), ": ", expected_.status().message()));
    return absl::OkStatus();
  }
  ++kernels_;
  if (IsUnstableSort(*i) && IsAnotherOrder(*i, data)) {
    ties_.push_back(i->name());
    return absl::OkStatus();
  }
  int leaf = 0;
  size_t array = 0;
  bool wrong = false;
  const int bits = NarrowestFloat(*i);
  std::optional<KernelNoise> noise;
  hlo::ForEachLeaf(i->shape(), [&](const Shape& s, const hlo::ShapeIndex& at) {
    const int number = leaf++;
    if (!s.IsArray()) return;
    KernelError e{i->name(), number, s, i->metadata().op_name, {}, bits};
    const Literal actual = LiteralAt(s, places_[array++], data);
    e.error = Compare(expected_->At(at), actual);
    e.tolerance = IsRounded(s.type()) ? Tolerance::Kernel(bits) : 0;
    if (e.error.worst > e.tolerance) {
      if (!noise.has_value()) noise.emplace(*i, operands_, options_);
      const Literal expected = expected_->At(at);
      if (IsRounded(s.type())) {
        e.error = noise->Error(expected, at, actual);
        e.tolerance = std::max(e.tolerance, 2 * noise->Of(expected, at));
      } else if (e.error.differing <= 2 * noise->Differing(expected, at)) {
        return;
      }
    }
    if (e.error.worst > e.tolerance) {
      wrong = true;
      if (wrong_.size() < kShown) wrong_.push_back(std::move(e));
    } else if (e.error.worst > 0 &&
               (largest_.name.empty() ||
                e.error.worst / e.tolerance >
                    largest_.error.worst / largest_.tolerance)) {
      largest_ = std::move(e);
    }
  });
  if (wrong) ++wrong_count_;
  return absl::OkStatus();
}

}  // namespace ptxla::driver
