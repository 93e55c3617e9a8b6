/* An exception with the place that it comes from, as NVIDIA's samples use it. Own writing. */
#ifndef CDP_SAMPLES_EXCEPTION_H
#define CDP_SAMPLES_EXCEPTION_H

#include <cstdlib>
#include <exception>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>

template <class Base>
class Exception : public Base {
public:
    explicit Exception(const std::string &text) : Base(text) {}

    [[noreturn]] static void throw_it(const char *file, int line, const char *detail = "-") {
        std::ostringstream text;
        text << "Exception in file '" << file << "' in line " << line << "\nDetailed description: "
             << detail << "\n";
        throw Exception(text.str());
    }
    [[noreturn]] static void throw_it(const char *file, int line, const std::string &detail) {
        throw_it(file, line, detail.c_str());
    }
};

template <class Caught>
inline void handleException(const Caught &caught) {
    std::cerr << caught.what() << std::endl;
    std::exit(EXIT_FAILURE);
}

#define RUNTIME_EXCEPTION(text) Exception<std::runtime_error>::throw_it(__FILE__, __LINE__, text)
#define LOGIC_EXCEPTION(text) Exception<std::logic_error>::throw_it(__FILE__, __LINE__, text)
#define RANGE_EXCEPTION(text) Exception<std::range_error>::throw_it(__FILE__, __LINE__, text)

#endif
