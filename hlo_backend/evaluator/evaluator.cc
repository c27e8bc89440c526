#include "hlo_backend/evaluator/evaluator.h"

#include "absl/strings/str_cat.h"
#include "base/numerics/random.h"
#include "base/status.h"
#include "hlo_backend/evaluator/interpreter.h"

namespace ptxla::hlo {
namespace {

absl::StatusOr<std::vector<Value>> Borrowed(
    const Computation& computation, absl::Span<const Literal> literals) {
  if (static_cast<int>(literals.size()) != computation.parameter_count()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "%", computation.name(), " takes ", computation.parameter_count(),
        " arguments, not ", literals.size()));
  }
  std::vector<Value> values;
  values.reserve(literals.size());
  for (size_t k = 0; k < literals.size(); ++k) {
    const Shape& want = computation.parameter(static_cast<int>(k))->shape();
    if (!want.SameDimsAndType(literals[k].shape())) {
      return absl::InvalidArgumentError(
          absl::StrCat("argument ", k, " is ", literals[k].shape().ToString(),
                       ", but parameter ", k, " of %", computation.name(),
                       " is ", want.ToString()));
    }
    if (literals[k].IsElided()) {
      return absl::InvalidArgumentError(
          absl::StrCat("argument ", k, " has no values"));
    }
    values.push_back(Value::Borrow(literals[k]).WithShape(want));
  }
  return values;
}

}  // namespace

class Evaluator::Impl {
 public:
  Impl(const Module* module, EvaluatorOptions options)
      : module_(module), interpreter_(module, options) {}

  absl::StatusOr<std::vector<Literal>> Run(
      const Computation& computation, const DeviceSet& devices,
      absl::Span<const std::vector<Literal>> arguments) {
    std::vector<std::vector<Value>> values;
    for (const std::vector<Literal>& literals : arguments) {
      ASSIGN_OR_RETURN(std::vector<Value> borrowed,
                       Borrowed(computation, literals));
      values.push_back(std::move(borrowed));
    }
    ASSIGN_OR_RETURN(std::vector<Value> results,
                     interpreter_.Run(computation, devices, std::move(values)));
    std::vector<Literal> literals;
    literals.reserve(results.size());
    for (Value& result : results) {
      literals.push_back(std::move(result).ToLiteral());
    }
    return literals;
  }

  // One device, which is what Run() evaluates. It passes literals on without
  // copying them.
  absl::StatusOr<Literal> RunOne(const Computation& computation,
                                 absl::Span<const Literal> arguments) {
    std::vector<std::vector<Value>> values(1);
    ASSIGN_OR_RETURN(values[0], Borrowed(computation, arguments));
    DeviceSet devices;
    devices.ids = {0};
    devices.replicas = module_->num_replicas();
    devices.partitions = module_->num_partitions();
    ASSIGN_OR_RETURN(std::vector<Value> results,
                     interpreter_.Run(computation, devices, std::move(values)));
    return std::move(results[0]).ToLiteral();
  }

  const Module* module_;
  Interpreter interpreter_;
};

Evaluator::Evaluator(const Module* module, EvaluatorOptions options)
    : impl_(std::make_unique<Impl>(module, options)) {}
Evaluator::~Evaluator() = default;

absl::StatusOr<Literal> Evaluator::Run(absl::Span<const Literal> arguments) {
  return impl_->RunOne(*impl_->module_->entry(), arguments);
}

absl::StatusOr<std::vector<Literal>> Evaluator::RunDevices(
    absl::Span<const std::vector<Literal>> arguments) {
  const Module& module = *impl_->module_;
  DeviceSet devices;
  const int64_t count = static_cast<int64_t>(arguments.size());
  for (int64_t d = 0; d < count; ++d) devices.ids.push_back(d);
  devices.partitions = module.num_partitions();
  if (devices.partitions > count) {
    return absl::InvalidArgumentError(
        absl::StrCat("the module has ", devices.partitions,
                     " partitions, but arguments for ", count, " devices"));
  }
  devices.replicas = std::max<int64_t>(1, count / devices.partitions);
  return impl_->Run(*module.entry(), devices, arguments);
}

absl::StatusOr<Literal> Evaluate(const Module& module,
                                 absl::Span<const Literal> arguments,
                                 const EvaluatorOptions& options) {
  return Evaluator(&module, options).Run(arguments);
}

absl::StatusOr<Literal> EvaluateInstruction(
    const Instruction& instruction, absl::Span<const Literal* const> operands,
    const EvaluatorOptions& options) {
  Interpreter interpreter(instruction.module(), options);
  std::vector<Value> values;
  values.reserve(operands.size());
  for (const Literal* operand : operands) {
    values.push_back(Value::Borrow(*operand));
  }
  ASSIGN_OR_RETURN(Value result,
                   interpreter.RunInstruction(instruction, std::move(values)));
  return std::move(result).ToLiteral();
}

namespace {

Literal RandomLiteral(const Shape& shape, uint64_t seed, uint64_t* stream) {
  if (!shape.IsArray()) {
    if (!shape.IsTuple()) return Literal(shape);
    std::vector<Literal> elements;
    for (const Shape& element : shape.elements()) {
      elements.push_back(RandomLiteral(element, seed, stream));
    }
    return Literal::Tuple(std::move(elements));
  }
  const int64_t n = shape.ElementCount();
  std::vector<uint32_t> words(n * 2);
  numerics::HardwareRandomFill(seed, (*stream)++, 0, absl::MakeSpan(words));
  Literal literal(shape);
  for (int64_t k = 0; k < n; ++k) {
    const double unit = words[2 * k] * 0x1p-32;
    const double signed_unit =
        shape.rank() == 0 ? 0.5 + unit / 2 : 2 * unit - 1;
    if (IsComplex(shape.type())) {
      literal.SetComplex(k, {signed_unit, words[2 * k + 1] * 0x1p-31 - 1});
    } else if (IsFloat(shape.type())) {
      literal.SetDouble(k, signed_unit);
    } else {
      const int width = BitWidth(shape.type());
      const int64_t range =
          shape.type() == PrimitiveType::kPred ? 2 : (width < 8 ? 2 : 10);
      literal.SetInt(k, words[2 * k] % range);
    }
  }
  return literal;
}

}  // namespace

std::vector<Literal> RandomArguments(const Module& module, uint64_t seed) {
  std::vector<Literal> arguments;
  uint64_t stream = 0;
  for (const Instruction* p : module.entry()->parameters()) {
    arguments.push_back(RandomLiteral(p->shape(), seed, &stream));
  }
  return arguments;
}

}  // namespace ptxla::hlo
