/*
 * cdp.h - cdp as a C library: device-side launch for CUDA sources and for LLVM IR.
 *
 * Generated from compiler/cdp-capi by its tests (CDP_BLESS=1 rewrites it); do not edit.
 *
 * Link with -lcdp. Nothing is printed except what kernels print, the process is never ended, and
 * nothing of a program is kept between calls but the error message of each thread's last failure.
 * samples/capi has complete programs in C and in Python.
 *
 * Strings are UTF-8 and end with NUL; a string or array that a function takes is not kept after the
 * call. A string or array that a function returns belongs to the object that it came from and lives
 * as long as that. NULL for an object is an error, not a crash, and freeing NULL does nothing. What the
 * library cannot see is undefined, as in C's own: an object that was freed, freed twice, or not made by
 * this library; fewer bytes than the size that is given with them.
 *
 * Of the process it sets LLVM's handler for fatal errors and, when it is first given LLVM IR, the handlers
 * of SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT: bitcode can make LLVM crash, and then the call fails
 * with CDP_ERROR_INPUT, leaving a sleeping thread behind. Signals on all other threads go to the handlers
 * that were there before.
 *
 * Threads: an object may be used by any number of threads at once as long as none of them changes it
 * (functions that take it without const) or frees it.
 *
 *     cdp_compiler *compiler = cdp_compiler_new();
 *     cdp_result *made =
 *         cdp_compile(compiler, CDP_KIND_SOURCE, "a.cdp", text, strlen(text), CDP_GOAL_PTX);
 *     if (cdp_result_status(made) == CDP_OK)
 *         puts((const char *)cdp_result_bytes(made, NULL));
 *     else
 *         puts(cdp_result_error(made));
 *     cdp_result_free(made);
 *     cdp_compiler_free(compiler);
 */


#ifndef CDP_H
#define CDP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * The version of this interface: a program that was compiled with a header of another number must
 * not go on.
 */
#define CDP_API_VERSION 1

/**
 * A compiler: options, and the CUDA tools that were found.
 */
typedef struct cdp_compiler cdp_compiler;

/**
 * Inputs of one compilation.
 */
typedef struct cdp_inputs cdp_inputs;

/**
 * A loaded program with the device that it is loaded on.
 */
typedef struct cdp_program cdp_program;

/**
 * What a compilation made, or why it made nothing. It never changes.
 */
typedef struct cdp_result cdp_result;

/**
 * The outcome of a call.
 */
typedef uint32_t cdp_status;

/**
 * What an input holds: one of CDP_KIND_...
 */
typedef uint32_t cdp_kind;

/**
 * Where a compilation ends: one of CDP_GOAL_...
 */
typedef uint32_t cdp_goal;

/**
 * Which device runs a program: one of CDP_DEVICE_...
 */
typedef uint32_t cdp_device;

/**
 * A finding about the program. Lines and columns count from 1; they are 0 for a finding without a
 * place.
 */
typedef struct {
    /**
     * "E0412", "W0701"; "race" and so on of a run; empty for a warning of a CUDA tool.
     */
    const char *code;
    bool is_error;
    /**
     * One line, without a full stop.
     */
    const char *text;
    /**
     * Empty for a finding without a place.
     */
    const char *file;
    uint32_t line;
    uint32_t column;
    /**
     * The place just after the guilty text; of a run, the same place.
     */
    uint32_t end_line;
    uint32_t end_column;
    /**
     * The whole finding for a terminal without colours, with source lines, notes and cures.
     */
    const char *rendered;
} cdp_message;

/**
 * A kernel's parameter in the parameter buffer.
 */
typedef struct {
    /**
     * Empty for a parameter without a name.
     */
    const char *name;
    /**
     * The machine type, "i32" or "ptr<f32>"; the LLVM type for LLVM IR; "b32" or "b8[12]" for PTX and objects.
     */
    const char *type_name;
    /**
     * Bytes from the beginning of the buffer.
     */
    uint64_t offset;
    /**
     * Bytes.
     */
    uint64_t size;
    /**
     * Bytes; at most 16.
     */
    uint64_t align;
} cdp_param;

/**
 * A kernel that the inputs define, for the first architecture. Kernels of PTX and of objects are known when a
 * cubin was linked, and have parameters without names.
 */
typedef struct {
    /**
     * As in the source.
     */
    const char *name;
    /**
     * As in PTX and cubin.
     */
    const char *symbol;
    const cdp_param *params;
    size_t param_count;
    /**
     * Bytes of the whole parameter buffer.
     */
    uint64_t buffer_bytes;
    /**
     * Registers of a thread, or -1 before the link.
     */
    int64_t registers;
    /**
     * Static shared memory of a block, or -1 before the link.
     */
    int64_t shared_bytes;
} cdp_kernel;

