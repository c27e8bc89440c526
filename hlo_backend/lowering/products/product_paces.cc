#include "hlo_backend/lowering/products/product_paces.h"

namespace ptxla::lowering {
namespace {

constexpr EpiloguePace kPaces[] = {{},
                                   {0.6, false, 2, false},
                                   {0.3},
                                   {0.6, true},
                                   {0.5, true},
                                   {0.4, true},
                                   {0.3, true},
                                   {0.0, true},
                                   {0.3, true, 2, false},
                                   {0.0, true, 2, false}};

// Where operands are converted the vector units set the pace, and putting an
// epilogue off gains little.
constexpr EpiloguePace kConverting[] = {{},
                                        {0.3},
                                        {0.6, false, 2, false},
                                        {0.3, false, 1, false},
                                        {0.3, true, 1, false},
                                        {0.0, true, 1, false}};

constexpr EpiloguePace kSplitting[] = {{},
                                       {0.6, false, 2, true, 6},
                                       {0.3, false, 2, true, 5},
                                       {0.6, false, 2, true, 4},
                                       {0.3, false, 2, true, 3},
                                       {0.3, true, 2, true, 2},
                                       {0.3, true, 1, false, 2},
                                       {0.0, true, 1, false, 1}};

constexpr EpiloguePace kComputing[] = {{},
                                       {0.6, false, 2, true, 8, true},
                                       {0.3, false, 2, true, 8, true},
                                       {0.3, true, 2, true, 8, true},
                                       {0.0, true, 2, true, 8, true},
                                       {0.6, false, 2, false, 8, true},
                                       {0.3, true, 2, false, 8, true},
                                       {0.0, true, 2, false, 8, true}};

}  // namespace

absl::Span<const EpiloguePace> PacesOf(bool computes, bool converts,
                                       bool splits) {
  if (computes) return kComputing;
  if (converts) return kConverting;
  if (splits) return kSplitting;
  return kPaces;
}

}  // namespace ptxla::lowering
