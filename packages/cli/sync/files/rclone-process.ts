import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { printable } from '../../../terminal/printable.ts';

/** Characters of rclone's messages that are kept: the last ones. */
const messageCharsMax = 16_384;

/** Milliseconds that rclone may take to end after SIGTERM, such as to abort an upload. */
const stopMsMax = 5_000;

/** How a process of rclone ended. */
export interface Ended {
  /** Its exit code; -1 if it could not be started, `null` if a signal ended it. */
  readonly code: number | null;
  /** Its last output, or its exit code or signal: one line without control characters. */
  readonly found: string;
}

/** A process of rclone, which is ended when it makes no progress. */
export class RcloneProcess {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  /** Resolves when it has ended and its output was read. */
  readonly ended: Promise<Ended>;
  #timer: NodeJS.Timeout | undefined;
  #messages = '';
  #idle = '';

  /** Starts `rclone` with arguments; `signal` ends it. */
  constructor(args: readonly string[], environment: NodeJS.ProcessEnv, signal?: AbortSignal) {
    // variables of the user could make it ask, or only seem to write
    const always = ['--ask-password=false', '--dry-run=false', '--interactive=false'];
    this.child = spawn('rclone', [...always, ...args], {
      ...{ env: environment, stdio: ['pipe', 'pipe', 'pipe'] },
      ...(signal && { signal }),
    });
    this.child.stdin.on('error', () => undefined); // it ended before its input
    this.child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#messages = (this.#messages + text).slice(-messageCharsMax);
    });
    this.ended = this.#end();
  }

  /** Kills the process after this many milliseconds. Each call begins the time again. */
  mayTake(msMax: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#idle = `no progress for ${msMax / 1000} s`;
      this.child.kill('SIGKILL');
    }, msMax);
  }

  /** Ends it, and waits until it has ended. Its input stays open: its end means a whole file. */
  async stop(): Promise<void> {
    this.child.kill();
    const timer = setTimeout(() => this.child.kill('SIGKILL'), stopMsMax);
    this.child.stdout.resume();
    await this.ended;
    clearTimeout(timer);
  }

  async #end(): Promise<Ended> {
    let wasStarted = true;
    this.child.on('error', ({ syscall }: NodeJS.ErrnoException) => {
      wasStarted = syscall === undefined;
    });
    const [code, signal] = await new Promise<[number | null, string | null]>((resolve) => {
      this.child.once('close', (...end) => resolve(end));
    });
    clearTimeout(this.#timer);
    if (!wasStarted) return { code: -1, found: 'no such program' };
    const found = this.#idle || (signal === null ? lastMessage(this.#messages) : `ended by ${signal}`);
    return { code, found: found || `exit code ${code}` };
  }
}

/** The last message of rclone's log as one line. */
function lastMessage(log: string): string {
  const message = log.split(/^\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d /m).at(-1) ?? '';
  return printable(message.trim().replace(/\s+/g, ' ')).slice(0, 300);
}
