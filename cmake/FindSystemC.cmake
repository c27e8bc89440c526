# Debian's libsystemc-dev ships pkg-config files but no CMake package.
# Defines SystemC::systemc, with its headers as SYSTEM includes.
find_package(PkgConfig REQUIRED)
pkg_check_modules(PC_SYSTEMC IMPORTED_TARGET systemc)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(SystemC REQUIRED_VARS PC_SYSTEMC_FOUND
                                  VERSION_VAR PC_SYSTEMC_VERSION)
if(SystemC_FOUND AND NOT TARGET SystemC::systemc)
  add_library(SystemC::systemc INTERFACE IMPORTED)
  target_link_libraries(SystemC::systemc INTERFACE PkgConfig::PC_SYSTEMC)
endif()
