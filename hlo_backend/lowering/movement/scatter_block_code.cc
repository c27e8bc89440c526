#include "hlo_backend/lowering/movement/scatter_block_code.h"

#include "base/units.h"
#include "hlo_backend/lowering/codegen/spaces.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Pred;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

enum Space {
  kUpdates,
  kTable,
  kResult,
  kNext = codegen::kRowListSpace,
  kFirst,
  kCount
};
constexpr int kUnroll = ScatterBlocks::kUnroll;
constexpr int kCounts = ScatterBlocks::kCounts;
constexpr int kHeadBytes = ScatterBlocks::kHeadBytes;

}  // namespace

absl::Status ScatterBlockCode::Entry(CodeBuilder& b) {
  b.DmaWait(k_.indices);
  Addresses(b);
  {
    const Sca at = b.BeginLoop(k_.count + 1, kHeadBytes);
    b.NewBlock("no rows");
    const Sca head = b.SAdd(heads_, at);
    const Sca none = b.SImm(0);
    b.SStore(kFirst, head, 0, next_);  // an address that may be read
    for (int c = 0; c < kCounts; ++c) {
      b.SStore(kCount + c, head, 4 + 4 * c, none);
    }
    b.EndLoop();
  }
  // From the last to the first, each in front of its block's others.
  const Sca k = b.BeginLoop(k_.padded / kUnroll, kUnroll);
  b.NewBlock("lists");
  const Sca last =
      b.SBinary(Opcode::kSsub, b.SImm(static_cast<int32_t>(k_.padded - 1)), k);
  const Sca index = p_.index.AddressOf(b, indices_, last);
  const Sca entry = b.SAdd(next_, b.SBinaryImm(Opcode::kSshll, last, 2));
  for (int u = 0; u < kUnroll; ++u) {
    const Sca head = b.SAdd(heads_, Head(b, Existing(b, index, last, u)));
    const Sca mine = b.SAddImm(entry, -4 * u);
    b.SStore(kNext, entry, -4 * u, b.SLoad(kFirst, head, 0));
    b.SStore(kFirst, head, 0, mine);
    const int c = u % kCounts;
    const Sca before = b.SLoad(kCount + c, head, 4 + 4 * c);
    b.SStore(kCount + c, head, 4 + 4 * c, b.SAddImm(before, 1));
  }
  b.EndLoop();
  if (!k_.ahead) return absl::OkStatus();
  b.NewBlock("first block");
  const Sca now = b.GlobalSca();
  Begin(b, b.SImm(0));
  Take(b, now);
  Fetch(b, now);
  return absl::OkStatus();
}

absl::Status ScatterBlockCode::Step(CodeBuilder& b) {
  Addresses(b);
  table_ = b.GlobalSca();
  if (k_.packed_from < 0) {
    b.WindowAddress(table_, k_.result);
  } else {
    b.ScratchAddress(table_, static_cast<int32_t>(k_.packed_from));
  }
  const Sca block = b.NewSca();
  b.GridIndex(block, 0);
  Begin(b, block);
  const int64_t bytes = k_.rows / 8 * p_.table.row_stride();
  if (k_.slots == 0) {
    FillTable(b, p_, kTable, table_, bytes);
    Add(b, left_, k_.expected);
    Pack(b);
    return absl::OkStatus();
  }
  const Sca rounds = b.GlobalSca(), now = b.GlobalSca();
  // Beside the first.
  b.SMove(rounds, b.SBinaryImm(Opcode::kSshra, b.SAddImm(left_, -1),
                               CeilLog2(k_.slots)));
  Take(b, now);
  if (!k_.ahead) Fetch(b, now);
  FillTable(b, p_, kTable, table_, bytes);
  Wait(b, now);
  Add(b, now, ExpectedNow());
  b.BeginLoopOf(rounds, (k_.expected - 1) / k_.slots, 1);
  b.NewBlock("round");
  Take(b, now);
  Fetch(b, now);
  Wait(b, now);
  Add(b, now, ExpectedNow());
  b.EndLoop();
  if (k_.ahead) {
    b.BeginWhen(0, isa::When::Kind::kNotLast);
    b.NewBlock("next block");
    const Sca next = b.NewSca();
    b.GridIndex(next, 0);
    Begin(b, b.SAddImm(next, 1));
    Take(b, now);
    Fetch(b, now);
    b.EndWhen();
  }
  Pack(b);
  return absl::OkStatus();
}

