#include "hlo_backend/lowering/movement/load_form.h"

namespace ptxla::lowering {

LoadForm LoadForm::Of(const RowPiece& piece) {
  LoadForm form;
  int first = 0;
  while (!(piece.sublanes >> first & 1)) ++first;
  // `group` rows in a row, groups `stride` apart; sublanes that the piece does
  // not have may load anything.
  for (int group : {8, 4, 2, 1}) {
    // Where the group of the first sublane begins: before the operand if the
    // piece takes the operand's first rows to the middle of a register.
    const int64_t base = piece.rows[first] - first % group;
    int64_t stride = group == 8 ? 8 : -1;
    bool fits = true;
    for (int s = first + 1; s < 8 && fits; ++s) {
      if (!(piece.sublanes >> s & 1)) continue;
      const int64_t start = piece.rows[s] - s % group;
      const int apart = s / group - first / group;
      if (apart == 0) {
        fits = start == base;
      } else if (stride < 0) {
        fits = start > base && (start - base) % apart == 0;
        stride = (start - base) / apart;
      } else {
        fits = start - base == apart * stride;
      }
    }
    if (!fits) continue;
    if (stride < 0) stride = group;
    const int64_t at = base - first / group * stride;
    if (at < 0) continue;
    form.kind =
        group == 8 || stride == group ? Kind::kContiguous : Kind::kStrided;
    form.first = at;
    form.stride = stride;
    form.group = group;
    return form;
  }
  return form;
}

}  // namespace ptxla::lowering
