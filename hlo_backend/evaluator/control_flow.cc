// Instructions that run computations more than once, or one of several.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/evaluator/interpreter.h"
#include "hlo_backend/evaluator/value_parts.h"

namespace ptxla::hlo {
namespace {

template <class T>
std::vector<T> Picked(const std::vector<int>& positions,
                      const std::vector<T>& from) {
  std::vector<T> picked;
  picked.reserve(positions.size());
  for (int k : positions) picked.push_back(from[k]);
  return picked;
}

DeviceSet Subset(const DeviceSet& devices, const std::vector<int>& positions) {
  return {Picked(positions, devices.ids), devices.replicas, devices.partitions};
}

// x as one index of a new dimension d.
Value AsSlice(const Value& x, int64_t d) {
  DimVector dims = x.shape().dims();
  dims.insert(dims.begin() + d, 1);
  return x.WithShape(Shape::Array(x.type(), dims));
}

}  // namespace

absl::StatusOr<std::vector<Value>> Interpreter::While(const Instruction& i,
                                                      const DeviceSet& devices,
                                                      PerDevice operands) {
  std::vector<Value> states;
  std::vector<int> active;
  for (size_t k = 0; k < operands.size(); ++k) {
    states.push_back(std::move(operands[k][0]));
    active.push_back(static_cast<int>(k));
  }
  DeviceSet set = devices;
  for (int64_t iteration = 0;; ++iteration) {
    PerDevice arguments;
    for (int k : active) arguments.push_back({states[k]});
    ASSIGN_OR_RETURN(const std::vector<Value> go,
                     Run(*i.while_condition(), set, std::move(arguments)));
    std::vector<int> going;
    for (size_t k = 0; k < active.size(); ++k) {
      if (*go[k].data() != 0) going.push_back(active[k]);
    }
    if (going.empty()) return states;
    if (iteration >= context_.options().max_while_iterations) {
      return AtInstruction(
          absl::FailedPreconditionError(
              absl::StrCat("still running after ", iteration, " iterations")),
          i, module_);
    }
    if (going.size() < active.size()) {
      active = std::move(going);
      set = Subset(devices, active);
    }
    arguments.clear();
    for (int k : active) {
      arguments.emplace_back();
      arguments.back().push_back(std::move(states[k]));
    }
    ASSIGN_OR_RETURN(std::vector<Value> next,
                     Run(*i.while_body(), set, std::move(arguments)));
    for (size_t k = 0; k < active.size(); ++k) {
      states[active[k]] = std::move(next[k]);
    }
  }
}

absl::StatusOr<std::vector<Value>> Interpreter::Conditional(
    const Instruction& i, const DeviceSet& devices, PerDevice operands) {
  const int branches = static_cast<int>(i.called().size());
  std::vector<Value> results(operands.size());
  for (int branch = 0; branch < branches; ++branch) {
    std::vector<int> here;
    PerDevice arguments;
    for (size_t k = 0; k < operands.size(); ++k) {
      const Value& selector = operands[k][0];
      int64_t chosen = selector.Integer(0);
      if (selector.type() == PrimitiveType::kPred) {
        chosen = chosen != 0 ? 0 : 1;
      } else if (chosen < 0 || chosen >= branches) {
        chosen = branches - 1;
      }
      if (chosen != branch) continue;
      here.push_back(static_cast<int>(k));
      arguments.emplace_back();
      arguments.back().push_back(std::move(operands[k][branch + 1]));
    }
    if (here.empty()) continue;
    ASSIGN_OR_RETURN(
        std::vector<Value> values,
        Run(*i.called()[branch], Subset(devices, here), std::move(arguments)));
    for (size_t k = 0; k < here.size(); ++k) {
      results[here[k]] = std::move(values[k]);
    }
  }
  return results;
}

// ((operands), results, context...): the work is done at the start.
absl::StatusOr<std::vector<Value>> Interpreter::AsyncStart(
    const Instruction& i, const DeviceSet& devices, PerDevice operands) {
  ASSIGN_OR_RETURN(std::vector<Value> values,
                   Run(*i.called()[0], devices, operands));
  for (size_t k = 0; k < values.size(); ++k) {
    std::vector<Value> parts = {
        Value::NewTuple(i.shape().element(0), std::move(operands[k])),
        std::move(values[k])};
    const uint64_t zero[2] = {0, 0};
    for (int j = 2; j < i.shape().element_count_of_tuple(); ++j) {
      parts.push_back(Value::NewSplat(i.shape().element(j), zero));
    }
    values[k] = Value::NewTuple(ShapeOf(i), std::move(parts));
  }
  return values;
}

// (inputs..., initial carries...) -> (outputs..., last carries...). The body
// takes one index of each input along the scanned dimension and the carries,
// and gives that index of each output and the next carries.
absl::StatusOr<std::vector<Value>> Interpreter::Scan(const Instruction& i,
                                                     const DeviceSet& devices,
                                                     PerDevice operands) {
  const ScanAttrs& scan = i.attrs<ScanAttrs>();
  const size_t carries = scan.num_carries;
  const size_t inputs = operands[0].size() - carries;
  const bool is_tuple = i.shape().IsTuple();
  const size_t results = is_tuple ? i.shape().element_count_of_tuple() : 1;
  if (inputs == 0 || scan.dimensions.size() != 1 || results < carries) {
    return AtInstruction(
        absl::UnimplementedError("a scan without inputs, or along several "
                                 "dimensions"),
        i, module_);
  }
  const size_t outputs = results - carries;
  const int64_t d = scan.dimensions[0];
  const int64_t steps = operands[0][0].shape().dim(static_cast<int>(d));
  PerDevice done(operands.size());
  for (std::vector<Value>& device : done) {
    for (size_t j = 0; j < outputs; ++j) {
      device.push_back(Value::NewArray(
          is_tuple ? i.shape().element(static_cast<int>(j)) : i.shape()));
    }
  }
  for (int64_t step = 0; step < steps; ++step) {
    const int64_t at = scan.is_reverse ? steps - 1 - step : step;
    PerDevice arguments(operands.size());
    for (size_t k = 0; k < operands.size(); ++k) {
      for (size_t j = 0; j < inputs; ++j) {
        arguments[k].push_back(WithoutDim(operands[k][j], d, at));
      }
      for (size_t j = 0; j < carries; ++j) {
        arguments[k].push_back(std::move(operands[k][inputs + j]));
      }
    }
    ASSIGN_OR_RETURN(std::vector<Value> values,
                     Run(*i.to_apply(), devices, std::move(arguments)));
    for (size_t k = 0; k < values.size(); ++k) {
      auto part = [&](size_t j) {
        return values[k].IsTuple() ? values[k].TakeElement(static_cast<int>(j))
                                   : values[k];
      };
      for (size_t j = 0; j < outputs; ++j) {
        Value& whole = done[k][j];
        DimVector starts(whole.shape().rank(), 0);
        starts[d] = at;
        PutPart(AsSlice(part(j), d), starts, &whole);
      }
      for (size_t j = 0; j < carries; ++j) {
        operands[k][inputs + j] = part(outputs + j);
      }
    }
  }
  std::vector<Value> all;
  for (size_t k = 0; k < operands.size(); ++k) {
    for (size_t j = 0; j < carries; ++j) {
      done[k].push_back(std::move(operands[k][inputs + j]));
    }
    all.push_back(is_tuple ? Value::NewTuple(ShapeOf(i), std::move(done[k]))
                           : std::move(done[k][0]));
  }
  return all;
}

}  // namespace ptxla::hlo
