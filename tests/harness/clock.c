/*
 * A clock for workerd that the tests move. It is preloaded into the process, and tells the time from
 * two numbers that the tests write into a mapped file: a clock that runs is the machine's time and
 * an offset; one that stands still tells the moment at which it was stopped, and the offset. It
 * allocates nothing and calls the kernel directly, since the loader may call it before libc is
 * ready.
 *
 * TEST_CLOCK_FILE  a file that holds two signed 64-bit numbers of milliseconds, in the byte order of
 * this machine: the offset, and the moment since the Unix epoch at which the clock was stopped, or 0
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
/*
 * How far a stopped clock that counts from the machine's start is ahead of the kernel's, in
 * nanoseconds: threads that wait by the kernel's clock until one of its moments would otherwise
 * never sleep.
 */
#define AHEAD_NS (INT64_C(86400) * NS_PER_S)

struct clock_file {
  int64_t offset_ms;
  int64_t stopped_at_ms;
};

static const volatile struct clock_file *file;
static int date_only;
/* What the clocks of the kernel said when the process began, in nanoseconds. */
static int64_t began_date_ns;
static int64_t began_ns[16];

static int64_t kernel_ns(clockid_t clock) {
  struct timespec at;
  if (syscall(SYS_clock_gettime, clock, &at)) return 0;
  return at.tv_sec * NS_PER_S + at.tv_nsec;
}

__attribute__((constructor)) static void map_clock(void) {
  const char *path = getenv("TEST_CLOCK_FILE");
  if (!path) return;
  const char *only = getenv("TEST_CLOCK_DATE_ONLY");
  date_only = only && *only;
  began_date_ns = kernel_ns(CLOCK_REALTIME);
  for (clockid_t clock = 0; clock < 16; clock += 1) began_ns[clock] = kernel_ns(clock);
  int opened = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
  if (opened < 0) return;
  void *page = mmap(NULL, sizeof(struct clock_file), PROT_READ, MAP_SHARED, opened, 0);
  syscall(SYS_close, opened);
  if (page != MAP_FAILED) file = page;
}

static int tells_date(clockid_t clock) {
  return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
}

/*
 * True for the clocks by which workerd tells the date, and for those by which it wakes its timers.
 * The clocks of CPU time are left alone.
 */
static int is_moved(clockid_t clock) {
  if (tells_date(clock)) return 1;
  return !date_only && (clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_COARSE ||
                        clock == CLOCK_MONOTONIC_RAW || clock == CLOCK_BOOTTIME);
}

/* What a stopped clock tells, in nanoseconds. */
static int64_t stopped_ns(clockid_t clock, int64_t stopped_at_ms) {
  int64_t date_ns = (stopped_at_ms + file->offset_ms) * NS_PER_MS;
  if (tells_date(clock)) return date_ns;
  return began_ns[clock] + date_ns - began_date_ns + AHEAD_NS;
}

int clock_gettime(clockid_t clock, struct timespec *at) {
  int failed = (int)syscall(SYS_clock_gettime, clock, at);
  if (failed || !file || !is_moved(clock)) return failed;
  int64_t stopped_at_ms = file->stopped_at_ms;
  int64_t moved_ns = stopped_at_ms ? stopped_ns(clock, stopped_at_ms)
                                   : at->tv_sec * NS_PER_S + at->tv_nsec + file->offset_ms * NS_PER_MS;
  at->tv_sec = moved_ns / NS_PER_S;
  at->tv_nsec = moved_ns % NS_PER_S;
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
