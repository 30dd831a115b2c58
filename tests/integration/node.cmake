# A real samovard, driven over HTTPS. Alone: start-up times and memory are looked at.
if(TARGET samovard)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  foreach(suite KeyFileNode PassphraseNode StolenDisk CommandLine)
    add_test(NAME node_life.${suite}
      COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/node_life.py $<TARGET_FILE:samovard> ${suite})
    set_tests_properties(node_life.${suite} PROPERTIES LABELS integration TIMEOUT 300 RUN_SERIAL ON)
  endforeach()
  if(TARGET samovar-worker)
    foreach(suite Life Bin BadInput Secrecy)
      add_test(NAME data_life.${suite}
        COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/data_life.py $<TARGET_FILE:samovard> ${suite})
      set_tests_properties(data_life.${suite} PROPERTIES LABELS integration TIMEOUT 600 RUN_SERIAL ON)
    endforeach()
    add_test(NAME oip_life
      COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/oip_life.py $<TARGET_FILE:samovard>)
    set_tests_properties(oip_life PROPERTIES LABELS integration TIMEOUT 600 RUN_SERIAL ON)
    add_test(NAME power_life
      COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/power_life.py $<TARGET_FILE:samovard>)
    set_tests_properties(power_life PROPERTIES LABELS integration TIMEOUT 600 RUN_SERIAL ON)
    add_test(NAME job_power_life
      COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/job_power_life.py $<TARGET_FILE:samovard>)
    set_tests_properties(job_power_life PROPERTIES LABELS integration TIMEOUT 900 RUN_SERIAL ON)
    # The plug-ins are tests/kernels/'s; ThreadSanitizer does not know the emulator's fibers.
    if(NOT SAMOVAR_SANITIZE MATCHES "thread")
      foreach(suite OnTheDevice Failing)
        add_test(NAME device_life.${suite}
          COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/device_life.py $<TARGET_FILE:samovard>
                  $<TARGET_FILE:samovar_cuda_emulated> $<TARGET_FILE:samovar_device_planted> ${suite})
        set_tests_properties(device_life.${suite} PROPERTIES LABELS integration TIMEOUT 600 RUN_SERIAL ON)
      endforeach()
    endif()
    foreach(suite Life Control Rights Trouble)
      add_test(NAME model_life.${suite}
        COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/model_life.py $<TARGET_FILE:samovard> ${suite})
      set_tests_properties(model_life.${suite} PROPERTIES LABELS integration TIMEOUT 600 RUN_SERIAL ON)
    endforeach()
  endif()
  # docs/reference/config.md is made from the table in daemon/config.cpp.
  add_test(NAME config_reference
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/config_reference.py $<TARGET_FILE:samovard>
            ${CMAKE_SOURCE_DIR}/docs/reference/config.md)
  set_tests_properties(config_reference PROPERTIES LABELS integration TIMEOUT 60)
endif()
