#include "capstan/checkpoint/checkpoint.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "capstan/capstan.h"
#include "wire/object_graph.h"

namespace capstan {
namespace {

struct Trained {
  nn::Sequential model{nn::Flatten(), nn::Dense(3, relu), nn::Dense(2)};
  optim::Adam adam{{.learning_rate = 0.1}};

  void step(int seed) {
    const Tensor x = stateless_normal(Shape{4, 5}, {seed, 0});
    GradientTape tape;
    const Tensor loss = reduce_mean(square(model(x)));
    const auto variables = model.trainable_variables();
    adam.apply(tape.gradient(loss, variables), variables);
  }
  Checkpoint checkpoint() const { return {{"model", model}, {"optimizer", adam}}; }
  std::vector<float> weights() const {
    std::vector<float> all;
    for (const Variable& v : model.variables())
      for (float each : v.value().to_vector<float>()) all.push_back(each);
    return all;
  }
};

std::string fresh_directory(const std::string& name) {
  const auto path =
      std::filesystem::temp_directory_path() / ("capstan_checkpoint_test_" + name + std::to_string(getpid()));
  std::filesystem::remove_all(path);
  std::filesystem::create_directories(path);
  return path.string();
}

TEST(Checkpoint, AfterAnErrorNothingHasChanged) {
  const std::string directory = fresh_directory("unchanged");
  Trained a;
  a.step(1);
  const std::string path = a.checkpoint().save(directory + "/ckpt");
  // The last slot's value, of all that are checked, does not fit.
  auto tensors = checkpoint::read_bundle(path);
  tensors.at("model/layer-2/kernel/.OPTIMIZER_SLOT/optimizer/v/.ATTRIBUTES/VARIABLE_VALUE") = constant({1.f});
  checkpoint::write_bundle(path, tensors);
  Trained b;
  b.model.build(Shape{-1, 5});
  const std::vector<float> before = b.weights();
  EXPECT_THROW(b.checkpoint().restore(path), InvalidArgument);
  EXPECT_EQ(b.weights(), before);
  EXPECT_TRUE(b.adam.trackable()->slots().empty());
}

TEST(Checkpoint, C207_C208_ADamagedObjectGraph) {
  const std::string path = fresh_directory("graph") + "/ckpt";
  const Variable v(1.f);
  const Checkpoint checkpoint{{"v", v}};
  checkpoint.write(path);
  const auto tensors = checkpoint::read_bundle(path);
  wire::TrackableObjectGraph graph =
      wire::decode_object_graph(tensors.at("_CHECKPOINTABLE_OBJECT_GRAPH").values<std::string>()[0]);
  graph.nodes[0].children[0].node_id = 7;
  const auto message = [&](const Tensor& damaged) -> std::string {
    auto changed = tensors;
    changed.at("_CHECKPOINTABLE_OBJECT_GRAPH") = damaged;
    checkpoint::write_bundle(path, changed);
    v.assign(2.f);
    try {
      checkpoint.restore(path);
    } catch (const DataLoss& error) {
      EXPECT_EQ(v.value().item<float>(), 2.f);
      return error.message();
    }
    return "no error";
  };
  const std::string key = path + ", key _CHECKPOINTABLE_OBJECT_GRAPH: ";
  EXPECT_EQ(message(constant(wire::encode(graph))), key + "the object graph refers to object 7, but has 3");
  EXPECT_EQ(message(constant("no graph")).rfind(key, 0), 0u);
  EXPECT_EQ(message(constant(1)), key + "the object graph must be one string, got int32 []");
}

TEST(Checkpoint, ADirectoryOfCheckpointsCanBeMoved) {
  const std::string directory = fresh_directory("moved");
  const Checkpoint checkpoint{{"v", Variable(1.f)}};
  checkpoint.save(directory + "/old/ckpt");
  std::filesystem::rename(directory + "/old", directory + "/new");
  EXPECT_EQ(checkpoint::latest_checkpoint(directory + "/new"), directory + "/new/ckpt-1");
}

TEST(Checkpoint, ADamagedListKeepsNobodyFromSaving) {
  const std::string directory = fresh_directory("list");
  const Checkpoint checkpoint{{"v", Variable(1.f)}};
  std::ofstream(directory + "/checkpoint") << "no list at all {";
  EXPECT_EQ(checkpoint.save(directory + "/ckpt"), directory + "/ckpt-1");
  EXPECT_EQ(checkpoint::latest_checkpoint(directory), directory + "/ckpt-1");
}

TEST(Checkpoint, SavesAndRestoresAModelWithItsOptimizer) {
  const std::string directory = fresh_directory("model");
  Trained a;
  a.step(1);
  const std::string path = a.checkpoint().save(directory + "/ckpt");
  EXPECT_EQ(path, directory + "/ckpt-1");
  EXPECT_EQ(checkpoint::latest_checkpoint(directory), path);
  const auto listed = checkpoint::list(path);
  for (const char* key : {"model/layer-1/kernel/.ATTRIBUTES/VARIABLE_VALUE",
                          "model/layer-1/kernel/.OPTIMIZER_SLOT/optimizer/m/.ATTRIBUTES/VARIABLE_VALUE",
                          "optimizer/iter/.ATTRIBUTES/VARIABLE_VALUE", "save_counter/.ATTRIBUTES/VARIABLE_VALUE",
                          "_CHECKPOINTABLE_OBJECT_GRAPH"})
    EXPECT_TRUE(listed.contains(key)) << key;

  Trained b;
  b.model.build(Shape{-1, 5});
  b.checkpoint().restore(path).assert_consumed();
  EXPECT_EQ(a.weights(), b.weights());
}

TEST(Checkpoint, Report47_ResumingIsBitIdentical) {
  const std::string directory = fresh_directory("resume");
  Trained straight, first;
  for (auto* each : {&straight, &first}) each->model.build(Shape{-1, 5});
  // The same beginning.
  straight.checkpoint().write(directory + "/start");
  first.checkpoint().restore(directory + "/start");
  for (int i = 0; i < 10; ++i) straight.step(i);
  for (int i = 0; i < 5; ++i) first.step(i);
  const std::string path = first.checkpoint().save(directory + "/ckpt");
  Trained second;
  second.model.build(Shape{-1, 5});
  second.checkpoint().restore(path);
  for (int i = 5; i < 10; ++i) second.step(i);
  EXPECT_EQ(straight.weights(), second.weights());
  EXPECT_EQ(second.adam.iterations().value().item<std::int64_t>(), 10);
}

TEST(Checkpoint, Report51_ShapeMismatchNamesKeyAndShapes) {
  const std::string directory = fresh_directory("shape");
  Variable saved(zeros(Shape{4, 3})), other(ones(Shape{4, 2})), fits(ones(Shape{1}));
  Checkpoint{{"w", saved}, {"a", Variable(zeros(Shape{1}))}}.write(directory + "/c");
  try {
    Checkpoint{{"a", fits}, {"w", other}}.restore(directory + "/c");
    FAIL();
  } catch (const InvalidArgument& error) {
    for (const char* part : {"w/.ATTRIBUTES/VARIABLE_VALUE", "[4,3]", "[4,2]"})
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
  EXPECT_EQ(fits.value().to_vector<float>()[0], 1);  // nothing changed
}

TEST(Checkpoint, ReportsWhatDidNotMatch) {
  const std::string directory = fresh_directory("report");
  Checkpoint{{"a", Variable(1.f)}, {"b", Variable(2.f)}}.write(directory + "/c");
  Variable a(0.f), missing(5.f);
  const RestoreReport report = Checkpoint{{"a", a}, {"new", missing}}.restore(directory + "/c");
  EXPECT_EQ(report.unused_keys, (std::vector<std::string>{"b/.ATTRIBUTES/VARIABLE_VALUE"}));
  EXPECT_EQ(report.missing_variables, (std::vector<std::string>{"new/.ATTRIBUTES/VARIABLE_VALUE"}));
  EXPECT_THROW(report.assert_existing_objects_matched(), NotFound);
  EXPECT_EQ(a.value().item<float>(), 1);
  EXPECT_EQ(missing.value().item<float>(), 5);
  EXPECT_THROW((Checkpoint{{"a", a}}.restore(directory + "/nowhere")), NotFound);
}

TEST(Checkpoint, NamesAreEscapedAndUnique) {
  const std::string directory = fresh_directory("names");
  Checkpoint{{"a/b", Variable(1.f)}, {"c.d", Variable(2.f)}}.write(directory + "/c");
  const auto listed = checkpoint::list(directory + "/c");
  EXPECT_TRUE(listed.contains("a.Sb/.ATTRIBUTES/VARIABLE_VALUE"));
  EXPECT_TRUE(listed.contains("c..d/.ATTRIBUTES/VARIABLE_VALUE"));
  EXPECT_THROW((Checkpoint{{"a", Variable(1.f)}, {"a", Variable(2.f)}}), InvalidArgument);
  EXPECT_THROW((Checkpoint{{"", Variable(1.f)}}), InvalidArgument);
}

TEST(Checkpoint, SharedObjectsAreSavedOnce) {
  const std::string directory = fresh_directory("shared");
  Variable v(3.f);
  Checkpoint{{"first", v}, {"second", v}}.write(directory + "/c");
  const auto listed = checkpoint::list(directory + "/c");
  EXPECT_TRUE(listed.contains("first/.ATTRIBUTES/VARIABLE_VALUE"));
  EXPECT_FALSE(listed.contains("second/.ATTRIBUTES/VARIABLE_VALUE"));
}

}  // namespace
}  // namespace capstan
