// Which instruction set the tiles run on: decided once, when the module is loaded.
#pragma once

#include <string>
#include <vector>

namespace mercer {

struct Table;

// Instruction sets that this binary contains and this machine can run, the plainest first.
std::vector<std::string> available_isas();

// Chooses by name, or the best one when `name` is empty.  Returns false when the name is not available.
bool choose_isa(const std::string& name);

const std::string& isa();
const Table& table();

}  // namespace mercer
