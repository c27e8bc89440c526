// Two products in one kernel, the second of the rows that the first finishes:
// bundles against the evaluator, on ragged shapes and all chips.
#include <string>
#include <vector>

#include "absl/strings/substitute.h"
#include "tests/hlo_backend/lowering/products/product_tolerance.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

struct Heads {
  int batch, queries, keys, depth, width;
};

// 2 softmax(q k') v, with rows of `type`.
std::string Attention(const Heads& h, const char* type) {
  return absl::Substitute(R"(HloModule m
max { x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT m = f32[] maximum(x, y) }
sum { x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT s = f32[] add(x, y) }
softmax {
  q = bf16[$0,$1,$3] parameter(0)
  k = bf16[$0,$2,$3] parameter(1)
  d = f32[$0,$1,$2] dot(q, k), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={2}
  low = f32[] constant(-inf)
  m = f32[$0,$1] reduce(d, low), dimensions={2}, to_apply=max
  mb = f32[$0,$1,$2] broadcast(m), dimensions={0,1}
  z = f32[$0,$1,$2] subtract(d, mb)
  e = f32[$0,$1,$2] exponential(z)
  zero = f32[] constant(0)
  t = f32[$0,$1] reduce(e, zero), dimensions={2}, to_apply=sum
  tb = f32[$0,$1,$2] broadcast(t), dimensions={0,1}
  p = f32[$0,$1,$2] divide(e, tb)
  ROOT r = $5[$0,$1,$2] convert(p)
}
values {
  p = $5[$0,$1,$2] parameter(0)
  v = bf16[$0,$2,$4] parameter(1)
  o = f32[$0,$1,$4] dot(p, v), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}
  two = f32[] constant(2)
  twos = f32[$0,$1,$4] broadcast(two), dimensions={}
  ROOT r = f32[$0,$1,$4] multiply(o, twos)
}
chain {
  q = bf16[$0,$1,$3] parameter(0)
  k = bf16[$0,$2,$3] parameter(1)
  v = bf16[$0,$2,$4] parameter(2)
  rows = $5[$0,$1,$2] fusion(q, k), kind=kOutput, calls=softmax
  ROOT o = f32[$0,$1,$4] fusion(rows, v), kind=kOutput, calls=values
}
ENTRY e {
  q = bf16[$0,$1,$3] parameter(0)
  k = bf16[$0,$2,$3] parameter(1)
  v = bf16[$0,$2,$4] parameter(2)
  ROOT f = f32[$0,$1,$4] fusion(q, k, v), kind=kCustom, calls=chain
})",
                          h.batch, h.queries, h.keys, h.depth, h.width, type);
}

TEST(ProductChainTest, AttentionInOneKernelEqualsTheEvaluatorOnEveryChip) {
  for (const char* chip : kAllChips) {
    for (const Heads& h :
         {Heads{1, 7, 129, 64, 64}, Heads{2, 100, 100, 32, 200},
          Heads{3, 129, 500, 128, 128}, Heads{1, 256, 1, 64, 16},
          Heads{5, 300, 300, 256, 256}}) {
      for (const char* type : {"bf16", "f32"}) {
        EXPECT_OK(
            CompareKernel(Attention(h, type), ProductOn(chip, 0.02)).status())
            << chip << " " << h.batch << " " << h.queries << " " << h.keys
            << " " << type;
      }
    }
  }
}

// 1,024 rows of 2,048 scores in a step, 2 steps a head: keys and values stay
// for both of them.
TEST(ProductChainTest, AStepHasAsManyRowsAsBothProductsFit) {
  ASSERT_OK_AND_ASSIGN(const isa::Kernel kernel,
                       KernelOf(Attention({16, 2048, 2048, 128, 128}, "bf16"),
                                ProductOn("v6e", 0.02)));
  EXPECT_EQ(kernel.grid, (std::vector<int64_t>{16, 2, 1, 1})) << kernel.note;
}

