# AsmJit for shared libraries. Debian's libasmjit.a refers to stderr directly, which the linker allows in programs
# only; in this copy the symbol is a variable of our own (backend_x64/asm/asmjit_stderr.cpp).
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