void ScatterBlockCode::Addresses(CodeBuilder& b) {
  b.NewBlock("addresses");
  for (Sca* s : {&indices_, &next_, &heads_, &updates_, &row_, &left_}) {
    *s = b.GlobalSca();
  }
  b.WindowAddress(indices_, k_.indices);
  b.SMove(next_, b.SAddImm(indices_, k_.next_offset));
  b.SMove(heads_, b.SAddImm(indices_, k_.heads_offset));
  if (k_.slots > 0) {
    b.ScratchAddress(updates_, 0);
  } else {
    b.ArgAddress(updates_, p_.updates_arg());
  }
}

void ScatterBlockCode::Begin(CodeBuilder& b, Sca block) {
  const Sca head =
      b.SAdd(heads_, b.SBinaryImm(Opcode::kSshll, block, CeilLog2(kHeadBytes)));
  b.SMove(row_, b.SLoad(kFirst, head, 0));
  Sca rows = b.SLoad(kCount, head, 4);
  for (int c = 1; c < kCounts; ++c) {
    rows = b.SAdd(rows, b.SLoad(kCount + c, head, 4 + 4 * c));
  }
  b.SMove(left_, rows);
}

// The index of row `last` - `u`, or one outside of the table if there is no
// such row; `index`: the address of that of `last`.
Sca ScatterBlockCode::Existing(CodeBuilder& b, Sca index, Sca last, int u) {
  const Sca raw = p_.index.LoadAt(b, index, -u);
  if (k_.padded == p_.updates.rows) return raw;
  const Sca behind =
      b.SBinary(Opcode::kSsub,
                b.SImm(static_cast<int32_t>(p_.updates.rows - 1 + u)), last);
  return b.SBinary(Opcode::kSor, raw, b.SBinaryImm(Opcode::kSshra, behind, 31));
}

// Offset of the head of its block; rows outside of the table share one.
Sca ScatterBlockCode::Head(CodeBuilder& b, Sca index) {
  const Pred exists = b.SCompareImm(Opcode::kScmpLtU, index,
                                    static_cast<int32_t>(p_.table.rows));
  const Sca block = b.SSelectImm(
      exists, b.SBinaryImm(Opcode::kSshrl, index, CeilLog2(k_.rows)),
      static_cast<int32_t>(k_.count));
  return b.SBinaryImm(Opcode::kSshll, block, CeilLog2(kHeadBytes));
}

// The number of the row whose entry is at `entry`.
Sca ScatterBlockCode::Number(CodeBuilder& b, Sca entry) {
  return b.SBinaryImm(Opcode::kSshrl, b.SBinary(Opcode::kSsub, entry, next_),
                      2);
}

// As many of the rows that are left as there are slots.
void ScatterBlockCode::Take(CodeBuilder& b, Sca now) {
  b.SMove(now,
          b.SBinaryImm(Opcode::kSmin, left_, static_cast<int32_t>(k_.slots)));
  b.SBinaryTo(left_, Opcode::kSsub, left_, now);
}

// Starts `now` rows from row_ on.
void ScatterBlockCode::Fetch(CodeBuilder& b, Sca now) {
  b.BeginScope();
  b.NewBlock("round");
  const Sca entry = b.GlobalSca();
  b.SMove(entry, row_);
  const Sca to =
      b.BeginLoopOf(now, ExpectedNow(), static_cast<int32_t>(k_.slot_bytes));
  b.NewBlock("fetch row");
  fetch_.Start(b, RowOffset(b, Number(b, entry), p_.updates),
               b.SAdd(updates_, to));
  b.SMove(entry, b.SLoad(kNext, entry, 0));
  b.EndLoop();
  b.EndScope();
}

void ScatterBlockCode::Wait(CodeBuilder& b, Sca now) {
  b.BeginLoopOf(now, ExpectedNow(), 1);
  fetch_.Wait(b, 1);
  b.EndLoop();
}

