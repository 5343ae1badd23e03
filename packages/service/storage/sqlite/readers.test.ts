import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import { type ReaderSlot, ReaderSlots } from './readers.ts';

/** A slot that records whether it is interrupted. */
class NotedSlot implements ReaderSlot {
  isInterrupted = false;
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }

  interrupt(): void {
    this.isInterrupted = true;
  }

  resume(): void {
    this.isInterrupted = false;
  }
}

describe('reader slots', () => {
  let threads: NotedSlot[];
  let slots: ReaderSlots<NotedSlot>;
  let started: string[];
  let gates: Map<string, PromiseWithResolvers<void>>;

  beforeEach(() => {
    threads = [new NotedSlot('one'), new NotedSlot('two')];
    slots = new ReaderSlots(threads, 3);
    started = [];
    gates = new Map();
  });

  /** Runs work that records its start and finishes when `end` is called with its name. */
  const run = (
    tenant: string,
    name: string,
    options?: { signal?: AbortSignal; pinned?: NotedSlot },
  ): Promise<string> => {
    const gate = Promise.withResolvers<void>();
    gates.set(name, gate);
    return slots.run(
      tenant,
      async (slot) => {
        started.push(name);
        await gate.promise;
        return slot.name;
      },
      options,
    );
  };
  const end = async (name: string): Promise<void> => {
    gates.get(name)?.resolve();
    await nextTurn();
  };

  test('the available threads are the idle ones, or all while none is idle', async () => {
    const [first, second] = [run('a', 'a1'), run('b', 'b1')];
    await nextTurn();
    expect(slots.available).toEqual(threads);
    await end('b1');
    expect(slots.available.map(({ name }) => name)).toEqual(['two']);
    await end('a1');
    await Promise.all([first, second]);
    expect(slots.available).toHaveLength(2);
  });

  test('work that is aborted as it gets a thread never starts, and leaves the thread free', async () => {
    const controller = new AbortController();
    const first = run('a', 'a1', { signal: controller.signal });
    controller.abort('left');
    await expect(first).rejects.toBe('left');
    await nextTurn();
    expect(started).toEqual([]);
    expect(slots.available).toHaveLength(2);
    expect(threads.map(({ isInterrupted }) => isInterrupted)).toEqual([false, false]);
  });

  test('one tenant never holds all threads, so another tenant starts at once', async () => {
    const [first, second] = [run('a', 'a1'), run('a', 'a2')];
    const other = run('b', 'b1');
    await nextTurn();
    expect(started).toEqual(['a1', 'b1']);
    await end('a1');
    await end('a2');
    await end('b1');
    expect(await Promise.all([first, second, other])).toEqual(['one', 'one', 'two']);
  });

  test('waiting work starts in the order of its requests, except that one tenant leaves a thread to the others', async () => {
    const all = [run('a', 'a1'), run('b', 'b1'), run('c', 'c1'), run('c', 'c2'), run('c', 'c3'), run('d', 'd1')];
    await nextTurn();
    expect(started).toEqual(['a1', 'b1']);
    await end('a1');
    await end('b1');
    expect(started).toEqual(['a1', 'b1', 'c1', 'd1']);
    for (const name of ['c1', 'd1', 'c2', 'c3']) await end(name);
    await Promise.all(all);
    expect(started).toEqual(['a1', 'b1', 'c1', 'd1', 'c2', 'c3']);
  });

  test('work of one tenant beyond the waiting limit is rejected as BUSY', async () => {
    const accepted = ['a1', 'a2', 'a3', 'a4'].map((name) => run('a', name));
    await expect(run('a', 'a5')).rejects.toMatchObject({ code: 'BUSY' });
    for (const name of ['a1', 'a2', 'a3', 'a4']) await end(name);
    await Promise.all(accepted);
  });

  test('work that is aborted while it waits never starts', async () => {
    const abort = new AbortController();
    const first = run('a', 'a1');
    const second = run('a', 'a2', { signal: abort.signal });
    abort.abort(new Error('too late'));
    await expect(second).rejects.toThrow('too late');
    await end('a1');
    await first;
    expect(started).toEqual(['a1']);
  });

  test('work that is aborted while it runs rejects at once and interrupts its thread until it finishes', async () => {
    const abort = new AbortController();
    const first = run('a', 'a1', { signal: abort.signal });
    await nextTurn();
    abort.abort(new Error('too late'));
    await expect(first).rejects.toThrow('too late');
    expect(threads.map(({ isInterrupted }) => isInterrupted)).toEqual([true, false]);
    const next = run('a', 'a2');
    await nextTurn();
    expect(started).toEqual(['a1']); // the aborted work still holds its thread
    await end('a1');
    expect(threads[0]?.isInterrupted).toBe(false);
    await end('a2');
    expect(await next).toBe('one');
  });

  test('work pinned to a thread waits for that thread while another is free', async () => {
    const first = run('a', 'a1');
    const bound = run('b', 'b1', { pinned: threads[0] as NotedSlot });
    await nextTurn();
    expect(started).toEqual(['a1']);
    await end('a1');
    await end('b1');
    expect([await first, await bound]).toEqual(['one', 'one']);
  });
});
