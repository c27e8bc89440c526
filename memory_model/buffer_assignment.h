// Where every buffer of a program lies in HBM and what the program needs: the
// five numbers that XLA reports, the peak, and the verdict against the memory
// that the chip has.
//
// Arguments and outputs live through the whole program at their own addresses;
// an output that aliases an argument (a donated parameter) takes no memory of
// its own; a temporary lives from its first to its last use and shares
// addresses with temporaries of other times, or lies in an output that is not
// written yet (output_sharing.h); a temporary that aliases another buffer is
// that buffer.
//
// Temporaries of HBM begin at multiples of a slot, and each table of addresses
// that a result of several arrays is handed over with has a slot of its own
// for the whole program. What slots and holes waste (`fragmentation`) counts
// twice in the temporary bytes that XLA reports for TPUs, once in the peak.
//
//   ASSIGN_OR_RETURN(Assignment a, AssignBuffers(requests));
//   Fit fit = CheckFit(a.stats, v5e);         // fit.verdict == Verdict::kFits
#ifndef PTXLA_MEMORY_MODEL_BUFFER_ASSIGNMENT_H_
#define PTXLA_MEMORY_MODEL_BUFFER_ASSIGNMENT_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/units.h"
#include "chips/chip_spec.h"
#include "memory_model/interval_allocator.h"

namespace ptxla::memory {

enum class BufferKind { kArgument, kOutput, kTemp, kConstant };

struct BufferRequest {
  int64_t id = 0;
  Bytes bytes;
  // Of an output only the first position counts: what writes it first.
  Life life;
  BufferKind kind = BufferKind::kTemp;
  int64_t alias_of = -1;  // id of an earlier request that holds the memory
  int colour = 0;         // memory space; each is an address space of its own
  bool scalar = false;    // one element
};

// The start of a memory space, [0, bytes), that temporaries of this time leave
// free.
struct ReservedStart {
  Bytes bytes;
  Life life;
  int colour = 0;
};

// How HBM holds temporaries.
struct TempRules {
  Bytes slot = Bytes(512);  // they begin at multiples of it
  Bytes table_slots;        // of tables of addresses, each in its own
  Bytes table_bytes;        // that the tables fill of them
};

struct MemoryStats {
  // `temp`, as XLA reports it, has `fragmentation` twice; it is 0 if there are
  // only tables and single numbers.
  Bytes argument, output, alias, temp, code;
  Bytes fragmentation;  // of the temporaries: memory taken less bytes alive
  // What the program needs at its worst moment:
  // argument + output - alias + temp - fragmentation + code.
  Bytes peak;
};

struct Assignment {
  std::vector<int64_t> offsets;  // of each request, in the order given
  MemoryStats stats;             // of colour 0 (HBM)
  // Of each request the output (index of its request) in whose memory this
  // temporary lies; -1: it has its own.
  std::vector<int> inside;
  // Most bytes of other temporaries alive at one time: no assignment of them
  // can do better.
  Bytes temp_lower_bound;
  int32_t peak_position = 0;  // in the schedule, where that is
};

// InvalidArgument: an id given twice, an alias of an unknown buffer, or of a
// smaller one.
absl::StatusOr<Assignment> AssignBuffers(
    absl::Span<const BufferRequest> requests, Bytes code = Bytes(0),
    absl::Span<const ReservedStart> reserved = {}, const TempRules& rules = {});

enum class Verdict { kFits, kMarginal, kOutOfMemory };
const char* VerdictName(Verdict verdict);  // "FITS", "MARGINAL", "OOM"

struct Fit {
  Verdict verdict = Verdict::kFits;
  Bytes usable, nominal;  // of one device
  Bytes over;             // missing bytes if it does not fit
};

// MARGINAL: within the error of this model, `policy.memory_margin` of the
// chip's usable memory, below the limit or above it.
Fit CheckFit(const MemoryStats& stats, const chips::ChipSpec& chip);

struct LiveBuffer {
  int request = 0;  // index
  Bytes bytes;
};
// The largest buffers that are alive at the peak, largest first, at most
// `limit`. Aliases are left out.
std::vector<LiveBuffer> LargestAtPeak(absl::Span<const BufferRequest> requests,
                                      const Assignment& assignment, int limit);

}  // namespace ptxla::memory

#endif  // PTXLA_MEMORY_MODEL_BUFFER_ASSIGNMENT_H_
