/* Stopwatches, as NVIDIA's samples use them. Own writing. */
#ifndef CDP_SAMPLES_HELPER_TIMER_H
#define CDP_SAMPLES_HELPER_TIMER_H

#include <chrono>

#include "exception.h"

/* Time in milliseconds. */
class StopWatchInterface {
public:
    virtual ~StopWatchInterface() {}
    virtual void start() = 0;
    virtual void stop() = 0;
    virtual void reset() = 0;
    virtual float getTime() = 0;
    virtual float getAverageTime() = 0;
};

class StopWatchLinux : public StopWatchInterface {
    using Clock = std::chrono::steady_clock;
    Clock::time_point begun = Clock::now();
    float last = 0, total = 0;
    bool running = false;
    int sessions = 0;

    float since() const {
        return std::chrono::duration<float, std::milli>(Clock::now() - begun).count();
    }

public:
    void start() override {
        begun = Clock::now();
        running = true;
    }
    void stop() override {
        last = since();
        total += last;
        running = false;
        sessions++;
    }
    void reset() override {
        last = total = 0;
        sessions = 0;
        if (running)
            begun = Clock::now();
    }
    float getTime() override { return running ? total + since() : total; }
    float getAverageTime() override { return sessions > 0 ? total / sessions : 0.0f; }
};

inline bool sdkCreateTimer(StopWatchInterface **timer) {
    *timer = new StopWatchLinux();
    return *timer != nullptr;
}
inline bool sdkDeleteTimer(StopWatchInterface **timer) {
    delete *timer;
    *timer = nullptr;
    return true;
}
inline bool sdkStartTimer(StopWatchInterface **timer) {
    if (*timer)
        (*timer)->start();
    return true;
}
inline bool sdkStopTimer(StopWatchInterface **timer) {
    if (*timer)
        (*timer)->stop();
    return true;
}
inline bool sdkResetTimer(StopWatchInterface **timer) {
    if (*timer)
        (*timer)->reset();
    return true;
}
inline float sdkGetTimerValue(StopWatchInterface **timer) { return *timer ? (*timer)->getTime() : 0.0f; }
inline float sdkGetAverageTimerValue(StopWatchInterface **timer) {
    return *timer ? (*timer)->getAverageTime() : 0.0f;
}

#endif
