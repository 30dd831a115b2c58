// One page without a script and without a request: tables and drawings.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "bench/lab/lab.hpp"

namespace samovar::bench::lab {

namespace {

struct Series {
  std::string name;
  std::vector<std::pair<double, double>> points;
};

constexpr const char* kColours[] = {"#1b6ca8", "#c0392b", "#2e8b57", "#8e44ad", "#d68910", "#117a8b",
                                    "#7b241c", "#5d6d7e", "#b7950b", "#6c3483", "#196f3d", "#34495e"};
constexpr double kWidth = 460, kHeight = 300, kLeft = 58, kBottom = 40, kTop = 26, kRight = 12;

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

struct Scale {
  double low = 0, high = 1;
  bool logarithmic = false;
  double share(double value) const {
    if (logarithmic) return (std::log10(value) - std::log10(low)) / (std::log10(high) - std::log10(low));
    return (value - low) / (high - low);
  }
  double at(double share) const {
    if (logarithmic) return std::pow(10, std::log10(low) + share * (std::log10(high) - std::log10(low)));
    return low + share * (high - low);
  }
};

Scale scale_of(const std::vector<Series>& all, bool x, bool logarithmic) {
  Scale out{1e300, -1e300, logarithmic};
  for (const Series& series : all) {
    for (const auto& [px, py] : series.points) {
      const double value = x ? px : py;
      if (!std::isfinite(value) || (logarithmic && value <= 0)) continue;
      out.low = std::min(out.low, value);
      out.high = std::max(out.high, value);
    }
  }
  if (out.low > out.high) return {1, 2, logarithmic};
  if (out.low == out.high) out.high = out.low + std::max(1e-9, std::fabs(out.low) * 0.1);
  return out;
}

std::string plot(const std::string& title, const std::string& x_name, const std::string& y_name,
                 const std::vector<Series>& all, bool log_x, bool log_y) {
  const Scale x = scale_of(all, true, log_x), y = scale_of(all, false, log_y);
  const double width = kWidth - kLeft - kRight, height = kHeight - kTop - kBottom;
  const auto at_x = [&](double value) { return kLeft + width * x.share(value); };
  const auto at_y = [&](double value) { return kTop + height * (1 - y.share(value)); };
  std::string out = fmt::format(
      "<figure><svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\"><text x=\"{}\" y=\"16\" "
      "class=\"t\">{}</text>",
      kWidth, kHeight, escaped(title), kLeft, escaped(title));
  for (int i = 0; i <= 4; ++i) {
    const double share = i / 4.0;
    const double px = kLeft + width * share, py = kTop + height * (1 - share);
    out += fmt::format("<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\" class=\"g\"/>", px, kTop,
                       kTop + height);
    out += fmt::format("<line x1=\"{1}\" x2=\"{2}\" y1=\"{0:.1f}\" y2=\"{0:.1f}\" class=\"g\"/>", py, kLeft,
                       kLeft + width);
    out += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"{}\">{:.3g}</text>", px, kTop + height + 14,
                       i == 4 ? "end" : "middle", x.at(share));
    out += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{:.4g}</text>", kLeft - 4, py + 4,
                       y.at(share));
  }
  out += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>", kLeft + width / 2,
                     kHeight - 6, escaped(x_name));
  out += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>", kWidth - kRight, 16.0,
                     escaped(y_name));
  std::size_t colour = 0;
  for (const Series& series : all) {
    std::string line;
    for (const auto& [px, py] : series.points) {
      if (!std::isfinite(px) || !std::isfinite(py) || (log_x && px <= 0) || (log_y && py <= 0)) continue;
      line += fmt::format("{:.1f},{:.1f} ", at_x(px), at_y(py));
    }
    out += fmt::format("<polyline points=\"{}\" stroke=\"{}\"><title>{}</title></polyline>", line,
                       kColours[colour++ % std::size(kColours)], escaped(series.name));
  }
  return out + "</svg></figure>";
}

std::string legend(const std::vector<Series>& all) {
  std::string out = "<p class=\"legend\">";
  std::size_t colour = 0;
  for (const Series& series : all)
    out += fmt::format("<span><i style=\"background:{}\"></i>{}</span> ",
                       kColours[colour++ % std::size(kColours)], escaped(series.name));
  return out + "</p>";
}

// Loss against rows, seconds, bytes and joules of the runs that are asked for.
std::string four_plots(const Findings& findings, const std::string& title,
                       const std::function<std::string(const Run&)>& name) {
  std::vector<Series> all[4];
  for (const Run& run : findings.runs) {
    const std::string of = name(run);
    if (of.empty() || !run.failed.empty() || run.outcome.curve.empty()) continue;
    for (std::vector<Series>& each : all) each.push_back({of, {}});
    const double seconds = std::max(run.outcome.seconds, 1e-9);
    for (const CurvePoint& point : run.outcome.curve) {
      all[0].back().points.emplace_back(point.rows, point.loss);
      all[1].back().points.emplace_back(point.seconds, point.loss);
      all[2].back().points.emplace_back(point.bytes, point.loss);
      all[3].back().points.emplace_back(run.joules * point.seconds / seconds, point.loss);
    }
  }
  if (all[0].empty()) return {};
  const std::string loss = "loss on validation rows";
  return "<h2>" + escaped(title) + "</h2>" + legend(all[0]) + "<div class=\"plots\">" +
         plot("by rows", "rows", loss, all[0], false, false) +
         plot("by seconds", "seconds", loss, all[1], false, false) +
         plot("by bytes sent", "bytes", loss, all[2], true, false) +
         plot("by energy", "joules (estimated)", loss, all[3], false, false) + "</div>";
}

