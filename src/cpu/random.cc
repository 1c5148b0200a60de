// Kernels of the random family.
#include "ops/random.h"

#include <map>
#include <mutex>
#include <random>
#include <tuple>

#include "capstan/ops/random_ops.h"
#include "cpu/distributions.h"
#include "cpu/elementwise.h"
#include "cpu/tables.h"

namespace capstan {
namespace {

/// The process' generator: a counter that every draw moves on by the words it uses.
struct ProcessGenerator {
  std::mutex mutex;
  cpu::Philox philox{std::random_device{}(), std::random_device{}()};

  static ProcessGenerator& instance() {
    static ProcessGenerator* const generator = new ProcessGenerator;  // never destroyed: threads may outlive main
    return *generator;
  }
  cpu::Philox reserve(std::uint64_t blocks) {
    std::lock_guard lock(mutex);
    cpu::Philox start = philox;
    philox.skip(blocks);
    return start;
  }
};

/// The streams of the stateful ops that have seeds. TensorFlow keeps the place in the stream with the op's kernel, of
/// which there is one for each set of attributes, and moves it on by 256 blocks for each number asked for.
class SeededStreams {
 public:
  static SeededStreams& instance() {
    static SeededStreams* const streams = new SeededStreams;
    return *streams;
  }
  cpu::Philox reserve(const KernelContext& context, std::int64_t seed, std::int64_t seed2, std::int64_t count) {
    std::lock_guard lock(mutex_);
    const Key key(&context.op(), context.output_spec(0).dtype, context.input(0).dtype(), seed, seed2);
    cpu::Philox& next =
        streams_.try_emplace(key, static_cast<std::uint64_t>(seed), static_cast<std::uint64_t>(seed2)).first->second;
    const cpu::Philox start = next;
    next.skip(static_cast<std::uint64_t>(count) * 256);
    return start;
  }
  void restart() {
    std::lock_guard lock(mutex_);
    streams_.clear();
  }

