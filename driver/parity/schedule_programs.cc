#include "driver/parity/schedule_programs.h"

#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/substitute.h"

namespace ptxla::driver {
namespace {

std::string Module(absl::string_view before, absl::string_view entry) {
  return absl::StrCat("HloModule m\n", before, "ENTRY e {\n", entry, "}\n");
}

// The type of the table as HLO writes it.
std::string TypeOf(absl::string_view word) {
  if (word == "f8") return "f8e5m2";
  if (word == "f8e4m3b11") return "f8e4m3b11fnuz";
  return std::string(word);
}

// m x k times k x n. `type`: of both operands; precision by a suffix.
std::string Product(absl::string_view type, int64_t m, int64_t k, int64_t n,
                    bool transposed) {
  std::string lhs(type), precision;
  if (type == "f32_high" || type == "f32_highest") {
    precision = absl::Substitute(", operand_precision={$0,$0}",
                                 type == "f32_high" ? "high" : "highest");
    lhs = "f32";
  }
  std::string rhs = lhs;
  if (type == "f32_bf16") {
    lhs = "f32";
    rhs = "bf16";
  }
  lhs = TypeOf(lhs);
  rhs = TypeOf(rhs);
  const std::string out = lhs == "s8" || lhs == "s4" ? "s32"
                          : lhs == rhs && (lhs == "bf16" || lhs == "f16")
                              ? lhs
                              : "f32";
  return Module("", absl::Substitute(R"(  a = $0[$3,$4] parameter(0)
  b = $1[$5,$6] parameter(1)
  ROOT r = $2[$3,$7] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={$8}$9
)",
                                     lhs, rhs, out, m, k, transposed ? n : k,
                                     transposed ? k : n, n, transposed ? 1 : 0,
                                     precision));
}

// Elementwise work of as many operands as the text names.
std::string Elementwise(absl::string_view type, absl::string_view dims,
                        int operands, absl::string_view body) {
  std::string entry;
  for (int i = 0; i < operands; ++i) {
    absl::StrAppend(&entry, "  ", std::string(1, static_cast<char>('a' + i)),
                    " = ", type, "[", dims, "] parameter(", i, ")\n");
  }
  return Module(
      "", absl::StrCat(
              entry, absl::Substitute(body, absl::StrCat(type, "[", dims, "]"),
                                      type, absl::StrCat("pred[", dims, "]"))));
}

struct Function {
  const char* name;
  int operands;
  const char* body;  // $0: shape, $1: type, $2: shape of predicates
};

constexpr Function kFunctions[] = {
    {"u_mul", 2, "  ROOT r = $0 multiply(a, b)\n"},
    {"u_neg", 1, "  ROOT r = $0 negate(a)\n"},
    {"u_maxi", 1,
     "  z = $1[] constant(0)\n  zz = $0 broadcast(z), dimensions={}\n"
     "  ROOT r = $0 maximum(a, zz)\n"},
    {"u_rcp", 1,
     "  z = $1[] constant(1)\n  zz = $0 broadcast(z), dimensions={}\n"
     "  ROOT r = $0 divide(zz, a)\n"},
    {"u_gelu", 1,
     "  k = $1[] constant(0.044715)\n  kk = $0 broadcast(k), dimensions={}\n"
     "  s = $1[] constant(0.797884583)\n  ss = $0 broadcast(s), dimensions={}\n"
     "  h = $1[] constant(0.5)\n  hh = $0 broadcast(h), dimensions={}\n"
     "  o = $1[] constant(1)\n  oo = $0 broadcast(o), dimensions={}\n"
     "  a2 = $0 multiply(a, a)\n  a3 = $0 multiply(a2, a)\n"
     "  x = $0 multiply(a3, kk)\n  y = $0 add(a, x)\n  w = $0 multiply(y, ss)\n"
     "  t = $0 tanh(w)\n  u = $0 add(t, oo)\n  v = $0 multiply(u, hh)\n"
     "  ROOT r = $0 multiply(a, v)\n"},
    {"u_erf", 1, "  ROOT r = $0 erf(a)\n"},
    {"u_expm1", 1, "  ROOT r = $0 exponential-minus-one(a)\n"},
    {"u_log1p", 1, "  ROOT r = $0 log-plus-one(a)\n"},
    {"u_log", 1, "  ROOT r = $0 log(a)\n"},
    {"u_tanh", 1, "  ROOT r = $0 tanh(a)\n"},
    {"u_sin", 1, "  ROOT r = $0 sine(a)\n"},
    {"u_sqrt", 1, "  ROOT r = $0 sqrt(a)\n"},
    {"u_rsqrt", 1, "  ROOT r = $0 rsqrt(a)\n"},
    {"u_floor", 1, "  ROOT r = $0 floor(a)\n"},
    {"u_sigmoid", 1,
     "  o = $1[] constant(1)\n  oo = $0 broadcast(o), dimensions={}\n"
     "  n = $0 negate(a)\n  e = $0 exponential(n)\n  s = $0 add(e, oo)\n"
     "  ROOT r = $0 divide(oo, s)\n"},
    {"b_add", 2, "  ROOT r = $0 add(a, b)\n"},
    {"b_mul", 2, "  ROOT r = $0 multiply(a, b)\n"},
    {"b_div", 2, "  ROOT r = $0 divide(a, b)\n"},
    {"b_pow", 2, "  ROOT r = $0 power(a, b)\n"},
    {"b_fma", 3, "  m = $0 multiply(a, b)\n  ROOT r = $0 add(m, c)\n"},
    {"b_cmpsel", 2,
     "  p = $2 compare(a, b), direction=GT\n  s = $0 select(p, a, b)\n"
     "  ROOT r = $0 add(s, a)\n"},
    {"add1d", 2, "  ROOT r = $0 add(a, b)\n"},
    {"add2d", 2, "  ROOT r = $0 add(a, b)\n"},
    {"add_4m", 2, "  ROOT r = $0 add(a, b)\n"},
    {"exp1d", 1, "  ROOT r = $0 exponential(a)\n"},
    {"exp2d", 1, "  ROOT r = $0 exponential(a)\n"},
};

struct Reduction {
  const char* name;
  const char* dims;
  const char* out;
  const char* over;
  const char* monoid;
};

constexpr Reduction kReductions[] = {
    {"r_lane_sum", "1024,1024", "1024", "1", "add"},
    {"r_lane_max", "1024,1024", "1024", "1", "maximum"},
    {"r_lane1_sum", "8192,128", "8192", "1", "add"},
    {"r_sub_sum", "1024,1024", "1024", "0", "add"},
    {"r_sub1_sum", "128,8,1024", "128,1024", "1", "add"},
    {"sum_all", "1024,1024", "", "0,1", "add"},
};

std::string Reduce(const Reduction& r, absl::string_view type) {
  const char* init = absl::string_view(r.monoid) == "add" ? "0" : "-inf";
  return Module(
      absl::Substitute("f {\n  x = $0[] parameter(0)\n  y = $0[] parameter(1)\n"
                       "  ROOT z = $0[] $1(x, y)\n}\n",
                       type, r.monoid),
      absl::Substitute(
          "  a = $0[$1] parameter(0)\n  i = $0[] constant($2)\n"
          "  ROOT r = $0[$3] reduce(a, i), dimensions={$4}, to_apply=f\n",
          type, r.dims, init, r.out, r.over));
}

std::string Argmax(absl::string_view type) {
  return Module(absl::Substitute(R"(f {
  x = $0[] parameter(0)
  i = s32[] parameter(1)
  y = $0[] parameter(2)
  j = s32[] parameter(3)
  g = pred[] compare(x, y), direction=GT
  n = pred[] compare(x, x), direction=NE
  p = pred[] or(g, n)
  e = pred[] compare(x, y), direction=EQ
  l = pred[] compare(i, j), direction=LT
  q = pred[] and(e, l)
  t = pred[] or(p, q)
  v = $0[] select(p, x, y)
  k = s32[] select(t, i, j)
  ROOT r = ($0[], s32[]) tuple(v, k)
}
)",
                                 type),
                absl::Substitute(R"(  a = $0[1024,1024] parameter(0)
  i = s32[1024,1024] iota(), iota_dimension=1
  m = $0[] constant(-inf)
  z = s32[] constant(0)
  t = ($0[1024], s32[1024]) reduce(a, i, m, z), dimensions={1}, to_apply=f
  ROOT r = s32[1024] get-tuple-element(t), index=1
)",
                                 type));
}

