/**
 * Makes a function that calls `write` at most once per `everyMs`, with the number of calls since
 * the last time.
 */
export function createThrottledLog(everyMs: number, nowMs = () => performance.now()) {
  let calls = 0;
  let writtenAtMs = Number.NEGATIVE_INFINITY;
  return (write: (calls: number) => void): void => {
    calls += 1;
    if (nowMs() - writtenAtMs < everyMs) return;
    writtenAtMs = nowMs();
    write(calls);
    calls = 0;
  };
}
