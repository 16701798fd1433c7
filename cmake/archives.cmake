# What others wrote and wavejit contains. It is taken from archives and its names stay inside (exports.map), so that an
# installed wavejit needs nothing but the C and C++ libraries. What has no archive in Debian is header-only (CLI11,
# msgpack, xxHash) or opened when a feature needs it (common/optional_library.h).
set(wj_archives)   # files, for the archive that embedders link (runtime/embed.cmake)

# wj_archive(TARGET NAME): libNAME.a as an imported target.
function(wj_archive target name)
  find_library(WJ_ARCHIVE_${name} lib${name}.a REQUIRED)
  add_library(${target} STATIC IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION ${WJ_ARCHIVE_${name}})
  set(wj_archives ${wj_archives} ${WJ_ARCHIVE_${name}} PARENT_SCOPE)
endfunction()
wj_archive(wj_yaml yaml)
wj_archive(wj_zstd zstd)
wj_archive(wj_zlib z)

# Debian's libasmjit.a refers to stderr directly, which the linker allows in programs only; in this copy the symbol is a
# variable of our own (backend_x64/asm/asmjit_stderr.cpp).
find_package(asmjit REQUIRED)
get_target_property(wj_asmjit_archive asmjit::asmjit LOCATION)
set(wj_asmjit_copy ${CMAKE_BINARY_DIR}/libasmjit_pic.a)
if(${wj_asmjit_archive} IS_NEWER_THAN ${wj_asmjit_copy})
  execute_process(
    COMMAND ${CMAKE_OBJCOPY} --redefine-sym stderr=wj_asmjit_stderr ${wj_asmjit_archive} ${wj_asmjit_copy}
    COMMAND_ERROR_IS_FATAL ANY)
endif()
add_library(wj_asmjit INTERFACE)
target_link_libraries(wj_asmjit INTERFACE ${wj_asmjit_copy} Threads::Threads rt)
list(APPEND wj_archives ${wj_asmjit_copy})

find_package(fmt REQUIRED)   # its headers; common/fmt.cpp is the rest
