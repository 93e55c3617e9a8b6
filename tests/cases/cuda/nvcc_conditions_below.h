HEADER_BOTH inline int eight_times(int x) { return 2 * quadrupled(x); }
