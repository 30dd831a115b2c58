// Turns a family, a link or a rule that is known at run time into one the compiler knows: f gets a value
// whose type has it as `value`.
#pragma once
#include "kernels/kernels.hpp"

namespace samovar::kernels::ops {
namespace {

template <class T, T v>
struct Is {
  static constexpr T value = v;
};

template <class F>
inline void with_link(Link link, F f) {
  switch (link) {
    case Link::identity:
      return f(Is<Link, Link::identity>{});
    case Link::logit:
      return f(Is<Link, Link::logit>{});
    case Link::log:
      return f(Is<Link, Link::log>{});
    case Link::inverse:
      return f(Is<Link, Link::inverse>{});
    case Link::probit:
      return f(Is<Link, Link::probit>{});
    case Link::cloglog:
      return f(Is<Link, Link::cloglog>{});
  }
}
template <class F>
inline void with_family(Family family, F f) {
  switch (family) {
    case Family::gaussian:
      return f(Is<Family, Family::gaussian>{});
    case Family::binomial:
      return f(Is<Family, Family::binomial>{});
    case Family::poisson:
      return f(Is<Family, Family::poisson>{});
    case Family::gamma:
      return f(Is<Family, Family::gamma>{});
    case Family::negative_binomial:
      return f(Is<Family, Family::negative_binomial>{});
    case Family::tweedie:
      return f(Is<Family, Family::tweedie>{});
  }
}
template <class F>
inline void with_rule(Rule rule, F f) {
  switch (rule) {
    case Rule::adagrad:
      return f(Is<Rule, Rule::adagrad>{});
    case Rule::ftrl:
      return f(Is<Rule, Rule::ftrl>{});
    case Rule::sgd:
      return f(Is<Rule, Rule::sgd>{});
    case Rule::adam:
      return f(Is<Rule, Rule::adam>{});
  }
}

}  // namespace
}  // namespace samovar::kernels::ops
