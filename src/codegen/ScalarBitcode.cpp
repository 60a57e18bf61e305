#include "codegen/ScalarBitcode.h"

// CMake defines the path, and rebuilds this file when the bitcode changes. ccache does not cache .incbin.
asm(".section .rodata.ingot_scalar_bitcode,\"a\",@progbits\n"
    ".balign 16\n"
    "ingot_scalar_bitcode_begin:\n"
    ".incbin \"" INGOT_SCALAR_BITCODE "\"\n"
    "ingot_scalar_bitcode_end:\n"
    ".byte 0\n"
    ".text\n");

extern "C" {
extern const char ingot_scalar_bitcode_begin[] __attribute__((visibility("hidden")));
extern const char ingot_scalar_bitcode_end[] __attribute__((visibility("hidden")));
}

namespace ingot::codegen {

llvm::StringRef scalarBitcode() {
  return {ingot_scalar_bitcode_begin, static_cast<size_t>(ingot_scalar_bitcode_end - ingot_scalar_bitcode_begin)};
}

} // namespace ingot::codegen
