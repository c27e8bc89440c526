#include "hlo_backend/passes/fusion.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "hlo_backend/analysis/extremum_position.h"
#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/fusion_builder.h"
#include "hlo_backend/passes/fusion_chains.h"
#include "hlo_backend/passes/fusion_groups.h"

namespace ptxla::hlo {
namespace {

// Kernels of more members are hard to schedule and gain little.
constexpr int kMostMembers = 256;
// Kernels that share an input join only when they are this near: what the
// earlier one makes lives longer by it, and so does what a product reads that
// waits for another's result.
constexpr int kSiblingLevels = 12;
// Of the earlier readers of an array so many are asked.
constexpr size_t kSiblings = 4;

class Fuser {
 public:
  // `sums`: products add up their columns.
  Fuser(Computation* c, const ProloguePolicy& prologues, bool sums)
      : c_(c),
        order_(c->PostOrder()),
        chains_(order_, prologues),
        sums_(sums) {}

  bool Run() {
    for (Instruction* i : order_) Place(i);
    JoinSiblings();
    JoinSums();
    JoinScalars();
    return Build();
  }

 private:
  // What a group is, under its own number.
  struct Kernel {
    bool fusible = false, dot = false, reduce = false;
    bool epilogue = true;  // all members may follow a dot
    // Around a convolution; reads or makes arrays of 8-bit types, whose tiles
    // are taller than what a convolution's epilogue works on.
    bool convolution = false, bytes = false;
    DimVector dims, reduced;
    int members = 0;
    const Instruction* product = nullptr;  // its dot
    // Of a group with reduces: one of them, if a product may make all.
    const Instruction* sum = nullptr;
  };

  int GroupOf(const Instruction* i) const {
    auto it = group_of_.find(i);
    return it == group_of_.end() ? -1 : groups_.Find(it->second);
  }

  // Made by a kernel that another may join.
  bool IsMadeInStep(const Instruction* value) const {
    const FusionRole role = chains_.node(value).role;
    return role == FusionRole::kElementwise || role == FusionRole::kDot;
  }

  // May the kernel of `value` do the work of `i` that reads it, too?
  bool MayJoin(const Instruction* value, const Instruction* i) const {
    return IsMadeInStep(value) || ReduceToStore(i) == value;
  }

  // Groups whose values the work of `i` reads: softly those that make values
  // of its iteration shape element by element.
  std::vector<FusionGroups::Dependence> Dependences(const Instruction* i) {
    std::vector<FusionGroups::Dependence> result;
    auto add = [&](const Instruction* value, bool soft) {
      const int g = GroupOf(value);
      if (g < 0) return;
      for (FusionGroups::Dependence& d : result) {
        if (d.group != g) continue;
        d.hard |= !soft;
        return;
      }
      result.push_back({g, !soft});
    };
    const FusionRole role = chains_.node(i).role;
    if (role == FusionRole::kElementwise || role == FusionRole::kReduce) {
      for (const Instruction* v : FullInputs(i)) add(v, MayJoin(v, i));
    }
    const bool reduce = role == FusionRole::kReduce;
    const Instruction* best = ExtremumOf(i);
    for (const Instruction* o : i->operands()) {
      const FusionNode& node = chains_.node(o);
      const bool full = reduce ? o == i->operand(0)
                               : role == FusionRole::kElementwise &&
                                     o->shape().SameDims(i->shape());
      if (node.placed) {
        if (!full) add(o, false);
        continue;
      }
      if (!full) {
        for (const Instruction* leaf : node.full) add(leaf, false);
      }
      for (const Instruction* leaf : node.small) add(leaf, leaf == best);
    }
    for (const Instruction* p : i->control_predecessors()) add(p, false);
    return result;
  }

  // The extremum whose position `i` is: one pass over their values makes both.
  const Instruction* ExtremumOf(const Instruction* i) const {
    if (chains_.node(i).role != FusionRole::kReduce) return nullptr;
    const auto found = FindExtremumPosition(*i);
    const bool reduces = found.has_value() &&
                         chains_.node(found->best).role == FusionRole::kReduce;
    return reduces ? found->best : nullptr;
  }

