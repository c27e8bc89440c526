#include "hlo_backend/evaluator/scalar_program.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/evaluator/fill.h"
#include "hlo_backend/ir/verifier.h"

namespace ptxla::hlo {

// Turns instructions into registers and steps; calls are inlined.
class ScalarCompiler {
 public:
  ScalarCompiler(ScalarProgram* program, int tpu_generation)
      : program_(program), tpu_generation_(tpu_generation) {}

  // `arguments`: registers of each parameter, flattened. Gives those of the
  // root.
  absl::StatusOr<std::vector<int>> Inline(
      const Computation& computation,
      absl::Span<const std::vector<int>> arguments) {
    absl::flat_hash_map<const Instruction*, std::vector<int>> values;
    const absl::flat_hash_set<const Instruction*> live =
        Reached(computation.root());
    for (const Instruction* i : computation.PostOrder()) {
      if (!live.contains(i)) continue;
      auto value = Emit(*i, values, arguments);
      RETURN_IF_ERROR(value.status()) << Describe(*i);
      values[i] = *std::move(value);
    }
    std::vector<int> root = values[computation.root()];
    top_ = std::move(values);  // the outermost computation ends last
    return root;
  }

  // Registers of an instruction of the outermost computation.
  const std::vector<int>& top(const Instruction* i) const { return top_.at(i); }

  int NewRegister(ScalarProgram::Register r) {
    program_->registers_.push_back(r);
    return static_cast<int>(program_->registers_.size()) - 1;
  }

  // If `*r` is an input, puts a copy of it in its place.
  absl::Status CopyInput(int* r) {
    const ScalarProgram::Register source = program_->registers_[*r];
    if (source.kind != Kind::kInput) return absl::OkStatus();
    ScalarProgram::Step step;
    ASSIGN_OR_RETURN(step.op,
                     ElementwiseOp::CreateConvert(source.type, source.type));
    step.operands[0] = *r;
    step.result = *r = Temporary(source.type);
    program_->steps_.push_back(step);
    return absl::OkStatus();
  }

 private:
  using Kind = ScalarProgram::Register::Kind;

  template <class Values>
  absl::StatusOr<std::vector<int>> Emit(
      const Instruction& i, const Values& values,
      absl::Span<const std::vector<int>> arguments) {
    auto operand = [&](int k) -> const std::vector<int>& {
      return values.at(i.operand(k));
    };
    switch (i.opcode()) {
      case Opcode::kParameter:
        return arguments[i.parameter_number()];
      case Opcode::kTuple: {
        std::vector<int> all;
        for (int k = 0; k < i.operand_count(); ++k) {
          all.insert(all.end(), operand(k).begin(), operand(k).end());
        }
        return all;
      }
      case Opcode::kGetTupleElement: {
        const Shape& tuple = i.operand(0)->shape();
        int64_t first = 0;
        for (int64_t k = 0; k < i.tuple_index(); ++k) {
          first += tuple.element(static_cast<int>(k)).LeafCount();
        }
        const auto begin = operand(0).begin() + first;
        return std::vector<int>(begin, begin + i.shape().LeafCount());
      }
      case Opcode::kCall:
      case Opcode::kFusion: {
        std::vector<std::vector<int>> inner;
        inner.reserve(i.operand_count());
        for (int k = 0; k < i.operand_count(); ++k) {
          inner.push_back(operand(k));
        }
        return Inline(*i.to_apply(), inner);
      }
      default:
        break;
    }
    if (!i.shape().IsScalar()) {
      return absl::UnimplementedError("not an operation on scalars");
    }
    switch (i.opcode()) {
      case Opcode::kConstant:
        return std::vector<int>{Constant(i.literal())};
      case Opcode::kBroadcast:
      case Opcode::kReshape:
      case Opcode::kTranspose:
      case Opcode::kBitcast:
      case Opcode::kCopy:
      case Opcode::kOptimizationBarrier:
        return operand(0);
      case Opcode::kBitcastConvert: {
        if (StorageBytes(i.shape().type()) !=
            StorageBytes(i.operand(0)->shape().type())) {
          return absl::UnimplementedError("not an operation on scalars");
        }
        return operand(0);
      }
      default:
        break;
    }
    if (!i.IsElementwise() || i.operand_count() == 0 || i.operand_count() > 3) {
      return absl::UnimplementedError("not an operation on scalars");
    }
    ScalarProgram::Step step;
    ASSIGN_OR_RETURN(step.op, ElementwiseOp::Create(i, tpu_generation_));
    for (int k = 0; k < i.operand_count(); ++k) {
      step.operands[k] = operand(k)[0];
    }
    step.result = Temporary(i.shape().type());
    program_->steps_.push_back(step);
    return std::vector<int>{step.result};
  }

