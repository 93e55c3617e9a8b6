/* Options of the command line and names of files, as NVIDIA's samples use them. Own writing. */
#ifndef CDP_SAMPLES_HELPER_STRING_H
#define CDP_SAMPLES_HELPER_STRING_H

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <strings.h>
#include <string>

#ifndef EXIT_WAIVED
#define EXIT_WAIVED 2
#endif
#ifndef STRCASECMP
#define STRCASECMP strcasecmp
#endif
#ifndef STRNCASECMP
#define STRNCASECMP strncasecmp
#endif
#ifndef STRCPY
#define STRCPY(to, size, from) strcpy(to, from)
#endif
#ifndef FOPEN
#define FOPEN(file, name, mode) ((file) = fopen(name, mode))
#endif
#ifndef FOPEN_FAIL
#define FOPEN_FAIL(result) ((result) == NULL)
#endif
#ifndef SSCANF
#define SSCANF sscanf
#endif
#ifndef SPRINTF
#define SPRINTF sprintf
#endif

/* The index of the first character that is not `delimiter`. */
inline int stringRemoveDelimiter(char delimiter, const char *string) {
    int start = 0;
    while (string[start] == delimiter)
        start++;
    return start >= static_cast<int>(strlen(string)) - 1 ? 0 : start;
}

/* Where the value of `--name=value` begins; null if `text` is another option. Without a value it is the
   empty string. */
inline const char *cdpOptionValue(const char *text, const char *name) {
    const char *word = text + stringRemoveDelimiter('-', text);
    size_t length = strlen(name);
    if (word == text || strncasecmp(word, name, length) != 0)
        return NULL;
    if (word[length] == '=')
        return word + length + 1;
    return word[length] == '\0' ? word + length : NULL;
}

inline const char *cdpFindOption(int argc, const char **argv, const char *name) {
    for (int i = 1; i < argc; i++) {
        if (const char *value = cdpOptionValue(argv[i], name))
            return value;
    }
    return NULL;
}

inline bool checkCmdLineFlag(const int argc, const char **argv, const char *name) {
    return cdpFindOption(argc, argv, name) != NULL;
}

inline int getCmdLineArgumentInt(const int argc, const char **argv, const char *name) {
    const char *value = cdpFindOption(argc, argv, name);
    return value ? atoi(value) : 0;
}

inline float getCmdLineArgumentFloat(const int argc, const char **argv, const char *name) {
    const char *value = cdpFindOption(argc, argv, name);
    return value ? static_cast<float>(atof(value)) : 0.0f;
}

template <class T>
inline bool getCmdLineArgumentValue(const int argc, const char **argv, const char *name, T *out) {
    const char *value = cdpFindOption(argc, argv, name);
    if (value && *value)
        *out = static_cast<T>(atoi(value));
    return value != NULL;
}

inline bool getCmdLineArgumentString(const int argc, const char **argv, const char *name, char **out) {
    const char *value = cdpFindOption(argc, argv, name);
    *out = const_cast<char *>(value);
    return value != NULL;
}

/* A file's path, looked for where the program runs and beside the program; allocated. */
inline char *sdkFindFilePath(const char *name, const char *program) {
    std::string beside = program ? program : "";
    size_t slash = beside.find_last_of('/');
    beside = slash == std::string::npos ? "" : beside.substr(0, slash + 1);
    const char *folders[] = {"", "./", "data/", "./data/", "../data/", "../", "../../data/"};
    for (int from = 0; from < 2; from++) {
        for (const char *folder : folders) {
            std::string path = (from ? beside : std::string()) + folder + name;
            if (FILE *file = fopen(path.c_str(), "rb")) {
                fclose(file);
                return strdup(path.c_str());
            }
        }
    }
    return NULL;
}

#endif
