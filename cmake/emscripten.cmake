# What is different where emcc is the compiler (`make wasm`): a program for node, in WebAssembly, without a solver and without threads.
if(RONDO_Z3 OR RONDO_THREADS)
  message(FATAL_ERROR "for emscripten: -DRONDO_Z3=OFF -DRONDO_THREADS=OFF")
endif()
set(RONDO_JANSSON_SOURCE "" CACHE PATH "jansson's source, unpacked (scripts/jansson-source)")
if(NOT EXISTS ${RONDO_JANSSON_SOURCE}/src/jansson.h)
  message(FATAL_ERROR "RONDO_JANSSON_SOURCE must name the unpacked source of jansson: scripts/jansson-source fetches it")
endif()
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")

# emcc spends more time on finding out what clang is to be called with than clang on most files: it is asked once.
execute_process(COMMAND ${CMAKE_C_COMPILER} --cflags OUTPUT_VARIABLE emcc_flags OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed)
find_program(EM_CONFIG em-config)
execute_process(COMMAND ${EM_CONFIG} LLVM_ROOT OUTPUT_VARIABLE llvm OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT failed AND EXISTS ${llvm}/clang)
  set(CMAKE_C_COMPILE_OBJECT "${llvm}/clang ${emcc_flags} <DEFINES> <INCLUDES> <FLAGS> -o <OBJECT> -c <SOURCE>")
endif()

# Of xxHash only the header is needed; beside it lies what must not be seen here.
find_path(XXHASH_INCLUDE xxhash.h PATHS /usr/include /usr/local/include NO_CMAKE_FIND_ROOT_PATH REQUIRED)
configure_file(${XXHASH_INCLUDE}/xxhash.h ${CMAKE_BINARY_DIR}/include/xxhash.h COPYONLY)

set(json_inline inline)
foreach(there long_long localeconv atomic_builtins sync_builtins)
  set(json_have_${there} 1)
endforeach()
configure_file(${RONDO_JANSSON_SOURCE}/src/jansson_config.h.in ${CMAKE_BINARY_DIR}/include/jansson_config.h @ONLY)
configure_file(${RONDO_JANSSON_SOURCE}/src/jansson.h ${CMAKE_BINARY_DIR}/include/jansson.h COPYONLY)
file(WRITE ${CMAKE_BINARY_DIR}/include/jansson_private_config.h "") # what would be in it is defined below
file(GLOB jansson_sources ${RONDO_JANSSON_SOURCE}/src/*.c)
add_library(jansson STATIC ${jansson_sources})
target_compile_definitions(jansson PRIVATE HAVE_STDINT_H HAVE_UNISTD_H HAVE_SYS_TYPES_H HAVE_SYS_TIME_H HAVE_GETTIMEOFDAY)
target_include_directories(jansson PUBLIC ${CMAKE_BINARY_DIR}/include)

set(XXHASH_LIBRARY)
set(JANSSON_LIBRARY jansson)
# (-O2 here would be wasm-opt: a twentieth smaller, and takes twenty times as long.) Files and the exit status are those of the process; memory grows up to 2 GiB.
target_link_options(rondo_flags INTERFACE -O1 -sENVIRONMENT=node -sWASM_ASYNC_COMPILATION=0 -sNODERAWFS=1 -sEXIT_RUNTIME=1 -sALLOW_MEMORY_GROWTH=1 -sTOTAL_STACK=8MB)