std::string Softmax(absl::string_view type) {
  return Module(absl::Substitute(R"(f {
  x = $0[] parameter(0)
  y = $0[] parameter(1)
  ROOT z = $0[] maximum(x, y)
}
g {
  x = $0[] parameter(0)
  y = $0[] parameter(1)
  ROOT z = $0[] add(x, y)
}
)",
                                 type),
                absl::Substitute(R"(  a = $0[1024,1024] parameter(0)
  m = $0[] constant(-inf)
  z = $0[] constant(0)
  b = $0[1024] reduce(a, m), dimensions={1}, to_apply=f
  c = $0[1024,1024] broadcast(b), dimensions={0}
  d = $0[1024,1024] subtract(a, c)
  e = $0[1024,1024] exponential(d)
  h = $0[1024] reduce(e, z), dimensions={1}, to_apply=g
  i = $0[1024,1024] broadcast(h), dimensions={0}
  ROOT r = $0[1024,1024] divide(e, i)
)",
                                 type));
}

// The last word of a name and what is before it.
std::pair<std::string, std::string> LastWord(absl::string_view name) {
  const size_t cut = name.rfind('_');
  if (cut == absl::string_view::npos) return {std::string(name), ""};
  return {std::string(name.substr(0, cut)), std::string(name.substr(cut + 1))};
}