  int Constant(const Literal& literal) {
    std::vector<uint8_t>& pool = program_->constants_;
    const int at = static_cast<int>(pool.size());
    pool.resize(at + 16);
    std::memcpy(pool.data() + at, literal.element(0), literal.element_bytes());
    return NewRegister({Kind::kConstant, at, literal.shape().type()});
  }

  int Temporary(PrimitiveType type) {
    const int at = program_->temporary_bytes_;
    program_->temporary_bytes_ += ScalarProgram::kBlock * StorageBytes(type);
    return NewRegister({Kind::kTemporary, at, type});
  }

  static absl::flat_hash_set<const Instruction*> Reached(
      const Instruction* root) {
    absl::flat_hash_set<const Instruction*> reached = {root};
    std::vector<const Instruction*> open = {root};
    while (!open.empty()) {
      const Instruction* i = open.back();
      open.pop_back();
      for (const Instruction* operand : i->operands()) {
        if (reached.insert(operand).second) open.push_back(operand);
      }
    }
    return reached;
  }

  ScalarProgram* program_;
  int tpu_generation_;
  absl::flat_hash_map<const Instruction*, std::vector<int>> top_;
};

namespace {

// The root without copies around it.
const Instruction* Core(const Instruction* i) {
  while (i->opcode() == Opcode::kCopy || i->opcode() == Opcode::kBitcast ||
         (i->opcode() == Opcode::kTuple && i->operand_count() == 1)) {
    i = i->operand(0);
  }
  return i;
}

int ParameterOf(const Instruction* i) {
  i = Core(i);
  return i->opcode() == Opcode::kParameter && i->shape().IsScalar()
             ? static_cast<int>(i->parameter_number())
             : -1;
}

// b is what a is, with parameter p + 1 in place of p; p is the only parameter.
bool SameFunction(const Instruction* a, const Instruction* b, int* p) {
  if (a->opcode() != b->opcode() || !a->shape().IsScalar() ||
      a->shape().type() != b->shape().type()) {
    return false;
  }
  if (a->opcode() == Opcode::kParameter) {
    const int number = static_cast<int>(a->parameter_number());
    if (*p >= 0 && *p != number) return false;
    *p = number;
    return b->parameter_number() == number + 1;
  }
  if (a->IsConstant()) return a == b || a->literal() == b->literal();
  if (!a->called().empty() ||
      !AttributesEqual(a->attributes(), b->attributes()) ||
      a->operand_count() != b->operand_count()) {
    return false;
  }
  for (int k = 0; k < a->operand_count(); ++k) {
    if (!SameFunction(a->operand(k), b->operand(k), p)) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<ScalarProgram> ScalarProgram::Compile(
    const Computation& computation, int tpu_generation) {
  ScalarProgram program;
  ScalarCompiler compiler(&program, tpu_generation);
  std::vector<std::vector<int>> arguments;
  bool all_scalars = true;
  for (const Instruction* p : computation.parameters()) {
    std::vector<int> registers;
    ForEachLeaf(p->shape(), [&](const Shape& leaf, const ShapeIndex&) {
      Register r{Register::Kind::kInput,
                 static_cast<int>(program.inputs_.size()), leaf.type()};
      program.inputs_.push_back(r);
      registers.push_back(compiler.NewRegister(r));
    });
    all_scalars = all_scalars && p->shape().IsScalar();
    arguments.push_back(std::move(registers));
  }
  ASSIGN_OR_RETURN(program.output_registers_,
                   compiler.Inline(computation, arguments),
                   _ << "computation %" << computation.name());
  // With several results an input that is passed through might be overwritten
  // by another result before it is read.
  if (program.output_registers_.size() > 1) {
    for (int& r : program.output_registers_) {
      RETURN_IF_ERROR(compiler.CopyInput(&r));
    }
  }
  for (int r : program.output_registers_) {
    program.outputs_.push_back(program.registers_[r]);
  }
  program.scratch_.resize(program.temporary_bytes_);

  const Instruction* core = Core(computation.root());
  if (!all_scalars || !core->shape().IsScalar()) return program;
  program.is_second_ = ParameterOf(core) == 1;
  if (core->operand_count() == 2) {
    const int a = ParameterOf(core->operand(0));
    const int b = ParameterOf(core->operand(1));
    if (a == 0 && b == 1) program.binary_op_ = core->opcode();
    if (a == 1 && b == 0 && IsCommutative(core->opcode())) {
      program.binary_op_ = core->opcode();
    }
    if (core->opcode() == Opcode::kCompare) {
      const CompareAttrs& attrs = core->attrs<CompareAttrs>();
      const bool total = attrs.type == CompareType::kTotalOrder;
      int from_a = -1;
      if (SameFunction(core->operand(0), core->operand(1), &from_a)) {
        program.comparison_ = Comparison{attrs.direction, total, from_a,
                                         compiler.top(core->operand(0))[0],
                                         core->operand(0)->shape().type()};
      } else if (from_a = -1;
                 SameFunction(core->operand(1), core->operand(0), &from_a)) {
        program.comparison_ =
            Comparison{Swapped(attrs.direction), total, from_a,
                       compiler.top(core->operand(1))[0],
                       core->operand(1)->shape().type()};
      }
    }
  }
  return program;
}

void ScalarProgram::Run(absl::Span<const void* const> in,
                        absl::Span<const bool> splat,
                        absl::Span<void* const> out, int64_t n) const {
  RunRegisters(output_registers_, in, splat, out, n);
}

void ScalarProgram::RunKey(const void* in, void* out, int64_t n) const {
  // No step that is live reads another input.
  const std::vector<const void*> ins(inputs_.size(), in);
  const absl::InlinedVector<bool, 8> splat(inputs_.size(), false);
  RunRegisters(absl::MakeConstSpan(&comparison_->key_register, 1), ins, splat,
               absl::MakeConstSpan(&out, 1), n);
}

void ScalarProgram::RunRegisters(absl::Span<const int> results,
                                 absl::Span<const void* const> in,
                                 absl::Span<const bool> splat,
                                 absl::Span<void* const> out, int64_t n) const {
  auto locate = [&](int index, int64_t at, bool* is_splat) -> const void* {
    const Register& r = registers_[index];
    switch (r.kind) {
      case Register::Kind::kInput:
        *is_splat = splat[r.index];
        return static_cast<const uint8_t*>(in[r.index]) +
               (splat[r.index] ? 0 : at * StorageBytes(r.type));
      case Register::Kind::kConstant:
        *is_splat = true;
        return constants_.data() + r.index;
      case Register::Kind::kTemporary:
        *is_splat = false;
        return scratch_.data() + r.index;
    }
    return nullptr;
  };
  for (int64_t at = 0; at < n; at += kBlock) {
    const int64_t length = std::min<int64_t>(kBlock, n - at);
    for (const Step& step : steps_) {
      std::array<const void*, 3> from = {};
      std::array<bool, 3> from_splat = {};
      for (int k = 0; k < step.op.arity(); ++k) {
        from[k] = locate(step.operands[k], at, &from_splat[k]);
      }
      step.op.Run(from, from_splat,
                  scratch_.data() + registers_[step.result].index, length);
    }
    for (size_t j = 0; j < results.size(); ++j) {
      bool is_splat = false;
      const int bytes = StorageBytes(registers_[results[j]].type);
      const void* from = locate(results[j], at, &is_splat);
      uint8_t* to = static_cast<uint8_t*>(out[j]) + at * bytes;
      if (from == to) continue;
      if (is_splat) {
        Fill(to, static_cast<const uint8_t*>(from), bytes, length);
      } else {
        std::memcpy(to, from, length * bytes);
      }
    }
  }
}

}  // namespace ptxla::hlo
