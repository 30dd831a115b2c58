samovar_test(api_engine_test
  SOURCES
    body_decoder_test.cpp connection_table_test.cpp dispatch_test.cpp http_test.cpp parse_head_test.cpp
    rate_limiter_test.cpp refusal_test.cpp request_head_test.cpp response_format_test.cpp router_test.cpp
    static_files_test.cpp text_test.cpp
  LINKS samovar_http)
