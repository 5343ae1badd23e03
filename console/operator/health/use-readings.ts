import { useEffect, useState } from 'preact/hooks';
import { readMetrics } from '../call.ts';
import { parseMetrics } from '../parse-metrics.ts';
import { session } from '../session/session.ts';
import type { Reading } from './health-charts.ts';

/** Milliseconds between two readings. */
const everyMs = 5_000;

/** Readings that are kept: ten minutes. One more than the charts have values. */
export const readingsMax = 121;

/** The readings of the metrics since the page was opened. */
interface Readings {
  readonly readings: readonly Reading[];
  /** Why the last reading failed; `undefined` if it did not. */
  readonly error: unknown;
}

/** Kept until the page is shown again. */
let kept: readonly Reading[] = [];
session.onLeave(() => {
  kept = [];
});

/** Reads the metrics every five seconds while the page is visible. */
export function useReadings(): Readings & { readonly readNow: () => void } {
  const [state, setState] = useState<Readings>({ readings: kept, error: undefined });
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    const abort = new AbortController();
    const { signal } = abort;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const read = async (): Promise<void> => {
      if (document.visibilityState === 'visible') {
        try {
          const metrics = parseMetrics(await readMetrics(signal));
          kept = [...kept, { at: performance.now(), metrics }].slice(-readingsMax);
          if (!signal.aborted) setState({ readings: kept, error: undefined });
        } catch (error) {
          if (!signal.aborted) setState({ readings: kept, error });
        }
      }
      if (!signal.aborted) timer = setTimeout(read, everyMs);
    };
    void read();
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [attempt]);
  return { ...state, readNow: () => setAttempt((count) => count + 1) };
}
