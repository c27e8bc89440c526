#include "hlo_backend/passes/fusion/fusion.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/analysis/scalar_work.h"
#include "hlo_backend/analysis/turned_input.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/fusion/free_sums.h"
#include "hlo_backend/passes/fusion/fused_inputs.h"
#include "hlo_backend/passes/fusion/fusion_builder.h"
#include "hlo_backend/passes/fusion/fusion_chains.h"
#include "hlo_backend/passes/fusion/kernel_groups.h"
#include "hlo_backend/passes/fusion/rows_and_columns.h"
#include "hlo_backend/passes/fusion/stored_converts.h"

namespace ptxla::hlo {
namespace {

// Of the earlier readers of an array so many are asked.
constexpr size_t kSiblings = 4;

// The next value of a loop's counter, or where in the loop a kernel starts:
// they may lie in SMEM (passes/loops/loop_scalars.h).
bool IsLoopScalar(const Instruction& i) {
  const Computation& c = *i.parent();
  const bool body = std::any_of(
      c.callers().begin(), c.callers().end(), [&](const Instruction* caller) {
        return caller->opcode() == Opcode::kWhile && caller->while_body() == &c;
      });
  return body && IsScalarUnitWork(i) &&
         std::any_of(i.users().begin(), i.users().end(),
                     [&](const Instruction* user) {
                       return StartsAtScalar(*user, i) || user == c.root();
                     });
}

class Fuser {
 public:
  Fuser(Computation* c, const ProloguePolicy& prologues, bool types_apart)
      : c_(c),
        order_(c->PostOrder()),
        chains_(order_, prologues),
        inputs_(chains_, types_apart),
        pairs_(order_, chains_, inputs_),
        groups_(order_.size()) {}

  bool Run() {
    for (Instruction* i : order_) Place(i);
    pairs_.Join(&groups_);
    // Rows and columns meet where nothing else takes them.
    JoinSiblings(/*across=*/false);
    JoinSiblings(/*across=*/true);
    JoinFreeSums(order_, chains_, inputs_, &groups_);
    JoinSums();
    JoinScalars();
    return Build();
  }

 private:
  // Groups whose values the work of `i` reads: softly those that make values
  // of its iteration shape element by element.
  std::vector<FusionGroups::Dependence> Dependences(
      const Instruction* i) const {
    std::vector<FusionGroups::Dependence> result;
    inputs_.ForEach(i, [&](const Instruction* value, bool soft) {
      const int g = groups_.Of(value);
      if (g < 0) return;
      for (FusionGroups::Dependence& d : result) {
        if (d.group != g) continue;
        d.hard |= !soft;
        return;
      }
      result.push_back({g, !soft});
    });
    return result;
  }

  void Place(Instruction* i) {
    const FusionNode& node = chains_.node(i);
    if (i->opcode() == Opcode::kParameter || i->IsConstant() || !node.placed) {
      return;
    }
    const auto dependences = Dependences(i);
    GroupKernel kernel;
    kernel.members = 1;
    if (node.role == FusionRole::kStored) {
      groups_.Add(i, dependences, kernel);
      return;
    }
    kernel.fusible = true;
    kernel.convolution = i->opcode() == Opcode::kConvolution;
    kernel.bytes = inputs_.HasBytes(*i);
    pairs_.DescribeOrder(*i, &kernel);
    kernel.dims = i->shape().dims();
    kernel.epilogue =
        node.role == FusionRole::kDot ||
        (node.role == FusionRole::kElementwise && chains_.EpilogueFits(*i));
    kernel.features_in_rows = kernel.convolution && HasFeaturesInRows(*i);
    kernel.feature_epilogue =
        kernel.epilogue || (node.role == FusionRole::kElementwise &&
                            chains_.FeatureEpilogueFits(*i));
    if (node.role == FusionRole::kDot) {
      kernel.dot = true;
      kernel.product = i;
      groups_.Add(i, dependences, kernel);
      return;
    }
    if (node.role == FusionRole::kReduce) {
      kernel.reduce = true;
      kernel.dims = i->operand(0)->shape().dims();
      kernel.reduced.assign(i->dimensions().begin(), i->dimensions().end());
      kernel.may_wait = inputs_.MayWait(*i);
      pairs_.DescribeReduce(*i, &kernel);
      if (inputs_.IsStoredReduce(*i)) {
        kernel.stored_reduce = i;
        kernel.epilogue = chains_.EpilogueFits(*i);
      }
      kernel.feature_epilogue = kernel.epilogue;
    }
    if (const Instruction* reduce = inputs_.ReduceToStore(i)) {
      const int sums = groups_.Of(reduce);
      kernel.dims = groups_.kernel(sums).dims;
      if (groups_.Join(sums, groups_.Add(i, dependences, kernel))) return;
      groups_.SetDims(groups_.Of(i), i->shape().dims());
      return;
    }
    // A group of its own first; then it joins those that make its inputs,
    // the latest first: the others may be done as late as that.
    const int me = groups_.Add(i, dependences, kernel);
    std::vector<int> candidates;
    if (const Instruction* best = inputs_.ExtremumOf(i)) {
      candidates.push_back(groups_.Of(best));
    }
    for (const Instruction* input : inputs_.Full(i)) {
      const int g = groups_.Of(input);
      if (g < 0 || !inputs_.IsMadeInStep(input)) continue;
      if (std::find(candidates.begin(), candidates.end(), g) ==
          candidates.end()) {
        candidates.push_back(g);
      }
    }
    std::stable_sort(candidates.begin(), candidates.end(), [&](int a, int b) {
      return groups_.level(a) > groups_.level(b);
    });
    for (int g : candidates) {
      if (kernel.reduce && groups_.kernel(g).dot) {
        sums_of_products_.push_back({i, g});
      } else if (!HoldsBack(g, i) && !IsForOtherSums(g, *i)) {
        groups_.Join(g, me);
      }
    }
  }

