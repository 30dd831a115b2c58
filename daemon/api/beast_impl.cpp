// The compiled halves of Beast and of Asio's TLS, once for the whole product (the *_SEPARATE_COMPILATION
// definitions). base/asio_impl.cpp holds Asio's own.
#include <boost/asio/ssl/impl/src.hpp>
#include <boost/beast/src.hpp>
