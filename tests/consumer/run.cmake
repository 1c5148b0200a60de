# Installs the library to a fresh prefix, builds the project of this folder against it, and compares what it prints.
file(REMOVE_RECURSE ${WORK})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(
  COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/build -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${WORK}/prefix
          -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_BUILD_TYPE=Debug "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror"
          -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK}/build COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${WORK}/build/gradient OUTPUT_VARIABLE printed ERROR_VARIABLE errors
                COMMAND_ERROR_IS_FATAL ANY)
if(NOT printed STREQUAL "[6. 8.]\n" OR errors)
  message(FATAL_ERROR "expected '[6. 8.]', got '${printed}' and, as errors, '${errors}'")
endif()
