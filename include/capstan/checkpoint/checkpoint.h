// Checkpoints of objects: everything below some named objects, in TensorFlow's object-based format.
//
//   Checkpoint checkpoint{{"model", model}, {"optimizer", adam}};
//   std::string path = checkpoint.save("run/ckpt");       // "run/ckpt-1"; the file "run/checkpoint" lists it
//   checkpoint.restore(path);
//
// Variables are known by the names on the way to them ("model/layer-1/kernel"), not by names of their own. Optimizer
// slots are saved beside their variables and made anew when a restored file has them. TensorFlow reads these files,
// with tf.train.load_checkpoint and by object with tf.train.Checkpoint.
#pragma once

#include <initializer_list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "capstan/state/trackable.h"

namespace capstan {

/// What `Checkpoint::restore` did not use.
struct RestoreReport {
  std::vector<std::string> unused_keys;        // in the file, but no object asked for them
  std::vector<std::string> missing_variables;  // objects whose value is not in the file; they are as they were
  /// Throws NotFound, naming them, if there are any.
  const RestoreReport& assert_existing_objects_matched() const;
  const RestoreReport& assert_consumed() const;
};

class Checkpoint {
 public:
  /// The objects to save, by name. Throws InvalidArgument if two have one name or a name is empty.
  Checkpoint(std::initializer_list<NamedChild> objects);

  /// Counts up, writes `prefix`-N and lists it in the file `checkpoint` of its directory. Returns the path. After an
  /// error or a crash at any moment the directory holds the checkpoints it held before, or the new one as well.
  /// Threads that save at once take turns.
  std::string save(const std::string& prefix) const;
  /// Writes exactly `prefix`, without counting or listing.
  void write(const std::string& prefix) const;
  /// Gives the objects their saved values. All values are read and checked first: after an error nothing has changed.
  /// Throws NotFound if there is no such checkpoint, InvalidArgument (with key and both shapes) if a value does not
  /// fit, DataLoss or OutOfRange if a file is damaged. Variables have to exist: build layers first.
  RestoreReport restore(const std::string& prefix) const;

  Variable save_counter() const { return save_counter_; }

 private:
  std::shared_ptr<std::mutex> saving_;  // copies share the counter, so the lock too
  Variable save_counter_;
  std::shared_ptr<const TrackableObject> root_;
};

}  // namespace capstan
