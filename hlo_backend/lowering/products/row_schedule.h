// The schedule of passes over rows (row_epilogue.h): blocks of code in the
// order in which they were written, as many of them under way at once as the
// registers hold.
//
// A block that begins with loads waits for units and for the XLU; the more
// blocks are under way, the more of that is hidden, and the more values wait in
// registers. How many fit differs by chip and formula, so it is found by
// trying: placed code either fits the registers or does not.
//
//   RowSchedule rows(&b, scratch_space);
//   for (...) { b.NewBlock(); ...; rows.Add(/*paced=*/true); }
//   rows.Finish();
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_ROW_SCHEDULE_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_ROW_SCHEDULE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "hlo_backend/lowering/codegen/builder.h"

namespace ptxla::lowering {

class RowSchedule {
 public:
  // `space`: of the scratch that blocks hand values on in, a register each.
  RowSchedule(codegen::CodeBuilder* b, int space) : b_(*b), space_(space) {}

  // Takes the builder's open block. Not paced: a value goes through the XLU,
  // and its registers are free once it is there.
  void Add(bool paced);
  // Appends the code to the builder. Where nothing fits, the thriftiest, which
  // the builder's owner will find not to fit.
  void Finish();

 private:
  struct Piece {
    codegen::VNode block;
    bool paced;
  };
  // At most so many blocks under way, and each block's instructions one after
  // another or as soon as they can.
  struct Pace {
    size_t most;
    bool in_order;
  };
  std::vector<Pace> Paces() const;
  // The first `pieces`; nothing if they take `limit` cycles or more.
  std::optional<codegen::VNode> Place(const Pace& pace, size_t pieces,
                                      int64_t limit) const;

  codegen::CodeBuilder& b_;
  const int space_;
  std::vector<Piece> pieces_;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_ROW_SCHEDULE_H_
