// Fusions that no kernel of ours can be, taken apart: their work becomes
// kernels that follow one another in their place.
//
// TPU compilers compute slices, pads, windows and several products inside of
// one kernel. A scheduled module keeps its order and everything else; such a
// fusion's body becomes kernels in the first of these ways that gives any
// (products: compiled before fused):
//
//   planes    a product that reads members in rows of tiles, once more with a
//             transpose before it (member_planes.h)
//   whole     one fusion still, of row-major arrays (row_major.h)
//   around    the product with what may stand around it (product_core.h), and
//             the rest by our own rules; with reduces of its columns first, at
//             last (of planes of K) with no operand that is computed
//   fused     by our own rules (row_fusion.h, fusion.h, movement_fusion.h),
//             with the order of elements that it has
//   compiled  by the passes that a module of its own would go through, with
//             other operations and layouts inside (also for an instruction
//             that is no fusion: as it lies, then with operands from HBM)
//   converted a lone product behind kernels that convert its operands to bf16
//   single    one kernel an instruction
//
// Its kernels are called "f.part", "f.part.1" ... What they hand on goes
// through VMEM where there is room (compiler/lower_module.cc), else through
// HBM. Fusions that keep to the rules (fusion_rules.h) stay as they
// are, but for those that lowering refuses: the compiler asks for these
// afterwards (compiler/lower_module.h).
//
//   %f = f32[8,128] fusion(%x), calls={ slice, dot, dot }
//   ==> %f.part = slice(%x), %f.part.1 = fusion(%f.part), ...
#ifndef PTXLA_HLO_BACKEND_PASSES_SCHEDULED_FUSION_SPLITTER_H_
#define PTXLA_HLO_BACKEND_PASSES_SCHEDULED_FUSION_SPLITTER_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "hlo_backend/passes/pass.h"
#include "hlo_backend/passes/pipeline.h"

namespace ptxla::hlo {

// A kernel around, or is, a gradient that leaves the arrays idle
// (convolution_canonicalizer.h): compiled anew it has another form.
bool HasIdleGradient(const Instruction& kernel);

// Such a kernel, or a fusion around a convolution of an array that is mostly
// padding (padded_operands.h): other orders of dimensions fill their tiles.
bool IsCompiledFirst(const Instruction& kernel, const PassContext& context);

class FusionSplitter {
 public:
  // `anew` (may be null: never compiled) and `context` outlive it.
  explicit FusionSplitter(const PassContext& context,
                          const Pipeline* anew = nullptr)
      : context_(context), anew_(anew) {}

  // Takes apart the instructions for which `refused` holds; what came of a
  // split already, in the next way. False: there is none left for any of them.
  absl::StatusOr<bool> Run(Module* module,
                           absl::FunctionRef<bool(const Instruction&)> refused);

 private:
  enum class Way : uint8_t {
    kNone,
    kPlanes,
    kWhole,
    kAroundReduced,
    kAround,
    kBehind,
    kAroundPlain,
    kFused,
    kCompiled,
    kFromHbm,
    kConverted,
    kSingle
  };

  absl::StatusOr<bool> Split(
      Computation* c, absl::FunctionRef<bool(const Instruction&)> refused);
  std::vector<Way> WaysOf(const Instruction& i) const;
  // A computation of kernels for what `i` does, or null.
  absl::StatusOr<Computation*> Parts(Instruction* i, Way* way);

  const PassContext& context_;
  const Pipeline* anew_;
  absl::flat_hash_map<int, Way> tried_;  // by instruction id
  absl::flat_hash_set<int> unread_;      // by fusions that are being split
};

// The fusions that break the rules, but for those that have to be compiled
// (IsCompiledFirst).
class FusionSplitterPass : public Pass {
 public:
  absl::string_view name() const override { return "fusion-splitter"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_SCHEDULED_FUSION_SPLITTER_H_
