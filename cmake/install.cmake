# The program, the library (shared and static), its header and its pkg-config file, and the models.
include(GNUInstallDirs)
set(CMAKE_INSTALL_LIBDIR lib) # whatever the prefix, so that rondo.pc finds everything from where it lies
add_library(rondo_shared SHARED $<TARGET_OBJECTS:rondo_objects>)
target_link_libraries(rondo_shared PRIVATE rondo_flags)
set_target_properties(rondo_shared PROPERTIES OUTPUT_NAME rondo VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})

# The static one as a single object in which all but the public functions are local: names of ours cannot clash with those of others.
set(static_library ${CMAKE_BINARY_DIR}/librondo.a)
add_custom_command(OUTPUT ${static_library}
  COMMAND ${CMAKE_LINKER} -r -o librondo.o $<TARGET_OBJECTS:rondo_objects>
  COMMAND ${CMAKE_OBJCOPY} --localize-hidden librondo.o
  COMMAND ${CMAKE_COMMAND} -E rm -f ${static_library}
  COMMAND ${CMAKE_AR} rcs ${static_library} librondo.o
  COMMAND ${CMAKE_COMMAND} -E rm -f librondo.o
  DEPENDS rondo_objects $<TARGET_OBJECTS:rondo_objects> COMMAND_EXPAND_LISTS VERBATIM)
add_custom_target(rondo_static ALL DEPENDS ${static_library})

set(rondo_private_libraries "-lxxhash -ljansson -lm")
if(RONDO_Z3)
  string(APPEND rondo_private_libraries " -lz3")
endif()
if(RONDO_THREADS)
  string(APPEND rondo_private_libraries " -pthread")
endif()
configure_file(cmake/rondo.pc.in rondo.pc @ONLY)

install(TARGETS rondo rondo_shared RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${static_library} DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${CMAKE_SOURCE_DIR}/include/rondo.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${CMAKE_BINARY_DIR}/rondo.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
include(cmake/manual.cmake)
install(DIRECTORY models DESTINATION ${CMAKE_INSTALL_DATADIR}/rondo FILES_MATCHING PATTERN "*.rondo" PATTERN "tables.json")