// Queries of `group` heads that share keys and values.
std::string GroupedAttention(int group, const Heads& h) {
  return absl::Substitute(R"(HloModule m
max { x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT m = f32[] maximum(x, y) }
softmax {
  q = bf16[$0,$5,$1,$3] parameter(0)
  k = bf16[$0,$2,$3] parameter(1)
  d = f32[$0,$5,$1,$2] dot(q, k), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={3}, rhs_contracting_dims={2}
  low = f32[] constant(-inf)
  m = f32[$0,$5,$1] reduce(d, low), dimensions={3}, to_apply=max
  mb = f32[$0,$5,$1,$2] broadcast(m), dimensions={0,1,2}
  z = f32[$0,$5,$1,$2] subtract(d, mb)
  e = f32[$0,$5,$1,$2] exponential(z)
  ROOT r = bf16[$0,$5,$1,$2] convert(e)
}
chain {
  q = bf16[$0,$5,$1,$3] parameter(0)
  k = bf16[$0,$2,$3] parameter(1)
  v = bf16[$0,$2,$4] parameter(2)
  rows = bf16[$0,$5,$1,$2] fusion(q, k), kind=kOutput, calls=softmax
  ROOT o = f32[$0,$5,$1,$4] dot(rows, v), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={3}, rhs_contracting_dims={1}
}
ENTRY e {
  q = bf16[$0,$5,$1,$3] parameter(0)
  k = bf16[$0,$2,$3] parameter(1)
  v = bf16[$0,$2,$4] parameter(2)
  ROOT f = f32[$0,$5,$1,$4] fusion(q, k, v), kind=kCustom, calls=chain
})",
                          h.batch, h.queries, h.keys, h.depth, h.width, group);
}

TEST(ProductChainTest, MembersMayShareKeysAndValues) {
  for (const char* chip : kAllChips) {
    for (const Heads& h :
         {Heads{2, 128, 256, 64, 64}, Heads{3, 72, 129, 32, 80}}) {
      for (const int group : {2, 5}) {
        HarnessOptions options = ProductOn(chip, 0.02);
        options.absolute = 0.5;  // sums of up to 256 numbers
        EXPECT_OK(CompareKernel(GroupedAttention(group, h), options).status())
            << chip << " " << h.batch << " " << h.queries << " " << group;
      }
    }
  }
}

// softmax(q k') as the right operand: v, and so the result, lie with their
// rows in the lanes.
std::string TurnedAttention(const Heads& h) {
  return absl::Substitute(R"(HloModule m
max { x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT m = f32[] maximum(x, y) }
sum { x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT s = f32[] add(x, y) }
softmax {
  q = bf16[$0,$3,$1] parameter(0)
  k = bf16[$0,$3,$2] parameter(1)
  d = f32[$0,$1,$2] dot(q, k), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_contracting_dims={1}
  low = f32[] constant(-inf)
  m = f32[$0,$1] reduce(d, low), dimensions={2}, to_apply=max
  mb = f32[$0,$1,$2] broadcast(m), dimensions={0,1}
  z = f32[$0,$1,$2] subtract(d, mb)
  e = f32[$0,$1,$2] exponential(z)
  zero = f32[] constant(0)
  t = f32[$0,$1] reduce(e, zero), dimensions={2}, to_apply=sum
  tb = f32[$0,$1,$2] broadcast(t), dimensions={0,1}
  p = f32[$0,$1,$2] divide(e, tb)
  ROOT r = bf16[$0,$1,$2] convert(p)
}
chain {
  q = bf16[$0,$3,$1] parameter(0)
  k = bf16[$0,$3,$2] parameter(1)
  v = bf16[$0,$4,$2] parameter(2)
  rows = bf16[$0,$1,$2] fusion(q, k), kind=kOutput, calls=softmax
  ROOT o = f32[$0,$4,$1] dot(v, rows), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={2}
}
ENTRY e {
  q = bf16[$0,$3,$1] parameter(0)
  k = bf16[$0,$3,$2] parameter(1)
  v = bf16[$0,$4,$2] parameter(2)
  ROOT f = f32[$0,$4,$1] fusion(q, k, v), kind=kCustom, calls=chain
})",
                          h.batch, h.queries, h.keys, h.depth, h.width);
}

TEST(ProductChainTest, RowsMayBeTheRightOperand) {
  for (const char* chip : kAllChips) {
    for (const Heads& h :
         {Heads{1, 128, 256, 64, 64}, Heads{3, 300, 129, 64, 16},
          Heads{2, 1000, 500, 32, 80}}) {
      EXPECT_OK(
          CompareKernel(TurnedAttention(h), ProductOn(chip, 0.02)).status())
          << chip << " " << h.batch << " " << h.queries << " " << h.keys;
    }
  }
}

// Operands and the result lie in VMEM as for each of the two alone (which
// reads whole tiles of 128 of its right operand).
TEST(ProductChainTest, ArraysMayStayInVmem) {
  for (const char* chip : {"v5e", "v6e", "tpu7x"}) {
    for (const int array : {0, 1, 2, 3}) {
      HarnessOptions options = ProductOn(chip, 0.02);
      options.in_vmem = {array};
      EXPECT_OK(CompareKernel(Attention({3, 130, 256, 64, 64}, "bf16"), options)
                    .status())
          << chip << " " << array;
    }
  }
}

}  // namespace
}  // namespace ptxla::lowering
