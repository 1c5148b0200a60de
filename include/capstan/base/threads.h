// How many threads the library works with. One pool serves all operations of the process. Loading the library starts no
// thread; the first operation that has work for several does.
#pragma once

namespace capstan {

/// The number of threads that an operation may use, the calling one included. At first this is the environment variable
/// CAPSTAN_NUM_THREADS, or the number of processors that the process may run on. Throws InvalidArgument if the variable
/// is set to something else than a number from 1 to 1024.
int thread_count();

/// Sets that number, for all threads of the process; throws InvalidArgument below 1 or above 1024. An operation that is
/// running keeps the threads it has. With `n` threads the pool holds at most `n - 1` of its own.
void set_thread_count(int n);

}  // namespace capstan
