# The functions a folder's CMakeLists.txt uses.
#
#   ingot_target_defaults(<target>)
#       Warnings as errors; include paths: src/ ("base/Result.h"), include/ ("ingot/ingot.h"), and the generated src/.
#   ingot_mlir_pch(<target>)                 [after cmake/IngotMlir.cmake]
#       Links MLIR and shares one precompiled header of its common includes.
#   ingot_add_unit_test(<name> SOURCES <file>... [LINK <lib>...])
#       A GoogleTest program in bin/, run by ctest. LINK must hold everything the sources use.
#   ingot_add_fuzzer(<name> SOURCES <file>... SEEDS <file or folder>... [LINK <lib>...] [CHANGES <n>])
#       A libFuzzer program with -DINGOT_FUZZ=ON. Without, a program that replays the seeds and the regressions of
#       tests/fuzz/regressions/<name>, each with some changes: a unit test.
#   ingot_install_library(<target>) / ingot_install_program(<target>) / ingot_install_module(<target>)
#       Installation with the right $ORIGIN paths: a library, a native program, the Python extension.

# The glob makes the build system configure again when a folder's CMakeLists.txt appears or goes.
function(ingot_add_folder folder)
  if(INGOT_ONLY AND NOT folder IN_LIST INGOT_ONLY)
    return()
  endif()
  file(GLOB present CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${folder}/CMakeLists.txt")
  if(present)
    add_subdirectory("${folder}")
  else()
    message(STATUS "ingot: ${folder} is not there yet")
  endif()
endfunction()

function(ingot_target_defaults target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Werror)
  target_include_directories(${target} PUBLIC "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/include")
  # Generated headers are system headers: TableGen's output has unused parameters.
  target_include_directories(${target} SYSTEM PUBLIC "${PROJECT_BINARY_DIR}/src")
endfunction()

function(ingot_add_unit_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  if(NOT INGOT_BUILD_TESTS)
    return()
  endif()
  add_executable(${name} ${arg_SOURCES})
  ingot_target_defaults(${name})
  target_link_libraries(${name} PRIVATE ${arg_LINK} GTest::gmock GTest::gtest GTest::gtest_main Threads::Threads)
  set_target_properties(${name} PROPERTIES BUILD_RPATH "$ORIGIN/../lib;${DNNL_LIBRARY_DIR}")
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  set_tests_properties(${name} PROPERTIES TIMEOUT 300)
endfunction()

function(ingot_add_fuzzer name)
  cmake_parse_arguments(arg "" "CHANGES" "SOURCES;LINK;SEEDS" ${ARGN})
  if(NOT INGOT_FUZZ AND NOT INGOT_BUILD_TESTS)
    return()
  endif()
  add_executable(${name} ${arg_SOURCES})
  ingot_target_defaults(${name})
  target_link_libraries(${name} PRIVATE ${arg_LINK} ingot_base ZLIB::ZLIB)
  set_target_properties(${name} PROPERTIES BUILD_RPATH "$ORIGIN/../lib;${DNNL_LIBRARY_DIR}")
  set(regressions "${PROJECT_SOURCE_DIR}/tests/fuzz/regressions/${name}")
  if(NOT EXISTS "${regressions}")
    set(regressions "")
  endif()
  if(INGOT_FUZZ)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    if(NOT TARGET fuzzers)
      add_custom_target(fuzzers)
    endif()
    add_dependencies(fuzzers ${name})
    add_test(NAME ${name} COMMAND ${name} -runs=0 ${arg_SEEDS} ${regressions})
  else()
    target_sources(${name} PRIVATE "${PROJECT_SOURCE_DIR}/src/base/test/FuzzReplay.cpp")
    if(NOT arg_CHANGES)
      set(arg_CHANGES 200)
    endif()
    add_test(NAME ${name} COMMAND ${name} -changes=${arg_CHANGES} ${arg_SEEDS} ${regressions})
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT 300 WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
endfunction()

function(ingot_install_library target)
  # libMLIR.so lies outside the loader's default path. LLVM_LIBRARY_DIR is not set yet in folders that must not see it.
  set(installed "$ORIGIN" "$ORIGIN/${INGOT_LIB_TO_ENV_LIB}" ${LLVM_LIBRARY_DIR})
  set_target_properties(
    ${target} PROPERTIES BUILD_RPATH "$ORIGIN;${DNNL_LIBRARY_DIR};${LLVM_LIBRARY_DIR}" INSTALL_RPATH "${installed}"
  )
  install(TARGETS ${target} LIBRARY DESTINATION "${INGOT_INSTALL_LIBDIR}" COMPONENT ingot)
endfunction()

function(ingot_install_program target)
  set_target_properties(
    ${target} PROPERTIES BUILD_RPATH "$ORIGIN/../lib;${DNNL_LIBRARY_DIR}"
                         INSTALL_RPATH "$ORIGIN/${INGOT_BIN_TO_LIB};$ORIGIN/../lib"
  )
  install(TARGETS ${target} RUNTIME DESTINATION "${INGOT_INSTALL_BINDIR}" COMPONENT ingot)
endfunction()

# The Python extension lies in site-packages/ingot, beside ingot/lib.
function(ingot_install_module target)
  set_target_properties(
    ${target} PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/python/ingot"
                         BUILD_RPATH "$ORIGIN/../../lib" INSTALL_RPATH "$ORIGIN/lib"
  )
  install(TARGETS ${target} LIBRARY DESTINATION ingot COMPONENT ingot)
endfunction()
