# libsamovar-cuda.so by nvcc, as commands of our own: CMake's CUDA language would look for a compiler in every build
# directory, and most machines have none.
set(architectures)
foreach(each ${SAMOVAR_CUDA_ARCHITECTURES})
  list(APPEND architectures -gencode arch=compute_${each},code=sm_${each})
endforeach()
set(objects)
foreach(name dense families plugin rows updates vectors)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/cuda/${name}.o)
  add_custom_command(OUTPUT ${object}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/cuda
    COMMAND ${SAMOVAR_NVCC} -std=c++17 -O3 ${architectures} -I${CMAKE_SOURCE_DIR} -Xcompiler -fPIC,-fvisibility=hidden
      -Werror all-warnings -MD -MF ${object}.d -c ${CMAKE_SOURCE_DIR}/kernels/cuda/${name}.cu -o ${object}
    DEPENDS ${CMAKE_SOURCE_DIR}/kernels/cuda/${name}.cu DEPFILE ${object}.d
    COMMENT "nvcc kernels/cuda/${name}.cu" VERBATIM)
  list(APPEND objects ${object})
endforeach()
# The runtime is linked in, so that boards need no package for it; cuBLAS is the board's own.
set(plugin ${CMAKE_CURRENT_BINARY_DIR}/libsamovar-cuda.so)
add_custom_command(OUTPUT ${plugin}
  COMMAND ${SAMOVAR_NVCC} -shared -cudart static ${architectures} ${objects} -lcublas -o ${plugin}
  DEPENDS ${objects} COMMENT "linking libsamovar-cuda.so" VERBATIM)
add_custom_target(samovar-cuda-build ALL DEPENDS ${plugin})
add_library(samovar-cuda MODULE IMPORTED GLOBAL)
set_target_properties(samovar-cuda PROPERTIES IMPORTED_LOCATION ${plugin})
add_dependencies(samovar-cuda samovar-cuda-build)
