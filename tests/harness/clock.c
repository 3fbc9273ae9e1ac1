/*
 * A clock for workerd that the tests can move forward. It is preloaded into the process and adds to
 * every reading the milliseconds that the tests write into a mapped file. It allocates nothing and
 * calls the kernel directly, since the loader may call it before libc is ready.
 *
 * TEST_CLOCK_FILE  a file that holds one signed 64-bit offset in milliseconds, in the byte order of
 * this machine
 * TEST_CLOCK_DATE_ONLY  if set, only the clock by which the date is told is moved: for programs
 * that hand the kernel moments at which to be woken
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define MS_PER_S INT64_C(1000)
#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S INT64_C(1000000000)

static const volatile int64_t *offset_ms;
static int date_only;

__attribute__((constructor)) static void map_offset(void) {
  const char *path = getenv("TEST_CLOCK_FILE");
  if (!path) return;
  const char *only = getenv("TEST_CLOCK_DATE_ONLY");
  date_only = only && *only;
  int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
  if (file < 0) return;
  void *page = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
  syscall(SYS_close, file);
  if (page != MAP_FAILED) offset_ms = page;
}

/**
 * True for the clocks by which workerd tells the date, and for those by which it wakes its timers.
 * The clocks of CPU time are left alone.
 */
static int is_moved(clockid_t clock) {
  if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) return 1;
  return !date_only && (clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_COARSE ||
                        clock == CLOCK_MONOTONIC_RAW || clock == CLOCK_BOOTTIME);
}

int clock_gettime(clockid_t clock, struct timespec *at) {
  int failed = (int)syscall(SYS_clock_gettime, clock, at);
  if (failed || !offset_ms || !is_moved(clock)) return failed;
  int64_t moved_ms = *offset_ms;
  at->tv_sec += moved_ms / MS_PER_S;
  at->tv_nsec += moved_ms % MS_PER_S * NS_PER_MS;
  if (at->tv_nsec >= NS_PER_S) {
    at->tv_nsec -= NS_PER_S;
    at->tv_sec += 1;
  }
  return 0;
}

int gettimeofday(struct timeval *restrict at, void *restrict zone) {
  (void)zone;
  struct timespec precise;
  int failed = clock_gettime(CLOCK_REALTIME, &precise);
  if (failed) return failed;
  at->tv_sec = precise.tv_sec;
  at->tv_usec = precise.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *out) {
  struct timespec precise;
  if (clock_gettime(CLOCK_REALTIME, &precise)) return (time_t)-1;
  if (out) *out = precise.tv_sec;
  return precise.tv_sec;
}
