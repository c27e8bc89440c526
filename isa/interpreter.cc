#include "isa/interpreter.h"

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "isa/index_tables.h"
#include "isa/kernel_run.h"
#include "isa/semantics/table.h"
#include "isa/verify_structure.h"

namespace ptxla::isa {
namespace {

void GrowTo(std::vector<uint8_t>* memory, int64_t bytes) {
  if (bytes > static_cast<int64_t>(memory->size())) memory->resize(bytes, 0xFF);
}

}  // namespace

class Core::Impl {
 public:
  Impl(const MachineModel& machine, InterpreterOptions options)
      : machine_(machine),
        semantics_(options.semantics != nullptr ? *options.semantics
                                                : SemanticsTable::Default()),
        check_hazards_(options.check_hazards),
        context_(machine_) {}

  absl::StatusOr<int64_t> Run(const Kernel& kernel,
                              absl::Span<const ArgMemory> args, int core,
                              int cores, DmaClock* clock, PeerPort* peer) {
    if (args.size() != kernel.args.size()) {
      return absl::InternalError(absl::StrCat("kernel \"", kernel.name,
                                              "\" takes ", kernel.args.size(),
                                              " arguments, not ", args.size()));
    }
    RETURN_IF_ERROR(VerifyStructure(kernel, machine_))
        << "kernel \"" << kernel.name << "\"";
    GrowTo(&context_.vmem(), kernel.vmem_bytes);
    GrowTo(&context_.smem(), kernel.smem_bytes);
    for (int a = 0; a < args.size(); ++a) {
      const int64_t end = args[a].address + kernel.args[a].bytes;
      if (kernel.args[a].space == Space::kVmem) GrowTo(&context_.vmem(), end);
      if (kernel.args[a].space == Space::kSmem) GrowTo(&context_.smem(), end);
    }
    Kernel on_data;
    if (HasDataTables(kernel)) {
      on_data = kernel;
      RETURN_IF_ERROR(
          ReadTables(args, context_.vmem(), context_.smem(), &on_data))
          << "kernel \"" << kernel.name << "\"";
    }
    context_.Reset();
    DmaClock instant;
    KernelRun run(HasDataTables(kernel) ? on_data : kernel, args, core, cores,
                  machine_, semantics_, check_hazards_, &context_,
                  clock == nullptr ? &instant : clock, peer);
    context_.kernel = &run;
    absl::StatusOr<int64_t> cycles = run.Run();
    context_.kernel = nullptr;
    bundles_ += run.bundles();
    if (!cycles.ok()) {
      return AddContext(cycles.status(),
                        absl::StrCat("kernel \"", kernel.name, "\""));
    }
    return cycles;
  }

  ExecContext& context() { return context_; }
  int64_t bundles() const { return bundles_; }

 private:
  const MachineModel machine_;
  const SemanticsTable semantics_;
  const bool check_hazards_;
  ExecContext context_;
  int64_t bundles_ = 0;
};

Core::Core(const MachineModel& machine, InterpreterOptions options)
    : impl_(std::make_unique<Impl>(machine, options)) {}
Core::~Core() = default;

absl::StatusOr<int64_t> Core::Run(const Kernel& kernel,
                                  absl::Span<const ArgMemory> args, int core,
                                  int cores, DmaClock* clock, PeerPort* peer) {
  return impl_->Run(kernel, args, core, cores, clock, peer);
}

absl::Span<uint8_t> Core::vmem(int64_t bytes) {
  GrowTo(&impl_->context().vmem(), bytes);
  return absl::MakeSpan(impl_->context().vmem());
}

absl::Span<uint8_t> Core::smem(int64_t bytes) {
  GrowTo(&impl_->context().smem(), bytes);
  return absl::MakeSpan(impl_->context().smem());
}

int64_t Core::bundles_executed() const { return impl_->bundles(); }

}  // namespace ptxla::isa