std::string scaling(const Findings& findings) {
  std::map<std::string, Series> kinds;
  std::vector<std::string> order;
  const auto add = [&](const std::string& kind, double nodes, double rate) {
    if (!kinds.contains(kind)) order.push_back(kind);
    kinds[kind].name = kind;
    kinds[kind].points.emplace_back(nodes, rate);
  };
  for (const Run& run : findings.runs) {
    if (run.failed.empty() && run.in_virtual_time && run.codec == "fp32")
      add(run.strategy, static_cast<double>(run.nodes), run.outcome.rows / run.outcome.seconds);
  }
  for (const Prediction& p : findings.predictions) {
    if (p.codec == "fp32") add(p.strategy, static_cast<double>(p.nodes), p.rows_per_second);
  }
  std::vector<Series> all;
  for (const std::string& kind : order) {
    std::sort(kinds[kind].points.begin(), kinds[kind].points.end());
    all.push_back(kinds[kind]);
  }
  if (all.empty()) return {};
  return "<h2>Rows a second by nodes (fp32; virtual time, then the cost model)</h2>" + legend(all) +
         "<div class=\"plots\">" + plot("throughput", "nodes", "rows/s", all, true, true) + "</div>";
}

// The Markdown's tables and headings as HTML: one source for both.
std::string tables_of(const std::string& markdown) {
  std::string out;
  bool in_table = false;
  std::size_t at = 0;
  while (at < markdown.size()) {
    const std::size_t end = std::min(markdown.find('\n', at), markdown.size());
    const std::string line = escaped(markdown.substr(at, end - at));
    at = end + 1;
    if (line.starts_with("|--")) continue;
    if (line.starts_with("|")) {
      const std::string cell = in_table ? "td" : "th";
      if (!in_table) out += "<table>";
      in_table = true;
      out += "<tr>";
      std::size_t from = 1;
      for (std::size_t to = line.find('|', from); to != std::string::npos; to = line.find('|', from)) {
        out += "<" + cell + ">" + line.substr(from, to - from) + "</" + cell + ">";
        from = to + 1;
      }
      out += "</tr>\n";
      continue;
    }
    if (in_table) out += "</table>";
    in_table = false;
    if (line.starts_with("## "))
      out += "<h2>" + line.substr(3) + "</h2>";
    else if (!line.starts_with("# ") && !line.empty())
      out += "<p>" + line + "</p>";
  }
  return out + (in_table ? "</table>" : "");
}

}  // namespace

std::string as_page(const Findings& findings) {
  std::size_t shown = 1;
  for (const Run& run : findings.runs) {
    if (!run.in_virtual_time) shown = std::max(shown, run.nodes);
  }
  std::string out =
      "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Samovar lab</title><style>"
      "body{font:15px/1.5 system-ui,sans-serif;max-width:1000px;margin:2rem auto;padding:0 1rem;color:#222}"
      "table{border-collapse:collapse;font-size:13px}td,th{padding:2px 8px;border-bottom:1px solid "
      "#ddd;text-align:left}"
      ".plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(420px,1fr));gap:8px}figure{margin:0}"
      "svg{width:100%;font-size:10px}svg .t{font-size:12px;font-weight:600}.g{stroke:#e4e4e4}"
      "polyline{fill:none;stroke-width:1.6}.legend span{margin-right:12px;white-space:nowrap}"
      ".legend i{display:inline-block;width:14px;height:4px;margin-right:4px;vertical-align:middle}"
      "</style>\n";
  out += "<h1>Lab: " + escaped(findings.data) + "</h1>";
  out +=
      four_plots(findings, fmt::format("Strategies: {} nodes as threads, fp32", shown), [&](const Run& run) {
        return !run.in_virtual_time && run.codec == "fp32" && (run.nodes == shown || run.nodes == 1)
                   ? (run.nodes == 1 ? "one node" : run.strategy)
                   : std::string();
      });
  out += four_plots(findings, fmt::format("Codecs: easgd, {} nodes as threads", shown), [&](const Run& run) {
    return !run.in_virtual_time && run.strategy == "easgd" && run.nodes == shown ? run.codec : std::string();
  });
  out += four_plots(findings, "Nodes: easgd, fp32, in virtual time", [&](const Run& run) {
    return run.in_virtual_time && run.strategy == "easgd" && run.codec == "fp32"
               ? std::to_string(run.nodes) + " nodes"
               : std::string();
  });
  out += scaling(findings);
  return out + tables_of(as_markdown(findings)) + "</html>\n";
}

}  // namespace samovar::bench::lab
