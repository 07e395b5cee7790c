/* Preloaded into Python, lets every thread that Python did not make wait before it takes the interpreter's lock, and
   notes that it asked. A library that gives memory of Python back on a thread of its own does so now and then only
   when the interpreter is being closed, which ends the process by a signal; the wait makes that certain.

   LATE_GIL_MS: milliseconds to wait. LATE_GIL_LOG: a file that gets one byte for every request. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int PyGILState_Ensure(void) {
    int (*ensure)(void) = (int (*)(void))dlsym(RTLD_NEXT, "PyGILState_Ensure");
    void *(*state_of_this_thread)(void) = (void *(*)(void))dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
    if (state_of_this_thread() == NULL) { /* Python does not know this thread */
        const char *wait = getenv("LATE_GIL_MS"), *log = getenv("LATE_GIL_LOG");
        int file = log ? open(log, O_WRONLY | O_CREAT | O_APPEND, 0644) : -1;
        if (file >= 0) {
            if (write(file, "x", 1) != 1) abort();
            close(file);
        }
        long delay = wait ? atol(wait) : 0;
        struct timespec pause = {delay / 1000, delay % 1000 * 1000000};
        nanosleep(&pause, NULL);
    }
    return ensure();
}
