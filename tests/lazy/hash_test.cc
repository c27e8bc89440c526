// Is the key of the compile cache equal over steps, and different for whatever
// makes another program?
#include "gtest/gtest.h"
#include "lazy/ir.h"
#include "lazy/ops.h"
#include "lazy/sync.h"

namespace ptxla::lazy {
namespace {

constexpr PrimitiveType kF32 = PrimitiveType::kF32;

class HashTest : public ::testing::Test {
 protected:
  Tensor Input(DimVector dims) {
    return Tensor::FromHost(&device_, {kF32, std::move(dims)},
                            HostValue::Uniform(0, 1, 1));
  }
  Value Data(DimVector dims) {
    return device_.DataNode(device_.MakeData({kF32, std::move(dims)}));
  }
  static uint64_t Hash(const Value& v) { return StructureHash(MakeGraph({v})); }

  Device device_;
};

TEST_F(HashTest, TheSameGraphOnOtherBuffersHashesTheSame) {
  const Value a = ir::Mul(&device_, Data({8}), Data({8}));
  const Value b = ir::Mul(&device_, Data({8}), Data({8}));
  EXPECT_EQ(Hash(a), Hash(b));
}

TEST_F(HashTest, ALeafsShapeIsInTheHash) {
  EXPECT_NE(Hash(ir::Unary(&device_, OpKind::kTanh, Data({8}))),
            Hash(ir::Unary(&device_, OpKind::kTanh, Data({16}))));
}

TEST_F(HashTest, AttributesAreInTheHash) {
  const Value x = Data({8, 8});
  EXPECT_NE(Hash(ir::Sum(&device_, x, {0}, false)),
            Hash(ir::Sum(&device_, x, {1}, false)));
  EXPECT_NE(Hash(ir::Sum(&device_, x, {0}, false)),
            Hash(ir::Sum(&device_, x, {0}, true)));
}

TEST_F(HashTest, WhichOutputIsUsedIsInTheHash) {
  const Value x = Data({1, 4, 8});
  const Value n = ir::NativeBatchNorm(&device_, x, Data({4}), Data({4}),
                                      Data({4}), Data({4}), {1e-5});
  EXPECT_NE(Hash(Value{n.node, 1}), Hash(Value{n.node, 2}));
}

TEST_F(HashTest, SharingABufferIsAnotherProgram) {
  const DeviceDataPtr data = device_.MakeData({kF32, {8}});
  const Value shared =
      ir::Mul(&device_, device_.DataNode(data), device_.DataNode(data));
  const Value separate = ir::Mul(&device_, Data({8}), Data({8}));
  EXPECT_EQ(shared.hash(), separate.hash());
  EXPECT_NE(Hash(shared), Hash(separate));
}

TEST_F(HashTest, AConstantIsInTheHashAndAParameterScalarIsNot) {
  const Value x = Data({8});
  const auto times = [&](double factor) {
    return Hash(ir::Mul(&device_, x, device_.Scalar(factor, kF32)));
  };
  EXPECT_NE(times(0), times(1));
  EXPECT_EQ(times(0.25), times(0.125));
  EXPECT_NE(times(0.25), times(1));
}

TEST_F(HashTest, DonationIsInTheKeyOfABarrier) {
  uint64_t updated_in_place, made_anew;
  {
    const Tensor x = Input({8});
    ops::MulInPlace(x, 0.5);
    updated_in_place = CollectSync(&device_).hash;
  }
  {
    const Tensor x = Input({8});
    const Tensor y = Tensor::FromValue(
        &device_, ir::Mul(&device_, x.ir(), device_.Scalar(0.5, kF32)));
    const SyncGraph sync = CollectSync(&device_);
    EXPECT_TRUE(sync.donors.empty());
    made_anew = sync.hash;
  }
  EXPECT_NE(updated_in_place, made_anew);
}

TEST_F(HashTest, ReadingAValueIsAnotherKeyThanTheBarrier) {
  const Tensor x = Input({8});
  const Tensor y = ops::Mul(x, x);
  EXPECT_NE(CollectTensors({y.lazy().get()}).hash, CollectSync(&device_).hash);
}

TEST_F(HashTest, RandomStepsHashTheSameAfterABarrier) {
  const Tensor x = Input({8});
  const auto step = [&] {
    const Tensor y = ops::Dropout(x, 0.5);
    return CollectSync(&device_).hash;
  };
  const uint64_t first = step();
  EXPECT_NE(step(), first) << "without a barrier the seed chain grows";
  device_.MarkStep();
  EXPECT_EQ(step(), first);
}

}  // namespace
}  // namespace ptxla::lazy