// Adds `now` rows from row_ on.
void ScatterBlockCode::Add(CodeBuilder& b, Sca now, int64_t expected) {
  b.BeginScope();
  b.NewBlock("round");
  const Sca loops = b.GlobalSca();
  b.SMove(loops, b.SBinaryImm(Opcode::kSshrl, b.SAddImm(now, kUnroll - 1),
                              CeilLog2(kUnroll)));
  const Sca k =
      b.BeginLoopOf(loops, CeilOfRatio<int64_t>(expected, kUnroll), kUnroll);
  b.NewBlock("add rows");
  const Sca rest = b.SBinary(Opcode::kSsub, now, k);
  Sca entry = row_;
  for (int u = 0; u < kUnroll; ++u) {
    const Sca n = Number(b, entry);
    const Sca row =
        b.SBinaryImm(Opcode::kSand, p_.index.LoadRaw(b, indices_, n),
                     static_cast<int32_t>(k_.rows - 1));
    const Sca at = b.SAdd(table_, RowOffset(b, row, p_.table));
    // Behind the last one, some entry: nothing is added.
    b.SetStoreGuard(b.SCompareImm(Opcode::kScmpGt, rest, u));
    if (k_.slots > 0) {
      const Sca slot = b.SAddImm(k, u);
      AddRow(b, at,
             b.SAdd(updates_,
                    b.SMulImm(slot, static_cast<int32_t>(k_.slot_bytes))));
    } else {
      AddRow(b, at, b.SAdd(updates_, RowOffset(b, n, p_.updates)));
    }
    b.SetStoreGuard({});
    entry = b.SLoad(kNext, entry, 0);
  }
  b.SMove(row_, entry);
  b.EndLoop();
  b.EndScope();
}

void ScatterBlockCode::AddRow(CodeBuilder& b, Sca at, Sca from) {
  const auto pitch = static_cast<int32_t>(p_.table.tile_bytes());
  for (int64_t r = 0; r < p_.registers(); ++r) {
    const auto there = static_cast<int32_t>(8 * r) * pitch;
    const Vec update =
        k_.slots > 0
            ? b.Load(kUpdates, from, static_cast<int32_t>(r * isa::kVregBytes))
            : LoadUpdate(b, p_, kUpdates, from, 0, p_.updates.tile_bytes(), r,
                         false);
    const Vec sum =
        p_.combine.Emit(b, b.LoadStrided(kTable, at, there, pitch, 1), update);
    if (const int64_t left = p_.pieces() - 8 * r; left >= 8) {
      b.StoreStrided(kTable, at, there, pitch, 1, sum);
    } else {
      b.StoreStridedMasked(kTable, at, there, pitch, 1, sum,
                           b.Range(0, 128, 0, static_cast<int>(left)));
    }
  }
}

// Two tiles of rows side by side in each register.
void ScatterBlockCode::Pack(CodeBuilder& b) {
  if (k_.packed_from < 0) return;
  constexpr int64_t kMostColumns = 16;
  b.BeginScope();
  b.NewBlock("pack");
  const Sca result = b.GlobalSca(), from = b.GlobalSca(), to = b.GlobalSca();
  b.WindowAddress(result, k_.result);
  const int64_t in = p_.table.row_stride(), out = p_.result.row_stride();
  const Sca n = b.BeginLoop(k_.rows / 16, 1);
  b.NewBlock("rows");
  b.SMove(from, b.SAdd(table_, b.SMulImm(n, static_cast<int32_t>(2 * in))));
  b.SMove(to, b.SAdd(result, b.SMulImm(n, static_cast<int32_t>(2 * out))));
  for (int64_t c = 0; c < p_.pieces(); ++c) {
    if (c % kMostColumns == 0) b.NewBlock("pack");
    const auto at = static_cast<int32_t>(c * p_.table.tile_bytes());
    const Vec both =
        b.Binary(Opcode::kVpackCBf16, b.Load(kTable, from, at),
                 b.Load(kTable, from, at + static_cast<int32_t>(in)));
    b.StoreStrided(kResult, to,
                   static_cast<int32_t>(c * p_.result.tile_bytes()),
                   static_cast<int32_t>(out), 4, both);
  }
  b.EndLoop();
  b.EndScope();
}

}  // namespace ptxla::lowering
