# How the folders of src/ become targets.

# Flags that every source of the project is compiled with. Kernels choose their instruction set at run time; nothing
# here asks for more than x86-64-v2.
add_library(capstan_flags INTERFACE)
target_compile_features(capstan_flags INTERFACE cxx_std_20)
target_include_directories(capstan_flags INTERFACE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
set(gnu $<CXX_COMPILER_ID:GNU>)  # what clang, and with it clang-tidy, does not know
target_compile_options(capstan_flags INTERFACE -Wall -Wextra $<${gnu}:-Wshadow=local> -Wnon-virtual-dtor
                                               $<${gnu}:-Wno-restrict> $<${gnu}:-fno-gnu-unique> -fno-math-errno
                                               -fno-trapping-math -ffp-contract=off)
if(CAPSTAN_WARNINGS_AS_ERRORS)
  target_compile_options(capstan_flags INTERFACE -Werror)
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  target_compile_options(capstan_flags INTERFACE -march=x86-64-v2 -mtune=generic)
endif()
if(CAPSTAN_SANITIZE)
  target_compile_options(capstan_flags INTERFACE -fsanitize=${CAPSTAN_SANITIZE} -fno-sanitize-recover=all
                                                 -fno-omit-frame-pointer)
  target_link_options(capstan_flags INTERFACE -fsanitize=${CAPSTAN_SANITIZE})
endif()

set_property(GLOBAL PROPERTY CAPSTAN_FOLDERS "")

# capstan_folder(NAME DEPENDS folder... [LIBRARIES target...])
# The target `capstan_NAME` holds the folder's sources; `*_test.cc` beside them become the program `NAME_test`.
function(capstan_folder name)
  cmake_parse_arguments(FOLDER "" "" "DEPENDS;LIBRARIES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")

  add_library(capstan_${name} OBJECT ${sources})
  set_target_properties(capstan_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(capstan_${name} PUBLIC capstan_flags ${FOLDER_LIBRARIES})
  # OBJECT libraries do not hand their objects on: the order below says who may use whom, tests/layering checks it.
  foreach(dependency ${FOLDER_DEPENDS})
    add_dependencies(capstan_${name} capstan_${dependency})
  endforeach()
  set_property(GLOBAL APPEND PROPERTY CAPSTAN_FOLDERS capstan_${name})

  if(CAPSTAN_TESTS AND tests)
    capstan_test(${name}_test ${tests})
  endif()
endfunction()

# capstan_test(NAME source...): a GoogleTest program over the whole library's objects; each test is a ctest entry with
# the program's name as its label.
function(capstan_test name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE capstan_objects capstan_flags GTest::gtest GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE CAPSTAN_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                                             CAPSTAN_GOLDEN_DIR="${PROJECT_SOURCE_DIR}/tests/golden")
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 300 LABELS ${name})
endfunction()