  // The reduce that a convert stores, if their kernel may be one.
  const Instruction* ReduceToStore(const Instruction* i) const {
    const Instruction* reduce = StoredReduce(*i);
    return reduce != nullptr && reduce != i &&
                   chains_.node(reduce).role == FusionRole::kReduce
               ? reduce
               : nullptr;
  }

  // A sum that is stored as it is, in f32.
  bool IsStoredSum(const Instruction& i) const {
    return i.shape().type() == PrimitiveType::kF32 &&
           *MonoidOf(*i.to_apply()) == Opcode::kAdd &&
           std::none_of(
               i.users().begin(), i.users().end(),
               [&](const Instruction* u) { return ReduceToStore(u) == &i; });
  }

  bool HasBytes(const Instruction& i) const {
    const auto is_byte = [](const Instruction* v) {
      return BitWidth(v->shape().type()) <= 8 && !v->shape().IsScalar();
    };
    const auto inputs = FullInputs(&i);
    return is_byte(&i) || std::any_of(inputs.begin(), inputs.end(), is_byte);
  }

  // Stored values of the iteration shape that a member reads.
  absl::InlinedVector<const Instruction*, 2> FullInputs(
      const Instruction* i) const {
    if (chains_.node(i).role != FusionRole::kReduce) {
      return chains_.node(i).full;
    }
    const Instruction* x = i->operand(0);
    if (chains_.node(x).placed) return {x};
    return chains_.node(x).full;
  }

  bool Compatible(int a, int b) const {
    const Kernel &x = kernels_[a], &y = kernels_[b];
    if (!x.fusible || !y.fusible || x.dims != y.dims) return false;
    if (x.members + y.members > kMostMembers) return false;
    if (x.dot && y.dot) return false;
    if ((x.dot && !y.epilogue) || (y.dot && !x.epilogue)) return false;
    if ((x.convolution && y.bytes) || (y.convolution && x.bytes)) return false;
    if (x.dot && y.reduce && !AddsUp(x, y)) return false;
    if (x.reduce && y.dot && !AddsUp(y, x)) return false;
    return !x.reduce || !y.reduce || x.reduced == y.reduced;
  }

  // Can the product's kernel make all the other's reduces?
  bool AddsUp(const Kernel& product, const Kernel& reduces) const {
    return sums_ && reduces.sum != nullptr &&
           IsColumnSum(*reduces.sum, *product.product);
  }

  bool Join(int a, int b) {
    a = groups_.Find(a);
    b = groups_.Find(b);
    if (a == b) return true;
    if (!Compatible(a, b) || !groups_.Merge(a, b)) return false;
    const int g = groups_.Find(a);
    Kernel& to = kernels_[g];
    const Kernel& from = kernels_[g == a ? b : a];
    to.dot |= from.dot;
    if (to.product == nullptr) to.product = from.product;
    to.convolution |= from.convolution;
    to.bytes |= from.bytes;
    to.epilogue &= from.epilogue;
    if (from.reduce) {
      to.sum = to.reduce && to.sum == nullptr ? nullptr : from.sum;
      to.reduce = true;
      to.reduced = from.reduced;
    }
    to.members += from.members;
    return true;
  }

  int NewGroup(const Instruction* i,
               const std::vector<FusionGroups::Dependence>& dependences,
               Kernel kernel) {
    const int g = groups_.Add(dependences);
    kernels_.push_back(std::move(kernel));
    group_of_[i] = g;
    return g;
  }