/**
 * A launch in the sources.
 */
typedef struct {
    /**
     * The launching function, as in the source.
     */
    const char *parent;
    /**
     * The kernel, as in the source.
     */
    const char *child;
    bool from_device;
    /**
     * Source text of the configuration; empty where it was left out.
     */
    const char *grid;
    const char *block;
    const char *shared;
    const char *stream;
    const char *file;
    uint32_t line;
} cdp_launch;

/**
 * It worked.
 */
#define CDP_OK 0

/**
 * The program has errors; they are the result's messages.
 */
#define CDP_ERROR_PROGRAM 1

/**
 * An argument is NULL, is no UTF-8, or names nothing that exists; options that do not go together.
 */
#define CDP_ERROR_REQUEST 2

/**
 * A CUDA tool is missing or failed: ptxas on PTX that it does not take, nvlink on a symbol that is missing.
 */
#define CDP_ERROR_TOOL 3

/**
 * LLVM IR, PTX or an object is not what it should be.
 */
#define CDP_ERROR_INPUT 4

/**
 * The device refused, or a kernel failed.
 */
#define CDP_ERROR_DEVICE 5

/**
 * A mistake of cdp; the message asks for a report.
 */
#define CDP_ERROR_BUG 6

/**
 * cdp_compiler_cancel gave the compilation up.
 */
#define CDP_ERROR_CANCELLED 7

/**
 * Told by the first bytes.
 */
#define CDP_KIND_DETECT 0

/**
 * `.cdp` or `.cu` text.
 */
#define CDP_KIND_SOURCE 1

/**
 * LLVM IR, text or bitcode, with launches by `@cdp.launch`.
 */
#define CDP_KIND_LLVM 2

/**
 * PTX text.
 */
#define CDP_KIND_PTX 3

/**
 * A device object, a cubin, a host object with device code, a library of these, or a fat binary.
 */
#define CDP_KIND_OBJECT 4

/**
 * PTX text of one input, for one architecture. Needs no CUDA tool.
 */
#define CDP_GOAL_PTX 0

/**
 * LLVM IR text of one input, for one architecture. Needs no CUDA tool.
 */
#define CDP_GOAL_LLVM_IR 1

/**
 * A relocatable device object of one input, for one architecture. Needs ptxas.
 */
#define CDP_GOAL_OBJECT 2

/**
 * A linked cubin of all inputs, for one architecture. Needs ptxas and nvlink.
 */
#define CDP_GOAL_CUBIN 3

/**
 * A fat binary of linked cubins for all architectures. Needs ptxas, nvlink and fatbinary.
 */
#define CDP_GOAL_FATBIN 4

/**
 * A host object of one source: host functions and the registration of kernels. Needs no CUDA tool.
 */
#define CDP_GOAL_HOST_OBJECT 5

/**
 * The GPU if there is one that can run the program, else the CPU device.
 */
#define CDP_DEVICE_AUTO 0

/**
 * The CPU device, which runs PTX and needs neither GPU nor CUDA.
 */
#define CDP_DEVICE_CPU 1

/**
 * A GPU, by the CUDA driver, which runs a cubin.
 */
#define CDP_DEVICE_GPU 2

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Returns the library's CDP_API_VERSION, to be compared with the header's.
 *
 * Any thread, any time.
 */
uint32_t cdp_api_version(void);

/**
 * Returns the library's version, "0.1.0". It lives as long as the process.
 *
 * Any thread, any time.
 */
const char *cdp_version(void);

/**
 * Returns the message of this thread's last failing call, or an empty string. It lives until the
 * thread's next call of a function of this library that fails.
 *
 * Any thread, any time; threads do not see each other's messages.
 */
const char *cdp_last_error(void);

/**
 * Makes a compiler with default options and without CUDA's tools. Free it with cdp_compiler_free.
 *
 * Any thread. Returns NULL when memory has run out.
 */
cdp_compiler *cdp_compiler_new(void);

/**
 * Frees a compiler. NULL is ignored.
 *
 * No other thread may be using it.
 */
void cdp_compiler_free(cdp_compiler *compiler);

/**
 * Looks for ptxas, nvlink and the rest, in the toolkit at `cuda_path`, or, when that is NULL, where
 * cdpc looks: CUDA_HOME, CUDA_PATH, PATH, /usr/local/cuda, .toolchain folders.
 *
 * Changes the compiler: no other thread may be using it. CDP_ERROR_TOOL when a toolkit was named and
 * is none (the compiler stays as it was); finding nothing by search is no error until a tool is
 * needed.
 */
