#include "hlo_backend/passes/scheduled/shared_parts.h"

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "hlo_backend/ir/fingerprint.h"
#include "hlo_backend/passes/memory/prefetch_source.h"
#include "hlo_backend/passes/scheduled/part_names.h"

namespace ptxla::hlo {
namespace {

bool IsShareable(const Instruction& i) {
  if (!i.shape().IsArray()) return false;
  switch (i.opcode()) {
    case Opcode::kBitcast:
    case Opcode::kConvert:
    case Opcode::kPad:
    case Opcode::kReshape:
    case Opcode::kSlice:
    case Opcode::kTranspose:
      return true;
    case Opcode::kConstant:
      return i.shape().IsScalar();
    case Opcode::kFusion:
      return i.attrs<FusionAttrs>().kind == FusionKind::kLoop;
    default:
      return false;
  }
}

// Equal for views of the same value whose kernels cannot tell them apart.
int Viewed(const Instruction& i) {
  return i.opcode() == Opcode::kBitcast ? Viewed(*i.operand(0)) : i.id();
}

// Equal for what computes the same of the same values.
std::string KeyOf(const Instruction& i) {
  std::string key = absl::StrCat(KernelFingerprint(i));
  for (const Instruction* o : i.operands()) {
    absl::StrAppend(&key, ",", Viewed(*o));
  }
  if (i.opcode() == Opcode::kConstant) {
    const absl::Span<const uint8_t> bytes = i.literal().bytes();
    absl::StrAppend(&key, "=");
    key.append(bytes.begin(), bytes.end());
  }
  return key;
}

}  // namespace

bool ShareParts(Computation* c) {
  std::vector<Instruction*> order;
  for (Instruction* i : c->instructions()) order.push_back(i);
  absl::flat_hash_map<std::string, Instruction*> made;
  bool changed = false;
  for (Instruction* i : order) {
    if (!IsPart(*i) || !IsShareable(*i) || i->IsRoot()) {
      continue;
    }
    Instruction*& first = made[KeyOf(*i)];
    if (first == nullptr) {
      first = i;
      continue;
    }
    if (first->shape() != i->shape() || IsOverwritten(*first) ||
        IsOverwritten(*i)) {
      continue;
    }
    i->ReplaceAllUsesWith(first);
    i->DropControlDependencies();
    c->Remove(i);
    changed = true;
  }
  return changed;
}

}  // namespace ptxla::hlo
