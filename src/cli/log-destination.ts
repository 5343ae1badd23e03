import { writeSync } from 'node:fs';

/** Maximum bytes of lines waiting to be written: some 4,000 lines. */
const waitingBytesMax = 1_048_576;
/** Time between two attempts to write waiting lines, in milliseconds. */
const retryMs = 100;
/** How long the process waits at exit to write the remaining lines, in milliseconds. */
const lastWaitMs = 500;

/** Limits of a destination. */
interface LogDestinationOptions {
  readonly waitingBytesMax: number;
  /** Formats the line that reports how many lines were dropped. */
  readonly describeDropped: (count: number) => string;
}

/**
 * Writes log lines to a file descriptor and never waits for it. Lines that a full disk or an unread
 * pipe does not accept wait in memory up to a limit; later ones are dropped and counted, and the
 * count is written once there is room. The descriptor of a pipe must be non-blocking
 * (`O_NONBLOCK`).
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

  /** Writes one line, which ends with a line feed. */
  write(line: string): void {
    const bytes = Buffer.from(line);
    if (this.#waitingBytes + bytes.length > this.#options.waitingBytesMax) {
      this.#dropped += 1;
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
