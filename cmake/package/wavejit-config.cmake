# find_package(wavejit): wavejit::wavejit is the shared library, wavejit::static the archive.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/wavejit-targets.cmake)
