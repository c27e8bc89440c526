#include "tests/hlo_backend/lowering/bundle_harness.h"

#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/hash.h"
#include "base/numerics/float_formats.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/evaluator/evaluator.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/lowering/kernel_emitter.h"
#include "hlo_backend/lowering/physical_array.h"
#include "isa/from_chip_spec.h"
#include "isa/interpreter.h"
#include "isa/peer_link.h"
#include "isa/tiled_layout.h"
#include "isa/verifier.h"

namespace ptxla::lowering {
namespace {

using hlo::Instruction;
using hlo::Literal;
using hlo::Opcode;
using hlo::PrimitiveType;
using hlo::Shape;

// What either of two cores wrote; an error where they wrote other bytes.
absl::Status Join(const std::vector<uint8_t>& before,
                  const std::vector<uint8_t>& second,
                  absl::Span<uint8_t> first) {
  for (size_t k = 0; k < before.size(); ++k) {
    if (second[k] == before[k]) continue;
    if (first[k] != before[k] && first[k] != second[k]) {
      return absl::InternalError(
          absl::StrCat("the cores wrote other values of byte ", k));
    }
    first[k] = second[k];
  }
  return absl::OkStatus();
}

isa::TiledLayout LayoutOf(const Shape& shape) {
  isa::TiledLayout l;
  l.dims.assign(shape.dims().begin(), shape.dims().end());
  l.minor_to_major.assign(shape.layout().minor_to_major.begin(),
                          shape.layout().minor_to_major.end());
  for (const hlo::Tile& t : shape.layout().tiles) {
    l.tiles.emplace_back(t.dimensions.begin(), t.dimensions.end());
  }
  const int64_t bits = shape.layout().element_size_in_bits;
  l.bits = bits > 0 ? static_cast<int>(bits) : hlo::BitWidth(shape.type());
  return l;
}

void SetLayout(Shape* shape, int generation) {
  if (shape->IsTuple()) {
    for (int i = 0; i < shape->element_count_of_tuple(); ++i) {
      SetLayout(shape->mutable_element(i), generation);
    }
    return;
  }
  if (!shape->IsArray() ||
      (shape->has_layout() && !shape->layout().tiles.empty())) {
    return;
  }
  shape->set_layout(hlo::TpuLayout(*shape, generation));
}

const Instruction* KernelInstruction(const hlo::Module& module) {
  const Instruction* root = module.entry()->root();
  if (root->opcode() == Opcode::kTuple && root->operand_count() > 0 &&
      root->operand(0)->opcode() == Opcode::kGetTupleElement) {
    return root->operand(0)->operand(0);
  }
  return root;
}

struct Parsed {
  std::unique_ptr<hlo::Module> module;
  chips::ChipSpec chip;
  isa::MachineModel model;
};

absl::StatusOr<Parsed> Parse(absl::string_view text,
                             const HarnessOptions& options) {
  Parsed p;
  ASSIGN_OR_RETURN(p.module, hlo::ParseModule(text));
  if (options.spec != nullptr) {
    p.chip = *options.spec;
  } else {
    ASSIGN_OR_RETURN(p.chip, chips::ChipSpec::Load(options.chip));
  }
  AssignDefaultLayouts(p.module.get(), p.chip.generation());
  p.model = isa::FromChipSpec(p.chip);
  // Arguments that live in VMEM.
  auto* kernel = const_cast<Instruction*>(KernelInstruction(*p.module));
  const int operands = kernel->operand_count();
  for (int arg : options.in_vmem) {
    Shape* shape =
        arg < operands ? kernel->operand(arg)->mutable_shape()
        : kernel->shape().IsTuple()
            ? kernel->mutable_shape()->mutable_element(arg - operands)
            : kernel->mutable_shape();
    shape->mutable_layout()->memory_space = hlo::kMemoryVmem;
    if (kernel->opcode() == hlo::Opcode::kFusion && arg < operands) {
      kernel->fused()
          ->parameter(arg)
          ->mutable_shape()
          ->mutable_layout()
          ->memory_space = hlo::kMemoryVmem;
    }
  }
  return p;
}

absl::StatusOr<isa::Kernel> Emit(const Parsed& p,
                                 const HarnessOptions& options) {
  codegen::BlockCache cache(p.model);
  const KernelContext context{p.chip, p.model, &cache};
  return options.emit(context, *KernelInstruction(*p.module));
}

}  // namespace

void AssignDefaultLayouts(hlo::Module* module, int generation) {
  for (hlo::Computation* c : module->computations()) {
    for (Instruction* i : c->instructions()) {
      SetLayout(i->mutable_shape(), generation);
    }
  }
}

Literal RandomLiteral(const Shape& shape, uint64_t seed, double low,
                      double high) {
  if (shape.IsTuple()) {
    std::vector<Literal> elements;
    for (const Shape& s : shape.elements()) {
      elements.push_back(RandomLiteral(s, ++seed, low, high));
    }
    return Literal::Tuple(std::move(elements));
  }
  Literal literal(shape);
  uint8_t* bytes = literal.mutable_bytes().data();
  const int64_t count = shape.ElementCount();
  const PrimitiveType type = shape.type();
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t word = HashCombine(seed, static_cast<uint64_t>(i));
    if (type == PrimitiveType::kPred) {
      literal.SetInt(i, word & 1);
      continue;
    }
    const double unit = static_cast<double>(word >> 11) * 0x1p-53;
    const double value = low + unit * (high - low);
    const auto single = static_cast<float>(value);
    if (type == PrimitiveType::kF32) {
      std::memcpy(bytes + i * sizeof(single), &single, sizeof(single));
    } else if (type == PrimitiveType::kBf16) {
      const auto half = static_cast<uint16_t>(numerics::EncodeBf16(single));
      std::memcpy(bytes + i * sizeof(half), &half, sizeof(half));
    } else if (hlo::IsFloat(type)) {
      literal.SetDouble(i, value);
    } else {
      literal.SetInt(i, std::llround(value));
    }
  }
  return literal;
}

