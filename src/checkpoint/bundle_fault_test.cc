// Each system call of a save in turn fails, or is the last one that the process makes: what is under the prefix is then
// the old content or the new, bit for bit.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>

#include "base/faulty_files.h"
#include "capstan/base/error.h"
#include "capstan/base/warning.h"
#include "capstan/checkpoint/bundle.h"
#include "checkpoint/test_files.h"

namespace capstan::checkpoint {
namespace {

using Content = std::map<std::string, Tensor>;

const Content& old_content() {
  static const Content content{{"a", constant({1.f, 2.f, 3.f})}, {"s", constant({"old", "er"})}};
  return content;
}
// As long as the old one: a mix of both files would fit in size.
const Content& new_content() {
  static const Content content{{"a", constant({4.f, 5.f, 6.f})}, {"s", constant({"new", "st"})}};
  return content;
}

void write(const std::string& prefix, const Content& content, FileSystem& files) {
  BundleWriter writer(prefix, {.files = &files});
  for (const auto& [key, tensor] : content) writer.add(key, tensor);
  writer.finish();
}

/// Without faults, and without waiting for the disk.
void write_well(const std::string& prefix, const Content& content) {
  FaultyFiles files;
  write(prefix, content, files);
}

bool holds(const Content& found, const Content& expected) {
  if (found.size() != expected.size()) return false;
  for (const auto& [key, tensor] : expected) {
    const Tensor& other = found.at(key);
    if (tensor.dtype() == DType::string ? tensor.to_vector<std::string>() != other.to_vector<std::string>()
                                        : tensor.to_vector<float>() != other.to_vector<float>())
      return false;
  }
  return true;
}

enum class Found { nothing, old_one, new_one };

/// What a reader finds; anything but the three is a failure of the test.
Found look(const std::string& prefix) {
  Content content;
  try {
    content = read_bundle(prefix);
  } catch (const NotFound& error) {
    expect_contains(error.what(), index_path(prefix));  // and not a data file
    return Found::nothing;
  } catch (const Error& error) {
    ADD_FAILURE() << error.what();
    return Found::nothing;
  }
  const bool is_new = holds(content, new_content());
  EXPECT_TRUE(is_new || holds(content, old_content()));
  return is_new ? Found::new_one : Found::old_one;
}

/// What stands under the prefix before the save under test.
struct Scene {
  const char* name;
  std::function<void(const std::string& prefix)> prepare;
  Found before;
};

std::vector<Scene> scenes() {
  const auto write_old = [](const std::string& prefix) { write_well(prefix, old_content()); };
  return {{"nothing", [](const std::string&) {}, Found::nothing},
          {"one bundle", write_old, Found::old_one},
          {"a rewritten bundle",
           [write_old](const std::string& prefix) {
             write_old(prefix);
             write_old(prefix);
           },
           Found::old_one},
          {"a bundle and what a stopped save left",
           [write_old](const std::string& prefix) {
             write_old(prefix);
             std::ofstream(data_path(prefix, 0, 2)) << "left over";
             std::ofstream(data_path(prefix, 0, 1) + ".tempstate1") << "left over";
           },
           Found::old_one},
          {"data without an index",
           [](const std::string& prefix) { std::ofstream(data_path(prefix, 0, 1)) << "left over"; }, Found::nothing}};
}

class BundleFaults : public CheckpointTest {
 protected:
  /// Runs the save in every scene with the fault at every call.
  void each(Fault fault, unsigned lost_renames, const std::function<void(const Scene&, bool is_saved)>& check) {
    for (const Scene& scene : scenes()) {
      bool has_struck = true;
      for (int call = 0; has_struck; ++call) {
        std::filesystem::remove_all(directory_);
        std::filesystem::create_directory(directory_);
        scene.prepare(prefix());
        const auto names = list_directory(directory_);
        names_before_ = {names.begin(), names.end()};
        const ::testing::ScopedTrace trace(__FILE__, __LINE__, scene.name + (", call " + std::to_string(call)));
        FaultyFiles files(fault, call, lost_renames);
        const bool is_saved = save(files);
        has_struck = files.has_struck();
        EXPECT_TRUE(has_struck || call > 15) << "the save makes more calls than that";
        check(scene, is_saved);
        if (HasFailure()) return;
      }
    }
  }
  bool save(FileSystem& files) {
    try {
      write(prefix(), new_content(), files);
      return true;
    } catch (const Error&) {
      return false;
    }
  }
  void expect_old_or_new(const Scene& scene, bool is_saved) {
    const Found found = look(prefix());
    EXPECT_TRUE(found == Found::new_one || (!is_saved && found == scene.before));
  }
  std::vector<std::string> temporary_files() const {
    auto names = list_directory(directory_);
    std::erase_if(names, [](const std::string& name) { return name.find(".tempstate") == std::string::npos; });
    return names;
  }
  /// The next save works, and leaves exactly its own files; a temporary one from elsewhere is not touched.
  void expect_next_save_is_clean() {
    write_well(prefix(), new_content());
    for (const std::string& name : temporary_files()) EXPECT_TRUE(name.ends_with(".tempstate1")) << name;
    EXPECT_EQ(look(prefix()), Found::new_one);
    const int shards = BundleReader(prefix()).header().num_shards;
    std::size_t files = 1;
    for (int i = 0; i < shards; ++i) files += path_exists(data_path(prefix(), i, shards));
    EXPECT_EQ(files, static_cast<std::size_t>(shards) + 1);
  }
  std::string prefix() const { return path("ckpt"); }

