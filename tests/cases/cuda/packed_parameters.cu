// Records that are aligned less than their members, as parameters of kernels that device code launches.
#include "../run/launch_packed_records.cdp"