 private:
  using Key = std::tuple<const OpDef*, DType, DType, std::int64_t, std::int64_t>;
  std::mutex mutex_;
  std::map<Key, cpu::Philox> streams_;
};

}  // namespace

void set_random_seed(std::uint64_t seed) {
  ProcessGenerator& generator = ProcessGenerator::instance();
  {
    std::lock_guard lock(generator.mutex);
    generator.philox = cpu::Philox(seed, 0);
  }
  SeededStreams::instance().restart();
}

namespace cpu {
namespace {

constexpr std::int64_t kGroupsPerBlock = 2048;

template <class Distribution>
constexpr std::uint64_t blocks_per_group() {
  if constexpr (requires { Distribution::kBlocksPerGroup; })
    return Distribution::kBlocksPerGroup;
  else
    return 1;
}

/// Group i comes from its own place in the stream, so the work can be cut anywhere.
template <class Distribution, class T>
void fill(const Philox& start, T* out, std::int64_t count) {
  constexpr int kGroup = Distribution::kGroup;
  const std::int64_t groups = (count + kGroup - 1) / kGroup;
  for_blocks(groups, kGroupsPerBlock, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t group = begin; group < end; ++group) {
      Philox philox = start;
      philox.skip(static_cast<std::uint64_t>(group) * blocks_per_group<Distribution>());
      if ((group + 1) * kGroup <= count) {
        Distribution::fill(philox, out + group * kGroup);
        continue;
      }
      T last[kGroup];
      Distribution::fill(philox, last);
      std::copy_n(last, count - group * kGroup, out + group * kGroup);
    }
  });
}

Philox given_generator(KernelContext& context) {
  const std::int32_t alg = *context.data<std::int32_t>(3);
  if (alg == static_cast<std::int32_t>(RandomAlgorithm::threefry))
    context.fail("'alg' 2 (ThreeFry) is not available on the CPU; use 1 (Philox) or 3 (automatic)");
  if (alg != static_cast<std::int32_t>(RandomAlgorithm::philox) &&
      alg != static_cast<std::int32_t>(RandomAlgorithm::automatic))
    context.fail("'alg' must be 1 (Philox), 2 (ThreeFry) or 3 (automatic), got " + std::to_string(alg));
  if (context.input(2).size() < 2)
    context.fail("'counter' must have at least 2 words, got shape " + context.input(2).shape().to_string());
  const std::uint64_t* counter = context.data<std::uint64_t>(2);
  return Philox::from_words(*context.data<std::uint64_t>(1), counter[0], counter[1]);
}

template <class Distribution, class T>
void stateless_kernel(KernelContext& context) {
  const Philox start = given_generator(context);
  T* out = context.make_output<T>(0);
  fill<Distribution>(start, out, context.output(0).size());
}

template <class Distribution, class T>
void stateful_kernel(KernelContext& context) {
  const auto& attributes = context.attributes<StatefulRandomAttributes>();
  T* out = context.make_output<T>(0);
  const std::int64_t count = context.output(0).size();
  const auto groups = static_cast<std::uint64_t>((count + Distribution::kGroup - 1) / Distribution::kGroup);
  const Philox start = attributes.seed || attributes.seed2
                           ? SeededStreams::instance().reserve(context, attributes.seed, attributes.seed2, count)
                           : ProcessGenerator::instance().reserve(groups * blocks_per_group<Distribution>());
  fill<Distribution>(start, out, count);
}

/// Words as they are.
template <class T>
struct FullInt {
  static constexpr int kGroup = sizeof(T) == 8 ? 2 : 4;
  static void fill(Philox& philox, T* out) {
    const auto words = philox();
    for (std::size_t i = 0; i < static_cast<std::size_t>(kGroup); ++i)
      out[i] = sizeof(T) == 8 ? static_cast<T>(Philox::join(words[2 * i], words[2 * i + 1])) : static_cast<T>(words[i]);
  }
};

template <class T>
void uniform_int_kernel(KernelContext& context) {
  using U = std::make_unsigned_t<T>;
  const T low = *context.data<T>(4), high = *context.data<T>(5);
  if (context.output_spec(0).shape.num_elements() > 0 && low >= high)
    context.fail("needs minval < maxval, got " + std::to_string(low) + " and " + std::to_string(high));
  const Philox start = given_generator(context);
  T* out = context.make_output<T>(0);
  const std::int64_t count = context.output(0).size();
  fill<FullInt<T>>(start, out, count);
  const U range = static_cast<U>(U(high) - U(low));
  for (std::int64_t i = 0; i < count; ++i) out[i] = static_cast<T>(U(low) + static_cast<U>(out[i]) % range);
}

void key_counter_kernel(KernelContext& context) {
  const Tensor& seed = context.input(0);
  const auto word = [&](std::size_t i) {
    return static_cast<std::uint64_t>(seed.dtype() == DType::int32 ? seed.values<std::int32_t>()[i]
                                                                   : seed.values<std::int64_t>()[i]);
  };
  // One block of a fixed key scrambles the seeds, so that weak ones do no harm.
  Philox scramble({Philox::low(word(0)), Philox::high(word(0)), Philox::low(word(1)), Philox::high(word(1))},
                  {0x3ec8f720u, 0x02461e29u});
  const auto mix = scramble();
  *context.make_output<std::uint64_t>(0) = Philox::join(mix[0], mix[1]);
  std::uint64_t* counter = context.make_output<std::uint64_t>(1);
  counter[0] = 0;
  counter[1] = Philox::join(mix[2], mix[3]);
}

void alg_kernel(KernelContext& context) {
  *context.make_output<std::int32_t>(0) = static_cast<std::int32_t>(RandomAlgorithm::philox);
}

template <template <class> class Distribution, class... Types>
KernelSet stateless_kernels(TypeList<Types...>) {
  KernelSet kernels;
  (kernels.set(dtype_of<Types>(), stateless_kernel<Distribution<Types>, Types>), ...);
  return kernels;
}
template <template <class> class Distribution, class... Types>
KernelSet stateful_kernels(TypeList<Types...>) {
  KernelSet kernels;
  (kernels.set(dtype_of<Types>(), stateful_kernel<Distribution<Types>, Types>), ...);
  return kernels;
}
template <class... Types>
KernelSet uniform_int_kernels(TypeList<Types...>) {
  KernelSet kernels;
  (kernels.set(dtype_of<Types>(), uniform_int_kernel<Types>), ...);
  return kernels;
}

using WholeTypes = TypeList<std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>;

}  // namespace

KernelTable random_kernels() {
  static const KernelRow rows[] = {
      {&stateless_random_get_key_counter_op, any_type(key_counter_kernel)},
      {&stateless_random_get_alg_op, any_type(alg_kernel)},
      {&stateless_random_uniform_v2_op, stateless_kernels<Uniform>(FloatingTypes{})},
      {&stateless_random_normal_v2_op, stateless_kernels<Normal>(FloatingTypes{})},
      {&stateless_truncated_normal_v2_op, stateless_kernels<TruncatedNormal>(FloatingTypes{})},
      {&stateless_random_uniform_int_v2_op, uniform_int_kernels(WholeTypes{})},
      {&stateless_random_uniform_full_int_v2_op, stateless_kernels<FullInt>(WholeTypes{})},
      {&random_uniform_op, stateful_kernels<Uniform>(FloatingTypes{})},
      {&random_standard_normal_op, stateful_kernels<Normal>(FloatingTypes{})},
      {&truncated_normal_op, stateful_kernels<TruncatedNormal>(FloatingTypes{})},
  };
  return rows;
}

}  // namespace cpu
}  // namespace capstan
