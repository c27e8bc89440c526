// Keeps intermediate values in VMEM, where that is possible.
//
// A value may stay in VMEM (memory space 1) from the kernel that makes it to
// the last that reads it: a kernel's result that is no output of the program
// and that only kernels read. Of all of them those are taken first that save
// the most HBM traffic per byte and step that they occupy VMEM (constants and
// names of memory are no steps); one fits if at
// each position of the schedule what was taken before leaves room, beside the
// region that kernels need for their windows (chip: vmem.scoped_limit). A
// result in the place of its operand (shared_places.h) takes none while both
// are there. Where those that save most altogether, taken first, save more in
// sum, they are taken so; and one of the largest, which may be read at once and
// keep out many that live long, stays away where that saves more. What then
// finds no hole goes back to HBM when memory is planned.
//
// Bodies of loops come after what surrounds them, in the room that this leaves.
//
// On a scheduled module with layouts. Where the scoped limit is all of VMEM,
// residents lie in the CMEM behind it if the chip has one (v4; kernels load
// from there and store to it in place, as the TPU compiler's do); chips without
// either (v2, v3) are left alone.
#ifndef PTXLA_HLO_BACKEND_PASSES_MEMORY_MEMORY_SPACE_ASSIGNMENT_H_
#define PTXLA_HLO_BACKEND_PASSES_MEMORY_MEMORY_SPACE_ASSIGNMENT_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

// Bytes that resident values may take at one time, in VMEM or the CMEM behind.
int64_t RoomForResidents(const chips::ChipSpec& chip);
// All that the scoped limit leaves: for one alone, beside which nothing breaks
// the room into pieces (libtpu 0.0.42.1 on v6e copies 95 MiB whole, 96 not),
// and for results, of which those that find no hole go back.
int64_t WholeRoomForResidents(const chips::ChipSpec& chip);

// Where cores share kernels and no memory but HBM (v5p), fusions of vector work
// keep their results in VMEM all the same; those of products, and all that is
// no fusion, do not (libtpu 0.0.42.1: 132 of 140 results of the one lie there,
// none of 152 of the others).
bool MayKeepResults(const Instruction& kernel, const chips::ChipSpec& chip);

// A result of a kernel: element `index` of its tuple, -1: the whole.
struct KernelResult {
  Instruction* maker = nullptr;
  int64_t index = -1;
};

// Puts results of the kernels of a scheduled computation for which `may` holds
// into VMEM, beside what is there; returns which. `taken`: bytes of the room
// that nothing may have while an instruction of the computation runs.
std::vector<KernelResult> PutIntoVmem(
    Computation* computation, const chips::ChipSpec& chip, int64_t room,
    absl::FunctionRef<bool(const Instruction&)> may,
    absl::FunctionRef<int64_t(const Instruction&)> taken =
        [](const Instruction&) { return int64_t{0}; });

// Bytes of HBM traffic that PutIntoVmem would save in the computation itself,
// without its loops. Nothing is changed.
int64_t TrafficSavedInVmem(Computation* computation,
                           const chips::ChipSpec& chip, int64_t room);

class MemorySpaceAssignmentPass : public Pass {
 public:
  absl::string_view name() const override { return "memory-space-assignment"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_MEMORY_MEMORY_SPACE_ASSIGNMENT_H_
