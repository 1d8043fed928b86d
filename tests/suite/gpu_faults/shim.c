// A libvulkan.so.1 that forwards calls to the real library, but makes calls of one function fail.
//
// FAULT_LOADER     the path of the real libvulkan.so.1
// FAULT_CALL       the function that fails, such as vkWaitSemaphores
// FAULT_AT         the number, counted from 1, of the first failing call of this function; all later calls also fail
// FAULT_ONCE       if it is set, only the call FAULT_AT fails
// FAULT_CODE       the result of a failing call; 99: the call never returns; 98: the call succeeds, but buffers lack usage flags
// FAULT_LOG        a file that is created when a call fails
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NEVER = 99, MISUSE = 98 };

typedef void (*Function)(void);
typedef Function (*ProcAddr)(void *, const char *);
typedef int (*Call)(void *, void *, void *, void *, void *, void *);

static ProcAddr of_instance, of_device;
static Function faulty;
static const char *call;
static int at, code, calls;

__attribute__((constructor)) static void begin(void) {
    const char *loader = getenv("FAULT_LOADER"), *number = getenv("FAULT_AT"), *result = getenv("FAULT_CODE");
    void *library = loader ? dlopen(loader, RTLD_NOW | RTLD_LOCAL) : NULL;
    of_instance = library ? (ProcAddr)dlsym(library, "vkGetInstanceProcAddr") : NULL;
    call = getenv("FAULT_CALL");
    at = number ? atoi(number) : 1;
    code = result ? atoi(result) : -4;
}

static int fails(void) {
    int number = __sync_add_and_fetch(&calls, 1);
    if (getenv("FAULT_ONCE") ? number != at : number < at)
        return 0;
    const char *log = getenv("FAULT_LOG");
    if (log)
        close(open(log, O_CREAT | O_WRONLY, 0644));
    return 1;
}

// No function that can fail has more than six arguments or a floating-point argument, so all arguments are in registers.
static int run_faulty(void *a, void *b, void *c, void *d, void *e, void *f) {
    if (fails()) {
        while (code == NEVER)
            sleep(1000);
        if (code != MISUSE)
            return code;
        // Clears VkBufferCreateInfo.usage.
        memset((char *)b + 32, 0, 4);
    }
    return ((Call)faulty)(a, b, c, d, e, f);
}

static Function hooked(const char *name, Function function) {
    if (function && call && !strcmp(name, call)) {
        faulty = function;
        return (Function)run_faulty;
    }
    return function;
}

static Function device_function(void *device, const char *name) {
    return hooked(name, of_device(device, name));
}

Function vkGetInstanceProcAddr(void *instance, const char *name) {
    Function function = of_instance ? of_instance(instance, name) : NULL;
    if (function && !strcmp(name, "vkGetDeviceProcAddr")) {
        of_device = (ProcAddr)function;
        return (Function)device_function;
    }
    return strcmp(name, "vkGetInstanceProcAddr") ? hooked(name, function) : (Function)vkGetInstanceProcAddr;
}
