# Debian packages by CPack (`./wj package`): built on Debian 12, they install there and on later releases, as they need
# nothing but libc and the libraries of the compiler.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)   # `install_parts` is what packages hold; fuzzers are not
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME wavejit)
set(CPACK_PACKAGE_CONTACT "the wavejit authors <maintainers@wavejit.example.org>" CACHE STRING "the packages' maintainer")
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL wavejit library development python)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)

set(CPACK_DEBIAN_WAVEJIT_PACKAGE_NAME wavejit)
set(CPACK_DEBIAN_WAVEJIT_DESCRIPTION "run AMD GPU programs on the CPU
Runs unmodified HIP programs, and single kernels, on a machine without an AMD
GPU: the machine code is translated to AVX2 or AVX-512.

This package holds the tool and the HSA runtime that it puts below HIP.")
set(CPACK_DEBIAN_WAVEJIT_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_WAVEJIT_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_WAVEJIT_PACKAGE_RECOMMENDS "libamdhip64-5 | libamdhip64-6 | libamdhip64-7")
set(CPACK_DEBIAN_WAVEJIT_PACKAGE_SUGGESTS "libdw1, libzydis4.0, libzycore1.4")

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libwavejit${PROJECT_VERSION_MAJOR})
set(CPACK_DEBIAN_LIBRARY_DESCRIPTION "run AMD GPU kernels on the CPU (library)
Runs the kernels of code objects for AMD GPUs on a machine without one, from
programs that embed it.")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SHLIBDEPS ON)
# What others' packages depend on when they are built with it, and that the loader's cache is made anew.
set(wj_library ${CPACK_DEBIAN_LIBRARY_PACKAGE_NAME})
file(WRITE ${CMAKE_BINARY_DIR}/shlibs "libwavejit ${PROJECT_VERSION_MAJOR} ${wj_library} (>= ${PROJECT_VERSION})\n")
file(WRITE ${CMAKE_BINARY_DIR}/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${CMAKE_BINARY_DIR}/shlibs ${CMAKE_BINARY_DIR}/triggers)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SUGGESTS "libdw1, libzydis4.0, libzycore1.4")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libwavejit-dev)
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "run AMD GPU kernels on the CPU (development files)
Header, archive, CMake package and pkg-config file of wavejit's C interface.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${wj_library} (= ${PROJECT_VERSION})")

set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-wavejit)
set(CPACK_DEBIAN_PYTHON_DESCRIPTION "run AMD GPU kernels on the CPU (Python 3)
Runs the kernels of code objects for AMD GPUs on numpy arrays, on a machine
without a GPU.")
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3 (>= 3.9), python3-numpy, ${wj_library} (= ${PROJECT_VERSION})")
# What Python compiles is made when the package comes, and goes with it.
foreach(script postinst:py3compile prerm:py3clean)
  string(REPLACE ":" ";" script ${script})
  list(POP_FRONT script name command)
  file(WRITE ${CMAKE_BINARY_DIR}/python/${name} "#!/bin/sh\nset -e\nif command -v ${command} >/dev/null; then ${command} -p python3-wavejit; fi\n")
  file(CHMOD ${CMAKE_BINARY_DIR}/python/${name}
    PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
endforeach()
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA ${CMAKE_BINARY_DIR}/python/postinst ${CMAKE_BINARY_DIR}/python/prerm)

# Debian wants a changelog in each package, and to be told why libraries are inside (docs/use/install.md).
string(TIMESTAMP wj_now "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${CMAKE_BINARY_DIR}/changelog "wavejit (${PROJECT_VERSION}) unstable; urgency=medium

  * Version ${PROJECT_VERSION}.

 -- ${CPACK_PACKAGE_CONTACT}  ${wj_now}
")
execute_process(COMMAND gzip -9nkf changelog WORKING_DIRECTORY ${CMAKE_BINARY_DIR} COMMAND_ERROR_IS_FATAL ANY)
foreach(component ${CPACK_COMPONENTS_ALL})
  string(TOUPPER ${component} upper)
  set(package ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  install(FILES ${CMAKE_BINARY_DIR}/changelog.gz COMPONENT ${component} DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package})
  file(WRITE ${CMAKE_BINARY_DIR}/overrides/${package}
    "# One package for several releases, whose libraries differ in version.\n${package}: embedded-library *\n")
  if(component MATCHES "^(wavejit|library)$")
    install(FILES ${CMAKE_BINARY_DIR}/overrides/${package} COMPONENT ${component}
      DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides)
  endif()
endforeach()
include(CPack)
