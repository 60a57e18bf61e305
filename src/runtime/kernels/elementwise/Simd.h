// Functions compiled for several instruction sets, chosen when the library is loaded.
#pragma once

/// For plain loops over float in free functions. The vectoriser does the rest. Sanitizers are not ready when
/// the choice is made, so they get the default.
#if defined(__x86_64__) && !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer) &&                    \
    !__has_feature(memory_sanitizer)
#define INGOT_SIMD __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define INGOT_SIMD
#endif
