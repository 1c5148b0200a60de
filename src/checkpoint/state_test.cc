#include "capstan/checkpoint/state.h"

#include <atomic>
#include <thread>

#include "capstan/base/error.h"
#include "capstan/checkpoint/bundle.h"
#include "checkpoint/test_files.h"

namespace capstan::checkpoint {
namespace {

class StateFile : public CheckpointTest {
 protected:
  std::string text() const { return read_file(path("checkpoint")); }
};

TEST_F(StateFile, C155_AMovedDirectory) {
  write_bundle(path("old/ckpt-1"), {{"k", constant(1)}});
  write_state(path("old"), {"ckpt-1", {}, {}, {}});
  std::filesystem::rename(path("old"), path("new"));
  EXPECT_EQ(latest_checkpoint(path("new")), path("new/ckpt-1"));
}

TEST_F(StateFile, C157_RelativePathsStandInTheDirectory) {
  put_file(path("checkpoint"), "model_checkpoint_path: \"./model.ckpt-5\"\nall_model_checkpoint_paths: \"/a/b\"\n");
  const auto state = read_state(directory_);
  EXPECT_EQ(state->latest, path("./model.ckpt-5"));
  EXPECT_EQ(state->all, std::vector<std::string>{"/a/b"});
}

TEST_F(StateFile, C158_AnEmptyFile) {
  put_file(path("checkpoint"), "");
  expect_contains(message_of<InvalidArgument>([&] { read_state(directory_); }), "Invalid checkpoint state loaded from");
}

TEST_F(StateFile, C159_NoFile) {
  EXPECT_FALSE(read_state(directory_));
  EXPECT_FALSE(latest_checkpoint(directory_));
  EXPECT_FALSE(latest_checkpoint(path("gone")));
}

TEST_F(StateFile, C160_TheLatestIsTheLastOfAll) {
  write_state(directory_, {"/m/model-3", {}, {}, {}});
  EXPECT_EQ(read_state(directory_)->all, std::vector<std::string>{"/m/model-3"});
  write_state(directory_, {"/m/model-3", {"model-2"}, {}, {}});
  EXPECT_EQ(read_state(directory_)->all, (std::vector<std::string>{path("model-2"), "/m/model-3"}));
  write_state(directory_, {"/m/model-3", {"model-2", "/m/model-3"}, {}, {}});
  EXPECT_EQ(read_state(directory_)->all.size(), 2u);
}

TEST_F(StateFile, C161_PathsInARelativeDirectory) {
  const auto here = std::filesystem::current_path();
  std::filesystem::current_path(directory_);
  write_state("train", {"train/model-0", {}, {}, {}});
  EXPECT_EQ(read_file("train/checkpoint"),
            "model_checkpoint_path: \"model-0\"\nall_model_checkpoint_paths: \"model-0\"\n");
  EXPECT_EQ(read_state("train")->latest, "train/model-0");
  write_state("train", {"/abs/model-0", {}, {}, {}});
  EXPECT_EQ(read_state("train")->latest, "/abs/model-0");
  std::filesystem::current_path(here);
}

// As tf.train.Checkpoint.save of TensorFlow 2.21 writes them.
TEST_F(StateFile, PathsThatAreMadeRelative) {
  struct Row {
    std::string directory, path, written;
  };
  const auto here = std::filesystem::current_path();
  std::filesystem::current_path(directory_);
  for (const auto& [directory, latest, written] : std::vector<Row>{{"run", "run/ckpt-1", "ckpt-1"},
                                                                   {"run/", "run/ckpt-1", "ckpt-1"},
                                                                   {"run", "run/sub/ckpt-1", "sub/ckpt-1"},
                                                                   {"run", "other/ckpt-1", "../other/ckpt-1"},
                                                                   {".", "ckpt-1", "ckpt-1"},
                                                                   {"", "ckpt-1", "ckpt-1"},
                                                                   {path("run"), path("run/ckpt-1"), "ckpt-1"},
                                                                   {path("run"), path("o/ckpt-1"), "../o/ckpt-1"},
                                                                   {path("run"), "ckpt-1", "ckpt-1"},
                                                                   {"run", "run//x/../ckpt-1", "ckpt-1"},
                                                                   {"run", path("run/ckpt-1"), "ckpt-1"}}) {
    write_state(directory, {latest, {}, {}, {}}, "checkpoint", StatePaths::relative);
    EXPECT_EQ(read_file(join_path(directory, "checkpoint")),
              "model_checkpoint_path: \"" + written + "\"\nall_model_checkpoint_paths: \"" + written + "\"\n");
  }
  std::filesystem::current_path(here);
}

TEST_F(StateFile, TimesRoundTrip) {
  write_state(directory_, {"b", {"a"}, {1.5, 1700000000.25}, 0.1});
  const auto state = read_state(directory_);
  EXPECT_EQ(state->timestamps, (std::vector{1.5, 1700000000.25}));
  EXPECT_EQ(state->last_preserved, 0.1);
}

TEST_F(StateFile, BadStatesAreRefused) {
  expect_contains(message_of<InvalidArgument>([&] { write_state(directory_, {}); }), "must be named");
  expect_contains(message_of<InvalidArgument>([&] {
                    write_state(directory_, {"b", {"a"}, {1.5}, {}});
                  }),
                  "as many timestamps as paths, got 1 and 2");
  put_file(path("checkpoint"), "model: 1");
  expect_contains(message_of<DataLoss>([&] { read_state(directory_); }), "there is no field 'model'");
}

TEST_F(StateFile, C166_WhatCountsAsACheckpoint) {
  write_bundle(path("v2"), {});
  put_file(path("v1"), "");
  put_file(path("sharded-00000-of-00002"), "");
  put_file(path("pair.data-00000-of-00001.tempstate17"), "");
  EXPECT_TRUE(checkpoint_exists(path("v2")));
  EXPECT_TRUE(checkpoint_exists(path("v1")));
  EXPECT_TRUE(checkpoint_exists(path("sharded")));
  EXPECT_FALSE(checkpoint_exists(path("pair")));
  EXPECT_FALSE(checkpoint_exists(path("v")));
  EXPECT_FALSE(checkpoint_exists(path("gone/v")));
}

TEST_F(StateFile, TheLatestMustBeThere) {
  write_state(directory_, {"ckpt-1", {}, {}, {}});
  EXPECT_FALSE(latest_checkpoint(directory_));
  write_bundle(path("ckpt-1"), {});
  EXPECT_EQ(latest_checkpoint(directory_), path("ckpt-1"));
}

TEST_F(StateFile, C249_AReaderAlwaysFindsACompleteFile) {
  write_state(directory_, {"ckpt-0", {}, {}, {}});
  std::atomic<bool> is_done = false;
  std::thread writer([&] {
    for (int i = 1; i <= 10; ++i) write_state(directory_, {"ckpt-" + std::to_string(i), {}, {}, {}});
    is_done = true;
  });
  while (!is_done) EXPECT_EQ(read_state(directory_)->all.size(), 1u);
  writer.join();
  EXPECT_EQ(read_state(directory_)->latest, path("ckpt-10"));
}

TEST_F(StateFile, ReadsWhatTensorFlowWrote) {
  const std::string directory = golden("objects");
  const auto state = read_state(directory);
  EXPECT_EQ(state->all, (std::vector<std::string>{directory + "/ckpt-2", directory + "/ckpt-3"}));
  EXPECT_EQ(state->timestamps.size(), 2u);
  EXPECT_TRUE(state->last_preserved);
  EXPECT_EQ(latest_checkpoint(directory), directory + "/ckpt-3");
  // And the same text comes out.
  write_state(directory_, {"ckpt-3", {"ckpt-2", "ckpt-3"}, state->timestamps, state->last_preserved});
  EXPECT_EQ(text(), read_file(directory + "/checkpoint"));
}

}  // namespace
}  // namespace capstan::checkpoint
