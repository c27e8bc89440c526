// A whole compiled program: kernels, the buffers they work on, and the schedule
// that calls them. What the compiler gives and the simulator takes.
//
//   Program p;
//   p.buffers.push_back({0, "p0", 4096, Space::kHbm});
//   p.schedule.push_back({info, Call{kernel, {{0, 0}, {1, 0}}, 1}});
//
// Offsets of buffers are from the start of their space. Scoped VMEM of kernels
// is [0, scoped_vmem_bytes); VMEM buffers lie above what the kernels of their
// lives have of it (isa/verify_residents.h), and a VMEM argument begins at a
// multiple of kVmemAlignment, so that the compiler knows its banks.
// A program runs alike on every chip of the slice (SPMD).
#ifndef PTXLA_ISA_PROGRAM_H_
#define PTXLA_ISA_PROGRAM_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "isa/kernel.h"
#include "isa/tiled_layout.h"

namespace ptxla::isa {

struct Buffer {
  int id = 0;  // its index in Program::buffers
  std::string name;
  int64_t bytes = 0;
  Space space = Space::kHbm;
  int64_t offset = 0;  // may overlap with others whose lives do not
  int alias = -1;      // same memory as that buffer (donated input)
  std::string label;   // layer, for reports: "encoder.3/ffn"

  bool operator==(const Buffer& o) const;
};

struct BufferSlice {
  int buffer = -1;
  int64_t offset = 0;
  bool operator==(const BufferSlice& o) const {
    return buffer == o.buffer && offset == o.offset;
  }
};

// What an op is in the HLO, for reports and errors.
struct OpInfo {
  std::string name;         // "fusion.12"
  std::string opcode;       // "fusion", "all-reduce-start"
  std::string layer;        // op_name metadata: "encoder/3/attention"
  std::string source_file;  // "" if unknown
  int source_line = 0;
  int64_t flops = 0;
  int64_t bytes = 0;

  bool operator==(const OpInfo& o) const;
};

struct Op;
using Schedule = std::vector<Op>;

// An argument that the program's data move: the number at `index`, not below 0
// and not above `last`, times `stride` bytes. A layer's weights in the stack
// that a loop walks. The scalar core has the number when it starts the call;
// the few cycles are not counted.
struct MovingArg {
  int arg = 0;
  BufferSlice index;  // an s32, or a u32
  bool is_unsigned = false;
  int64_t last = 0;
  int64_t stride = 0;

  // Of a number that stands at `index`.
  int64_t Offset(uint32_t number) const;
  bool operator==(const MovingArg& o) const;
};

// Runs kernels[kernel] on `cores` cores, which then meet at a barrier.
struct Call {
  int kernel = 0;
  std::vector<BufferSlice> args;  // one per KernelArg
  int cores = 1;
  std::vector<MovingArg> moving;  // an argument may have several
};

// Asynchronous copy between spaces by the DMA engines; `id` pairs the two. A
// source of several equal pieces (columns of an array) has them `from_stride`
// bytes apart; in the target they follow one another.
struct CopyStart {
  int id = 0;
  BufferSlice from;
  BufferSlice to;
  int64_t bytes = 0;  // of all pieces
  int64_t pieces = 1;
  int64_t from_stride = 0;

  // From the first byte of the source to its last.
  int64_t SourceBytes() const {
    return (pieces - 1) * from_stride + bytes / pieces;
  }
};
struct CopyDone {
  int id = 0;
};

enum class CollectiveKind : uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kPermute,
};
enum class Reduction : uint8_t { kNone, kSum, kProduct, kMax, kMin };
absl::string_view Name(CollectiveKind kind);
absl::string_view Name(Reduction reduction);

// A combined collective has several operand and result buffers; `bytes` is the
// sum of the operands of one chip.
struct CollectiveStart {
  int id = 0;
  CollectiveKind kind = CollectiveKind::kAllReduce;
  std::vector<std::vector<int64_t>> groups;        // of partitions; empty: all
  std::vector<std::pair<int64_t, int64_t>> pairs;  // permute: source, target
  Reduction reduction = Reduction::kNone;
  std::string dtype;  // "bf16"
  int64_t bytes = 0;
  std::vector<BufferSlice> from;
  std::vector<BufferSlice> to;
};
struct CollectiveDone {
  int id = 0;
};

// Why a trip count is what it is, for the report.
enum class TripCount : uint8_t { kStatic, kDerived, kAssumed };
absl::string_view Name(TripCount basis);

struct While {
  int64_t trips = 1;
  TripCount basis = TripCount::kStatic;
  std::string reason;     // "compare(i, 12)", "assumed: --trip-count"
  BufferSlice predicate;  // pred[] that decides, for execution on data
  Schedule condition;
  Schedule body;
};

// Branch `taken` is the one that timing runs; execution on data reads the
// selector (pred[]: true is branch 0; or s32[]).
struct Conditional {
  BufferSlice selector;
  bool by_pred = false;  // the selector is a pred[], not an s32[]
  int taken = 0;
  std::string reason;
  std::vector<Schedule> branches;
};

struct HostTransfer {
  bool to_host = true;
  BufferSlice buffer;
  int64_t bytes = 0;
};

// All cores of the chip meet.
struct Barrier {};

struct Op {
  OpInfo info;
  std::variant<Call, CopyStart, CopyDone, CollectiveStart, CollectiveDone,
               While, Conditional, HostTransfer, Barrier>
      action;
};

bool operator==(const Op& a, const Op& b);

// A parameter or an output leaf: where it is, and how its elements lie there.
struct Leaf {
  std::string name;    // "p0", or the path in the output tuple: "{1}"
  std::string shape;   // HLO text with layout
  TiledLayout layout;  // packs and unpacks logical arrays
  BufferSlice where;
  bool operator==(const Leaf& o) const {
    return name == o.name && shape == o.shape && layout == o.layout &&
           where == o.where;
  }
};

struct Program {
  std::string name;
  std::string chip;        // "v5e": the kernels are for its MachineModel
  int num_partitions = 1;  // chips that run it
  std::vector<Kernel> kernels;
  std::vector<Buffer> buffers;
  std::vector<Leaf> parameters;
  std::vector<Leaf> outputs;
  // Buffers that hold constants: bytes to store before the first run.
  struct Constant {
    BufferSlice where;
    std::string bytes;
    bool operator==(const Constant& o) const {
      return where == o.where && bytes == o.bytes;
    }
  };
  std::vector<Constant> constants;
  int64_t scoped_vmem_bytes = 0;  // the largest kernel's
  Schedule schedule;
};
bool operator==(const Program& a, const Program& b);

}  // namespace ptxla::isa

#endif  // PTXLA_ISA_PROGRAM_H_
