#include "tests/driver/verification/recorded_kernel.h"

#include <cstring>

#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/lowering.h"

namespace ptxla::driver {
namespace {

void Collect(const isa::Code& code, std::set<isa::Opcode>* ops,
             int64_t* bundles, int64_t times) {
  for (const isa::Node& node : code) {
    if (const isa::Block* block = node.block()) {
      *bundles += times * block->NumBundles();
      for (int b = 0; b < block->NumBundles(); ++b) {
        for (const isa::Instr& i : block->Bundle(b)) ops->insert(i.op);
      }
    } else if (const isa::Loop* loop = node.loop()) {
      Collect(loop->body, ops, bundles, times * loop->trips);
    } else if (const isa::When* when = node.when()) {
      Collect(when->body, ops, bundles, times);
    }
  }
}

int64_t Collect(const isa::Kernel& kernel, std::set<isa::Opcode>* ops) {
  int64_t bundles = 0;
  Collect(kernel.entry, ops, &bundles, 1);
  Collect(kernel.step, ops, &bundles, kernel.NumSteps());
  Collect(kernel.exit, ops, &bundles, 1);
  return bundles;
}

absl::Span<uint8_t> Bytes(std::string* s) {
  return absl::MakeSpan(reinterpret_cast<uint8_t*>(s->data()), s->size());
}

}  // namespace

std::set<isa::Opcode> OpcodesOf(const isa::Kernel& kernel) {
  std::set<isa::Opcode> ops;
  Collect(kernel, &ops);
  return ops;
}

bool RecordedKernel::IsRight(const isa::MachineModel& machine,
                             const isa::SemanticsTable& semantics) const {
  isa::InterpreterOptions options;
  options.semantics = &semantics;
  options.check_hazards = false;
  isa::Core core(machine, options);
  std::vector<std::string> memory = before;
  std::vector<isa::ArgMemory> args(memory.size());
  int64_t vmem = RoundUpTo<int64_t>(kernel->vmem_bytes, isa::kVmemAlignment);
  for (size_t k = 0; k < memory.size(); ++k) {
    if (alias[k] >= 0) {
      args[k] = args[alias[k]];
    } else if (kernel->args[k].space != isa::Space::kVmem) {
      args[k].bytes = Bytes(&memory[k]);
    } else {
      args[k].address = vmem;
      const int64_t bytes = static_cast<int64_t>(memory[k].size());
      std::memcpy(core.vmem(vmem + bytes).data() + vmem, memory[k].data(),
                  memory[k].size());
      vmem += RoundUpTo<int64_t>(bytes + isa::kVregBytes, isa::kVmemAlignment);
    }
  }
  core.vmem(vmem + (1 << 20));
  const int cores = kernel->megacore_dim >= 0 ? machine.cores : 1;
  for (int c = 0; c < cores; ++c) {
    if (!core.Run(*kernel, args, c, cores).ok()) return false;
  }
  for (size_t k = 0; k < expected.size(); ++k) {
    const size_t arg = args.size() - expected.size() + k;
    const hlo::Shape& shape = expected[k].shape();
    const isa::TiledLayout layout = lowering::TiledLayoutOf(shape);
    absl::Span<const uint8_t> bytes = args[arg].bytes;
    if (kernel->args[arg].space == isa::Space::kVmem) {
      bytes = core.vmem().subspan(args[arg].address, layout.ByteSize());
    }
    const hlo::Literal actual =
        hlo::Literal::FromBytes(shape, layout.Unpack(bytes));
    const double tolerance =
        hlo::IsFloat(shape.type()) ? Tolerance::Kernel(bits) : 0;
    if (Compare(expected[k], actual).worst > tolerance) return false;
  }
  return true;
}

KernelRecorder::KernelRecorder(const hlo::CompiledModule& compiled,
                               const hlo::EvaluatorOptions& options)
    : compiled_(compiled), check_(compiled, options) {}

absl::Status KernelRecorder::Before(const isa::Call& call,
                                    sim::ProgramData* data) {
  if (!seen_.insert(call.kernel).second) return absl::OkStatus();
  RecordedKernel r;
  r.kernel = &compiled_.program.kernels[call.kernel];
  std::set<isa::Opcode> ops;
  r.cost = Collect(*r.kernel, &ops);
  for (size_t k = 0; k < call.args.size(); ++k) {
    const auto bytes = data->At(call.args[k], r.kernel->args[k].bytes);
    r.before.emplace_back(bytes.begin(), bytes.end());
    int same = -1;
    for (size_t j = 0; j < k && same < 0; ++j) {
      if (call.args[j] == call.args[k]) same = static_cast<int>(j);
    }
    r.alias.push_back(same);
  }
  RETURN_IF_ERROR(check_.Before(call, data));
  if (!check_.expected().ok()) return absl::OkStatus();
  const hlo::Instruction& i = check_.InstructionOf(call);
  r.name = i.name();
  r.bits = NarrowestFloat(i);
  hlo::ForEachLeaf(i.shape(),
                   [&](const hlo::Shape& s, const hlo::ShapeIndex& at) {
                     if (!s.IsArray()) return;
                     hlo::Literal value = check_.expected()->At(at);
                     value.set_shape_layout(s);
                     r.expected.push_back(std::move(value));
                   });
  kernels_.push_back(std::move(r));
  return absl::OkStatus();
}

absl::Status KernelRecorder::After(const isa::Call&, sim::ProgramData*) {
  return absl::OkStatus();
}

}  // namespace ptxla::driver
