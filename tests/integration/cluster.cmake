# Several real nodes on loopback. Behind a bridge in network namespaces they need root and minutes: only with
# `./dev cluster`, which is ctest -C netns.
if(TARGET samovard AND TARGET samovar-worker)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  foreach(suite Joining ThreeNodes Strangers AloneFirst WasAway LostMajority)
    add_test(NAME cluster_life.${suite}
      COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/cluster_life.py $<TARGET_FILE:samovard> ${suite})
    set_tests_properties(cluster_life.${suite} PROPERTIES LABELS integration TIMEOUT 600 RUN_SERIAL ON)
  endforeach()
  add_test(NAME cluster_trust
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/cluster_trust.py $<TARGET_FILE:samovard>)
  set_tests_properties(cluster_trust PROPERTIES LABELS integration TIMEOUT 600 RUN_SERIAL ON)
  add_test(NAME cluster_refusals
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/cluster_refusals.py $<TARGET_FILE:samovard>)
  set_tests_properties(cluster_refusals PROPERTIES LABELS integration TIMEOUT 600 RUN_SERIAL ON)
  foreach(suite Together Rotation Faults)
    add_test(NAME elastic_life.${suite}
      COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/elastic_life.py $<TARGET_FILE:samovard> ${suite})
    set_tests_properties(elastic_life.${suite} PROPERTIES LABELS integration TIMEOUT 1200 RUN_SERIAL ON)
  endforeach()
  add_test(NAME elastic_netns CONFIGURATIONS netns
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/elastic_netns.py $<TARGET_FILE:samovard>)
  set_tests_properties(elastic_netns PROPERTIES LABELS integration TIMEOUT 1800 RUN_SERIAL ON SKIP_RETURN_CODE 77)
  foreach(suite Surroundings Refusals Quiet Form)
    add_test(NAME cluster_netns.${suite} CONFIGURATIONS netns
      COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/cluster_netns.py $<TARGET_FILE:samovard> ${suite})
    set_tests_properties(cluster_netns.${suite} PROPERTIES LABELS integration TIMEOUT 900 RUN_SERIAL ON SKIP_RETURN_CODE 77)
  endforeach()
endif()
