# What `cmake --install` puts where (docs/use/install.md), in four components: `wavejit` (the tool and the drop-in),
# `library` (what programs that embed wavejit need to run), `development` (what they need to be built), `python`.
# All paths inside are relative, so that a tree may be moved. The build folder is laid out like a prefix, too.
include(CMakePackageConfigHelpers)
set(wj_config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/wavejit)
set(wj_build_config_dir ${CMAKE_BINARY_DIR}/lib/cmake/wavejit)

install(TARGETS wavejit RUNTIME COMPONENT wavejit)
set(wj_manual ${CMAKE_BINARY_DIR}/tools/wavejit.1)
if(WAVEJIT_DEBIAN)
  set(wj_manual ${wj_manual}.gz)
endif()
install(FILES ${wj_manual} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT wavejit)
install(PROGRAMS ${CMAKE_BINARY_DIR}/tools/shims/lsmod DESTINATION ${CMAKE_INSTALL_LIBDIR}/wavejit/shims COMPONENT wavejit)
install(TARGETS wavejit-kfd LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/wavejit/shims COMPONENT wavejit)
if(TARGET hsa-runtime64)
  install(TARGETS hsa-runtime64 LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/wavejit COMPONENT wavejit NAMELINK_SKIP)
endif()
if(TARGET comgr2)
  install(TARGETS comgr2 comgr3 LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/wavejit COMPONENT wavejit)
endif()

install(TARGETS wavejit_shared wavejit_archive EXPORT wavejit-targets
  LIBRARY COMPONENT library NAMELINK_COMPONENT development
  ARCHIVE COMPONENT development INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES include/wavejit/wavejit.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/wavejit COMPONENT development)

# Where Debian's Python looks; it finds the library by its own place (python/wavejit/_c.py).
install(DIRECTORY python/wavejit DESTINATION lib/python3/dist-packages COMPONENT python
  FILES_MATCHING PATTERN "*.py" PATTERN "py.typed" PATTERN __pycache__ EXCLUDE)

# CMake: find_package(wavejit), targets wavejit::wavejit and wavejit::static. With 0 in front, minor versions differ.
install(EXPORT wavejit-targets NAMESPACE wavejit:: DESTINATION ${wj_config_dir} COMPONENT development)
export(EXPORT wavejit-targets NAMESPACE wavejit:: FILE ${wj_build_config_dir}/wavejit-targets.cmake)
configure_file(cmake/package/wavejit-config.cmake ${wj_build_config_dir}/wavejit-config.cmake COPYONLY)
write_basic_package_version_file(${wj_build_config_dir}/wavejit-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${wj_build_config_dir}/wavejit-config.cmake ${wj_build_config_dir}/wavejit-config-version.cmake
  DESTINATION ${wj_config_dir} COMPONENT development)

# pkg-config: the same file for the build folder, where the header is in the sources.
function(wj_pkg_config file libdir)
  cmake_path(SET WJ_PC_DIRECTORY NORMALIZE "/prefix/${libdir}/pkgconfig")
  file(RELATIVE_PATH WJ_PC_PREFIX ${WJ_PC_DIRECTORY} /prefix)
  set(WJ_PC_LIBDIR ${libdir})
  set(WJ_PC_INCLUDEDIR ${ARGN})
  configure_file(cmake/package/wavejit.pc.in ${file} @ONLY)
endfunction()
wj_pkg_config(${CMAKE_BINARY_DIR}/lib/pkgconfig/wavejit.pc lib ${PROJECT_SOURCE_DIR}/include)
wj_pkg_config(${CMAKE_BINARY_DIR}/wavejit.pc ${CMAKE_INSTALL_LIBDIR} "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
install(FILES ${CMAKE_BINARY_DIR}/wavejit.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

# Licences: ours, and those of what is inside the binaries, as Debian states them.
set(wj_licences ${CMAKE_BINARY_DIR}/copyright)
file(READ LICENSE text)
file(WRITE ${wj_licences} "${text}\nwavejit contains the following, under the licences below.\n")
foreach(package libasmjit-dev libcli11-dev libfmt-dev libmsgpack-cxx-dev libxxhash-dev libyaml-dev libzstd-dev zlib1g-dev)
  file(READ /usr/share/doc/${package}/copyright text)
  file(APPEND ${wj_licences} "\n==== ${package} ====\n\n${text}")
endforeach()
foreach(pair wavejit:wavejit library:libwavejit0 development:libwavejit-dev python:python3-wavejit)
  string(REPLACE ":" ";" pair ${pair})
  list(GET pair 0 component)
  list(GET pair 1 package)
  install(FILES ${wj_licences} DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package} COMPONENT ${component})
endforeach()

# What an installation needs built: `ninja install_parts`.
add_custom_target(install_parts DEPENDS manual wavejit-kfd wavejit_shared wavejit_archive $<TARGET_NAME_IF_EXISTS:hsa-runtime64>)