  void Place(Instruction* i) {
    const FusionNode& node = chains_.node(i);
    if (i->opcode() == Opcode::kParameter || i->IsConstant() || !node.placed) {
      return;
    }
    const auto dependences = Dependences(i);
    Kernel kernel;
    kernel.members = 1;
    if (node.role == FusionRole::kStored) {
      NewGroup(i, dependences, kernel);
      return;
    }
    kernel.fusible = true;
    kernel.convolution = i->opcode() == Opcode::kConvolution;
    kernel.bytes = HasBytes(*i);
    kernel.dims = i->shape().dims();
    kernel.epilogue =
        node.role == FusionRole::kDot ||
        (node.role == FusionRole::kElementwise && chains_.EpilogueFits(*i));
    if (node.role == FusionRole::kDot) {
      kernel.dot = true;
      kernel.product = i;
      NewGroup(i, dependences, kernel);
      return;
    }
    if (node.role == FusionRole::kReduce) {
      kernel.reduce = true;
      kernel.dims = i->operand(0)->shape().dims();
      kernel.reduced.assign(i->dimensions().begin(), i->dimensions().end());
      if (IsStoredSum(*i)) {
        kernel.sum = i;
        kernel.epilogue = chains_.EpilogueFits(*i);
      }
    }
    if (const Instruction* reduce = ReduceToStore(i)) {
      const int sums = GroupOf(reduce);
      kernel.dims = kernels_[sums].dims;
      if (Join(sums, NewGroup(i, dependences, kernel))) return;
      kernels_[GroupOf(i)].dims = i->shape().dims();
      return;
    }
    // A group of its own first; then it joins those that make its inputs,
    // the latest first: the others may be done as late as that.
    const int me = NewGroup(i, dependences, kernel);
    std::vector<int> candidates;
    if (const Instruction* best = ExtremumOf(i)) {
      candidates.push_back(GroupOf(best));
    }
    for (const Instruction* input : FullInputs(i)) {
      const int g = GroupOf(input);
      if (g < 0 || !IsMadeInStep(input)) continue;
      if (std::find(candidates.begin(), candidates.end(), g) ==
          candidates.end()) {
        candidates.push_back(g);
      }
    }
    std::stable_sort(candidates.begin(), candidates.end(), [&](int a, int b) {
      return groups_.level(a) > groups_.level(b);
    });
    for (int g : candidates) {
      if (kernel.reduce && kernels_[groups_.Find(g)].dot) {
        sums_of_products_.push_back({i, g});
      } else if (!HoldsBack(g, i) && !IsForOtherSums(g, *i)) {
        Join(g, me);
      }
    }
  }

  // A product's kernel adds up columns where that makes all that reads its
  // result for sums: a kernel that reads it anyway makes them for nothing.
  void JoinSums() {
    for (const auto& [sum, product] : sums_of_products_) {
      if (!HoldsBack(product, sum)) Join(product, GroupOf(sum));
    }
  }

  // Would the kernel of a product store `i` only for reduces that it cannot
  // make? They read the product's own result instead, which is no larger.
  bool IsForOtherSums(int group, const Instruction& i) const {
    const Kernel& kernel = kernels_[groups_.Find(group)];
    if (!kernel.dot || i.IsRoot() || i.user_count() == 0 ||
        kernel.product->shape().ByteSize() > i.shape().ByteSize()) {
      return false;
    }
    return std::all_of(i.users().begin(), i.users().end(),
                       [&](const Instruction* u) {
                         return chains_.node(u).role == FusionRole::kReduce &&
                                !(sums_ && IsStoredSum(*u) &&
                                  IsColumnSum(*u, *kernel.product));
                       });
  }

  // Would the product of a group wait, behind itself, for a value that is made
  // from what it reads? Tied embeddings: their gradient by the scores would
  // wait for that by the tokens, at the end of the backward pass, and keep the
  // scores until then.
  bool HoldsBack(int group, const Instruction* i) const {
    const Instruction* product = kernels_[groups_.Find(group)].product;
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
    if (GroupOf(read) < 0 || read->opcode() == Opcode::kParameter ||
        read->shape().IsTuple() ||
        read->shape().ByteSize() <= product.shape().ByteSize()) {
      return false;
    }
    const auto inputs = FullInputs(i);
    return std::any_of(inputs.begin(), inputs.end(),
                       [&](const Instruction* input) {
                         return GroupOf(input) != GroupOf(&product) &&
                                IsMadeFromReaders(input, read);
                       });
  }

  // Levels rise along dependences: what is no higher than `read` needs nothing
  // of it.
  bool IsMadeFromReaders(const Instruction* value,
                         const Instruction* read) const {
    const int level = groups_.level(GroupOf(read));
    std::vector<const Instruction*> open = {value};
    absl::flat_hash_set<const Instruction*> seen = {value};
    for (size_t next = 0; next < open.size(); ++next) {
      for (const Instruction* o : open[next]->operands()) {
        if (o == read) return true;
        const int g = GroupOf(o);
        if ((g < 0 || groups_.level(g) > level) && seen.insert(o).second) {
          open.push_back(o);
        }
      }
    }
    return false;
  }

