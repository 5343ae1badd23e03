import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RequestError } from './error.ts';
import { FairQueue, type FairQueueLimits, type Leave } from './fair-queue.ts';

const limits: FairQueueLimits = { runningMax: 4, waitingMax: 10, waitMsMax: 3_600_000, startsPerTurn: 1 };

/** A queue whose turns the test starts, with the order in which its requests start. */
function openQueue(more: Partial<FairQueueLimits> = {}) {
  const turns: (() => void)[] = [];
  const started: string[] = [];
  const refused: string[] = [];
  const leaves = new Map<string, Leave>();
  const hanging = new Set<string>();
  let now = 0;
  const queue = new FairQueue(
    { ...limits, ...more },
    { nextTurn: (run) => void turns.push(run), nowMs: () => now, isHanging: (tenant) => hanging.has(tenant) },
  );
  const settle = () => new Promise(setImmediate);
  const onStart = (name: string) => (leave: Leave) => {
    started.push(name);
    leaves.set(name, leave);
  };
  return {
    queue,
    wait: (ms: number): void => {
      now += ms;
    },
    started,
    refused,
    hanging,
    /** A request of a tenant, such as `greedy 1`. */
    enter(name: string): ((reason: unknown) => void) | undefined {
      const [tenant = ''] = name.split(' ');
      const leaving = new AbortController();
      const entered = queue.enter(tenant, leaving.signal);
      if (typeof entered === 'function') {
        onStart(name)(entered);
        return undefined;
      }
      entered.then(onStart(name), () => refused.push(name));
      return (reason) => leaving.abort(reason);
    },
    leave: (name: string): void => leaves.get(name)?.(),
    async turn(): Promise<void> {
      for (const run of turns.splice(0)) run();
      await settle();
    },
    /** Runs turns until none is scheduled; each started request ends before the next turn. */
    async drain(): Promise<void> {
      do {
        await this.turn();
        for (const name of started) this.leave(name);
      } while (turns.length > 0);
    },
  };
}

