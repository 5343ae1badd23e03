import { afterEach, expect, test, vi } from 'vitest';
import { connectionErrorOf } from '../client/error.ts';
import { CommandError, InterruptedError } from './error.ts';
import { forUser, runReader } from './reader-action.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** Delivers a signal to the command alone, not to the test runner. */
function interrupt(signal: 'SIGINT' | 'SIGTERM', before: readonly unknown[]): void {
  for (const listener of process.listeners(signal)) if (!before.includes(listener)) listener(signal);
}

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)(
  'a command that hangs after %s is ended with %i after 15 seconds, and not earlier',
  async (signal, code) => {
    vi.useFakeTimers();
    const exit = vi.spyOn(process, 'exit').mockImplementation(() => undefined as never);
    const before = process.listeners(signal);
    const hanging = Promise.withResolvers<void>();
    const running = runReader(() => hanging.promise);
    interrupt(signal, before);
    vi.advanceTimersByTime(14_000);
    interrupt(signal, before); // again, from the launcher
    expect(exit).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1_000);
    expect(exit.mock.calls).toEqual([[code]]);
    hanging.resolve();
    await running;
    expect(process.listeners(signal)).toEqual(before);
  },
);

test('a command that ends in time after a signal rejects with it, and the process goes on', async () => {
  vi.useFakeTimers();
  const exit = vi.spyOn(process, 'exit').mockImplementation(() => undefined as never);
  const before = process.listeners('SIGTERM');
  const running = runReader(
    (signal) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('aborted')))),
  );
  interrupt('SIGTERM', before);
  await expect(running).rejects.toBeInstanceOf(InterruptedError);
  vi.advanceTimersByTime(60_000);
  expect(exit).not.toHaveBeenCalled();
});

test('an error of the client library is one sentence, and a fault of the program keeps its stack', () => {
  expect(forUser(new TypeError('Cannot continue the changes: next must be new'))).toBeInstanceOf(CommandError);
  const fault = new TypeError("Cannot read properties of undefined (reading 'id')");
  expect(forUser(fault)).toBe(fault);
});

test('a request that cannot have arrived has no correlation id to look for', () => {
  const failure = new TypeError('fetch failed', {
    cause: Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }),
  });
  const error = connectionErrorOf('http://127.0.0.1:1', failure, { correlationId: 'id', attempts: 1 });
  expect(String(forUser(error))).toMatch(/^CommandError: [^\n]*the connection was refused[^\n]*$/);
});

test('an error of the network that has no name of its own says its first cause, in one line', async () => {
  // the broadcast address: no TCP connection leads to it
  const url = 'http://255.255.255.255:8080';
  const failure: unknown = await fetch(url).catch((error: unknown) => error);
  const error = forUser(connectionErrorOf(url, failure, { correlationId: 'id', attempts: 1 }));
  expect(String(error)).toMatch(
    /the network failed.*\nCause: connect E[A-Z]+ 255\.255\.255\.255:8080.*\nCorrelation id: id$/,
  );
  const long = new TypeError('fetch failed', { cause: new Error(`\u001b[31m\n${'x'.repeat(1_000)}`) });
  const shown = String(forUser(connectionErrorOf(url, long, { correlationId: 'id', attempts: 1 })));
  expect(shown.split('\n')).toHaveLength(3);
  expect(shown).not.toContain('\u001b');
  expect(shown.length).toBeLessThan(500);
});
