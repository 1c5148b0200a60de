#include "wire/checkpoint_state.h"

#include <gtest/gtest.h>

#include "capstan/base/error.h"

namespace capstan::wire {
namespace {

constexpr std::string_view kText = R"(model_checkpoint_path: "ckpt-3"
all_model_checkpoint_paths: "ckpt-2"
all_model_checkpoint_paths: "ckpt-3"
all_model_checkpoint_timestamps: 1700000000.25
all_model_checkpoint_timestamps: 1700000100.5
last_preserved_timestamp: 1699999999.0
)";

TEST(CheckpointStateText, WritesWhatItRead) {
  const auto state = decode_checkpoint_state(kText);
  EXPECT_EQ(state.model_checkpoint_path, "ckpt-3");
  EXPECT_EQ(state.all_model_checkpoint_paths, (std::vector<std::string>{"ckpt-2", "ckpt-3"}));
  EXPECT_EQ(state.all_model_checkpoint_timestamps, (std::vector{1700000000.25, 1700000100.5}));
  EXPECT_EQ(state.last_preserved_timestamp, 1699999999.0);
  EXPECT_EQ(encode_text(state), kText);
}

TEST(CheckpointStateText, AcceptsCommentsSeparatorsAndEscapes) {
  const auto state = decode_checkpoint_state(
      "# a comment\nmodel_checkpoint_path : 'a\\x41\\101\\n' \"b\";all_model_checkpoint_timestamps:-1e3,");
  EXPECT_EQ(state.model_checkpoint_path, "aAA\nb");
  EXPECT_EQ(state.all_model_checkpoint_timestamps, std::vector{-1000.0});
}

TEST(CheckpointStateText, EscapesEveryByte) {
  CheckpointState state;
  for (int byte = 0; byte < 256; ++byte) state.model_checkpoint_path += static_cast<char>(byte);
  EXPECT_EQ(decode_checkpoint_state(encode_text(state)).model_checkpoint_path, state.model_checkpoint_path);
}

TEST(CheckpointStateText, DamageIsNamedWithItsLine) {
  const auto message = [](std::string_view text) -> std::string {
    try {
      decode_checkpoint_state(text);
    } catch (const DataLoss& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(message("\nmodel: \"a\""), "CheckpointState: line 2: there is no field 'model'");
  EXPECT_EQ(message("model_checkpoint_path \"a\""),
            "CheckpointState: line 1: ':' is expected after 'model_checkpoint_path'");
  EXPECT_EQ(message("model_checkpoint_path: \"a\n\""), "CheckpointState: line 1: the string has no closing quote");
  EXPECT_EQ(message("model_checkpoint_path: \"a\\"),
            "CheckpointState: line 1: the string has an escape that is not known");
  EXPECT_EQ(message("last_preserved_timestamp: x1"), "CheckpointState: line 1: a number is expected, got 'x1'");
  EXPECT_EQ(message("{"), "CheckpointState: line 1: a field name is expected, got '{'");
}

TEST(CheckpointStateText, AnyCutIsAnErrorOrAState) {
  for (std::size_t length = 0; length < kText.size(); ++length) {
    try {
      decode_checkpoint_state(kText.substr(0, length));
    } catch (const DataLoss&) {
    }
  }
}

}  // namespace
}  // namespace capstan::wire
