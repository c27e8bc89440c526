// Do transfers reach places beyond the first 2 GiB of an array?
//
// The arrays are pages that nothing touches but the few elements looked for.
#include <sys/mman.h>

#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "chips/chip_spec.h"
#include "isa/from_chip_spec.h"
#include "isa/interpreter.h"
#include "isa/verifier.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

// Zeros without memory of their own until they are written.
class SparseBytes {
 public:
  explicit SparseBytes(int64_t size) : size_(size) {
    at_ = mmap(nullptr, size, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }
  ~SparseBytes() { munmap(at_, size_); }
  SparseBytes(const SparseBytes&) = delete;
  SparseBytes& operator=(const SparseBytes&) = delete;
  absl::Span<uint8_t> bytes() const {
    return {static_cast<uint8_t*>(at_), static_cast<size_t>(size_)};
  }
  template <class T>
  T& At(int64_t byte) const {
    return *reinterpret_cast<T*>(bytes().data() + byte);
  }

 private:
  void* at_;
  int64_t size_;
};

// Byte of an element of a 32-bit array in tiles of 8 x 128, `columns` wide.
int64_t ByteOf(int64_t row, int64_t column, int64_t columns) {
  const int64_t tile = row / 8 * ((columns + 127) / 128) + column / 128;
  return tile * 4096 + row % 8 * 512 + column % 128 * 4;
}

// Runs the kernel of `hlo` on its arguments, operands and then the result.
void RunKernel(absl::string_view hlo,
               const std::vector<const SparseBytes*>& memory) {
  HarnessOptions options;
  ASSERT_OK_AND_ASSIGN(const isa::Kernel kernel, KernelOf(hlo, options));
  const isa::MachineModel model =
      isa::FromChipSpec(*chips::ChipSpec::Load(options.chip));
  ASSERT_OK(isa::VerifyKernel(kernel, model));
  ASSERT_EQ(kernel.args.size(), memory.size());
  isa::Core core(model);
  std::vector<isa::ArgMemory> args;
  for (const SparseBytes* m : memory) {
    isa::ArgMemory arg;
    arg.bytes = m->bytes();
    args.push_back(arg);
  }
  ASSERT_OK(core.Run(kernel, args, 0, 1).status());
}

TEST(WideTableTest, ElementsOfLogits) {
  constexpr int64_t kRows = 4096, kColumns = 151936;
  const SparseBytes table(ByteOf(kRows - 1, kColumns - 1, kColumns) + 4);
  ASSERT_GT(table.bytes().size(), size_t{1} << 31);
  const SparseBytes index(4096), found(4096);
  const int64_t rows[] = {4095, 3600, 5}, columns[] = {151935, 128, 77};
  for (int k = 0; k < 3; ++k) {
    index.At<int32_t>(4 * k) = static_cast<int32_t>(rows[k]);
    index.At<int32_t>(4 * (128 + k)) = static_cast<int32_t>(columns[k]);
    table.At<float>(ByteOf(rows[k], columns[k], kColumns)) = 1.5F + k;
  }
  RunKernel(R"(HloModule m
ENTRY e {
  table = f32[4096,151936] parameter(0)
  index = s32[2,128] parameter(1)
  ROOT g = f32[128] gather(table, index), offset_dims={}, collapsed_slice_dims={0,1}, start_index_map={0,1}, index_vector_dim=0, slice_sizes={1,1}
})",
            {&table, &index, &found});
  for (int k = 0; k < 3; ++k) EXPECT_EQ(found.At<float>(4 * k), 1.5F + k) << k;
  EXPECT_EQ(found.At<float>(12), 0);
}

TEST(WideTableTest, RowsOfAnEmbedding) {
  constexpr int64_t kRows = 2'200'000, kColumns = 256;
  const SparseBytes table(kRows * kColumns * 4);
  const SparseBytes index(4096), found(128 * kColumns * 4);
  const int64_t rows[] = {2'199'999, 2'100'008, 3};
  for (int k = 0; k < 3; ++k) {
    index.At<int32_t>(4 * k) = static_cast<int32_t>(rows[k]);
    table.At<float>(ByteOf(rows[k], 200, kColumns)) = 1.5F + k;
  }
  RunKernel(R"(HloModule m
ENTRY e {
  table = f32[2200000,256] parameter(0)
  index = s32[128] parameter(1)
  ROOT g = f32[128,256] gather(table, index), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,256}
})",
            {&table, &index, &found});
  for (int k = 0; k < 3; ++k) {
    EXPECT_EQ(found.At<float>(ByteOf(k, 200, kColumns)), 1.5F + k) << k;
  }
}

TEST(WideTableTest, APlaneOfAStack) {
  constexpr int64_t kPlane = 512 * 1024 * 4;
  const SparseBytes stack(1100 * kPlane), index(4096), found(kPlane);
  const SparseBytes unused(4096);
  index.At<int32_t>(0) = 1090;
  stack.At<float>(1090 * kPlane + 512) = 1.5F;
  RunKernel(R"(HloModule m
ENTRY e {
  stack = f32[1100,512,1024] parameter(0)
  n = s32[] parameter(1)
  zero = s32[] parameter(2)
  ROOT s = f32[1,512,1024] dynamic-slice(stack, n, zero, zero), dynamic_slice_sizes={1,512,1024}
})",
            {&stack, &index, &unused, &unused, &found});
  EXPECT_EQ(found.At<float>(512), 1.5F);
}

TEST(WideTableTest, AnUpdateInPlace) {
  constexpr int64_t kPlane = 512 * 1024 * 4;
  const SparseBytes stack(1100 * kPlane), index(4096), update(kPlane);
  const SparseBytes unused(4096);
  index.At<int32_t>(0) = 1090;
  update.At<float>(512) = 1.5F;
  RunKernel(R"(HloModule m
ENTRY e {
  stack = f32[1100,512,1024] parameter(0)
  update = f32[1,512,1024] parameter(1)
  n = s32[] parameter(2)
  zero = s32[] parameter(3)
  ROOT s = f32[1100,512,1024] dynamic-update-slice(stack, update, n, zero, zero)
})",
            {&stack, &update, &index, &unused, &unused, &stack});
  EXPECT_EQ(stack.At<float>(1090 * kPlane + 512), 1.5F);
}

TEST(WideTableTest, PagesOfACache) {
  constexpr int64_t kPlane = 64 * 1024 * 4;
  const SparseBytes table(9000 * kPlane), index(4096), found(16 * kPlane);
  index.At<int32_t>(4) = 8999;
  table.At<float>(8999 * kPlane + 512) = 1.5F;
  RunKernel(R"(HloModule m
ENTRY e {
  table = f32[9000,64,1024] parameter(0)
  index = s32[16] parameter(1)
  ROOT g = f32[16,64,1024] gather(table, index), offset_dims={1,2}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,64,1024}
})",
            {&table, &index, &found});
  EXPECT_EQ(found.At<float>(kPlane + 512), 1.5F);
}

}  // namespace
}  // namespace ptxla::lowering
