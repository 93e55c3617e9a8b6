/* Comparing results and reading and writing PGM and PPM pictures, as NVIDIA's samples use it. Own
   writing. */
#ifndef CDP_SAMPLES_HELPER_IMAGE_H
#define CDP_SAMPLES_HELPER_IMAGE_H

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "helper_string.h"

#ifndef MIN
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#endif
#ifndef MAX
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif

/* Whether all elements but a part `threshold` differ by at most `epsilon`. */
template <class T>
inline bool cdpAlike(const T *a, const T *b, size_t count, double epsilon, double threshold = 0) {
    size_t different = 0;
    for (size_t i = 0; i < count; i++) {
        double difference = static_cast<double>(a[i]) - static_cast<double>(b[i]);
        if (!(std::fabs(difference) <= epsilon))
            different++;
    }
    return static_cast<double>(different) <= threshold * static_cast<double>(count);
}

template <class T, class S>
inline bool compareData(const T *reference, const T *data, const unsigned count, const S epsilon,
                        const float threshold) {
    return cdpAlike(reference, data, count, static_cast<double>(epsilon), threshold);
}

inline bool sdkCompareL2fe(const float *reference, const float *data, const unsigned count,
                           const float epsilon) {
    double error = 0, size = 0;
    for (unsigned i = 0; i < count; i++) {
        double difference = static_cast<double>(reference[i]) - data[i];
        error += difference * difference;
        size += static_cast<double>(reference[i]) * reference[i];
    }
    if (std::sqrt(size) < 1e-7)
        return false;
    return std::sqrt(error) / std::sqrt(size) < epsilon;
}

/* The header of a picture, which has its sizes. */
inline bool cdpReadHeader(std::istream &in, unsigned *width, unsigned *height) {
    std::string word;
    unsigned numbers[3];
    if (!(in >> word) || (word != "P5" && word != "P6"))
        return false;
    for (unsigned &number : numbers) {
        while (in >> std::ws && in.peek() == '#')
            std::getline(in, word);
        if (!(in >> number))
            return false;
    }
    in.get();
    *width = numbers[0];
    *height = numbers[1];
    return numbers[2] <= 255;
}

/* The bytes of a picture; `channels` becomes 1 or 3. */
inline bool __loadPPM(const char *file, unsigned char **data, unsigned *width, unsigned *height,
                      unsigned *channels) {
    std::ifstream in(file, std::ios::binary);
    std::string magic(2, ' ');
    if (!in.read(&magic[0], 2))
        return false;
    in.seekg(0);
    if (!cdpReadHeader(in, width, height))
        return false;
    *channels = magic == "P6" ? 3 : 1;
    size_t bytes = static_cast<size_t>(*width) * *height * *channels;
    if (!*data)
        *data = static_cast<unsigned char *>(malloc(bytes));
    return static_cast<bool>(in.read(reinterpret_cast<char *>(*data), bytes));
}

inline bool __savePPM(const char *file, const unsigned char *data, unsigned width, unsigned height,
                      unsigned channels) {
    std::ofstream out(file, std::ios::binary);
    out << (channels == 1 ? "P5" : "P6") << "\n" << width << "\n" << height << "\n255\n";
    out.write(reinterpret_cast<const char *>(data), static_cast<size_t>(width) * height * channels);
    return out.good();
}

template <class T>
inline bool sdkLoadPGM(const char *file, T **data, unsigned *width, unsigned *height) {
    unsigned char *bytes = NULL;
    unsigned channels = 0;
    if (!__loadPPM(file, &bytes, width, height, &channels))
        return false;
    size_t count = static_cast<size_t>(*width) * *height;
    if (!*data)
        *data = static_cast<T *>(malloc(count * sizeof(T)));
    for (size_t i = 0; i < count; i++) {
        unsigned char byte = bytes[i * channels];
        (*data)[i] = sizeof(T) == 1 ? static_cast<T>(byte) : static_cast<T>(byte / 255.0f);
    }
    free(bytes);
    return true;
}

template <class T>
inline bool sdkSavePGM(const char *file, T *data, unsigned width, unsigned height) {
    std::vector<unsigned char> bytes(static_cast<size_t>(width) * height);
    for (size_t i = 0; i < bytes.size(); i++)
        bytes[i] = static_cast<unsigned char>(sizeof(T) == 1 ? data[i] : data[i] * 255.0f);
    return __savePPM(file, bytes.data(), width, height, 1);
}

/* Pictures with four bytes a pixel. */
inline bool sdkLoadPPM4ub(const char *file, unsigned char **data, unsigned *width, unsigned *height) {
    unsigned char *bytes = NULL;
    unsigned channels = 0;
    if (!__loadPPM(file, &bytes, width, height, &channels) || channels != 3)
        return false;
    size_t count = static_cast<size_t>(*width) * *height;
    *data = static_cast<unsigned char *>(malloc(count * 4));
    for (size_t i = 0; i < count; i++) {
        memcpy(*data + 4 * i, bytes + 3 * i, 3);
        (*data)[4 * i + 3] = 0;
    }
    free(bytes);
    return true;
}

inline bool sdkSavePPM4ub(const char *file, unsigned char *data, unsigned width, unsigned height) {
    std::vector<unsigned char> bytes(static_cast<size_t>(width) * height * 3);
    for (size_t i = 0; i < bytes.size() / 3; i++)
        memcpy(&bytes[3 * i], data + 4 * i, 3);
    return __savePPM(file, bytes.data(), width, height, 3);
}

/* The colours of a picture as they are in the file. */
inline bool sdkLoadPPMub(const char *file, unsigned char **data, unsigned *width, unsigned *height) {
    unsigned channels = 0;
    return __loadPPM(file, data, width, height, &channels);
}

