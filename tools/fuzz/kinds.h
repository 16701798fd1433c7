// The kinds of code that random programs consist of: kinds.cpp has the table of them and those that
// are random instructions only, kind_*.cpp the others.
#pragma once

#include "tools/fuzz/builder.h"

namespace wj::fuzz {

// One to `most` pieces of code of the given kinds.
void body(Builder& b, uint64_t kinds, uint32_t most = 3);

void alu(Builder& b, uint64_t kinds);
void address(Builder& b, uint64_t kinds);
void branches(Builder& b, uint64_t kinds);
void exec_if(Builder& b, uint64_t kinds);
void loop(Builder& b, uint64_t kinds);
void divergent(Builder& b, uint64_t kinds);
void lines(Builder& b, uint64_t kinds);
void rows(Builder& b, uint64_t kinds);
void bounds(Builder& b, uint64_t kinds);
void mode(Builder& b, uint64_t kinds);
void index_mode(Builder& b, uint64_t kinds);

// Lower half: base + offset. The carry goes into the upper one.
void add_global(Builder& b, uint32_t pair, uint32_t base, uint32_t offset);

}  // namespace wj::fuzz
