// How one model is made of the members' at the end.
#include <string>

#include "trainer/sync/together.hpp"

namespace samovar::trainer {

Result<std::optional<MeanOfAll>> Together::mean_of_all(const std::function<MeanPart()>& own) {
  for (std::uint32_t attempt = 0;; ++attempt) {
    // The council may have heard of a change while it agreed on something.
    if (council_.membership().epoch != epoch_) new_epoch();
    const std::uint64_t epoch = epoch_;
    SAMOVAR_CHECK(mean_.begin(own(), attempt));
    if (!state_over_) SAMOVAR_CHECK(wait_for([&] { return mean_.whole() || mean_.none(); }));
    const std::uint64_t of = mean_.whole() && epoch_ == epoch ? epoch : 0;
    SAMOVAR_CHECK(mean_.close());
    // That all have it is what all must know.
    SAMOVAR_TRY(const Bytes told, council_.agree(
                                      "mean " + std::to_string(attempt),
                                      [&]() -> Result<Bytes> {
                                        StateWriter out;
                                        out.put(of);
                                        return out.take();
                                      },
                                      [&](const std::vector<Bytes>& parts) -> Result<Bytes> {
                                        bool same = true;
                                        for (const Bytes& part : parts) same = same && part == parts.front();
                                        StateWriter out;
                                        out.put(std::uint64_t{0});
                                        return same ? parts.front() : out.take();
                                      }));
    StateReader in(told);
    const auto agreed = in.get<std::uint64_t>();
    if (in.failed() || in.left() != 0) return Error{Errc::corrupt, "what another worker sent is damaged"};
    if (agreed == 0) {
      // The members are others, or soon will be.
      SAMOVAR_CHECK(listen(std::chrono::milliseconds(0)));
      continue;
    }
    if (agreed != of) return std::optional<MeanOfAll>();
    return std::optional<MeanOfAll>(mean_.take());
  }
}

}  // namespace samovar::trainer
