import { writeSync } from 'node:fs';

/** Maximum bytes of buffered lines: about 4,000 lines. */
const waitingBytesMax = 1_048_576;
/** Milliseconds between attempts while lines are buffered. */
const retryMs = 100;
/** Maximum wait for buffered lines when the process exits, in milliseconds. */
const lastWaitMs = 500;

let droppedTotal = 0;

/** Log lines that this process has dropped since its start. */
export const droppedLogLines = (): number => droppedTotal;

/** Limits of a destination. */
interface LogDestinationOptions {
  readonly waitingBytesMax: number;
  /** Formats the line that reports dropped lines. */
  readonly describeDropped: (count: number) => string;
}

/**
 * Writes log lines to a file descriptor without ever blocking. While a disk is full or a pipe is
 * not read, lines are buffered up to a limit; further lines are dropped and counted, and the count
 * is written as soon as possible. A pipe must be non-blocking (`O_NONBLOCK`).
 */
export class LogDestination {
  readonly #fd: number;
  readonly #options: LogDestinationOptions;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #dropped = 0;
  #retry: NodeJS.Timeout | undefined;

  constructor(fd: number, options: Pick<LogDestinationOptions, 'describeDropped'> & Partial<LogDestinationOptions>) {
    this.#fd = fd;
    this.#options = { waitingBytesMax, ...options };
  }

  /** Writes a line, including its line feed. */
  write(line: string): void {
    const bytes = Buffer.from(line);
    if (this.#waitingBytes + bytes.length > this.#options.waitingBytesMax) {
      this.#dropped += 1;
      droppedTotal += 1;
      return;
    }
    this.#push(bytes);
    if (this.#retry === undefined) this.#flush();
  }

  /** Writes waiting lines for up to half a second; called when the process exits. */
  end(): void {
    for (const deadline = performance.now() + lastWaitMs; ; ) {
      this.#flush();
      if (this.#waitingBytes === 0 || performance.now() > deadline) break;
      // a blocking sleep: nothing else runs any more
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
    clearInterval(this.#retry);
  }

  #push(bytes: Buffer): void {
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
  }

  #flush(): void {
    while (this.#waitingBytes > 0 || this.#dropped > 0) {
      if (this.#waitingBytes === 0) {
        this.#push(Buffer.from(this.#options.describeDropped(this.#dropped)));
        this.#dropped = 0;
      }
      if (!this.#writeFirst()) {
        this.#retry ??= setInterval(() => this.#flush(), retryMs).unref();
        return;
      }
    }
    clearInterval(this.#retry);
    this.#retry = undefined;
  }

  /** Writes the first waiting line or part of it; returns `false` if nothing could be written. */
  #writeFirst(): boolean {
    const [first] = this.#waiting;
    if (first === undefined) return false;
    try {
      const written = writeSync(this.#fd, first);
      this.#waitingBytes -= written;
      if (written === first.length) this.#waiting.shift();
      else this.#waiting[0] = first.subarray(written);
      return true;
    } catch {
      // a full disk, an unread pipe or a closed one: it may accept more later
      return false;
    }
  }
}
