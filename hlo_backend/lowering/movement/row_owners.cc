#include "hlo_backend/lowering/movement/row_owners.h"

#include "base/units.h"
#include "hlo_backend/lowering/codegen/spaces.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Pred;
using codegen::Sca;
using isa::Opcode;

constexpr int kUnroll = 8;
// Twice as many as a batch has rows at most: few share one.
constexpr int64_t kBuckets = 512;
// A bucket: the address of its last row's entry, and how many there are.
constexpr int32_t kBucketBytes = 8;
// An entry: the row of the table, the owner, the address of the next entry.
constexpr int32_t kEntryBytes = 16;
enum Space { kOwners = codegen::kRowListSpace, kFirst, kCount };

}  // namespace

int64_t RowOwners::SmemBytes() const {
  return hashed_ ? kBuckets * kBucketBytes + batch_ * kEntryBytes
                 : RoundUpTo<int64_t>(table_rows_ * 4, 32);
}

void RowOwners::Find(CodeBuilder& b, Sca at,
                     const std::function<Sca(Sca)>& row_of) const {
  if (hashed_) {
    FindHashed(b, at, row_of);
  } else {
    FindByRow(b, at, row_of);
  }
}

void RowOwners::FindByRow(CodeBuilder& b, Sca at,
                          const std::function<Sca(Sca)>& row_of) const {
  const Sca k = b.BeginLoop(batch_ / kUnroll, kUnroll);
  b.NewBlock("owners");
  for (int u = 0; u < kUnroll; ++u) {
    const Sca n = b.SBinary(Opcode::kSsub,
                            b.SImm(static_cast<int32_t>(batch_ - 1 - u)), k);
    const Sca word = b.SAdd(at, b.SBinaryImm(Opcode::kSshll, row_of(n), 2));
    b.SStore(kOwners, word, 0, n);
  }
  b.EndLoop();
}

void RowOwners::FindHashed(CodeBuilder& b, Sca at,
                           const std::function<Sca(Sca)>& row_of) const {
  const auto entries = static_cast<int32_t>(kBuckets * kBucketBytes);
  const Sca clear = b.BeginLoop(kBuckets / kUnroll, kUnroll * kBucketBytes);
  b.NewBlock("no rows");
  const Sca begin = b.SAdd(at, clear), none = b.SImm(0);
  for (int u = 0; u < kUnroll; ++u) {
    b.SStore(kCount, begin, u * kBucketBytes + 4, none);
  }
  b.EndLoop();
  const Sca n = b.BeginLoop(batch_, 1);
  const Sca row = b.GlobalSca(), bucket = b.GlobalSca(), entry = b.GlobalSca(),
            count = b.GlobalSca(), owner = b.GlobalSca();
  b.NewBlock("bucket");
  b.SMove(row, row_of(n));
  b.SMove(bucket,
          b.SAdd(at, b.SBinaryImm(
                         Opcode::kSshll,
                         b.SBinaryImm(Opcode::kSand, row, kBuckets - 1), 3)));
  b.SMove(entry, b.SLoad(kFirst, bucket, 0));
  b.SMove(count, b.SLoad(kCount, bucket, 4));
  b.SMove(owner, n);
  // Few buckets have a row already: timing takes one for each.
  b.BeginLoopOf(count, 1, 1);
  b.NewBlock("same row");
  const Pred same = b.SCompareImm(
      Opcode::kScmpEq,
      b.SBinary(Opcode::kSxor, b.SLoad(kOwners, entry, 0), row), 0);
  const Sca further =
      b.SBinary(Opcode::kSsub, b.SLoad(kOwners, entry, 4), owner);
  b.SBinaryTo(owner, Opcode::kSadd, owner, b.SSelectImm(same, further, 0));
  b.SMove(entry, b.SLoad(kOwners, entry, 8));
  b.EndLoop();
  b.NewBlock("enter");
  const Sca mine =
      b.SAddImm(b.SAdd(at, b.SBinaryImm(Opcode::kSshll, n, 4)), entries);
  b.SStore(kOwners, mine, 0, row);
  b.SStore(kOwners, mine, 4, owner);
  b.SStore(kOwners, mine, 8, b.SLoad(kFirst, bucket, 0));
  b.SStore(kFirst, bucket, 0, mine);
  b.SStore(kCount, bucket, 4, b.SAddImm(count, 1));
  b.EndLoop();
}

Sca RowOwners::Of(CodeBuilder& b, Sca at, Sca n, Sca row) const {
  if (!hashed_) {
    return b.SLoad(kOwners, b.SAdd(at, b.SBinaryImm(Opcode::kSshll, row, 2)),
                   0);
  }
  return b.SLoad(kOwners, b.SAdd(at, b.SBinaryImm(Opcode::kSshll, n, 4)),
                 static_cast<int32_t>(kBuckets * kBucketBytes) + 4);
}

}  // namespace ptxla::lowering
