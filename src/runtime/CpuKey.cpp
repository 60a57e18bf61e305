#include "runtime/CpuKey.h"

#include "base/Hash.h"

#include <cstdint>
#include <vector>

#if defined(__x86_64__)
#include <cpuid.h>
#else
#include <sys/auxv.h>
#endif

namespace ingot {
namespace {

#if defined(__x86_64__)

struct Registers {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
};

Registers cpuid(unsigned leaf, unsigned subleaf = 0) {
  Registers r;
  __get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx);
  return r;
}

std::string levelName() {
  if (__builtin_cpu_supports("x86-64-v4"))
    return "x86-64-v4";
  if (__builtin_cpu_supports("x86-64-v3"))
    return "x86-64-v3";
  return __builtin_cpu_supports("x86-64-v2") ? "x86-64-v2" : "x86-64-v1";
}

/// Which vector registers the operating system saves.
uint64_t enabledRegisters() {
  if (!(cpuid(1).ecx & (1u << 27)))
    return 0;
  uint32_t low = 0;
  uint32_t high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (uint64_t(high) << 32) | low;
}

std::vector<uint64_t> cpuFacts() {
  std::vector<uint64_t> facts = {enabledRegisters()};
  auto add = [&](uint64_t high, uint64_t low) { facts.push_back((high << 32) | low); };
  // Of leaf 1, EBX differs from core to core; EAX is the model, which chooses the schedule.
  Registers basic = cpuid(1);
  add(basic.ecx, basic.edx);
  add(0, basic.eax & 0x0fff0ff0); // without the stepping
  for (unsigned subleaf : {0u, 1u}) {
    Registers extended = cpuid(7, subleaf);
    add(extended.ebx, extended.ecx);
    add(extended.edx, subleaf ? extended.eax : 0);
  }
  Registers amd = cpuid(0x80000001);
  add(amd.ecx, amd.edx);
  add(0, cpuid(0x24).ebx); // AVX10
  return facts;
}

#else

std::string levelName() { return "aarch64"; }
std::vector<uint64_t> cpuFacts() { return {getauxval(AT_HWCAP), getauxval(AT_HWCAP2)}; }

#endif

} // namespace

const std::string &cpuKey() {
  static const std::string key = [] {
    Hasher hasher;
    for (uint64_t fact : cpuFacts())
      hasher.add(fact);
    return levelName() + "-" + hasher.finish().hex().substr(0, 12);
  }();
  return key;
}

} // namespace ingot
