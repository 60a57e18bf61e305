# MLIR 19, its TableGen, and the shared precompiled header.
#
# Targets of ours are plain add_library()s: MLIR's add_mlir_library() pulls in its static libraries, and two copies of
# MLIR in one process (static here, libMLIR.so there) register every dialect twice.

find_package(MLIR 19.1 REQUIRED CONFIG HINTS /usr/lib/llvm-19/lib/cmake/mlir)
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
# TableGen.cmake writes its dependency files relative to the top of the build tree. With the policy's new behaviour CMake
# moves them below the folder a second time, and every .inc is rebuilt on every run.
cmake_policy(SET CMP0116 OLD)
include(TableGen)
include(AddLLVM)
include(AddMLIR)

# mlir_tablegen() reads the folder's include path, so it is set here for every folder added after this file.
include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
include_directories("${PROJECT_SOURCE_DIR}/src")
# Assertions of MLIR's headers throw (src/base/checked/assert.h).
include_directories(BEFORE "${PROJECT_SOURCE_DIR}/src/base/checked")
include_directories(SYSTEM "${PROJECT_BINARY_DIR}/src")

separate_arguments(ingot_llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")

# Link this to use MLIR or LLVM: the shared libraries, their headers as system headers, their definitions.
add_library(ingot_mlir INTERFACE)
target_include_directories(ingot_mlir SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
target_compile_definitions(ingot_mlir INTERFACE ${ingot_llvm_definitions})
target_link_libraries(ingot_mlir INTERFACE MLIR LLVM)

# The owner of the precompiled header. It holds no code of ours.
set(ingot_pch_source "${PROJECT_BINARY_DIR}/ingot_mlir_pch_owner.cpp")
file(CONFIGURE OUTPUT "${ingot_pch_source}" CONTENT "// Owns the precompiled header.\n")
add_library(ingot_mlir_pch_owner STATIC EXCLUDE_FROM_ALL "${ingot_pch_source}")
ingot_target_defaults(ingot_mlir_pch_owner)
target_link_libraries(ingot_mlir_pch_owner PRIVATE ingot_mlir)
target_compile_options(ingot_mlir_pch_owner PRIVATE -Xclang -fno-pch-timestamp)
target_precompile_headers(
  ingot_mlir_pch_owner
  PRIVATE
  <mlir/Dialect/Func/IR/FuncOps.h>
  <mlir/IR/Builders.h>
  <mlir/IR/BuiltinAttributes.h>
  <mlir/IR/BuiltinOps.h>
  <mlir/IR/BuiltinTypes.h>
  <mlir/IR/Matchers.h>
  <mlir/IR/PatternMatch.h>
  <mlir/Pass/Pass.h>
)

function(ingot_mlir_pch target)
  target_link_libraries(${target} PUBLIC ingot_mlir)
  target_compile_options(${target} PRIVATE -Xclang -fno-pch-timestamp)
  target_precompile_headers(${target} REUSE_FROM ingot_mlir_pch_owner)
endfunction()
