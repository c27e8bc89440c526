// A module of broken and of good instructions: operands of every kind, called
// computations, and room for one instruction.
#ifndef PTXLA_TESTS_HLO_BACKEND_IR_OPCODE_MODULE_H_
#define PTXLA_TESTS_HLO_BACKEND_IR_OPCODE_MODULE_H_

#include <string>

namespace ptxla::hlo {

inline constexpr char kBefore[] = R"(HloModule t, num_partitions=4
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
one { a = f32[] parameter(0) ROOT r = f32[] negate(a) }
less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = pred[] compare(a, b), direction=LT }
body { s = s32[] parameter(0) ROOT r = s32[] negate(s) }
cond { s = s32[] parameter(0) ROOT r = pred[] constant(true) }
wide { s = s32[2] parameter(0) ROOT r = s32[2] negate(s) }
sel { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = pred[] compare(a, b), direction=GE }
step { x = f32[] parameter(0) c = f32[] parameter(1) s = f32[] add(x, c) ROOT r = (f32[], f32[]) tuple(s, s) }
wrapped { a = f32[4,6] parameter(0) ROOT r = f32[4,6] negate(a) }
ENTRY main {
  p = f32[4,6] parameter(0)
  q = f32[4,5] parameter(1)
  z = f32[] parameter(2)
  i = s32[] parameter(3)
  v = f32[4] parameter(4)
  t = (f32[4], s32[]) parameter(5)
  c = c64[4] parameter(6)
  k = token[] parameter(7)
  b = pred[4,6] parameter(8)
  m = s32[4,6] parameter(9)
  sq = f32[6,6] parameter(10)
  u = u64[2] parameter(11)
  img = f32[1,8,8,4] parameter(12)
  w = f32[3,3,4,8] parameter(13)
  g = s32[2] parameter(14)
  q2 = f32[2,6] parameter(15)
  rhs = f32[2,6,8] parameter(16)
  src = f32[2,3] parameter(17)
  f6 = f32[6] parameter(18)
  ag = (f32[4,6], f32[16,6]) parameter(19)
  as = ((f32[4,6]), f32[4,6], u32[]) async-start(p), calls=wrapped
  cs = (f32[4,6], f32[4,6], u32[]) copy-start(p)
  sn = (f32[4,6], u32[], token[]) send(p, k), channel_id=1
  rv = (f32[4,6], u32[], token[]) recv(k), channel_id=1
)";

// The instruction stands on this line of the module.
inline constexpr int kLine = 36;

inline std::string Text(const std::string& instruction) {
  return std::string(kBefore) + instruction + "\n}\n";
}

// Opcodes of one kind.
inline constexpr const char* kUnary[] = {"abs",
                                         "acos",
                                         "acosh",
                                         "asin",
                                         "asinh",
                                         "atanh",
                                         "cbrt",
                                         "ceil",
                                         "cosh",
                                         "cosine",
                                         "erf",
                                         "exponential",
                                         "exponential-minus-one",
                                         "floor",
                                         "log",
                                         "log-plus-one",
                                         "logistic",
                                         "negate",
                                         "round-nearest-afz",
                                         "round-nearest-even",
                                         "rsqrt",
                                         "sign",
                                         "sine",
                                         "sinh",
                                         "sqrt",
                                         "tan",
                                         "tanh"};
inline constexpr const char* kBinary[] = {
    "add",   "atan2",    "divide", "maximum",   "minimum",
    "mulhi", "multiply", "power",  "remainder", "subtract"};
inline constexpr const char* kLogical[] = {
    "and", "count-leading-zeros", "not", "or", "popcnt", "xor"};
inline constexpr const char* kShifts[] = {
    "shift-left", "shift-right-arithmetic", "shift-right-logical"};

}  // namespace ptxla::hlo

#endif  // PTXLA_TESTS_HLO_BACKEND_IR_OPCODE_MODULE_H_
