# oneDNN from its Python wheels (headers in <root>/include, library in <root>/lib): imported target DNNL::dnnl.
# INGOT_DNNL_ROOT names another prefix. DNNL_LIBRARY_DIR is where the libraries lie, for build-tree rpaths. What is linked
# is a copy beside libdnnl.so that runs on Ingot's threads.

find_path(DNNL_INCLUDE_DIR oneapi/dnnl/dnnl.hpp PATHS "${INGOT_DNNL_ROOT}/include" NO_DEFAULT_PATH)
find_library(DNNL_LIBRARY dnnl PATHS "${INGOT_DNNL_ROOT}/lib" NO_DEFAULT_PATH)

if(DNNL_INCLUDE_DIR)
  file(STRINGS "${DNNL_INCLUDE_DIR}/oneapi/dnnl/dnnl_version.h" dnnl_lines REGEX "DNNL_VERSION_(MAJOR|MINOR|PATCH) +[0-9]+")
  string(REGEX REPLACE "[^0-9;]" "" DNNL_VERSION "${dnnl_lines}")
  string(REPLACE ";" "." DNNL_VERSION "${DNNL_VERSION}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  DNNL
  REQUIRED_VARS DNNL_LIBRARY DNNL_INCLUDE_DIR
  VERSION_VAR DNNL_VERSION
  REASON_FAILURE_MESSAGE "run scripts/setup.sh, or give -DINGOT_DNNL_ROOT=<prefix>"
)

if(DNNL_FOUND AND NOT TARGET DNNL::dnnl)
  get_filename_component(DNNL_LIBRARY_DIR "${DNNL_LIBRARY}" DIRECTORY)
  set(own "${DNNL_LIBRARY_DIR}/libingdnn.so")
  set(script "${PROJECT_SOURCE_DIR}/scripts/own_dnnl.py")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${script}" "${DNNL_LIBRARY}")
  execute_process(COMMAND python3 "${script}" "${DNNL_LIBRARY}" "${own}" COMMAND_ERROR_IS_FATAL ANY)
  add_library(DNNL::dnnl SHARED IMPORTED)
  set_target_properties(
    DNNL::dnnl PROPERTIES IMPORTED_LOCATION "${own}" IMPORTED_SONAME libingdnn.so
                          INTERFACE_INCLUDE_DIRECTORIES "${DNNL_INCLUDE_DIR}"
  )
endif()
mark_as_advanced(DNNL_INCLUDE_DIR DNNL_LIBRARY)
