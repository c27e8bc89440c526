#include "hlo_backend/passes/layout/result_products.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/layout/free_work.h"
#include "hlo_backend/passes/layout/gradient_order.h"

namespace ptxla::hlo {
namespace {

using Instructions = absl::flat_hash_set<const Instruction*>;
using Orders = absl::flat_hash_map<const Instruction*, DimVector>;

bool IsWork(const Instruction& i) {
  return i.shape().IsArray() && i.shape().rank() >= 2 && i.IsElementwise() &&
         i.opcode() != Opcode::kCopy && !IsFree(i) &&
         i.control_predecessors().empty() && i.control_successors().empty() &&
         std::all_of(i.operands().begin(), i.operands().end(),
                     [&](const Instruction* o) {
                       return o->shape().IsScalar() ||
                              o->shape().SameDims(i.shape());
                     });
}

bool IsResultTuple(const Instruction& i) {
  return i.IsRoot() && i.opcode() == Opcode::kTuple;
}

class Search {
 public:
  Orders Run(Computation* c) {
    for (const Instruction* i : c->instructions()) {
      if (IsOrderedGradient(*i)) {
        for (const Instruction* user : i->users()) {
          if (user->opcode() == Opcode::kTranspose) {
            AddUsers(*user, OrderOf(*user));
          } else {
            Add(user, Identity(user->shape().rank()));
          }
        }
      } else if (IsTurnedResultProduct(*i)) {
        AddUsers(*i, OrderOf(*i));
      }
    }
    while (!open_.empty()) {
      const Instruction* i = open_.back();
      open_.pop_back();
      const DimVector order = work_.at(i);
      AddUsers(*i, order);
      for (const Instruction* o : i->operands()) Operand(*o, order);
    }
    return std::move(work_);
  }

 private:
  static DimVector OrderOf(const Instruction& transpose) {
    return {transpose.dimensions().begin(), transpose.dimensions().end()};
  }

  void AddUsers(const Instruction& value, const DimVector& order) {
    for (const Instruction* user : value.users()) Add(user, order);
  }

  void Add(const Instruction* i, const DimVector& order) {
    if (IsWork(*i) && work_.emplace(i, order).second) open_.push_back(i);
  }

  void Operand(const Instruction& o, const DimVector& order) {
    if (o.shape().IsScalar()) return;
    if (IsFree(o)) {
      // Updates of all layers may read one learning rate.
      if (!free_.insert(&o).second) return;
      for (const Instruction* user : o.users()) {
        if (!work_.contains(user) && IsUpdate(*user)) Add(user, order);
      }
    } else if (IsForWorkAlone(o)) {
      Add(&o, order);
    }
  }

  // Read by elementwise work or returned, so that no other kernel has to take
  // it in another order.
  static bool IsForWorkAlone(const Instruction& i) {
    return std::all_of(i.users().begin(), i.users().end(),
                       [](const Instruction* user) {
                         return IsWork(*user) || IsResultTuple(*user);
                       });
  }

  // Work all of which ends in results.
  static bool IsUpdate(const Instruction& first) {
    if (!IsWork(first)) return false;
    Instructions seen = {&first};
    std::vector<const Instruction*> open = {&first};
    while (!open.empty()) {
      const Instruction* i = open.back();
      open.pop_back();
      if (i->IsRoot() || !IsForWorkAlone(*i)) return false;
      for (const Instruction* user : i->users()) {
        if (!IsResultTuple(*user) && seen.insert(user).second) {
          open.push_back(user);
        }
      }
    }
    return true;
  }

  Orders work_;        // what has been seen
  Instructions free_;  // the same of broadcasts
  std::vector<const Instruction*> open_;
};

}  // namespace

bool IsOneOfResults(const Instruction& value) {
  return std::any_of(
      value.users().begin(), value.users().end(),
      [](const Instruction* user) { return IsResultTuple(*user); });
}

bool IsTurnedResultProduct(const Instruction& transpose) {
  return transpose.opcode() == Opcode::kTranspose &&
         transpose.shape().rank() == 2 && !transpose.shape().has_layout() &&
         transpose.operand(0)->opcode() == Opcode::kDot &&
         IsOneOfResults(*transpose.operand(0));
}

absl::flat_hash_map<const Instruction*, DimVector> WorkInProductOrder(
    Computation* c) {
  if (!c->IsEntry()) return {};
  return Search().Run(c);
}

}  // namespace ptxla::hlo
