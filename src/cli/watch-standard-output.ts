import { fstatSync, writeSync } from 'node:fs';

/** Commands that write as they go, and have nothing left to do once nobody takes it. */
const streaming = ['generate'];

/**
 * Keeps an error of standard output from ending the process before the command has done its work. A
 * reader that goes away (`EPIPE`, as with `| head`) is no failure: the command ends with its own
 * exit code. Any other error loses the result: a sentence, and 1 instead of 0. `serve` writes its
 * log by itself.
 */
export function watchStandardOutput(command: string | undefined): void {
  if (command === 'serve') {
    process.stdout.on('error', () => undefined);
    return;
  }
  let failure: NodeJS.ErrnoException | undefined;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') failure ??= error;
    if (command !== undefined && streaming.includes(command)) process.exit();
  });
  process.on('exit', (code) => {
    if (failure === undefined) return;
    if (code === 0) process.exitCode = 1;
    tell(`Cannot write the result: standard output must take all of it: current value is ${failure.code}\n`);
  });
}

/**
 * Standard output as commands write to it: all of a text, or an error. Node's own stream takes a
 * file on a disk that fills up for one that took all.
 */
export const standardOutput = {
  write(text: string): boolean {
    if (!fstatSync(1).isFile()) return process.stdout.write(text);
    const bytes = Buffer.from(text);
    try {
      for (let written = 0; written < bytes.length; ) written += writeSync(1, bytes, written);
    } catch (error) {
      process.stdout.emit('error', error);
    }
    return true;
  },
};

/** Writes to standard error while the process ends. */
function tell(sentence: string): void {
  try {
    writeSync(2, sentence);
  } catch {
    // nobody can be told
  }
}
