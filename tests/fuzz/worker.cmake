if(TARGET samovar_ingest)
  samovar_fuzz(worker_message_fuzz SOURCES worker_message_fuzz.cpp LINKS samovar_ingest)
endif()
