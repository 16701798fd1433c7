# libwavejit.a as embedders link it: one object with everything inside, which defines wj_* and nothing else. Whatever
# versions of AsmJit, libyaml, zlib, ... the embedder has beside it, none is mistaken for another.
set(wj_object ${CMAKE_CURRENT_BINARY_DIR}/wavejit.o)
add_custom_command(
  OUTPUT ${wj_object}
  # Groups of sections are made ordinary ones: the linker would take the embedder's copy of an inline function instead of
  # ours, which our local names could not refer to.
  COMMAND ${CMAKE_LINKER} -r --force-group-allocation -o ${wj_object}
          --whole-archive $<TARGET_FILE:wavejit_static> --no-whole-archive ${wj_archives}
  # First unique symbols become weak ones, as unique ones are not made local.
  COMMAND sh -c "'${CMAKE_NM}' --defined-only '${wj_object}' | awk '$2 == \"u\" { print $3 }' >'${wj_object}.unique'"
  COMMAND ${CMAKE_OBJCOPY} --weaken-symbols=${wj_object}.unique ${wj_object}
  COMMAND ${CMAKE_OBJCOPY} --wildcard --keep-global-symbol=!wj_asmjit_stderr --keep-global-symbol=wj_* ${wj_object}
  DEPENDS wavejit_static ${wj_archives} VERBATIM)
add_library(wavejit_archive STATIC ${wj_object})
set_source_files_properties(${wj_object} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
set_target_properties(wavejit_archive PROPERTIES LINKER_LANGUAGE C OUTPUT_NAME wavejit EXPORT_NAME static
  ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
target_include_directories(wavejit_archive INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
target_compile_definitions(wavejit_archive INTERFACE WJ_STATIC)
target_link_libraries(wavejit_archive INTERFACE stdc++ m Threads::Threads ${CMAKE_DL_LIBS})
