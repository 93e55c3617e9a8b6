// Functions of the host that yield references and objects, and end without `return`, where nobody is to be warned.
// flags: -w
#include <cstdio>
#include <string>

struct Counter {
    int count;
    Counter &add(int n) { count += n; }
    Counter &operator+=(int n)
    {
        if (n > 0) {
            count += n;
            return *this;
        }
    }
};

struct Log {
    int lines;
    std::string last;
};

static Log &operator<<(Log &log, const char *text)
{
    log.lines++;
    log.last = text;
}

__global__ void square(int *value) { *value *= *value; }

int main()
{
    Counter counter = {1};
    counter.add(2);
    counter += 3;
    counter += -4;
    Log log = {0, ""};
    log << "one";
    log << "two";
    int *value;
    cudaMallocManaged(&value, sizeof *value);
    *value = counter.count;
    square<<<1, 1>>>(value);
    printf("%d ", cudaDeviceSynchronize());
    printf("%d %d %s\n", *value, log.lines, log.last.c_str());
}
