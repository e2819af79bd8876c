#include <sys/prctl.h>
#include <uv.h>

/* Swift does not see functions with variable arguments. */
static inline void holdfast_thread_name(const char *name) {
    prctl(PR_SET_NAME, name, 0, 0, 0);
}
