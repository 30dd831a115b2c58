# How our targets are made: flags once, one library per folder, one test program per test folder.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

# Paths below the tree count as relative, so that another clone, and the package's build, are served by what
# was compiled once.
find_program(SAMOVAR_CCACHE ccache)
if(SAMOVAR_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
    ${SAMOVAR_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()
file(RELATIVE_PATH SAMOVAR_TREE_FROM_BUILD ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR})
string(REGEX REPLACE "/+$" "" SAMOVAR_TREE_FROM_BUILD "${SAMOVAR_TREE_FROM_BUILD}")

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(OpenSSL 3.0 REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json 3.10 REQUIRED)
pkg_check_modules(sodium REQUIRED IMPORTED_TARGET libsodium)
pkg_check_modules(sqlite REQUIRED IMPORTED_TARGET sqlite3)
pkg_check_modules(raft REQUIRED IMPORTED_TARGET raft)
pkg_check_modules(uv REQUIRED IMPORTED_TARGET libuv)
pkg_check_modules(systemd REQUIRED IMPORTED_TARGET libsystemd)
pkg_check_modules(zlib REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(lzma REQUIRED IMPORTED_TARGET liblzma)

# In a header, not on the command line: all that has no failpoints is the same object with and without them.
configure_file(${CMAKE_CURRENT_LIST_DIR}/failpoints_switch.hpp.in ${CMAKE_BINARY_DIR}/generated/failpoints_switch.hpp @ONLY)

add_library(samovar_flags INTERFACE)
target_include_directories(samovar_flags INTERFACE ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/generated)
target_compile_options(samovar_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-align -Wnull-dereference
  -Wformat-security -fstack-protector-strong $<$<BOOL:${SAMOVAR_WERROR}>:-Werror>
  # __FILE__ as the tree has it: log lines and errors do not tell where the build ran.
  -fmacro-prefix-map=${CMAKE_SOURCE_DIR}/= -fmacro-prefix-map=${SAMOVAR_TREE_FROM_BUILD}/=
  -fdebug-prefix-map=${CMAKE_BINARY_DIR}=/usr/src/samovar/build/here)
target_compile_definitions(samovar_flags INTERFACE
  SAMOVAR_VERSION="${PROJECT_VERSION}"
  _GLIBCXX_ASSERTIONS
  BOOST_ASIO_SEPARATE_COMPILATION BOOST_BEAST_SEPARATE_COMPILATION BOOST_ASIO_NO_DEPRECATED)
if(NOT SAMOVAR_SANITIZE)
  target_compile_definitions(samovar_flags INTERFACE $<$<NOT:$<CONFIG:Debug>>:_FORTIFY_SOURCE=2>)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 reports these inside its own coroutine frames and inlined library code: noise, not findings.
  target_compile_options(samovar_flags INTERFACE -Wno-null-dereference -Wno-maybe-uninitialized -Wno-restrict
    -Wno-mismatched-new-delete)
  if(SAMOVAR_SANITIZE MATCHES "thread")
    target_compile_options(samovar_flags INTERFACE -Wno-tsan)
  endif()
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(samovar_flags INTERFACE -Wthread-safety -Wno-gnu-zero-variadic-macro-arguments)
endif()
if(SAMOVAR_SANITIZE)
  target_compile_options(samovar_flags INTERFACE -fsanitize=${SAMOVAR_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(samovar_flags INTERFACE -fsanitize=${SAMOVAR_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # clang 14 cannot place this check's prologue in front of the pieces of a split coroutine.
    target_compile_options(samovar_flags INTERFACE -fno-sanitize=function)
  endif()
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64")
  target_compile_options(samovar_flags INTERFACE -fcf-protection)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64")
  target_compile_options(samovar_flags INTERFACE -mbranch-protection=standard)
endif()
target_link_options(samovar_flags INTERFACE -Wl,-z,relro,-z,now)

# samovar_group(samovar_base): its sources are compiled together, a few at a time (group_sources.py says which), in less
# than half the time. Those with settings of their own stay alone: known at the end of their folder only.
option(SAMOVAR_GROUPS "Compile small source files together" ON)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/group_sources.py)
function(samovar_group target)
  if(SAMOVAR_GROUPS)
    cmake_language(EVAL CODE "cmake_language(DEFER CALL samovar_group_at_end [[${target}]])")
  endif()
endfunction()

function(samovar_group_at_end target)
  get_target_property(sources ${target} SOURCES)
  set(together)
  set(alone)
  foreach(source IN LISTS sources)
    set(special TRUE)
    if(source MATCHES "\\.cpp$" AND NOT source MATCHES "^[$]<")
      get_source_file_property(file ${source} LOCATION)
      cmake_path(IS_PREFIX CMAKE_BINARY_DIR ${file} NORMALIZE special)
      foreach(property COMPILE_OPTIONS COMPILE_DEFINITIONS OBJECT_DEPENDS GENERATED)
        get_source_file_property(value ${source} ${property})
        if(value)
          set(special TRUE)
        endif()
      endforeach()
    endif()
    if(special)
      list(APPEND alone ${source})
    else()
      file(RELATIVE_PATH file ${CMAKE_SOURCE_DIR} ${file})
      list(APPEND together ${file})
    endif()
  endforeach()
  list(LENGTH together count)
  if(count LESS 2)
    return()
  endif()
  set(program ${CMAKE_SOURCE_DIR}/toolchains/group_sources.py)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/groups/${target})
  set(lines 1600)
  execute_process(COMMAND ${Python3_EXECUTABLE} ${program} plan ${folder} ${lines} ${together}
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} OUTPUT_VARIABLE groups OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  math(EXPR groups "${groups} + 2")  # two to spare, for files that come to clash with their neighbours
  set(files)
  math(EXPR last "${groups} - 1")
  foreach(number RANGE ${last})
    list(APPEND files ${folder}/group_${number}.cpp)
  endforeach()
  list(TRANSFORM together PREPEND ${CMAKE_SOURCE_DIR}/ OUTPUT_VARIABLE inputs)
  add_custom_command(OUTPUT ${files}
    COMMAND ${Python3_EXECUTABLE} -B ${program} write ${folder} ${lines} ${groups} ${together}
    DEPENDS ${program} ${inputs}
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
    COMMENT "Grouping the sources of ${target}" VERBATIM)
  set_property(TARGET ${target} PROPERTY SOURCES ${alone} ${files})
  # g++ takes an included file for a header, in which unnamed namespaces would be a mistake.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()

# samovar_library(samovar_base SOURCES … LINKS …)
function(samovar_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINKS" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  samovar_group(${name})
  target_link_libraries(${name} PUBLIC samovar_flags ${arg_LINKS})
endfunction()

# samovar_test(base_test SOURCES … LINKS … [TIMEOUT s] [LABELS …]): a GoogleTest program, one ctest entry per test.
function(samovar_test name)
  cmake_parse_arguments(arg "" "TIMEOUT" "SOURCES;LINKS;LABELS" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  if(CMAKE_CROSSCOMPILING)
    math(EXPR arg_TIMEOUT "10 * ${arg_TIMEOUT}")  # translated, and often two at a time on a busy machine
  endif()
  add_executable(${name} ${arg_SOURCES})
  samovar_group(${name})
  target_link_libraries(${name} PRIVATE ${arg_LINKS} GTest::gtest GTest::gmock GTest::gtest_main)
  # What is tested is compiled as it is shipped; what tests it need not be quick, but quickly compiled.
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  gtest_discover_tests(${name} TEST_PREFIX ${name}. PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${arg_LABELS}"
    DISCOVERY_TIMEOUT 120)
endfunction()

# samovar_fuzz(token_fuzz SOURCES … LINKS …): LLVMFuzzerTestOneInput. With clang a libFuzzer program
# (SAMOVAR_FUZZ=ON); always also a ctest entry that replays the committed corpus tests/fuzz/corpus/<name>/.
function(samovar_fuzz name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINKS" ${ARGN})
  set(corpus ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/${name})
  if(SAMOVAR_FUZZ)
    add_executable(${name} ${arg_SOURCES})
    target_link_libraries(${name} PRIVATE ${arg_LINKS})
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    set_property(GLOBAL APPEND PROPERTY SAMOVAR_FUZZERS ${name})
  else()
    add_executable(${name} ${arg_SOURCES} ${CMAKE_SOURCE_DIR}/tests/fuzz/replay_main.cpp)
    target_link_libraries(${name} PRIVATE ${arg_LINKS} samovar_flags)
    add_test(NAME fuzz_replay.${name} COMMAND ${name} ${corpus})
    set_tests_properties(fuzz_replay.${name} PROPERTIES TIMEOUT 120 LABELS fuzz)
  endif()
endfunction()
