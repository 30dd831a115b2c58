# The routes over a real cluster, without sockets.
samovar_test(api_test
  SOURCES access_table_test.cpp box.cpp datasets_test.cpp events_test.cpp fake_data.cpp objects_test.cpp openapi_test.cpp parts_test.cpp session_test.cpp
    tus_test.cpp uploads_test.cpp
  LINKS samovar_api samovar_base_sim
  TIMEOUT 300)