cdp_status cdp_compiler_find_tools(cdp_compiler *compiler,
                                   const char *cuda_path);

/**
 * Sets an option by name: "arch" to "sm_90", "opt-level" to "2". The names are those of cdpc's long
 * options; cdp_option_name lists them. Some options ("define", "include-dir") add to a list.
 *
 * Changes the compiler: no other thread may be using it. CDP_ERROR_REQUEST for a name or value that
 * there is not; nothing is changed then.
 */
cdp_status cdp_compiler_set(cdp_compiler *compiler, const char *name, const char *value);

/**
 * Returns the name of option number `index`, from 0, or NULL past the last. It lives as long as the
 * process.
 *
 * Any thread, any time.
 */
const char *cdp_option_name(size_t index);

/**
 * Returns what values option number `index` takes, in words, or NULL past the last. It lives as long
 * as the process.
 *
 * Any thread, any time.
 */
const char *cdp_option_values(size_t index);

/**
 * Makes an empty list of inputs. Free it with cdp_inputs_free.
 *
 * Any thread. Returns NULL when memory has run out.
 */
cdp_inputs *cdp_inputs_new(void);

/**
 * Frees a list of inputs. NULL is ignored.
 *
 * No other thread may be using it.
 */
void cdp_inputs_free(cdp_inputs *inputs);

/**
 * Adds an input from memory, which is copied. `name` is its name in messages; it need not exist.
 * Sources include files that were added with cdp_inputs_add_header, then those on the disk (regular files
 * only), unless option "disk-includes" is "false": for programs of strangers.
 *
 * Changes the list: no other thread may be using it. CDP_ERROR_REQUEST for a kind that there is not;
 * CDP_ERROR_INPUT for a source that is not UTF-8.
 */
cdp_status cdp_inputs_add(cdp_inputs *inputs,
                          cdp_kind kind,
                          const char *name,
                          const void *data,
                          size_t size);

/**
 * Adds a file for `#include`, from memory, which is copied. All sources of the list find it by this
 * name.
 *
 * Changes the list: no other thread may be using it. CDP_ERROR_INPUT for a text that is not UTF-8.
 */
cdp_status cdp_inputs_add_header(cdp_inputs *inputs,
                                 const char *name,
                                 const void *data,
                                 size_t size);

/**
 * Compiles one input from memory to a goal. `name` is its name in messages; it need not exist. Free
 * the result with cdp_result_free.
 *
 * The compiler is not changed: any number of threads may compile with it at once. Errors are in the
 * result. Returns NULL, with cdp_last_error saying why, only when an argument is wrong: NULL, a kind
 * or goal that there is not, text that is not UTF-8.
 */
cdp_result *cdp_compile(const cdp_compiler *compiler,
                        cdp_kind kind,
                        const char *name,
                        const void *data,
                        size_t size,
                        cdp_goal goal);

/**
 * Compiles and links all inputs of a list to a goal: sources, LLVM IR, PTX, objects and cubins to one
 * cubin, for example. Free the result with cdp_result_free.
 *
 * Neither compiler nor inputs are changed: any number of threads may use them at once. Errors are in
 * the result. Returns NULL, with cdp_last_error saying why, only when an argument is NULL or the goal
 * is none.
 */
cdp_result *cdp_build(const cdp_compiler *compiler,
                      const cdp_inputs *inputs,
                      cdp_goal goal);

/**
 * Gives up what other threads are compiling with this compiler: their cdp_compile and cdp_build end soon,
 * with a result of status CDP_ERROR_CANCELLED. A tool of CUDA's is killed; the library's own work ends
 * before its next function, codegen unit or stage. Compilations that begin later are not affected.
 *
 * Any thread, also while others compile; NULL is ignored.
 */
void cdp_compiler_cancel(const cdp_compiler *compiler);

/**
 * Lowers the launches (`@cdp.launch`) of LLVM IR, text or bitcode, and does nothing else: the result
 * holds LLVM IR as text. Free it with cdp_result_free.
 *
 * The compiler is not changed: any number of threads may use it at once. Errors are in the result.
 * Returns NULL, with cdp_last_error saying why, only when an argument is wrong.
 */
cdp_result *cdp_lower(const cdp_compiler *compiler,
                      const char *name,
                      const void *data,
                      size_t size);

