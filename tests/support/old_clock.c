/* Preloaded into a daemon: its wall clock began at 1970-01-01 00:01:00 when the program started, as that of a board without
 * a battery; or, compiled with LATER_SECONDS, it is so much ahead. All other clocks are the system's. faketime moves CLOCK_BOOTTIME as well, but not the timers made of it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>

static int real_gettime(clockid_t id, struct timespec* out) {
  static int (*next)(clockid_t, struct timespec*);
  if (!next) next = (int (*)(clockid_t, struct timespec*))dlsym(RTLD_NEXT, "clock_gettime");
  return next(id, out);
}

int clock_gettime(clockid_t id, struct timespec* out) {
  static time_t began;
  const int failed = real_gettime(id, out);
  if (failed || (id != CLOCK_REALTIME && id != CLOCK_REALTIME_COARSE)) return failed;
#ifdef LATER_SECONDS
  (void)began;
  out->tv_sec += LATER_SECONDS;
#else
  if (!began) began = out->tv_sec;
  out->tv_sec = out->tv_sec - began + 60;
#endif
  return 0;
}

time_t time(time_t* out) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (out) *out = now.tv_sec;
  return now.tv_sec;
}

int gettimeofday(struct timeval* restrict out, void* restrict zone) {
  struct timespec now;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &now);
  out->tv_sec = now.tv_sec;
  out->tv_usec = now.tv_nsec / 1000;
  return 0;
}