describe('a queue of requests by tenant', () => {
  test('a request starts at once while none waits, and one more starts in each turn', async () => {
    const { queue, enter, turn, started } = openQueue();
    for (const n of [1, 2, 3]) enter(`acme ${n}`);
    expect([started, queue.waiting]).toEqual([['acme 1'], 2]);
    await turn();
    expect(started).toEqual(['acme 1', 'acme 2']);
    await turn();
    await turn();
    enter('acme 4');
    expect(started).toHaveLength(3); // three quarters of the four that may run
    enter('beta 1');
    await turn();
    expect(started).toEqual(['acme 1', 'acme 2', 'acme 3', 'beta 1']);
  });

  test('one request of each tenant starts in a turn, as many as the limit allows', async () => {
    const { enter, turn, started } = openQueue({ startsPerTurn: 2, runningMax: 20 });
    for (const name of ['acme 1', 'acme 2', 'acme 3', 'beta 1', 'beta 2', 'gamma 1']) enter(name);
    await turn();
    expect(started).toEqual(['acme 1', 'beta 1', 'gamma 1']);
    await turn();
    expect(started.slice(3)).toEqual(['acme 2', 'beta 2']);
    await turn();
    expect(started.slice(5)).toEqual(['acme 3']); // another tenant was here a moment ago
  });

  test('a tenant beside another one starts one request in a turn, although more are allowed', async () => {
    const { enter, turn, started } = openQueue({ startsPerTurn: 3, runningMax: 20 });
    for (const name of ['acme 1', 'acme 2', 'acme 3', 'beta 1']) enter(name);
    await turn();
    expect(started).toEqual(['acme 1', 'beta 1', 'acme 2']);
  });

  test('several requests of a tenant that is alone start in a turn', async () => {
    const { enter, turn, started } = openQueue({ startsPerTurn: 2, runningMax: 20 });
    for (let n = 1; n <= 4; n += 1) enter(`acme ${n}`);
    await turn();
    expect(started).toEqual(['acme 1', 'acme 2', 'acme 3']);
  });

  test('a request of a quiet tenant is next, however many of a greedy one wait', async () => {
    const opened = openQueue();
    for (let n = 1; n <= 8; n += 1) opened.enter(`greedy ${n}`);
    await opened.turn();
    opened.leave('greedy 1');
    opened.enter('quiet 1');
    await opened.turn();
    expect(opened.started).toEqual(['greedy 1', 'greedy 2', 'quiet 1']);
  });

  test('one tenant may have three quarters of the running requests, or three tenths while another tenant sends requests', async () => {
    const opened = openQueue({ runningMax: 20, waitingMax: 100 });
    const runAll = async (tenant: string): Promise<number> => {
      opened.started.length = 0;
      for (let n = 1; n <= 30; n += 1) opened.enter(`${tenant} ${n}`);
      for (let n = 1; n <= 30; n += 1) await opened.turn();
      const { length } = opened.started;
      await opened.drain();
      return length;
    };
    expect(await runAll('a')).toBe(15);
    opened.enter('b 1');
    await opened.drain();
    expect(await runAll('a')).toBe(6);
    opened.wait(1_000);
    expect(await runAll('a')).toBe(15);
  });

  test('a hanging tenant runs one request at a time, and all of them together a quarter, until they respond again', async () => {
    const { enter, turn, leave, started, hanging } = openQueue({ runningMax: 8, startsPerTurn: 8 });
    for (const tenant of ['a', 'b', 'c']) hanging.add(tenant);
    for (const name of ['a 1', 'a 2', 'b 1', 'c 1', 'quiet 1', 'quiet 2']) enter(name);
    for (let n = 0; n < 3; n += 1) await turn();
    expect(started).toEqual(['a 1', 'b 1', 'quiet 1', 'quiet 2']);
    hanging.delete('a');
    leave('a 1');
    await turn();
    expect(started.slice(4)).toEqual(['c 1', 'a 2']);
  });

  test('a request that gives up after it has started leaves the others of its tenant in the queue', async () => {
    const opened = openQueue({ runningMax: 2 });
    const { queue, enter, turn, started, refused } = opened;
    enter('other 1');
    const giveUp = enter('a 1');
    enter('a 2');
    await turn();
    expect(started).toEqual(['other 1', 'a 1']);
    giveUp?.(new Error('disconnected'));
    expect(queue.waiting).toBe(1);
    await opened.drain();
    expect([started, refused, queue.waiting]).toEqual([['other 1', 'a 1', 'a 2'], [], 0]);
  });

  test('in a process with fewer than four turns, a hanging tenant still gets one', async () => {
    const { enter, turn, started, hanging } = openQueue({ runningMax: 2, startsPerTurn: 8 });
    for (const tenant of ['a', 'b']) hanging.add(tenant);
    for (const name of ['a 1', 'b 1', 'quiet 1']) enter(name);
    for (let n = 0; n < 3; n += 1) await turn();
    expect(started).toEqual(['a 1', 'quiet 1']);
  });

  test('tenants that always have requests take turns, and an idle tenant accumulates no credit', async () => {
    const opened = openQueue({ waitingMax: 100 });
    for (let n = 1; n <= 6; n += 1) opened.enter(`a ${n}`);
    for (let n = 1; n <= 3; n += 1) opened.enter(`b ${n}`);
    await opened.drain();
    expect(opened.started.join(', ')).toBe('a 1, b 1, a 2, b 2, a 3, b 3, a 4, a 5, a 6');
    opened.started.length = 0;
    for (let n = 1; n <= 3; n += 1) opened.enter(`a ${n}`);
    for (let n = 1; n <= 3; n += 1) opened.enter(`b ${n}`);
    await opened.drain();
    expect(opened.started.join(', ')).toBe('a 1, b 1, a 2, b 2, a 3, b 3');
  });

  test('a tenant that comes back while others wait takes turns with them and overtakes none', async () => {
    const opened = openQueue({ waitingMax: 100 });
    const next = async (): Promise<string> => {
      await opened.turn();
      const name = opened.started.at(-1) ?? '';
      opened.leave(name);
      return name;
    };
    opened.enter('early 1');
    for (let n = 1; n <= 6; n += 1) opened.enter(`busy ${n}`);
    opened.leave('early 1');
    for (let n = 1; n <= 4; n += 1) await next();
    // after a pause, several at once
    for (let n = 2; n <= 4; n += 1) opened.enter(`early ${n}`);
    await opened.drain();
    expect(opened.started.slice(5)).toEqual(['early 2', 'busy 5', 'early 3', 'busy 6', 'early 4']);
    opened.started.length = 0;
    // each time its request has started, with another one
    for (let n = 1; n <= 4; n += 1) opened.enter(`steady ${n}`);
    opened.leave('steady 1');
    opened.enter('again 1');
    for (let n = 2; n <= 4; ) if ((await next()).startsWith('again')) opened.enter(`again ${n++}`);
    await opened.drain();
    expect(opened.started.map((name) => name.split(' ')[0]).slice(0, 7)).toEqual([
      'steady',
      'again',
      'steady',
      'again',
      'steady',
      'again',
      'steady',
    ]);
  });

  test('when too many wait, the last one of the tenant with the most gets 503 with Retry-After', async () => {
    const opened = openQueue({ waitingMax: 3 });
    for (let n = 1; n <= 4; n += 1) opened.enter(`greedy ${n}`);
    opened.enter('quiet 1');
    await new Promise(setImmediate);
    expect([opened.refused, opened.queue.waiting]).toEqual([['greedy 4'], 3]);
    const refused = opened.queue.enter('greedy', new AbortController().signal);
    await expect(refused).rejects.toBeInstanceOf(RequestError);
    await expect(refused).rejects.toMatchObject({ code: 'UNAVAILABLE', headers: { 'retry-after': '2' } });
    await opened.drain();
    expect(opened.started).toEqual(['greedy 1', 'quiet 1', 'greedy 2', 'greedy 3']);
  });

  test('rejected requests do not delay later ones of their tenant', async () => {
    const opened = openQueue({ waitingMax: 2 });
    for (let n = 1; n <= 100; n += 1) opened.enter(`a ${n}`);
    await opened.turn();
    opened.enter('b 1');
    opened.enter('b 2');
    await opened.drain();
    opened.enter('a 101');
    await opened.drain();
    expect(opened.started.join(', ')).toBe('a 1, a 2, b 1, a 3, a 101');
  });

  test('a request that has waited too long is rejected, and one whose client has gone never starts', async () => {
    const opened = openQueue({ waitMsMax: 1 });
    opened.enter('a 1');
    opened.enter('a 2');
    await expect.poll(() => opened.refused).toEqual(['a 2']);
    opened.enter('a 3')?.('gone');
    await opened.drain();
    expect([opened.started, opened.queue.waiting]).toEqual([['a 1'], 0]);
  });

  test('every request starts or is rejected, and never do more run than the limits allow', async () => {
    const arrivals = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.nat(2)), { maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(arrivals, fc.integer({ min: 1, max: 8 }), async (steps, startsPerTurn) => {
        const opened = openQueue({ startsPerTurn });
        const running = (): string[] => opened.started.slice(left);
        let left = 0;
        for (const [index, [tenant, turns]] of steps.entries()) {
          opened.enter(`${tenant} ${index}`);
          for (let n = 0; n < turns; n += 1) await opened.turn();
          expect(running().length).toBeLessThanOrEqual(limits.runningMax);
          for (const each of ['a', 'b', 'c'])
            expect(running().filter((name) => name.startsWith(each)).length).toBeLessThanOrEqual(3);
          if (turns === 2 && left < opened.started.length) {
            opened.leave(opened.started[left] ?? '');
            left += 1;
          }
        }
        await opened.drain();
        expect(new Set([...opened.started, ...opened.refused]).size).toBe(steps.length);
        expect(opened.started.length + opened.refused.length).toBe(steps.length);
      }),
      { numRuns: 50 },
    );
  });
});