std::string Differences(const Literal& expected, const Literal& actual,
                        double absolute, double relative) {
  std::string text;
  // Most results are the same bits.
  if (expected.shape().type() == actual.shape().type() &&
      expected.bytes() == actual.bytes()) {
    return text;
  }
  int64_t count = 0;
  const int64_t elements = expected.ElementCount();
  const int64_t width = expected.element_bytes();
  const auto is_dense = [&](const Literal& x) {
    return x.shape().type() == expected.shape().type() &&
           static_cast<int64_t>(x.bytes().size()) == elements * width;
  };
  const bool bits = is_dense(expected) && is_dense(actual);
  for (int64_t i = 0; i < elements; ++i) {
    if (bits && std::memcmp(&expected.bytes()[i * width],
                            &actual.bytes()[i * width], width) == 0) {
      continue;
    }
    const double e = expected.GetDouble(i), a = actual.GetDouble(i);
    const bool same = (std::isnan(e) && std::isnan(a)) || e == a ||
                      (std::isfinite(e) &&
                       std::fabs(e - a) <= absolute + relative * std::fabs(e));
    if (same) continue;
    if (++count <= 4) {
      absl::StrAppend(&text, " element ", i, ": expected ", e, ", got ", a,
                      ";");
    }
  }
  if (count > 0) {
    absl::StrAppend(&text, " ", count, " of ", elements, " differ");
  }
  return text;
}

absl::StatusOr<isa::Kernel> KernelOf(absl::string_view hlo,
                                     const HarnessOptions& options) {
  ASSIGN_OR_RETURN(const Parsed p, Parse(hlo, options));
  return Emit(p, options);
}