/**
 * Loads what cdp_compile or cdp_build made: PTX, which is linked for a GPU with the compiler's tools,
 * or a cubin, for a GPU only. With CDP_DEVICE_AUTO, PTX runs on the GPU if there is one and the compiler has the
 * tools, else on the CPU device. What kernels print goes to standard output. Close it with
 * cdp_program_close; compiler and result may be freed before.
 *
 * Any thread. Returns NULL, with cdp_last_error saying why, when nothing was made, the device cannot
 * be had, or the program cannot be loaded.
 */
cdp_program *cdp_program_load(const cdp_compiler *compiler,
                              const cdp_result *made,
                              cdp_device device);

/**
 * Loads a program from bytes: PTX for the CPU device, a cubin for a GPU; one of them may be NULL. Both
 * are copied. With CDP_DEVICE_AUTO the GPU runs the cubin if it can, else the CPU device the PTX. What
 * kernels print goes to standard output. Close it with cdp_program_close.
 *
 * Any thread. Returns NULL, with cdp_last_error saying why, when the device cannot be had or the
 * program cannot be loaded.
 */
cdp_program *cdp_program_open(cdp_device device,
                              const void *ptx,
                              size_t ptx_size,
                              const void *cubin,
                              size_t cubin_size);

/**
 * Loads a program from PTX on the CPU device, to be checked as it runs; cdp_program_findings tells what was
 * found. `checks` is a list of names with commas: `race`, `init`, `bounds`, `leak`, `divide`, `sync`, `siblings`, or `all`
 * but the last, as `cdpc run --check` has them. Kernels run several times slower. Findings have source lines
 * if the PTX does (option `debug` is `lines`). Close it with cdp_program_close.
 *
 * As cdp_program_open. Returns NULL, with CDP_ERROR_REQUEST, also for a name that is no check.
 */
cdp_program *cdp_program_open_checked(const void *ptx,
                                      size_t ptx_size,
                                      const char *checks);

/**
 * Waits for the program's work, unloads it and gives its device back. NULL is ignored.
 *
 * No other thread may be using it.
 */
void cdp_program_close(cdp_program *program);

/**
 * Returns whether the program is on a GPU.
 *
 * Any number of threads may use a program at once; the same holds for all functions below.
 */
bool cdp_program_is_on_gpu(const cdp_program *program);

/**
 * Limits how long a call of a function below, or of cdp_program_close, runs the program's kernels on the
 * CPU device: past `timeout_ms` milliseconds the program ends, and this call and all later ones fail with
 * CDP_ERROR_DEVICE. 0, the default, is no limit: an endless kernel then never returns. The count begins
 * anew with each call. On a GPU it does nothing.
 *
 * CDP_ERROR_REQUEST for NULL.
 */
cdp_status cdp_program_set_timeout(const cdp_program *program,
                                   uint64_t timeout_ms);

/**
 * Allocates device memory, aligned to 256 bytes, and gives its address; free it with
 * cdp_program_release, or leave it to cdp_program_close.
 *
 * Size 0 gives address 0. CDP_ERROR_DEVICE when there is no more; CDP_ERROR_REQUEST for NULL.
 */
cdp_status cdp_program_allocate(const cdp_program *program, size_t size, uint64_t *address);

/**
 * Frees device memory. Address 0 is ignored.
 *
 * CDP_ERROR_DEVICE for an address that was not allocated.
 */
cdp_status cdp_program_release(const cdp_program *program, uint64_t address);

/**
 * Gives the address and size of a `__device__`, `__constant__` or `__managed__` variable, by its
 * symbol; either may be NULL.
 *
 * CDP_ERROR_DEVICE for a variable that there is not.
 */
cdp_status cdp_program_variable(const cdp_program *program,
                                const char *symbol,
                                uint64_t *address,
                                uint64_t *size);

/**
 * Copies `size` bytes from host memory to device memory.
 *
 * CDP_ERROR_DEVICE when they do not lie in allocated memory.
 */
cdp_status cdp_program_write(const cdp_program *program,
                             uint64_t address,
                             const void *data,
                             size_t size);

/**
 * Waits for the program's work and copies `size` bytes from device memory to host memory.
 *
 * CDP_ERROR_DEVICE when they do not lie in allocated memory, or when a kernel failed.
 */
cdp_status cdp_program_read(const cdp_program *program, void *data, uint64_t address, size_t size);

/**
 * Launches a kernel, by its symbol or, when the program has PTX, by its name in the source. `grid`
 * and `block` point to three dimensions each; `params` to one pointer for each parameter, which leads
 * to its bytes. Returns when the launch is made; cdp_program_synchronize waits for its end.
 *
 * CDP_ERROR_REQUEST for a kernel that there is not or another number of parameters; CDP_ERROR_DEVICE
 * for a configuration that the device refuses.
 */
