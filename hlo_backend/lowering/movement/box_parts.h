// What a block of a box movement's result (box_map.h) gets from each source:
// a step fetches and moves no more of one than it covers, and nothing in steps
// that a source has no part of.
//
//   ASSIGN_OR_RETURN(BoxParts parts,
//                    BoxParts::Of(i, map, planes, cuts, &tiling));
//   parts.Move(b, strips, fill);   // in the body of a step
#ifndef PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_BOX_PARTS_H_
#define PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_BOX_PARTS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo_backend/lowering/movement/box_cuts.h"
#include "hlo_backend/lowering/movement/box_fetch.h"
#include "hlo_backend/lowering/movement/box_map.h"
#include "hlo_backend/lowering/movement/box_planes.h"

namespace ptxla::lowering {

class BoxParts {
 public:
  // `cuts`: of the planes, then rows and lanes, with their grid dimensions.
  // Adds windows and transfers to the tiling of `i`. Unimplemented: a source
  // that is in VMEM in a form that no transfer has.
  static absl::StatusOr<BoxParts> Of(const hlo::Instruction& i,
                                     const BoxMap& map, const BoxPlanes& planes,
                                     const std::vector<BoxCut>& cuts,
                                     Tiling* tiling);

  // Code that moves a step's block to where the strips `to` lie. `fill`: what
  // no source has, if the map fills. The first source's memory has number
  // `space`, the next ones follow. `rest`: registers down, if the block has
  // fewer than others; else 0.
  void Move(codegen::CodeBuilder& b, const Strips& to, codegen::Vec fill,
            int space = 1, int64_t rest = 0) const;

 private:
  // Of one source.
  struct Part {
    explicit Part(BoxFetch f) : fetch(std::move(f)) {}

    BoxFetch fetch;
    // By cut, elements of the result: the first of the block, and how many.
    std::vector<int64_t> first, count;
    // The steps that have it; none: all.
    std::vector<std::pair<int, isa::When::Kind>> when;
  };

  explicit BoxParts(const BoxMap& map);
  FetchAxis Covered(const BoxCut& cut, FetchAxis axis, Part* part) const;
  absl::Status Add(const hlo::Instruction& i, const BoxSource& source,
                   size_t number, const BoxPlanes& planes,
                   const std::vector<BoxCut>& cuts, Tiling* tiling);
  void MovePart(codegen::CodeBuilder& b, const Strips& to, size_t number,
                codegen::Vec fill, int space, int64_t rest) const;
  static void MoveTiles(codegen::CodeBuilder& b, const BoxFetch& fetch,
                        const StripMove& move);
  // `rows_end`: the last register of a strip is the array's last.
  static void MoveLanes(codegen::CodeBuilder& b, const BoxFetch& fetch,
                        const StripMove& move, bool rows_end);
  int64_t RegistersOf(int64_t rows) const;
  int64_t OffsetOf(const Part& part, const Strips& to) const;

  int packing_ = 1;
  bool linear_ = false, fills_ = false;
  std::vector<Part> parts_;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_BOX_PARTS_H_
