#include "capstan/tensor/nest.h"

#include "capstan/base/error.h"

namespace capstan::nest::detail {

void throw_count(std::size_t expected, std::size_t got) {
  throw InvalidArgument("nest::rebuild: the structure has " + std::to_string(expected) + " tensors, got " +
                        std::to_string(got));
}

}  // namespace capstan::nest::detail
