// Prints what of a module's instructions cannot be lowered yet.
#include <chrono>
#include <cstdio>
#include <map>

#include "hlo_backend/compiler/compiler.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/lowering/kernel_emitter.h"
#include "isa/from_chip_spec.h"
#include "isa/verifier.h"
#include "hlo_backend/ir/printer.h"
#include "hlo_backend/ir/fingerprint.h"

using namespace ptxla;  // NOLINT

int main(int argc, char** argv) {
  auto module = hlo::ParseModuleFile(argv[1]);
  if (!module.ok()) { printf("%s\n", module.status().ToString().c_str()); return 1; }
  auto chip = chips::ChipSpec::Load(argc > 2 ? argv[2] : "v6e");
  auto passes = hlo::RunPasses(module->get(), *chip);
  if (!passes.ok()) { printf("%s\n", passes.status().ToString().c_str()); return 1; }
  const isa::MachineModel model = isa::FromChipSpec(*chip);
  codegen::BlockCache cache(model);
  const lowering::KernelContext context{*chip, model, &cache};
  std::map<std::string, std::pair<int, std::string>> failures;
  std::map<uint64_t, int> seen;
  int ok = 0, calls = 0;
  const auto start = std::chrono::steady_clock::now();
  double worst = 0; std::string worst_name;
  for (hlo::Computation* c : (*module)->computations()) {
    if (c->IsFusionComputation()) continue;
    if (!c->callers().empty()) continue;
    for (hlo::Instruction* i : c->instructions()) {
      switch (i->opcode()) {
        case hlo::Opcode::kParameter: case hlo::Opcode::kConstant: case hlo::Opcode::kTuple:
        case hlo::Opcode::kGetTupleElement: case hlo::Opcode::kBitcast: continue;
        default: break;
      }
      ++calls;
      if (seen[hlo::KernelFingerprint(*i)]++) continue;
      const auto t0 = std::chrono::steady_clock::now();
      auto kernel = lowering::EmitKernel(context, *i);
      const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - t0).count();
      if (ms > worst) { worst = ms; worst_name = i->name(); }
      if (ms > 20) printf("slow %.1f ms %s\n", ms, i->ToString().substr(0, 300).c_str());
      absl::Status status = kernel.status();
      if (kernel.ok()) status = isa::VerifyKernel(*kernel, model);
      if (status.ok()) { ++ok; continue; }
      auto& f = failures[std::string(hlo::OpcodeName(i->opcode()))];
      ++f.first;
      if (f.first < 12) f.second += "   " + status.ToString().substr(0, 260) + "\n      " + i->ToString().substr(0, 400) + "\n";
    }
  }
  const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  printf("%d calls, %zu kernels, %d ok, %.1f ms, worst %.1f %s, blocks %d hits %d\n", calls, seen.size(), ok, ms, worst, worst_name.c_str(), (int)cache.size(), (int)cache.hits());
  for (auto& [k, v] : failures) printf("%s: %d\n%s", k.c_str(), v.first, v.second.c_str());
  if (argc > 3) printf("%s\n", hlo::Print(**module).c_str());
}
