#include "dispatch.hpp"

#include "table.hpp"

namespace mercer {

namespace tiles_baseline {
void fill(Table& table);
}
#ifdef MERCER_X86_TILES
namespace tiles_avx2 {
void fill(Table& table);
}
namespace tiles_avx512 {
void fill(Table& table);
}
#endif

namespace {

struct Choice {
  const char* name;
  bool (*runs_here)();
  void (*fill)(Table& table);
};

bool always() { return true; }
#ifdef MERCER_X86_TILES
bool has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
}
#endif

// The plainest first, the best last.
const Choice kChoices[] = {
    {"baseline", always, tiles_baseline::fill},
#ifdef MERCER_X86_TILES
    {"avx2", has_avx2, tiles_avx2::fill},
    {"avx512", has_avx512, tiles_avx512::fill},
#endif
};

Table chosen_table{};
std::string chosen_name;

}  // namespace

std::vector<std::string> available_isas() {
  std::vector<std::string> names;
  for (const Choice& choice : kChoices)
    if (choice.runs_here()) names.emplace_back(choice.name);
  return names;
}

bool choose_isa(const std::string& name) {
  const Choice* best = nullptr;
  for (const Choice& choice : kChoices)
    if (choice.runs_here() && (name.empty() || name == choice.name)) best = &choice;
  if (best == nullptr) return false;
  best->fill(chosen_table);
  chosen_name = best->name;
  return true;
}

const std::string& isa() { return chosen_name; }
const Table& table() { return chosen_table; }

}  // namespace mercer
