# The program `samovar` against a box of the test's own making, and against the real node.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_test(NAME cli.trust COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/cli_trust_test.py $<TARGET_FILE:samovar>)
set_tests_properties(cli.trust PROPERTIES TIMEOUT 180 LABELS integration)
if(TARGET samovard)
  add_test(NAME cli.node COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/cli_node_test.py
    $<TARGET_FILE:samovar> $<TARGET_FILE:samovard>)
  set_tests_properties(cli.node PROPERTIES TIMEOUT 300 LABELS integration RUN_SERIAL TRUE)
  add_test(NAME cli.cluster COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/cli_cluster_test.py
    $<TARGET_FILE:samovar> $<TARGET_FILE:samovard>)
  set_tests_properties(cli.cluster PROPERTIES TIMEOUT 600 LABELS integration RUN_SERIAL TRUE)
  add_test(NAME cli.data COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/cli_data_test.py
    $<TARGET_FILE:samovar> $<TARGET_FILE:samovard>)
  set_tests_properties(cli.data PROPERTIES TIMEOUT 600 LABELS integration RUN_SERIAL TRUE)
  add_test(NAME cli.models COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/cli_models_test.py
    $<TARGET_FILE:samovar> $<TARGET_FILE:samovard> ${CMAKE_BINARY_DIR})
  set_tests_properties(cli.models PROPERTIES TIMEOUT 600 LABELS integration RUN_SERIAL TRUE)
endif()