  std::set<std::string> names_before_;
};

TEST_F(BundleFaults, C248_AnyCallThatFails) {
  each(Fault::fails, 0, [&](const Scene& scene, bool is_saved) {
    expect_old_or_new(scene, is_saved);
    EXPECT_EQ(temporary_files().size(), scene.name == std::string("a bundle and what a stopped save left") ? 1u : 0u);
    for (const std::string& name : list_directory(directory_))
      EXPECT_TRUE(look(prefix()) == Found::new_one || names_before_.contains(name)) << name << " is left over";
    expect_next_save_is_clean();
  });
}

TEST_F(BundleFaults, AnyCallThatIsReportedAsFailedButHappened) {
  each(Fault::fails_but_happened, 0, [&](const Scene& scene, bool is_saved) {
    expect_old_or_new(scene, is_saved);
    expect_next_save_is_clean();
  });
}

TEST_F(BundleFaults, C247_AStopBeforeAnyCall) {
  each(Fault::stops_before, 0, [&](const Scene& scene, bool is_saved) {
    expect_old_or_new(scene, is_saved);
    expect_next_save_is_clean();
  });
}

TEST_F(BundleFaults, C247_AStopAfterAnyCall) {
  each(Fault::stops_after, 0, [&](const Scene& scene, bool is_saved) {
    expect_old_or_new(scene, is_saved);
    expect_next_save_is_clean();
  });
}

TEST_F(BundleFaults, LostPowerAfterAnyCall) {
  for (unsigned lost_renames = 0; lost_renames < 4; ++lost_renames)
    each(Fault::lost_power, lost_renames, [&](const Scene& scene, bool is_saved) {
      expect_old_or_new(scene, is_saved);
      expect_next_save_is_clean();
    });
}

TEST_F(BundleFaults, PowerThatIsLostAfterTheFirstSaveIntoANewDirectory) {
  for (const char* place : {"run/ckpt", "a/b/ckpt"}) {
    FaultyFiles files;
    write(path(place), new_content(), files);
    files.lose_power();
    EXPECT_EQ(look(path(place)), Found::new_one);
  }
}

TEST_F(BundleFaults, ASaveThatCannotRemoveTheOldDataWarns) {
  std::string warning;
  const auto before = set_warning_hook([&](std::string_view message) { warning = message; });
  bool has_warned = false;
  each(Fault::fails, 0, [&](const Scene&, bool is_saved) {
    has_warned |= is_saved && warning.find("could not be removed") != std::string::npos;
  });
  set_warning_hook(before);
  EXPECT_TRUE(has_warned);
}

TEST_F(BundleFaults, C248_TheErrorIsTheSystems) {
  class FullDisk : public FileSystem {
    std::int64_t write(int, const void*, std::size_t) override { return -ENOSPC; }
  } files;
  expect_contains(message_of<ResourceExhausted>([&] { write(prefix(), new_content(), files); }),
                  "No space left on device");
  EXPECT_TRUE(list_directory(directory_).empty());
}

TEST_F(BundleFaults, C247_TemporaryFilesAreNoCheckpoint) {
  const pid_t child = fork();
  if (child == 0) {
    BundleWriter writer(prefix());
    writer.add("a", constant(1));
    _exit(0);  // as if killed
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(temporary_files().size(), 1u);
  EXPECT_THROW(read_bundle(prefix()), NotFound);
  expect_next_save_is_clean();
  EXPECT_TRUE(temporary_files().empty());
}

// Processes that are killed in the midst of saving, again and again.
TEST_F(BundleFaults, C247_KilledAnywhere) {
  for (int round = 0; round < 20; ++round) {
    const pid_t child = fork();
    if (child == 0)
      for (bool is_old = false;; is_old = !is_old) write_well(prefix(), is_old ? old_content() : new_content());
    usleep(static_cast<useconds_t>(1000 + 317 * round));
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    look(prefix());
  }
  expect_next_save_is_clean();
  EXPECT_TRUE(temporary_files().empty());
}

TEST_F(BundleFaults, C259_WritersOfOnePrefixDoNotMix) {
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    for (int round = 0; round < 5; ++round)
      write(prefix(), i % 2 ? old_content() : new_content(), FileSystem::system());
    _exit(0);
  }
  for (int i = 0; i < 50; ++i) look(prefix());
  for (pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_NE(look(prefix()), Found::nothing);
  EXPECT_TRUE(temporary_files().empty());
}

// A writer that knows nothing of our locks may put its files between ours: the checksums tell.
TEST_F(BundleFaults, C259_AMixOfTwoBundlesIsSeen) {
  write(prefix(), old_content(), FileSystem::system());
  write(path("other"), new_content(), FileSystem::system());
  std::filesystem::copy_file(data_path(path("other"), 0, 1), data_path(prefix(), 0, 1),
                             std::filesystem::copy_options::overwrite_existing);
  expect_contains(message_of<DataLoss>([&] { read_bundle(prefix()); }), "Checksum does not match");
}

TEST_F(BundleFaults, ABundleThatCannotBeUnderstoodIsNotOverwrittenInPlace) {
  write(prefix(), old_content(), FileSystem::system());
  put_file(index_path(prefix()), "not an index");
  write(prefix(), new_content(), FileSystem::system());
  EXPECT_EQ(look(prefix()), Found::new_one);
  EXPECT_TRUE(path_exists(data_path(prefix(), 0, 1)));  // somebody may still want to rescue it
}

TEST_F(BundleFaults, TheDataOfATwoShardBundleGo) {
  for (const char* name : {"shards.index", "shards.data-00000-of-00002", "shards.data-00001-of-00002"})
    put_file(path(name), read_file(golden(name)));
  write(path("shards"), new_content(), FileSystem::system());
  EXPECT_EQ(list_directory(directory_), (std::vector<std::string>{"shards.data-00000-of-00001", "shards.index"}));
}

}  // namespace
}  // namespace capstan::checkpoint