absl::StatusOr<HarnessResult> CompareKernel(absl::string_view text,
                                            const HarnessOptions& options) {
  ASSIGN_OR_RETURN(const Parsed p, Parse(text, options));
  HarnessResult result;
  ASSIGN_OR_RETURN(result.kernel, Emit(p, options));
  const Instruction* instr = KernelInstruction(*p.module);
  const hlo::Computation* entry = p.module->entry();
  std::vector<Literal> parameters;
  for (int k = 0; k < entry->parameter_count(); ++k) {
    parameters.push_back(RandomLiteral(entry->parameter(k)->shape(),
                                       options.seed * 1000 + k, options.low,
                                       options.high));
  }
  // Arguments: operands, then results.
  std::vector<std::string> memory;
  std::vector<Shape> shapes;
  for (const Instruction* operand : instr->operands()) {
    const Literal& literal = operand->opcode() == Opcode::kParameter
                                 ? parameters[operand->parameter_number()]
                                 : operand->literal();
    Literal dense = literal;
    const auto bytes = dense.mutable_bytes();
    shapes.push_back(operand->shape());
    // What lies between the elements is anything: here NaN.
    memory.push_back(LayoutOf(operand->shape()).Pack(bytes, 0xFF));
  }
  const size_t num_inputs = memory.size();
  const int in_place = InPlaceOperand(*instr);
  hlo::ForEachLeaf(instr->shape(), [&](const Shape& s, const hlo::ShapeIndex&) {
    shapes.push_back(s);
    memory.push_back(in_place >= 0
                         ? memory[in_place]
                         : std::string(LayoutOf(s).ByteSize(), '\xff'));
  });
  isa::InterpreterOptions interpreter;
  interpreter.semantics = options.semantics;
  isa::Core core(p.model, interpreter);
  std::vector<isa::ArgMemory> args;
  int64_t vmem =
      RoundUpTo<int64_t>(result.kernel.vmem_bytes, isa::kVmemAlignment);
  for (size_t k = 0; k < memory.size(); ++k) {
    isa::ArgMemory arg;
    if (result.kernel.args[k].space == isa::Space::kVmem) {
      arg.address = vmem;
      auto bytes = core.vmem(vmem + memory[k].size());
      std::memcpy(bytes.data() + vmem, memory[k].data(), memory[k].size());
      vmem += RoundUpTo<int64_t>(memory[k].size(), 16384);
      // As in ProgramData: loads move whole registers, rows of eight tiles.
      core.vmem(vmem + 8 * isa::kVregBytes);
    } else if (in_place >= 0 && k >= num_inputs) {
      arg.bytes =
          absl::MakeSpan(reinterpret_cast<uint8_t*>(memory[in_place].data()),
                         memory[in_place].size());
    } else {
      arg.bytes = absl::MakeSpan(reinterpret_cast<uint8_t*>(memory[k].data()),
                                 memory[k].size());
    }
    args.push_back(arg);
  }
  RETURN_IF_ERROR(isa::VerifyKernel(result.kernel, p.model));
  // The cores of a chip take their shares one after another, in one VMEM;
  // where they wait for one another, each in its own.
  const int cores = result.kernel.megacore_dim < 0 ? 1 : p.model.cores;
  isa::Core second(p.model, interpreter);
  const bool pair = cores > 1;
  std::vector<uint8_t> before;
  if (pair) before.assign(core.vmem().begin(), core.vmem().end());
  const auto own = second.vmem(static_cast<int64_t>(before.size()));
  std::copy(before.begin(), before.end(), own.begin());
  // And its own results in HBM, since both may make the same ones.
  std::vector<std::vector<uint8_t>> others;
  std::vector<isa::ArgMemory> other_args = args;
  for (size_t k = num_inputs; pair && k < args.size(); ++k) {
    others.emplace_back(args[k].bytes.begin(), args[k].bytes.end());
    other_args[k].bytes = absl::MakeSpan(others.back());
  }
  const std::vector<std::vector<uint8_t>> unwritten = others;
  const auto run = [&](int c, isa::PeerPort* peer) -> absl::Status {
    const bool own = peer != nullptr && c == 1;
    isa::Core& which = own ? second : core;
    ASSIGN_OR_RETURN(const int64_t cycles,
                     which.Run(result.kernel, own ? other_args : args, c, cores,
                               nullptr, peer));
    result.cycles = std::max(result.cycles, cycles);
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(isa::RunCores(result.kernel, cores, run));
  for (size_t k = 0; k < others.size(); ++k) {
    RETURN_IF_ERROR(Join(unwritten[k], others[k], args[num_inputs + k].bytes))
        << "result " << k;
  }
  const absl::Span<uint8_t> first_vmem = core.vmem(), its = second.vmem();
  for (size_t k = 0; k < before.size(); ++k) {
    if (its[k] != before[k]) first_vmem[k] = its[k];
  }
  hlo::EvaluatorOptions evaluator;
  evaluator.tpu_mode = true;
  hlo::Evaluator reference(p.module.get(), evaluator);
  ASSIGN_OR_RETURN(Literal expected, reference.Run(parameters));
  for (size_t k = num_inputs; k < memory.size(); ++k) {
    const Shape& shape = shapes[k];
    const isa::TiledLayout layout = LayoutOf(shape);
    absl::Span<const uint8_t> bytes = args[k].bytes;
    if (result.kernel.args[k].space == isa::Space::kVmem) {
      bytes = core.vmem().subspan(args[k].address, layout.ByteSize());
    }
    const Literal actual = Literal::FromBytes(shape, layout.Unpack(bytes));
    const Literal& want =
        expected.IsTuple() ? expected.elements()[k - num_inputs] : expected;
    double relative = options.relative, absolute = options.absolute;
    if (relative == 0 && absolute == 0) {
      if (shape.type() == PrimitiveType::kF32) relative = absolute = 2e-5;
      if (shape.type() == PrimitiveType::kBf16) relative = absolute = 0.01;
    }
    const std::string diff = Differences(want, actual, absolute, relative);
    if (!diff.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "result ", k - num_inputs, " ", shape.ToStringWithLayout(), ":", diff,
          " [", result.kernel.note, "]"));
    }
  }
  return result;
}

}  // namespace ptxla::lowering
