// Which values the work of an instruction reads as the fusion pass sees it:
// seen through what is done again, and which of them its kernel may make
// itself.
//
//   FusedInputs inputs(chains);
//   for (const Instruction* v : inputs.Full(i)) ...   // of its iteration shape
//   if (inputs.MayJoin(v, i)) ...                     // one kernel makes both
#ifndef PTXLA_HLO_BACKEND_PASSES_FUSION_FUSED_INPUTS_H_
#define PTXLA_HLO_BACKEND_PASSES_FUSION_FUSED_INPUTS_H_

#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "hlo_backend/passes/fusion/fusion_chains.h"

namespace ptxla::hlo {

class FusedInputs {
 public:
  // `chains` must outlive this. `types_apart`: what is read in another type
  // than its own is another value.
  FusedInputs(const FusionChains& chains, bool types_apart)
      : chains_(chains), types_apart_(types_apart) {}

  // Stored values of the iteration shape that a member reads.
  absl::InlinedVector<const Instruction*, 2> Full(const Instruction* i) const;
  // All values that `i` waits for, some several times; `soft`: where the
  // reader can take it element by element, in the kernel that makes it.
  void ForEach(
      const Instruction* i,
      absl::FunctionRef<void(const Instruction* value, bool soft)> visit) const;

  // An array, and the type that the work which reads it takes it in: that of a
  // conversion, or its own.
  struct Read {
    const Instruction* value;
    PrimitiveType type;
    bool operator==(const Read& o) const {
      return value == o.value && type == o.type;
    }
    template <typename H>
    friend H AbslHashValue(H h, const Read& r) {
      return H::combine(std::move(h), r.value, r.type);
    }
  };
  // The values of Full(i) as `i` reads them; two of one that it reads in both
  // ways.
  absl::InlinedVector<Read, 2> Reads(const Instruction* i) const;

  // What `i` reads, or does again, in a kernel of iteration shape `dims`, that
  // another kernel of that shape may share with it: arrays of the shape, or of
  // more, whose lanes or tiles are taken; work on what is broadcast (an angle
  // of which there are sine and cosine); of a reduce also scalars.
  void ForEachShared(const Instruction* i, const DimVector& dims,
                     absl::FunctionRef<void(Read)> visit) const;

  // Made by a kernel that another may join.
  bool IsMadeInStep(const Instruction* value) const;
  // May the kernel of `value` do the work of `i` that reads it, too?
  bool MayJoin(const Instruction* value, const Instruction* i) const;

  // The extremum whose position `i` is: one pass over their values makes both.
  // Null: it is none.
  const Instruction* ExtremumOf(const Instruction* i) const;
  // The reduce that a convert stores, if their kernel may be one; or null.
  const Instruction* ReduceToStore(const Instruction* i) const;
  // A reduce that is stored as it is, in f32.
  bool IsStoredReduce(const Instruction& i) const;
  // A reduce of one array whose result nothing larger is made of.
  bool MayWait(const Instruction& reduce) const;
  // Does it make or read arrays of 8-bit types?
  bool HasBytes(const Instruction& i) const;

 private:
  const FusionChains& chains_;
  const bool types_apart_;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_FUSION_FUSED_INPUTS_H_
