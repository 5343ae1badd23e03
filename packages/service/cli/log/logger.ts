import { type DestinationStream, type Logger, pino } from 'pino';
import { printableJson } from '../../../terminal/printable.ts';
import type { Config } from '../config.ts';
import { formatLogText } from './log-text.ts';

const service = 'subreport';
/** Maximum bytes of buffered lines: about 4,000 lines. */
const waitingBytesMax = 1_048_576;
/** Milliseconds between attempts while lines are buffered. */
const retryMs = 100;
/** Maximum wait for buffered lines when the process exits, in milliseconds. */
const lastWaitMs = 500;

let droppedTotal = 0;

/** Log lines that this process has dropped since its start. */
export const droppedLogLines = (): number => droppedTotal;

/**
 * Logs lines to standard output, of text on a terminal and of JSON elsewhere, each with the members
 * of `more`. Errors are logged with name, code, message and stack only, because drivers attach data
 * to theirs.
 */
export function createLogger(config: Pick<Config, 'LOG_LEVEL'>, more: Readonly<Record<string, number>> = {}): Logger {
  const base = { service, ...more };
  return pino(
    {
      level: config.LOG_LEVEL,
      base,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError },
    },
    openStandardOutput(base, process.stdout.isTTY ? formatAsText : printableJson),
  );
}

const formatAsText = (line: string): string => formatLogText(line, process.stdout.hasColors());

function openStandardOutput(base: object, format: (line: string) => string): DestinationStream {
  void process.stdout; // its first use creates the stream, which sets a pipe to non-blocking
  const destination = openLogDestination(1, (dropped) => {
    const msg = 'log lines were dropped: standard output did not accept them in time';
    return format(`${JSON.stringify({ level: 'warn', time: new Date(), ...base, dropped, msg })}\n`);
  });
  process.once('exit', destination.end);
  return { write: (line) => destination.write(format(line)) };
}

interface LogDestination extends DestinationStream {
  /** Writes waiting lines for up to half a second; called when the process exits. */
  readonly end: () => void;
}

/**
 * Writes log lines to a file descriptor without ever blocking. While a disk is full or a pipe is
 * not read, lines are buffered up to a limit; further lines are dropped and counted, and the count
 * is written as soon as possible. A pipe must be non-blocking (`O_NONBLOCK`).
 */
export function openLogDestination(
  fd: number,
  describeDropped: (count: number) => string,
  maxLength = waitingBytesMax,
): LogDestination {
  // An asynchronous one keeps the process alive while a pipe is full, and its `flushSync` never
  // returns on a full disk.
  const stream = pino.destination({ dest: fd, sync: true, maxLength, retryEAGAIN: () => false });
  let dropped = 0;
  let hasFailed = false;
  let retry: NodeJS.Timeout | undefined;
  stream.on('drop', () => {
    dropped += 1;
    droppedTotal += 1;
  });
  // pino's own listener would discard every line after a closed pipe, uncounted
  stream.removeAllListeners('error').on('error', () => {
    hasFailed = true;
  });
  const flush = (): void => {
    hasFailed = false;
    stream.write(''); // tries again to write what is buffered
    if (!hasFailed && dropped > 0) {
      const count = dropped;
      dropped = 0;
      stream.write(describeDropped(count));
    }
    if (hasFailed) return;
    clearInterval(retry);
    retry = undefined;
  };
  return {
    write: (line) => {
      stream.write(line);
      if (hasFailed || dropped > 0) retry ??= setInterval(flush, retryMs).unref();
    },
    end: () => {
      for (const deadline = performance.now() + lastWaitMs; ; ) {
        flush();
        if (!hasFailed || performance.now() > deadline) return clearInterval(retry);
        // a blocking sleep: nothing else runs any more
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
      }
    },
  };
}

function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name, message, stack, cause } = error;
  const { code } = error as { code?: unknown };
  return { type: name, code, message, stack, ...(cause instanceof Error && { cause: describeError(cause) }) };
}
