# The routes over a real cluster, without sockets.
samovar_test(api_test
  SOURCES access_table_test.cpp box.cpp ca_holders_test.cpp datasets_test.cpp events_test.cpp fake_data.cpp fake_models.cpp
    jobs_test.cpp members_test.cpp model_events_test.cpp models_test.cpp node_report_test.cpp objects_test.cpp oip_test.cpp openapi_test.cpp parts_test.cpp
    power_test.cpp predict_test.cpp session_test.cpp
    tus_test.cpp uploads_test.cpp
  LINKS samovar_api samovar_base_sim
  TIMEOUT 300)
