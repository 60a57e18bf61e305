# Python and nanobind for python/bind. Only the headers of Python are used; nothing else in the tree sees them.

if(NOT DEFINED Python_EXECUTABLE)
  set(Python_EXECUTABLE "${INGOT_PYTHON}")
endif()
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)
execute_process(
  COMMAND "${Python_EXECUTABLE}" -m nanobind --cmake_dir
  OUTPUT_VARIABLE nanobind_ROOT
  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY
)
find_package(nanobind CONFIG REQUIRED)
