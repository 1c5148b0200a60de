// The README's demo: trains two networks on Fashion-MNIST, saves each as a checkpoint in TensorFlow's format, restores
// it into a fresh model and shows that it is the same. ^C finishes the step, saves, and says how to go on.
#include <capstan/capstan.h>

#include <csignal>
#include <iostream>

#include "progress_bar.h"

using namespace capstan;

namespace {

volatile std::sig_atomic_t interrupted = 0;

constexpr std::int64_t kBatch = 32;

struct Task {
  std::string name;
  nn::Sequential (*make)();
  std::int64_t epochs;
};

nn::Sequential dense_network() { return nn::Sequential{nn::Flatten(), nn::Dense(128, relu), nn::Dense(10)}; }

nn::Sequential convolutional_network() {
  return nn::Sequential{nn::Conv2D(16, {3, 3}, relu, {.padding = "SAME"}),
                        nn::MaxPool2D(),
                        nn::Conv2D(32, {3, 3}, relu, {.padding = "SAME"}),
                        nn::MaxPool2D(),
                        nn::Flatten(),
                        nn::Dense(64, relu),
                        nn::Dense(10)};
}

using Examples = data::Dataset<2>;

/// Trains from step `done` on; false if it was interrupted.
bool train(const Task& task, const nn::Sequential& model, const optim::Adam& adam, const Examples& examples) {
  const std::int64_t per_epoch = (examples.cardinality() + kBatch - 1) / kBatch, total = task.epochs * per_epoch;
  std::int64_t done = adam.iterations().value().item<std::int64_t>();
  const auto variables = model.trainable_variables();
  // Traced twice: for full batches, and for the smaller last one. Without `function` the same program, eager.
  const auto step = function([&](Tensor images, Tensor labels) {
    GradientTape tape;
    Tensor loss = reduce_mean(sparse_softmax_cross_entropy(labels, model(images)));
    adam.apply(tape.gradient(loss, variables), variables);
    return loss;
  });
  ProgressBar progress(task.name, total, done);
  for (std::int64_t epoch = done / per_epoch; epoch < task.epochs; ++epoch) {
    // Each epoch has an order of its own, so that an interrupted one can be taken up where it was left.
    const auto order = examples.shuffle(60'000, {.seed = static_cast<std::uint64_t>(epoch)}).batch(kBatch);
    for (auto [images, labels] : order.skip(done % per_epoch).prefetch(2)) {
      const float loss = step(images, labels).item<float>();
      progress.show(++done, loss);
      if (interrupted) return false;
    }
  }
  return true;
}

int run(const Task& task, const Examples& training, const Examples& test, const std::string& directory, bool resume) {
  nn::Sequential model = task.make();
  model.build(Shape{-1, 28, 28, 1});
  optim::Adam adam{{.learning_rate = 1e-3}};
  const Checkpoint checkpoint{{"model", model}, {"optimizer", adam}};
  const std::string prefix = directory + "/" + task.name;
  if (resume && checkpoint::checkpoint_exists(prefix)) checkpoint.restore(prefix).assert_existing_objects_matched();

  const bool finished = train(task, model, adam, training);
  checkpoint.write(prefix);
  if (!finished) {
    std::cout << "\ninterrupted after step " << adam.iterations().value() << "; saved " << prefix
              << ". To go on: the same command with --resume (make demo ARGUMENTS=--resume)\n";
    return 130;
  }
  std::printf("%s: test accuracy %.4f\n", task.name.c_str(), nn::accuracy(model, test));

  nn::Sequential again = task.make();
  again.build(Shape{-1, 28, 28, 1});
  Checkpoint{{"model", again}}.restore(prefix).assert_existing_objects_matched();
  std::printf("%s: test accuracy %.4f after restoring %s into a fresh model\n", task.name.c_str(),
              nn::accuracy(again, test), prefix.c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  std::string directory = "run", images = "/usr/share/datasets/fashion-mnist";
  bool resume = false;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--resume")
      resume = true;
    else if (argument == "--data" && i + 1 < argc)
      images = argv[++i];
    else if (argument == "--output" && i + 1 < argc)
      directory = argv[++i];
    else {
      std::cerr << "usage: fashion_mnist [--data DIRECTORY] [--output DIRECTORY] [--resume]\n";
      return 2;
    }
  }
  std::signal(SIGINT, [](int) { interrupted = 1; });
  set_random_seed(1);
  auto [training, test] = data::fashion_mnist(images);
  for (const Task& task : {Task{"dense", dense_network, 5}, Task{"convolutional", convolutional_network, 4}})
    if (const int status = run(task, training, test, directory, resume)) return status;
  return 0;
} catch (const Error& error) {
  std::cerr << error.what() << '\n';
  return 2;
}
