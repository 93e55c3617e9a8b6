/* Comparing results and reading and writing PGM and PPM pictures, as NVIDIA's samples use it. Own
   writing. */
#ifndef CDP_SAMPLES_HELPER_IMAGE_H
#define CDP_SAMPLES_HELPER_IMAGE_H

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

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

#endif