  // Kernels that read the same array over the same shape, or lanes of it;
  // reduces over the same dimensions also where it is a scalar.
  void JoinSiblings() {
    std::vector<const Instruction*> inputs;
    absl::flat_hash_map<const Instruction*, std::vector<int>> readers;
    const auto add = [&](const Instruction* input, int g) {
      std::vector<int>& list = readers[input];
      if (list.empty()) inputs.push_back(input);
      if (list.empty() || list.back() != g) list.push_back(g);
    };
    for (const Instruction* i : order_) {
      const int g = GroupOf(i);
      if (g < 0 || !kernels_[g].fusible || IsProduct(*i)) {
        continue;
      }
      for (const Instruction* input : FullInputs(i)) {
        if (!input->shape().IsScalar() &&
            input->shape().dims() == kernels_[g].dims) {
          add(input, g);
        }
      }
      for (const Instruction* leaf : chains_.node(i).small) {
        const bool scalar = leaf->shape().IsScalar() && !leaf->IsConstant();
        // Of which both take lanes.
        const bool sliced =
            leaf->shape().ElementCount() > Product(kernels_[g].dims);
        if (sliced || (scalar && i->opcode() == Opcode::kReduce)) add(leaf, g);
      }
    }
    for (const Instruction* input : inputs) {
      const std::vector<int>& list = readers[input];
      for (size_t k = 1; k < list.size(); ++k) {
        // The nearest that takes it: between a sum over columns and the work
        // that reads the same array last there may be sums over rows.
        const size_t first = k - std::min<size_t>(k, kSiblings);
        for (size_t j = k; j-- > first;) {
          const int a = groups_.Find(list[j]), b = groups_.Find(list[k]);
          if (a == b) break;
          if (kernels_[a].dot || kernels_[b].dot) continue;
          if (std::abs(groups_.level(a) - groups_.level(b)) > kSiblingLevels) {
            continue;
          }
          if (Join(a, b)) break;
        }
      }
    }
  }

  // Scalar work that could run at the same time.
  void JoinScalars() {
    std::map<int, int> by_level;
    for (int g = 0; g < groups_.count(); ++g) {
      if (groups_.Find(g) != g || !kernels_[g].fusible || kernels_[g].dot ||
          kernels_[g].reduce || !kernels_[g].dims.empty()) {
        continue;
      }
      auto [it, inserted] = by_level.emplace(groups_.level(g), g);
      if (!inserted && Join(it->second, g)) it->second = groups_.Find(g);
    }
  }

  bool Build() {
    std::map<int, std::vector<Instruction*>> members;
    std::vector<int> in_order;
    for (Instruction* i : order_) {
      const int g = GroupOf(i);
      if (g < 0 || !kernels_[g].fusible) continue;
      std::vector<Instruction*>& list = members[g];
      if (list.empty()) in_order.push_back(g);
      list.push_back(i);
    }
    std::vector<FusionPlan> plans;
    for (int g : in_order) {
      const Kernel& k = kernels_[g];
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
  const bool sums_;
  // Reduces that read what a group with a product makes.
  std::vector<std::pair<const Instruction*, int>> sums_of_products_;
  FusionGroups groups_;
  std::vector<Kernel> kernels_;  // by group number
  absl::flat_hash_map<const Instruction*, int> group_of_;
};

}  // namespace

absl::StatusOr<bool> FusionPass::Run(Module* module,
                                     const PassContext& context) {
  if (module->config().is_scheduled) return false;
  const ProloguePolicy prologues = context.chip == nullptr
                                       ? ProloguePolicy()
                                       : ProloguePolicy(*context.chip);
  // Two cores would each have a part of the sums.
  const bool sums =
      context.chip != nullptr && context.chip->core().cores_per_device == 1;
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    // A kernel that nobody reads is none.
    changed |= c->RemoveDead() > 0;
    changed |= Fuser(c, prologues, sums).Run();
  }
  return changed;
}

}  // namespace ptxla::hlo
