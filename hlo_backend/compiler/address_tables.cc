#include "hlo_backend/compiler/address_tables.h"

namespace ptxla::hlo {
namespace {

// Of chips that are read from files, which have both.
Bytes Number(const chips::ChipSpec& chip, const char* key) {
  return Bytes(static_cast<int64_t>(chip.Find(key)->value));
}

bool MakesTable(const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::kAsyncUpdate:
    case Opcode::kBitcast:
    case Opcode::kCall:
    case Opcode::kGetTupleElement:
    case Opcode::kOptimizationBarrier:
    case Opcode::kParameter:
    case Opcode::kTuple:
      return false;
    default:
      return i.shape().IsTuple() && i.shape().LeafCount() > 0;
  }
}

// Of the arrays of `shape`, which is a tuple.
Bytes TableBytes(const Shape& shape, const chips::ChipSpec& chip) {
  constexpr int64_t kPointerBytes = 4;
  return Bytes(RoundUpTo(shape.LeafCount() * kPointerBytes,
                         Number(chip, "hbm.table_unit").count()));
}

}  // namespace

Bytes TempSlot(const chips::ChipSpec& chip) {
  return Number(chip, "hbm.temp_slot");
}

Bytes TableOfResults(const Module& module, const chips::ChipSpec& chip) {
  const Shape& results = module.entry()->root()->shape();
  return results.LeafCount() < 2 ? Bytes(0) : TableBytes(results, chip);
}

AddressTables TablesOf(const std::vector<Computation*>& computations,
                       const chips::ChipSpec& chip) {
  const int64_t slot = TempSlot(chip).count();
  AddressTables tables;
  for (const Computation* c : computations) {
    for (const Instruction* i : c->instructions()) {
      if (!MakesTable(*i)) continue;
      const Bytes bytes = TableBytes(i->shape(), chip);
      tables.bytes += bytes;
      tables.taken += Bytes(RoundUpTo(bytes.count(), slot));
    }
  }
  return tables;
}

}  // namespace ptxla::hlo