template <class T>
inline bool sdkLoadPPM4(const char *file, T **data, unsigned *width, unsigned *height) {
    unsigned char *bytes = NULL;
    if (!sdkLoadPPM4ub(file, &bytes, width, height))
        return false;
    size_t count = static_cast<size_t>(*width) * *height * 4;
    *data = static_cast<T *>(malloc(count * sizeof(T)));
    for (size_t i = 0; i < count; i++)
        (*data)[i] = static_cast<T>(bytes[i]);
    free(bytes);
    return true;
}

/* The numbers of a file of text; `*length` says how many there have to be if `*data` is given. */
template <class T>
inline bool sdkReadFile(const char *file, T **data, unsigned *length, bool) {
    std::ifstream in(file);
    if (!in) {
        printf("Unable to open input file: %s\n", file);
        return false;
    }
    std::vector<T> numbers;
    for (std::string word; in >> std::ws && in.peek() != EOF;) {
        T number;
        if (in.peek() == '#')
            std::getline(in, word);
        else if (in >> number)
            numbers.push_back(number);
        else
            return false;
    }
    if (*data && *length != numbers.size())
        return false;
    if (!*data)
        *data = static_cast<T *>(malloc(numbers.size() * sizeof(T)));
    *length = static_cast<unsigned>(numbers.size());
    std::copy(numbers.begin(), numbers.end(), *data);
    return true;
}

/* The block `block` of a file of blocks of `bytes` bytes, allocated into `data[block]`. */
template <class T>
inline bool sdkReadFileBlocks(const char *file, T **data, unsigned *length, unsigned block, unsigned bytes, bool) {
    std::ifstream in(file, std::ios::binary);
    data[block] = static_cast<T *>(malloc(bytes));
    if (!in.seekg(static_cast<std::streamoff>(block) * bytes))
        return false;
    in.read(reinterpret_cast<char *>(data[block]), bytes);
    *length = static_cast<unsigned>(in.gcount() / sizeof(T));
    return true;
}

/* Numbers as text, behind a line with the bound of their error. */
template <class T, class S>
inline bool sdkWriteFile(const char *file, const T *data, unsigned length, const S epsilon, bool verbose,
                         bool = false) {
    std::ofstream out(file);
    if (!out && verbose)
        fprintf(stderr, "sdkWriteFile() : Opening file failed.\n");
    out << "# " << epsilon << "\n";
    for (unsigned i = 0; i < length; i++)
        out << data[i] << ' ';
    out << std::endl;
    return out.good();
}

template <class T, class S>
inline bool compareDataAsFloatThreshold(const T *reference, const T *data, const unsigned count, const S epsilon,
                                        const float threshold) {
    double bound = static_cast<double>(epsilon) > 1e-3 ? static_cast<double>(epsilon) : 1e-3;
    return cdpAlike(reference, data, count, bound, threshold);
}

inline void sdkDumpBin(void *data, unsigned bytes, const char *file) {
    printf("sdkDumpBin: <%s>\n", file);
    std::ofstream(file, std::ios::binary).write(static_cast<const char *>(data), bytes);
}

/* Whether the first `count` numbers of two files of bytes are alike; the second one is looked for as samples do. */
template <class T>
inline bool cdpCompareFiles(const char *file, const char *reference, unsigned count, float epsilon,
                            float threshold, const char *program) {
    char *path = sdkFindFilePath(reference, program);
    std::ifstream a(file, std::ios::binary), b(path ? path : "", std::ios::binary);
    free(path);
    std::vector<T> ours(count), theirs(count);
    std::streamsize bytes = static_cast<std::streamsize>(count * sizeof(T));
    bool same = a.read(reinterpret_cast<char *>(ours.data()), bytes) &&
                b.read(reinterpret_cast<char *>(theirs.data()), bytes) &&
                cdpAlike(theirs.data(), ours.data(), count, epsilon, threshold);
    printf(same ? "  OK\n" : "  FAILURE: <%s> and <%s> differ\n", file, reference);
    return same;
}

inline bool sdkCompareBin2BinUint(const char *file, const char *reference, unsigned count, const float epsilon,
                                  const float threshold, char *program) {
    return cdpCompareFiles<unsigned>(file, reference, count, epsilon, threshold, program);
}

inline bool sdkCompareBin2BinFloat(const char *file, const char *reference, unsigned count, const float epsilon,
                                   const float threshold, char *program) {
    return cdpCompareFiles<float>(file, reference, count, epsilon, threshold, program);
}

/* Whether two pictures are of one size and alike, but for a part `threshold` of their bytes. */
inline bool sdkComparePPM(const char *file, const char *reference, const float epsilon, const float threshold,
                          bool verbose) {
    unsigned char *a = NULL, *b = NULL;
    unsigned width[2], height[2], channels[2];
    bool same = file && reference && __loadPPM(file, &a, &width[0], &height[0], &channels[0]) &&
                __loadPPM(reference, &b, &width[1], &height[1], &channels[1]) && width[0] == width[1] &&
                height[0] == height[1] && channels[0] == channels[1] &&
                cdpAlike(b, a, static_cast<size_t>(width[0]) * height[0] * channels[0], epsilon, threshold);
    free(a);
    free(b);
    if (verbose)
        fprintf(stderr, same ? "    OK\n\n" : "    FAILURE!  1 errors...\n\n");
    return same;
}

inline bool sdkComparePGM(const char *file, const char *reference, const float epsilon, const float threshold,
                          bool verbose) {
    return sdkComparePPM(file, reference, epsilon, threshold, verbose);
}

#endif
