// What happens to finished sums of a product before they are stored: the
// elementwise rest of an output fusion, or a conversion to the result's type.
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_PRODUCT_EPILOGUE_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_PRODUCT_EPILOGUE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo_backend/lowering/kernel_plan.h"
#include "hlo_backend/lowering/products/product_operands.h"
#include "hlo_backend/lowering/products/product_stream.h"

namespace ptxla::lowering {

class ProductEpilogue : public Epilogue {
 public:
  // Completes `form->problem` with what the epilogue costs.
  static absl::StatusOr<std::unique_ptr<ProductEpilogue>> Create(
      const KernelContext& context, const hlo::Instruction& instruction,
      ProductForm* form);

  // Adds the windows of results (and of arrays that the epilogue reads) to
  // `tiling`, whose args are set. Memory of window i is codegen space
  // `first_space` + i.
  virtual void AddWindows(const ProductTile& tile, const GridDims& grid,
                          int first_space, Tiling* tiling) = 0;
  // Once per step, before the stream: addresses, and values that do not change
  // within the step.
  virtual absl::Status Start(codegen::CodeBuilder& b) = 0;
  // Before each stream: what those before have in registers is gone. A step has
  // several where parts of K, or its first visit, have code of their own.
  virtual void BeginStream() {}
  // Scratch of a step, and where in the kernel's it lies.
  virtual int64_t ScratchBytes(const ProductTile& /*tile*/) const { return 0; }
  virtual void SetScratch(int64_t /*offset*/) {}
  // After the stream of a step that finishes its sums.
  virtual absl::Status Finish(codegen::CodeBuilder& /*b*/) {
    return absl::OkStatus();
  }
  // An error that Emit met.
  virtual absl::Status status() const { return absl::OkStatus(); }
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_PRODUCT_EPILOGUE_H_
