samovar_test(http_test
  SOURCES
    http_client.cpp http_crowd_test.cpp http_events_test.cpp http_fixture.cpp http_limits_test.cpp
    http_requests_test.cpp http_server_test.cpp http_stream_test.cpp http_tls_test.cpp http_upload_test.cpp
  LINKS samovar_http
  TIMEOUT 180
  LABELS integration)