  // A product's kernel adds up columns where that makes all that reads its
  // result for sums: a kernel that reads it anyway makes them for nothing.
  void JoinSums() {
    for (const auto& [sum, product] : sums_of_products_) {
      if (!HoldsBack(product, sum)) groups_.Join(product, groups_.Of(sum));
    }
  }

  // Would the kernel of a product store `i` only for reduces that it cannot
  // make? They read the product's own result instead, which is no larger.
  bool IsForOtherSums(int group, const Instruction& i) const {
    const GroupKernel& kernel = groups_.kernel(group);
    if (!kernel.dot || i.IsRoot() || i.user_count() == 0 ||
        kernel.product->shape().ByteSize() > i.shape().ByteSize()) {
      return false;
    }
    return std::all_of(i.users().begin(), i.users().end(),
                       [&](const Instruction* u) {
                         return chains_.node(u).role == FusionRole::kReduce &&
                                !(inputs_.IsStoredReduce(*u) &&
                                  IsColumnReduce(*u, *kernel.product));
                       });
  }

  // Would the product of a group wait, behind itself, for a value that is made
  // from what it reads? Tied embeddings: their gradient by the scores would
  // wait for that by the tokens, at the end of the backward pass, and keep the
  // scores until then.
  bool HoldsBack(int group, const Instruction* i) const {
    const Instruction* product = groups_.kernel(group).product;
    if (product == nullptr) return false;
    for (const Instruction* operand : product->operands()) {
      const FusionNode& node = chains_.node(operand);
      if (node.placed) {
        if (HoldsBack(*product, operand, i)) return true;
        continue;
      }
      for (const Instruction* leaf : node.full) {
        if (HoldsBack(*product, leaf, i)) return true;
      }
    }
    return false;
  }

  bool HoldsBack(const Instruction& product, const Instruction* read,
                 const Instruction* i) const {
    if (groups_.Of(read) < 0 || read->opcode() == Opcode::kParameter ||
        read->shape().IsTuple() ||
        read->shape().ByteSize() <= product.shape().ByteSize()) {
      return false;
    }
    const auto inputs = inputs_.Full(i);
    return std::any_of(inputs.begin(), inputs.end(),
                       [&](const Instruction* input) {
                         return groups_.Of(input) != groups_.Of(&product) &&
                                IsMadeFromReaders(input, read);
                       });
  }

  // Levels rise along dependences: what is no higher than `read` needs nothing
  // of it.
  bool IsMadeFromReaders(const Instruction* value,
                         const Instruction* read) const {
    const int level = groups_.level(groups_.Of(read));
    std::vector<const Instruction*> open = {value};
    absl::flat_hash_set<const Instruction*> seen = {value};
    for (size_t next = 0; next < open.size(); ++next) {
      for (const Instruction* o : open[next]->operands()) {
        if (o == read) return true;
        const int g = groups_.Of(o);
        if ((g < 0 || groups_.level(g) > level) && seen.insert(o).second) {
          open.push_back(o);
        }
      }
    }
    return false;
  }

