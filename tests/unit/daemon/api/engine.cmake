samovar_test(api_engine_test
  SOURCES
    body_decoder_test.cpp connection_table_test.cpp dispatch_test.cpp http_test.cpp parse_head_test.cpp
    rate_limiter_test.cpp refusal_test.cpp request_head_test.cpp response_format_test.cpp router_test.cpp
    static_files_test.cpp text_test.cpp tls_stream_test.cpp tls_wire.cpp
  LINKS samovar_http)
# As in daemon/api/CMakeLists.txt.
target_compile_definitions(api_engine_test PRIVATE BOOST_ASIO_HAS_CO_AWAIT=1 BOOST_ASIO_HAS_STD_COROUTINE=1)
