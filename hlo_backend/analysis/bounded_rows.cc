#include "hlo_backend/analysis/bounded_rows.h"

#include <algorithm>

namespace ptxla::hlo {
namespace {

constexpr int64_t kTile = 1024;  // elements, of one dimension

}  // namespace

bool ArePadded(const Shape& rows) {
  return rows.rank() == 1 && rows.dim(0) % kTile != 0;
}

bool BoundsPaddedRows(const Instruction& i) {
  return i.opcode() == Opcode::kClamp && ArePadded(i.shape()) &&
         i.user_count() > 0 &&
         std::all_of(i.users().begin(), i.users().end(),
                     [&](const Instruction* user) {
                       return user->opcode() == Opcode::kGather &&
                              user->operand(1) == &i && user->operand(0) != &i;
                     });
}

}  // namespace ptxla::hlo
