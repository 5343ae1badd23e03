/** The library of Debian's package libfaketime, which gives a process another clock. */
export const faketime = `/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu/faketime/libfaketime.so.1`;
