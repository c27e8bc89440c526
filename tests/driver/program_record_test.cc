#include "driver/program_record.h"

#include "base/text_proto.h"
#include "tests/support/status_matchers.h"

namespace ptxla::driver {
namespace {

class ProgramRecordTest : public ::testing::Test {
 protected:
  record::ProgramRecord Record(const std::string& text,
                               const std::string& slice = "v5e-1") {
    record::DeviceTrace trace;
    EXPECT_OK(ParseTextProto(text, "trace", &trace));
    return MakeProgramRecord(trace, chips::ParseSlice(slice).value());
  }
};

TEST_F(ProgramRecordTest, ExecutionsOfOneInstructionAreOneRowLongestFirst) {
  const record::ProgramRecord p = Record(R"pb(
    total_ps: 100
    op {
      name: "add.1"
      start_ps: 0
      end_ps: 10
      bytes: 5
      bound { hbm_ps: 10 }
    }
    op {
      name: "dot.2"
      start_ps: 10
      end_ps: 60
      flops: 7
      bound { mxu_ps: 30 hbm_ps: 20 }
    }
    op {
      name: "add.1"
      start_ps: 60
      end_ps: 100
      bytes: 5
      repeat: 3
      bound { vpu_ps: 5 hbm_ps: 35 }
    }
  )pb");
  ASSERT_EQ(p.ops_size(), 2);
  EXPECT_EQ(p.ops(0).name(), "add.1");
  EXPECT_EQ(p.ops(0).count(), 4);
  EXPECT_EQ(p.ops(0).time_ps(), 10 + 3 * 40);
  EXPECT_EQ(p.ops(0).bytes(), 20);
  EXPECT_EQ(p.ops(0).bound(), "hbm");
  EXPECT_EQ(p.ops(1).bound(), "mxu");
}

TEST_F(ProgramRecordTest, AProductsFractionIsOfThePeakOfItsType) {
  const record::ProgramRecord p = Record(R"pb(
    mxu_peak_ps: 40
    op {
      name: "dot.1"
      end_ps: 50
      mxu_peak_ps: 20
      bound { mxu_ps: 50 }
    }
    op {
      name: "dot.1"
      start_ps: 50
      end_ps: 100
      mxu_peak_ps: 20
      bound { mxu_ps: 50 }
    }
  )pb");
  EXPECT_DOUBLE_EQ(p.ops(0).fraction_of_peak(), 0.4);
  EXPECT_EQ(p.mxu_peak_ps(), 40);
}

TEST_F(ProgramRecordTest, ACollectiveOfALoopCountsWithEveryIteration) {
  const record::ProgramRecord p = Record(R"pb(
    total_ps: 100
    collective {
      name: "all-reduce.1"
      kind: "all-reduce"
      end_ps: 9
      bytes: 5
      group_size: 8
      exposed_ps: 4
      repeat: 3
    }
  )pb");
  ASSERT_EQ(p.collectives_size(), 1);
  EXPECT_EQ(p.collectives(0).count(), 3);
  EXPECT_EQ(p.collectives(0).bytes(), 15);
  EXPECT_EQ(p.collectives(0).time_ps(), 27);
  EXPECT_EQ(p.collectives(0).exposed_ps(), 12);
}

TEST_F(ProgramRecordTest, ACollectivesFractionIsOfTheLinksItUses) {
  // v5e: 50 GB/s, a link, one way: 50 kB in 1 us.
  const record::ProgramRecord p = Record(R"pb(
                                           op {
                                             name: "all-reduce.1"
                                             end_ps: 2000000
                                             bound { ici_ps: 2000000 }
                                           }
                                           collective {
                                             name: "all-reduce.1"
                                             kind: "all-reduce"
                                             end_ps: 2000000
                                             bytes_per_link: 50000
                                           }
                                         )pb",
                                         "v5e-8");
  EXPECT_DOUBLE_EQ(p.ops(0).fraction_of_peak(), 0.5);
}

TEST_F(ProgramRecordTest, ACopysFractionIsOfThePinBandwidth) {
  const record::ProgramRecord p = Record(R"pb(
    op {
      name: "copy"
      end_ps: 1000000
      bytes: 409500
      bound { hbm_ps: 1000000 }
    }
  )pb");
  EXPECT_NEAR(p.ops(0).fraction_of_peak(), 0.5, 0.001);
}

TEST_F(ProgramRecordTest, WithTwoDevicesPerChipADeviceHasHalfThePeak) {
  const auto v3 = chips::ParseSlice("v3-8").value();
  ASSERT_EQ(v3.topology.devices_per_chip(), 2);
  EXPECT_DOUBLE_EQ(DevicePeak(v3, "bf16").count() * 2,
                   v3.chip.PeakMatmul(chips::MatmulType::kBf16).count());
}

TEST_F(ProgramRecordTest, CollectivesAreSummedByKindAndGroup) {
  const record::ProgramRecord p = Record(R"pb(
    collective { kind: "all-reduce" group_size: 8 bytes: 10 end_ps: 5 }
    collective {
      kind: "all-reduce"
      group_size: 8
      bytes: 20
      start_ps: 5
      end_ps: 12
      exposed_ps: 7
    }
    collective { kind: "all-gather" group_size: 8 bytes: 1 end_ps: 1 }
  )pb");
  ASSERT_EQ(p.collectives_size(), 2);
  EXPECT_EQ(p.collectives(0).count(), 2);
  EXPECT_EQ(p.collectives(0).bytes(), 30);
  EXPECT_EQ(p.collectives(0).time_ps(), 12);
  EXPECT_EQ(p.collectives(0).exposed_ps(), 7);
}

}  // namespace
}  // namespace ptxla::driver
