// EmitProductChain: two products in one kernel (analysis/product_chain.h).
//
// A grid step takes the same batch members and rows of both. The first product
// makes its rows as it does alone (row_epilogue.h), but into a block of scratch
// instead of a result; the second reads them there as the block of an operand.
// All of its other operand is in the step, as all columns of the first are.
#include "hlo_backend/analysis/product_chain.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/lowering/kernel_emitter.h"
#include "hlo_backend/lowering/products/fastest_product.h"
#include "hlo_backend/lowering/products/product_chain_tiling.h"
#include "hlo_backend/lowering/products/product_emitter.h"
#include "hlo_backend/lowering/products/product_paces.h"
#include "hlo_backend/lowering/tiling_log.h"
#include "isa/timing.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::PartPlaces;
using hlo::Instruction;

class ChainEmitter {
 public:
  ChainEmitter(const KernelContext& context, const Instruction& fusion)
      : context_(context), fusion_(fusion), apart_("chain") {}

  absl::StatusOr<isa::Kernel> Emit() {
    TakeApart();
    ASSIGN_OR_RETURN(const auto rows, PartOf(*chain_.rows, {}));
    ASSIGN_OR_RETURN(const auto product, PartOf(*chain_.product, {}));
    RETURN_IF_ERROR(Search(*rows, *product));
    const ProductProblem& p = rows->form().problem;
    const auto paces = PacesOf(
        p.lhs.computed || p.rhs.computed, p.lhs.slow || p.rhs.slow,
        p.passes.size() > 1 || p.lhs.conversion > 0 || p.rhs.conversion > 0);
    const auto make = [&](const EpiloguePace& pace, size_t choice) {
      ProductTrial trial;
      if (choice >= blocks_.size()) return trial;
      const ChainBlocks& blocks = blocks_[choice];
      trial.kernel = Frame(blocks, pace);
      if (!trial.kernel.ok()) return trial;
      trial.step = isa::CyclesOfFirstClass(*trial.kernel, context_.model);
      trial.expected = blocks.step;
      trial.cycles = std::max(
          blocks.cycles, ChainSteps(blocks, context_.model.cores) * trial.step);
      return trial;
    };
    const auto least = [&](size_t choice) {
      return choice < blocks_.size() ? blocks_[choice].cycles : INT64_MAX;
    };
    return FastestProduct(paces, context_.chip, make, least).kernel;
  }

 private:
  // Both kernels by themselves, their arrays where the fusion's lie.
  void TakeApart() {
    hlo::Module::ComputationMap copied;
    hlo::Computation* body =
        apart_.CloneComputation(*fusion_.fused(), "chain", &copied);
    apart_.SetEntry(body);
    for (int k = 0; k < fusion_.operand_count(); ++k) {
      *body->parameter(k)->mutable_shape() = fusion_.operand(k)->shape();
    }
    *body->root()->mutable_shape() = fusion_.shape();
    for (Instruction* i : body->instructions()) {
      if (i->opcode() != hlo::Opcode::kFusion) continue;
      for (int k = 0; k < i->operand_count(); ++k) {
        *i->fused()->parameter(k)->mutable_shape() = i->operand(k)->shape();
      }
      *i->fused()->root()->mutable_shape() = i->shape();
    }
    chain_.product = body->root();
    for (Instruction* o : chain_.product->operands()) {
      if (o->opcode() == hlo::Opcode::kFusion) chain_.rows = o;
    }
    chain_.operand = hlo::ProductChain::Of(fusion_)->operand;
  }

  absl::StatusOr<std::unique_ptr<ProductEmitter>> PartOf(
      const Instruction& i, const EpiloguePace& pace) const {
    ASSIGN_OR_RETURN(ProductForm form, ProductForm::Of(i));
    form.windows.reset();
    ChooseNumbers(context_.model, form.dot->shape().type(), &form.problem);
    auto part =
        std::make_unique<ProductEmitter>(context_, i, std::move(form), pace);
    RETURN_IF_ERROR(part->Prepare());
    return part;
  }

  absl::Status Refuse(absl::string_view what) const {
    return absl::UnimplementedError(
        absl::StrCat("%", fusion_.name(), ": a chain of products with ", what));
  }

  // Blocks that both products can take, fastest first.
  absl::Status Search(const ProductEmitter& rows,
                      const ProductEmitter& product) {
    if (rows.form().problem.kept.any || rows.form().swapped ||
        product.form().swapped) {
      return Refuse("rows of another form");
    }
    const ChainProblem chain = {
        rows.form().problem,    rows.arrays(),
        product.form().problem, product.arrays(),
        chain_.operand == 0,    hlo::BitWidth(chain_.rows->shape().type()) / 8};
    RETURN_IF_ERROR(chain.Check());
    ProductLimits limits = ProductLimitsOf(context_);
    limits.step_cycles -=
        static_cast<int64_t>(context_.chip.Policy("step_sync").value_or(0));
    ASSIGN_OR_RETURN(blocks_, ChooseChainBlocks(chain, context_.model, limits));
    Log();
    return absl::OkStatus();
  }