  // Kernels that read, or do again, the same over the same shape. `across`:
  // also reduces of rows and of columns.
  void JoinSiblings(bool across) {
    using Read = FusedInputs::Read;
    std::vector<Read> inputs;
    absl::flat_hash_map<Read, std::vector<int>> readers;
    const auto add = [&](Read input, int g) {
      std::vector<int>& list = readers[input];
      if (list.empty()) inputs.push_back(input);
      if (list.empty() || list.back() != g) list.push_back(g);
    };
    for (const Instruction* i : order_) {
      const int g = groups_.Of(i);
      if (g < 0 || !groups_.kernel(g).fusible || IsProduct(*i)) {
        continue;
      }
      inputs_.ForEachShared(i, groups_.kernel(g).dims,
                            [&](Read read) { add(read, g); });
    }
    for (const Read& input : inputs) {
      const std::vector<int>& list = readers[input];
      for (size_t k = 1; k < list.size(); ++k) {
        // The nearest that takes it: between a sum over columns and the work
        // that reads the same array last there may be sums over rows.
        const size_t first = k - std::min<size_t>(k, kSiblings);
        for (size_t j = k; j-- > first;) {
          const int a = groups_.Find(list[j]), b = groups_.Find(list[k]);
          if (a == b) break;
          if (groups_.kernel(a).dot || groups_.kernel(b).dot) continue;
          if (!across && groups_.AreAcross(a, b)) continue;
          if (groups_.AreNear(a, b) && groups_.Join(a, b)) break;
        }
      }
    }
  }

  // Scalar work that could run at the same time; the scalar unit's in a loop
  // is no kernel at all.
  void JoinScalars() {
    absl::flat_hash_set<int> of_loop;
    for (const Instruction* i : order_) {
      if (IsLoopScalar(*i)) of_loop.insert(groups_.Of(i));
    }
    std::map<int, int> by_level;
    for (int g = 0; g < groups_.count(); ++g) {
      const GroupKernel& kernel = groups_.kernel(g);
      if (groups_.Find(g) != g || !kernel.fusible || kernel.dot ||
          kernel.reduce || !kernel.dims.empty() || of_loop.contains(g)) {
        continue;
      }
      auto [it, inserted] = by_level.emplace(groups_.level(g), g);
      if (!inserted && groups_.Join(it->second, g))
        it->second = groups_.Find(g);
    }
  }

  bool Build() {
    std::map<int, std::vector<Instruction*>> members;
    std::vector<int> in_order;
    for (Instruction* i : order_) {
      const int g = groups_.Of(i);
      if (g < 0 || !groups_.kernel(g).fusible) continue;
      std::vector<Instruction*>& list = members[g];
      if (list.empty()) in_order.push_back(g);
      list.push_back(i);
    }
    std::vector<FusionPlan> plans;
    for (int g : in_order) {
      const GroupKernel& k = groups_.kernel(g);
      const FusionKind kind = k.dot      ? FusionKind::kOutput
                              : k.reduce ? FusionKind::kInput
                                         : FusionKind::kLoop;
      auto plan = PlanFusion(c_, chains_, members[g], kind);
      if (plan.has_value()) plans.push_back(*std::move(plan));
    }
    if (plans.empty()) return false;
    c_->RemoveDead();
    for (const FusionPlan& plan : plans) BuildFusion(c_, plan);
    return true;
  }

  Computation* c_;
  const std::vector<Instruction*> order_;
  const FusionChains chains_;
  const FusedInputs inputs_;
  const RowsAndColumns pairs_;
  KernelGroups groups_;
  // Reduces that read what a group with a product makes.
  std::vector<std::pair<const Instruction*, int>> sums_of_products_;
};

}  // namespace

absl::StatusOr<bool> FusionPass::Run(Module* module,
                                     const PassContext& context) {
  if (module->config().is_scheduled) return false;
  const ProloguePolicy prologues = context.chip == nullptr
                                       ? ProloguePolicy()
                                       : ProloguePolicy(*context.chip);
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    // A kernel that nobody reads is none.
    changed |= c->RemoveDead() > 0;
    changed |= PartStoredConverts(c);
    changed |= Fuser(c, prologues, !of_one_kernel_).Run();
  }
  return changed;
}

}  // namespace ptxla::hlo
