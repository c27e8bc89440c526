// What a prediction must beat to be worth its trouble.
//
// The fitted roofline: t = t0 + max(FLOP / F, bytes / B), three constants
// fitted to a block's own rows for the least mean error; bytes are those of
// operands and results. The napkin: four constants for all products, and where
// operands fit (`measured` floors of the project): inputs and output together
// in VMEM are copied first, else one operand of at most 60 % of it, else all
// streams under the MXU.
#ifndef PTXLA_DRIVER_VALIDATION_FLOORS_H_
#define PTXLA_DRIVER_VALIDATION_FLOORS_H_

#include <optional>
#include <vector>

#include "driver/validation.h"

namespace ptxla::driver {

struct Roofline {
  double t0_us = 0, flops_per_us = 0, bytes_per_us = 0;
  double Time(const ValidatedRow& row) const;
};

// The constants with the least mean error over `rows`, by descent on a grid of
// factors: the same rows give the same result.
Roofline FitRoofline(const std::vector<const ValidatedRow*>& rows);

// us; nullopt for what is not one product.
std::optional<double> Napkin(const ValidatedRow& row);

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_VALIDATION_FLOORS_H_
