# oneDNN from its Python wheels (headers in <root>/include, library in <root>/lib): imported target DNNL::dnnl.
# INGOT_DNNL_ROOT names another prefix. DNNL_LIBRARY_DIR is where libdnnl.so lies, for build-tree rpaths.

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
  add_library(DNNL::dnnl SHARED IMPORTED)
  set_target_properties(
    DNNL::dnnl PROPERTIES IMPORTED_LOCATION "${DNNL_LIBRARY}" IMPORTED_SONAME libdnnl.so.3
                          INTERFACE_INCLUDE_DIRECTORIES "${DNNL_INCLUDE_DIR}"
  )
endif()
mark_as_advanced(DNNL_INCLUDE_DIR DNNL_LIBRARY)