cdp_status cdp_program_launch(const cdp_program *program,
                              const char *kernel,
                              const uint32_t *grid,
                              const uint32_t *block,
                              uint64_t shared_bytes,
                              const void *const *params,
                              size_t param_count);

/**
 * Begins (`on`) or ends the record of grids that cdp_program_trace gives. A program begins without: a record
 * grows with every launch.
 *
 * CDP_ERROR_DEVICE on a GPU, CDP_ERROR_REQUEST for NULL.
 */
cdp_status cdp_program_set_trace(const cdp_program *program,
                                 bool on);

/**
 * Waits for the program's work and gives the recorded grids, who launched them, where and when, as a file
 * of chrome://tracing and Perfetto: `cdpc run --trace` writes the same. Its text is the result's bytes; free
 * it with cdp_result_free.
 *
 * The result's status is CDP_ERROR_DEVICE on a GPU and when a kernel failed. Returns NULL for NULL.
 */
cdp_result *cdp_program_trace(const cdp_program *program);

/**
 * Waits for the program's work and gives what each kernel has done so far, as one JSON object: launches,
 * blocks, threads, instructions, memory transactions, barriers and so on, as `cdpc run --profile` with
 * `--message-format json`. Its text is the result's bytes; free it with cdp_result_free.
 *
 * As for cdp_program_trace.
 */
cdp_result *cdp_program_profile(const cdp_program *program);

/**
 * Waits for the program's work and gives what the CPU device has to say of it since the last call: what the
 * checks of cdp_program_open_checked found, one finding for each pair of source places, with `leak` memory
 * that is allocated now; and, of any program, what ended it. Findings are the result's messages
 * (cdp_result_message, whose code is the kind: `race`, `out-of-bounds`), and JSON by cdp_result_messages_json,
 * with the launches that led there, the other access of a race and the count, as `cdpc run --check` with
 * `--message-format json` writes them. Free it with cdp_result_free.
 *
 * The result's status is CDP_OK whatever was found, CDP_ERROR_DEVICE on a GPU. Returns NULL for NULL.
 */
cdp_result *cdp_program_findings(const cdp_program *program);

/**
 * Waits for all work of the program, and tells whether a kernel failed. On the CPU device the message
 * says which thread did what where.
 *
 * CDP_ERROR_DEVICE when a kernel failed.
 */
cdp_status cdp_program_synchronize(const cdp_program *program);

/**
 * Frees a result and everything that came from it. NULL is ignored.
 *
 * No other thread may be using it.
 */
void cdp_result_free(cdp_result *result);

/**
 * Returns CDP_OK or why nothing was made; CDP_ERROR_REQUEST for NULL.
 *
 * Any number of threads may read a result at once.
 */
cdp_status cdp_result_status(const cdp_result *result);

/**
 * Returns what was made, and its size through `size`, which may be NULL. A NUL that does not count
 * follows, so that PTX and LLVM IR are strings. The bytes live as long as the result; NULL when
 * nothing was made.
 *
 * Any number of threads may read a result at once.
 */
const uint8_t *cdp_result_bytes(const cdp_result *result, size_t *size);

/**
 * Returns why nothing was made, or NULL when something was. For a program with errors, a line for
 * each of them. It lives as long as the result. For NULL, which is what cdp_compile returns for a
 * wrong argument, it is cdp_last_error.
 *
 * Any number of threads may read a result at once.
 */
const char *cdp_result_error(const cdp_result *result);

/**
 * Returns finding number `index` about the program, from 0, or NULL past the last. It lives as long
 * as the result.
 *
 * Any number of threads may read a result at once.
 */
const cdp_message *cdp_result_message(const cdp_result *result, size_t index);

/**
 * Returns the result's messages as `cdpc --message-format json` writes them: an object a line, with code,
 * severity, message, places, notes and cures; empty without messages, NULL for NULL. It lives as long as the
 * result.
 *
 * Any number of threads may read a result at once.
 */
const char *cdp_result_messages_json(const cdp_result *result);

/**
 * Returns kernel number `index`, from 0, or NULL past the last. It lives as long as the result.
 *
 * Any number of threads may read a result at once.
 */
const cdp_kernel *cdp_result_kernel(const cdp_result *result, size_t index);

/**
 * Returns launch number `index` of the sources, from 0, or NULL past the last. It lives as long as
 * the result.
 *
 * Any number of threads may read a result at once.
 */
const cdp_launch *cdp_result_launch(const cdp_result *result, size_t index);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* CDP_H */
