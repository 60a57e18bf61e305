# IR tests: every src/*/test/**/*.mlir, by lit and FileCheck. One of them: `lit build/tests/lit --filter NAME`.

set(INGOT_LLVM_TOOLS_DIR "${LLVM_TOOLS_BINARY_DIR}")
if(EXISTS "${PROJECT_SOURCE_DIR}/tests/lit.site.cfg.py.in")
  configure_file("${PROJECT_SOURCE_DIR}/tests/lit.site.cfg.py.in" "${PROJECT_BINARY_DIR}/tests/lit/lit.site.cfg.py" @ONLY)
endif()
