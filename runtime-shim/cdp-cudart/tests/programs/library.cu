// The C++ library, thrust, and device code in templates and classes.
#include "check.h"
#include <algorithm>
#include <iostream>
#include <map>
#include <string>
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <vector>

struct Square {
    __host__ __device__ int operator()(int x) const { return x * x; }
};

int main()
{
    thrust::host_vector<int> host(100);
    for (int i = 0; i < 100; i++)
        host[i] = (i * 37) % 101;
    thrust::device_vector<int> device = host;
    thrust::sort(device.begin(), device.end());
    thrust::transform(device.begin(), device.end(), device.begin(), Square());
    std::vector<int> back(100);
    thrust::copy(device.begin(), device.end(), back.begin());
    std::map<std::string, long> found;
    found["sum"] = thrust::reduce(device.begin(), device.end(), 0L);
    found["first"] = back[0];
    found["last"] = back[99];
    found["sorted"] = std::is_sorted(back.begin(), back.end());
    for (const auto &entry : found)
        std::cout << entry.first << " " << entry.second << std::endl;
}