// "128_256_bf16" behind "mms_": K, N and type.
std::string SmallProduct(absl::string_view words) {
  const std::vector<std::string> parts = absl::StrSplit(words, '_');
  int64_t k = 0, n = 0;
  if (parts.size() != 3 || !absl::SimpleAtoi(parts[0], &k) ||
      !absl::SimpleAtoi(parts[1], &n)) {
    return "";
  }
  return Product(parts[2], 1024, k, n, false);
}

const char* DimsOf(absl::string_view stem) {
  if (stem == "add1d" || stem == "exp1d") return "1048576";
  return stem == "add_4m" ? "4096,4096" : "1024,1024";
}

}  // namespace

std::string ScheduleProgram(absl::string_view name) {
  for (const auto& [prefix, transposed] :
       {std::pair{"mm1024_", false}, std::pair{"mmt1024_", true}}) {
    if (name.substr(0, std::string(prefix).size()) == prefix) {
      return Product(name.substr(std::string(prefix).size()), 1024, 1024, 1024,
                     transposed);
    }
  }
  if (name.substr(0, 4) == "mms_") return SmallProduct(name.substr(4));
  if (name == "mm4096_bf16") return Product("bf16", 4096, 4096, 4096, false);
  if (name == "mm128x4096x16384_bf16") {
    return Product("bf16", 128, 4096, 16384, false);
  }
  if (name == "add8") {
    return Elementwise("f32", "8,128", 2, "  ROOT r = $0 add(a, b)\n");
  }
  const auto [stem, word] = LastWord(name);
  const std::string type = TypeOf(word);
  for (const Function& f : kFunctions) {
    if (stem == f.name) {
      return Elementwise(type, DimsOf(stem), f.operands, f.body);
    }
  }
  for (const Reduction& r : kReductions) {
    if (stem == r.name) return Reduce(r, type);
  }
  if (stem == "argmax") return Argmax(type);
  if (stem == "softmax") return Softmax(type);
  if (stem.substr(0, 2) == "c_") {
    return Elementwise(
        TypeOf(stem.substr(2)), "1024,1024", 1,
        absl::StrCat("  ROOT r = ", type, "[1024,1024] convert(a)\n"));
  }
  if (stem == "transpose") {
    return Elementwise(type, "1024,1024", 1,
                       "  ROOT r = $0 transpose(a), dimensions={1,0}\n");
  }
  if (stem == "bcast_lane") {
    return Module("", absl::Substitute(
                          "  a = $0[1024,1024] parameter(0)\n"
                          "  b = $0[1024] parameter(1)\n"
                          "  c = $0[1024,1024] broadcast(b), dimensions={0}\n"
                          "  ROOT r = $0[1024,1024] add(a, c)\n",
                          type));
  }
  return "";
}

int64_t ScheduleProgramElements(absl::string_view name) {
  if (name == "add8") return 1024;
  return LastWord(name).first == "add_4m" ? int64_t{1} << 24 : int64_t{1} << 20;
}

}  // namespace ptxla::driver