  void Log() const {
    if (context_.log == nullptr) return;
    TilingLog& log = *context_.log;
    log = TilingLog();
    log.considered = static_cast<int64_t>(blocks_.size());
    for (const ChainBlocks& b : blocks_) {
      AddCost(b.rows.Steps(), b.cycles, &log);
      log.candidates.push_back(
          {b.ToString(), b.cycles, b.step, b.vmem_bytes, ""});
    }
  }

  // A part's windows in the kernel's, but the one of the rows that are handed
  // on, which is the block at `handed_on` of scratch.
  absl::Status AddWindows(const Tiling& part, const Instruction& i,
                          int64_t handed_on, Tiling* tiling, PartPlaces* places,
                          std::vector<isa::Window>* local) const {
    const auto results = static_cast<int>(tiling->args.size()) - 1;
    for (isa::Window w : part.windows) {
      const bool result = w.arg >= i.operand_count();
      const Instruction* array = result ? &i : i.operand(w.arg);
      if (array == chain_.rows) {
        local->push_back(std::move(w));
        places->windows.push_back({-1, static_cast<int32_t>(handed_on)});
        continue;
      }
      for (const isa::WindowDim& d : w.dims) {
        if (d.table_arg >= 0) return Refuse("windows that data moves");
      }
      w.arg = result ? results : static_cast<int>(array->parameter_number());
      places->windows.push_back({static_cast<int>(tiling->windows.size()), 0});
      tiling->windows.push_back(std::move(w));
    }
    return absl::OkStatus();
  }

  static bool SameBlock(const std::vector<isa::Window>& local) {
    if (local.size() != 2 || local[0].dims.size() != local[1].dims.size() ||
        local[0].slot_bytes != local[1].slot_bytes) {
      return false;
    }
    for (size_t d = 0; d < local[0].dims.size(); ++d) {
      if (local[0].dims[d].block != local[1].dims[d].block ||
          local[0].dims[d].vmem_stride != local[1].dims[d].vmem_stride) {
        return false;
      }
    }
    return true;
  }

  absl::StatusOr<isa::Kernel> Frame(const ChainBlocks& blocks,
                                    const EpiloguePace& pace) const {
    ASSIGN_OR_RETURN(const auto rows, PartOf(*chain_.rows, pace));
    ASSIGN_OR_RETURN(const auto product, PartOf(*chain_.product, pace));
    rows->Take(blocks.rows, blocks.rows_cost);
    product->Take(blocks.product, blocks.product_cost);
    ASSIGN_OR_RETURN(const Tiling first, rows->Plan());
    ASSIGN_OR_RETURN(const Tiling second, product->Plan());
    Tiling tiling;
    tiling.note = blocks.ToString();
    ASSIGN_OR_RETURN(tiling.args, KernelArgs(fusion_));
    tiling.grid = first.grid;
    tiling.megacore_dim = first.megacore_dim;
    tiling.steps_run_on = true;
    // Neither needs its own scratch while the other runs.
    const int64_t handed_on =
        RoundUpTo<int64_t>(std::max(first.scratch_bytes, second.scratch_bytes),
                           isa::kVmemAlignment);
    PartPlaces of_first, of_second;
    std::vector<isa::Window> local;
    RETURN_IF_ERROR(
        AddWindows(first, *chain_.rows, handed_on, &tiling, &of_first, &local));
    RETURN_IF_ERROR(AddWindows(second, *chain_.product, handed_on, &tiling,
                               &of_second, &local));
    if (!SameBlock(local)) return Refuse("rows that are read in other blocks");
    if (!first.descriptors.empty() || !second.descriptors.empty()) {
      return Refuse("sums of which each core has a part");
    }
    tiling.scratch_bytes = handed_on + local[0].slot_bytes;
    tiling.work = first.work;
    tiling.work.flops += second.work.flops;
    tiling.work.mxu_flops += second.work.mxu_flops;
    tiling.work.hbm_bytes = 0;
    for (const isa::KernelArg& arg : tiling.args) {
      if (arg.space == isa::Space::kHbm) tiling.work.hbm_bytes += arg.bytes;
    }
    if (VmemBytes(context_, tiling) > VmemBudget(context_)) {
      return absl::ResourceExhaustedError("blocks beyond VMEM");
    }
    const auto run = [](const Tiling& part, const PartPlaces& places,
                        CodeBuilder& b) -> absl::Status {
      b.SetPart(&places);
      b.BeginScope();
      RETURN_IF_ERROR(part.body(b));
      b.EndScope();
      b.SetPart(nullptr);
      return absl::OkStatus();
    };
    tiling.body = [&](CodeBuilder& b) -> absl::Status {
      RETURN_IF_ERROR(run(first, of_first, b));
      return run(second, of_second, b);
    };
    return FrameKernel(context_, tiling);
  }

  const KernelContext& context_;
  const Instruction& fusion_;
  hlo::Module apart_;
  hlo::ProductChain chain_;  // of `apart_`
  std::vector<ChainBlocks> blocks_;
};

}  // namespace

absl::StatusOr<isa::Kernel> EmitProductChain(const KernelContext& context,
                                             const Instruction& i) {
  RETURN_IF_ERROR(hlo::CheckChainFusion(i));
  return ChainEmitter(context, i).Emit();
}

}  // namespace ptxla::lowering
