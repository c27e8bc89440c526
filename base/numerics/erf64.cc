// erf on [0, 6) in steps of 0.5: the Taylor polynomial about each step's
// middle (coefficients from a 300-bit evaluation of the derivatives); below
// 0.5 the odd series, so that small arguments keep their relative precision.
#include <cmath>

#include "base/numerics/transcendental64.h"

namespace ptxla::numerics {
namespace {

constexpr int kTerms = 18;
constexpr double kAround[11][kTerms] = {
    {0x1.6c1c9759d0e5fp-1, 0x1.492e42d78d2c5p-1, -0x1.edc5644353c27p-2,
     0x1.b6e8591f66e5bp-6, 0x1.349b5eaa14598p-3, -0x1.b42a1890ce411p-5,
     -0x1.b8477966b3381p-6, 0x1.2e0afb0bb961ep-6, 0x1.2db332f9e64d4p-9,
     -0x1.04105cd6d527ep-8, 0x1.86234ec3372d9p-13, 0x1.4725abcb993b6p-11,
     -0x1.bd5eea735c608p-14, -0x1.3db33dbe2237ep-14, 0x1.7313fb66f36f6p-16,
     0x1.e0eaec4d06fb6p-18, -0x1.b482f6f2cbfb6p-19, -0x1.0e46b593eb57fp-21},
    {0x1.d8865d98abe01p-1, 0x1.e4652fadcb6b2p-3, -0x1.2ebf3dcc9f22fp-2,
     0x1.571d01c5c56bep-3, -0x1.93a9a7bb7ed94p-8, -0x1.8281ce0b34fa4p-5,
     0x1.5d0003af70568p-6, 0x1.db43c97264485p-9, -0x1.75672cebadac5p-8,
     0x1.cc22555d6cd4ep-11, 0x1.a0074f860d925p-11, -0x1.53b177f074426p-12,
     -0x1.ba66102895704p-15, 0x1.d4520093cdd9ep-15, -0x1.94a53c645ccdbp-19,
     -0x1.ae23c1a269f29p-18, 0x1.6b412b613178bp-20, 0x1.10b20781c7674p-21},
    {0x1.f92d077f8d56dp-1, 0x1.b055303221015p-5, -0x1.7a4a8a2bdce13p-4,
     0x1.7148c3d57c312p-4, -0x1.8a0da54306154p-5, 0x1.b22257dd01249p-8,
     0x1.25b378c92a6c0p-7, -0x1.8d10fb6b8006fp-8, 0x1.7ec1d1d8d3387p-11,
     0x1.d4cf0ad2e6ca3p-11, -0x1.d041eea2258aep-12, -0x1.6d70cffe71229p-18,
     0x1.2007a6d7935c6p-14, -0x1.294d49e1a631dp-16, -0x1.3668d56f09b00p-18,
     0x1.b75406fd5ffd6p-19, -0x1.7ac9620b78991p-23, -0x1.5ca65a3135758p-22},
    {0x1.ff404760319b4p-1, 0x1.d4143a9dfe965p-8, -0x1.074b60f8df349p-6,
     0x1.63ef61e824425p-6, -0x1.38a98327890e6p-6, 0x1.5d3b17bbe0f22p-7,
     -0x1.7cae0d45b1a6ap-9, -0x1.5f8313b6fdd59p-11, 0x1.0602e33b9ef4ap-10,
     -0x1.8352cd05696b8p-12, -0x1.80c1330a27b22p-17, 0x1.11321ce0dc8f3p-14,
     -0x1.7ca5429a38511p-16, -0x1.65937983af9a4p-20, 0x1.cb0718bc6dc96p-19,
     -0x1.ce4a65fe7584cp-21, -0x1.50c6594c2253ap-23, 0x1.251917755b0cfp-23},
    {0x1.fff2cfb0453d9p-1, 0x1.3360ccd23db3ap-11, -0x1.a6a519a114d70p-10,
     0x1.69cf466ccdf62p-9, -0x1.ab0c273ac263ep-9, 0x1.6935960664d74p-9,
     -0x1.b2755bfd73556p-10, 0x1.52b6263f0c0e7p-11, -0x1.7557726380065p-14,
     -0x1.2abb3cb37d67fp-14, 0x1.cd592454e7d28p-15, -0x1.09d09f8254931p-16,
     -0x1.1f87c15445595p-20, 0x1.68b7ad440ba03p-19, -0x1.eb027532f1e9dp-21,
     0x1.6553f2333fb0bp-29, 0x1.c66fe8aad4da0p-24, -0x1.2882c1472066ep-25},
    {0x1.ffff6f9f67e55p-1, 0x1.e9b5e8d00ce77p-16, -0x1.8de3cd290a7c0p-14,
     0x1.9aa489e3cad21p-13, -0x1.2c7d5ef053eb0p-12, 0x1.490a4d230eab9p-12,
     -0x1.145464ea2872bp-12, 0x1.647f721c135ebp-13, -0x1.567479c97cce7p-14,
     0x1.b2c3201a66dd9p-16, -0x1.38933c0f0c9fap-19, -0x1.8070948011d1bp-19,
     0x1.ff3236f426a50p-20, -0x1.26552b63b3912p-21, 0x1.d56060892daf5p-29,
     0x1.1d2c62f6d64e1p-24, -0x1.d640778ed81c9p-26, 0x1.afec4ca81925ep-29},
    {0x1.fffffc2f171e3p-1, 0x1.d9371e2ff7c35p-21, -0x1.bba3ac4cf8472p-19,
     0x1.0b6a7b0f1b586p-17, -0x1.d06f586093ea7p-17, 0x1.3436bc9fc46f6p-16,
     -0x1.4357b5546e9f3p-16, 0x1.110de49c0acd0p-16, -0x1.7566beee1bb2fp-17,
     0x1.99f5c54c5ea75p-18, -0x1.5d6903bb02d10p-19, 0x1.a0431133a7b2dp-21,
     -0x1.833324e429526p-24, -0x1.ec7d23a1cdfffp-25, 0x1.6df3b136b9415p-25,
     -0x1.e8012ea5d94a8p-27, 0x1.cfcbfb76f6f4dp-30, 0x1.c3f3bfbbb49c7p-31},
    {0x1.fffffff01a8b6p-1, 0x1.155a09065d4f7p-26, -0x1.26afa996c3246p-24,
     0x1.95ea6fdffb3afp-23, -0x1.96ba7366c000ep-22, 0x1.3b468019bd292p-21,
     -0x1.8868e1d27f2d6p-21, 0x1.916e92305502ap-21, -0x1.566f01cad15b6p-21,
     0x1.eab4e6fa86d63p-22, -0x1.2758b2a0beedcp-22, 0x1.27d982a66f4e9p-23,
     -0x1.e03eb4cee755cp-25, 0x1.263bc8a1901e0p-26, -0x1.9fdec7298d93dp-29,
     -0x1.be2c0dfaad6fap-32, 0x1.389654ec1c67bp-31, -0x1.076088161c198p-32},
    {0x1.ffffffffd759dp-1, 0x1.8a61745ec7d1dp-33, -0x1.d453ba308d493p-31,
     0x1.6a8aeba4765aep-29, -0x1.9b017abbf1539p-28, 0x1.6b43c95302c89p-27,
     -0x1.042f2a66410c6p-26, 0x1.35dc831945a9bp-26, -0x1.3834e4e13dedcp-26,
     0x1.0d4cf48c6599fp-26, -0x1.90aa132c72227p-27, 0x1.01e4c086668e5p-27,
     -0x1.1eeb043bb237dp-28, 0x1.11dd029bd7bfbp-29, -0x1.b8a9191ee1fd3p-31,
     0x1.1eea380dfa8a3p-32, -0x1.0e23c748a4602p-34, 0x1.8615e29f4daa4p-38},
    {0x1.ffffffffffc05p-1, 0x1.5422ef5d8949dp-40, -0x1.be6dda2ac430ep-38,
     0x1.7f8a0f3e23794p-36, -0x1.e4cb4aea710d1p-35, 0x1.e044b3eb1a717p-34,
     -0x1.83ea4ba25a448p-33, 0x1.065958aed15d7p-32, -0x1.2ec54e940db0fp-32,
     0x1.2e385fc3a026fp-32, -0x1.07815c45933cap-32, 0x1.9425acbdd20eap-33,
     -0x1.11c7574f11f87p-33, 0x1.484483b3371dap-34, -0x1.5bfd9fefc661bp-35,
     0x1.449dca92f8003p-36, -0x1.07a9cf3dcd308p-37, 0x1.6cfa2f26110e4p-39},
    {0x1.ffffffffffffcp-1, 0x1.63daf8b4b1e0cp-48, -0x1.ff8ac583bfb31p-46,
     0x1.e2d06d6fd401ap-44, -0x1.505d9535a1b81p-42, 0x1.70b70116486d4p-41,
     -0x1.4aed68293ee4fp-40, 0x1.f3c5929c895efp-40, -0x1.43c123ee60917p-39,
     0x1.6d18ea5326ed0p-39, -0x1.6a4e3a492865bp-39, 0x1.3f07e3641ce1cp-39,
     -0x1.f5afa7fd1b99ap-40, 0x1.61d0f54a3aefap-40, -0x1.c0f4eae434f91p-41,
     0x1.0096a81b5bd8fp-41, -0x1.0816e36103676p-42, 0x1.e831789403765p-44},
};
constexpr double kOddSeries[] = {
    0x1.20dd750429b6dp+0,   -0x1.812746b0379e7p-2,  0x1.ce2f21a042be2p-4,
    -0x1.b82ce31288b51p-6,  0x1.565bcd0e6a53fp-8,   -0x1.c02db40040b86p-11,
    0x1.f9a326f9b89b7p-14,  -0x1.f4d25c3e0c2ebp-17, 0x1.b9e6c9dc651a3p-20,
    -0x1.5f742ec43e71ap-23, 0x1.fcc5720624c1cp-27,  -0x1.51d7181c5d36dp-30,
    0x1.9e6ad5e55a730p-34,  -0x1.d8453cb0c46eap-38};

}  // namespace

double Erf(double x) {
  const double a = std::fabs(x);
  if (a < 0.5) {
    const double square = x * x;
    double sum = 0;
    for (int i = 13; i >= 0; --i) sum = sum * square + kOddSeries[i];
    return x * sum;
  }
  if (!(a < 6)) return x != x ? x : std::copysign(1.0, x);
  const int step = static_cast<int>(a * 2);
  const double t = a - (step * 0.5 + 0.25);
  const double* c = kAround[step - 1];
  double sum = c[kTerms - 1];
  for (int i = kTerms - 2; i >= 0; --i) sum = sum * t + c[i];
  return std::copysign(sum, x);
}

}  // namespace ptxla::numerics
