// Single tasks on the one thread pool, beside the regions of base/thread_pool.h: idle workers run them. In the child of
// a fork there are none; they stay in the parent.
#pragma once

namespace capstan {

/// A piece of work for a worker, outside regions: what nobody waits for as long as there is something else to do. A
/// worker runs it when no region wants it; what it does with tensors runs on that worker alone. It must end by itself
/// and wait for no other thread, except for one that is certain to go on.
class PoolTask {
 public:
  PoolTask() = default;
  PoolTask(const PoolTask&) = delete;
  PoolTask& operator=(const PoolTask&) = delete;
  virtual ~PoolTask() = default;
  /// On a worker, once per `post`.
  virtual void run() noexcept = 0;

  PoolTask* next = nullptr;  // the pool's, while it is posted
};

/// Hands a task to the workers, which are started if need be; false, with nothing done, if there is one thread only.
/// The task must live until it was run or withdrawn, and is not posted again before that. No worker may ever come to
/// it: who wants the result withdraws the task and does the work.
bool post(PoolTask& task);
/// Takes a posted task back; false if a worker has begun it, or it was not posted.
bool withdraw(PoolTask& task) noexcept;

}  // namespace capstan
