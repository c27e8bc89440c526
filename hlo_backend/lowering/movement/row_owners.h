// Which rows of a batch share the slot of another: equal rows of the table, of
// which the first is the owner. A scatter in flight adds all of them there.
//
//   by row   A word in SMEM for each row of the table: the last who writes his
//            number there is the first of the batch.
//   hashed   Chains of the batch's rows in buckets, for tables of more rows
//            than SMEM has words: a row looks for an equal one in its bucket.
#ifndef PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_ROW_OWNERS_H_
#define PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_ROW_OWNERS_H_

#include <cstdint>
#include <functional>

#include "hlo_backend/lowering/codegen/builder.h"

namespace ptxla::lowering {

class RowOwners {
 public:
  RowOwners(int64_t table_rows, int64_t batch, bool hashed)
      : table_rows_(table_rows), batch_(batch), hashed_(hashed) {}

  int64_t SmemBytes() const;
  // Code that finds the owners of a batch; `at`: the address of SmemBytes(), a
  // global. `row_of`: the row of the table of row n, in the open block.
  void Find(codegen::CodeBuilder& b, codegen::Sca at,
            const std::function<codegen::Sca(codegen::Sca n)>& row_of) const;
  // The number of the owner of row n, which is `row` of the table.
  codegen::Sca Of(codegen::CodeBuilder& b, codegen::Sca at, codegen::Sca n,
                  codegen::Sca row) const;

 private:
  void FindByRow(
      codegen::CodeBuilder& b, codegen::Sca at,
      const std::function<codegen::Sca(codegen::Sca n)>& row_of) const;
  void FindHashed(
      codegen::CodeBuilder& b, codegen::Sca at,
      const std::function<codegen::Sca(codegen::Sca n)>& row_of) const;

  int64_t table_rows_, batch_;
  bool hashed_;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_ROW_OWNERS_H_
