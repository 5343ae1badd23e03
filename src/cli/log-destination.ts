import { writeSync } from 'node:fs';

/** Bytes of lines that wait while nobody takes them: some 4,000 lines. */
const waitingBytesMax = 1_048_576;
/** Time between two attempts while lines wait, in milliseconds. */
const retryMs = 100;
/** Longest wait at the end of the process for lines that nobody takes, in milliseconds. */
const lastWaitMs = 500;

/** How a destination is bounded. */
interface LogDestinationOptions {
  readonly waitingBytesMax: number;
  /** The line that says how many lines were dropped. */
  readonly describeDropped: (count: number) => string;
}

/**
 * Writes log lines to a file descriptor and never waits for it. Lines that a full disk or an unread
 * pipe does not take wait in memory up to a bound; those beyond it are dropped and counted, and the
 * count is written once there is room. The descriptor of a pipe must not block (`O_NONBLOCK`).
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

  /** Writes one line, which ends in a line feed. */
  write(line: string): void {
    const bytes = Buffer.from(line);
    if (this.#waitingBytes + bytes.length > this.#options.waitingBytesMax) {
      this.#dropped += 1;
      return;
    }
    this.#push(bytes);
    if (this.#retry === undefined) this.#flush();
  }

  /** Writes what waits, as far as it is taken within half a second: for the end of the process. */
  end(): void {
    for (const deadline = performance.now() + lastWaitMs; ; ) {
      this.#flush();
      if (this.#waitingBytes === 0 || performance.now() > deadline) break;
      // a sleep: nothing else runs any more
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

  /** Writes the first of what waits, or a part of it; `false` when nothing is taken now. */
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
      // a full disk, an unread pipe or a reader that went away: it may take more later
      return false;
    }
  }
}
