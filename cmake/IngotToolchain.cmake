# Flags for every target, our own or not (nanobind's library, gtest mains): language level, code model, linker, rpaths.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_COLOR_DIAGNOSTICS ON)

add_compile_options(-ffunction-sections -fdata-sections)
add_link_options(-fuse-ld=lld -Wl,--gc-sections -Wl,--as-needed)

# The build tree mirrors the installed one: every library in lib/, every program in bin/, so that one set of
# $ORIGIN-relative paths is right in both and dlopen("same folder") works before installation.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)

# Installation is a Python wheel: the prefix is site-packages, programs go to the environment's bin/.
# scikit-build-core gives the scripts folder of the wheel; a plain `cmake --install` uses the one beside it.
set(INGOT_INSTALL_LIBDIR "ingot/lib")
if(DEFINED SKBUILD_SCRIPTS_DIR)
  set(INGOT_INSTALL_BINDIR "${SKBUILD_SCRIPTS_DIR}")
else()
  set(INGOT_INSTALL_BINDIR "../../../bin")
endif()
set(INGOT_BIN_TO_LIB "../lib/python3.11/site-packages/${INGOT_INSTALL_LIBDIR}")
set(INGOT_LIB_TO_ENV_LIB "../../../..") # site-packages/ingot/lib -> .venv/lib, where oneDNN's wheel puts libdnnl.so

# ccache has to be told that a precompiled header compiled from the same bytes is the same header.
find_program(INGOT_CCACHE ccache)
if(INGOT_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(sloppy "CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime")
  set(CMAKE_C_COMPILER_LAUNCHER "${CMAKE_COMMAND};-E;env;${sloppy};${INGOT_CCACHE}")
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_C_COMPILER_LAUNCHER}")
endif()

# Fuzzers are built with the address sanitizer: coverage alone finds only what crashes by itself.
if(INGOT_FUZZ AND NOT INGOT_SANITIZE)
  set(INGOT_SANITIZE "address,undefined")
endif()
if(INGOT_SANITIZE)
  # -O1: half the time of compiling. `vptr` needs the type information of MLIR, which has none.
  set(CMAKE_CXX_FLAGS_RELEASE "-O1 -DNDEBUG")
  set(CMAKE_C_FLAGS_RELEASE "-O1 -DNDEBUG")
  add_compile_options(-fsanitize=${INGOT_SANITIZE} -fno-sanitize=vptr -fno-sanitize-recover=all)
  add_compile_options(-fno-omit-frame-pointer -gline-tables-only)
  add_link_options(-fsanitize=${INGOT_SANITIZE})
endif()
if(INGOT_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
