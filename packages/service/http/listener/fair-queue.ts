import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { RequestError } from './error.ts';

/** Ends a request's use of the service; further calls do nothing. */
export type Leave = () => void;

export interface FairQueueLimits {
  /**
   * Maximum requests that run at once. One tenant may have three quarters of them, or three
   * tenths while other tenants also send requests.
   */
  readonly runningMax: number;
  readonly waitingMax: number;
  /** Longest wait of a request, in milliseconds. */
  readonly waitMsMax: number;
  /**
   * Maximum waiting requests that start in one turn of the event loop, at least 1. They are of as
   * many tenants, unless one tenant is alone.
   */
  readonly startsPerTurn: number;
}

/** What happens outside of the queue; tests replace it. */
interface FairQueueEvents {
  /** Runs a function in the next turn of the event loop, after all requests that have arrived. */
  readonly nextTurn?: (run: () => void) => void;
  /** Monotonic clock in milliseconds. */
  readonly nowMs?: () => number;
  /** Called for each rejected request. */
  readonly onRefused?: (() => void) | undefined;
  /** Whether the last work of a tenant did not finish in time, so that its next may not either. */
  readonly isHanging?: (tenant: string) => boolean;
}

interface Waiter {
  readonly start: () => void;
  readonly refuse: () => void;
}

interface Flow {
  readonly tenant: string;
  running: number;
  /** The number of the tenant's last start among all starts. */
  lastStart: number;
  readonly waiting: Waiter[];
}

/** Seconds after which the client of a rejected request should retry. */
const retryAfterSeconds = '2';

/**
 * A tenant's share of the running requests, whose order the queue does not control: on PostgreSQL,
 * 7 requests of another tenant raised the median duration of a page by 70 %, and 3 by 15 %.
 */
const parts = { alone: 0.75, shared: 0.3 };

/** The part of the running requests that all hanging tenants have together. */
const hangingPart = 0.25;

/** Tenants share the process for this long after two of them took turns, in milliseconds. */
const sharedMs = 1_000;

/** Flows without requests are forgotten above this number. */
const flowsMax = 1_000;

/**
 * Shares a process fairly between tenants: the tenant whose last request started longest ago is
 * next. So the requests of a tenant that sends more than its share wait for each other, and a
 * request of any other tenant is next.
 *
 * While requests wait, one of each tenant may start in a turn of the event loop, up to a limit. A
 * turn reads all requests that have arrived, so a request never waits behind the others of one
 * tenant just because they arrived together. If too many wait, the last one of the tenant with the
 * most is rejected.
 *
 * A tenant whose shard or worker hangs runs one request at a time: its requests would otherwise
 * keep their turns until their deadlines, and those of other tenants would wait for them.
 */
export class FairQueue {
  readonly #limits: FairQueueLimits;
  readonly #nextTurn: (run: () => void) => void;
  readonly #nowMs: () => number;
  readonly #onRefused: () => void;
  readonly #isHanging: (tenant: string) => boolean;
  readonly #flows = new Map<string, Flow>();
  #running = 0;
  #waiting = 0;
  /** Requests that have started so far, and that had when the current turn began. */
  #starts = 0;
  #startsBefore = 0;
  /** Whether a turn is scheduled; until then, no other request starts. */
  #isTurnTaken = false;
  /** The tenant whose request started last, and when one of another tenant last did before. */
  #lastTenant = '';
  #changedAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    limits: FairQueueLimits,
    {
      nextTurn = setImmediate,
      nowMs = () => performance.now(),
      onRefused = () => undefined,
      isHanging = () => false,
    }: FairQueueEvents = {},
  ) {
    this.#limits = limits;
    this.#nextTurn = nextTurn;
    this.#nowMs = nowMs;
    this.#onRefused = onRefused;
    this.#isHanging = isHanging;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /**
   * Starts a request at once if none waits; otherwise resolves when it is its turn. Rejects with
   * `UNAVAILABLE` if too many wait or it has waited too long, and once `signal` aborts.
   */
  enter(tenant: string, signal: AbortSignal): Leave | Promise<Leave> {
    const flow = this.#flowOf(tenant);
    const isFree = this.#waiting === 0 && !this.#isTurnTaken && this.#hasRoom(flow);
    return isFree ? this.#start(flow) : this.#wait(flow, signal);
  }

  #wait(flow: Flow, signal: AbortSignal): Promise<Leave> {
    return new Promise((resolve, reject) => {
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', giveUp);
        flow.waiting.splice(flow.waiting.indexOf(waiter), 1);
        this.#waiting -= 1;
      };
      const waiter: Waiter = {
        start: () => {
          end();
          resolve(this.#start(flow));
        },
        refuse: () => {
          end();
          this.#onRefused();
          reject(overloaded());
        },
      };
      const giveUp = (): void => {
        end();
        reject(signal.reason);
      };
      const timer = setTimeout(waiter.refuse, this.#limits.waitMsMax);
      signal.addEventListener('abort', giveUp);
      flow.waiting.push(waiter);
      this.#waiting += 1;
      if (this.#waiting > this.#limits.waitingMax) this.#longest(flow).waiting.at(-1)?.refuse();
      this.#schedule();
    });
  }

  #flowOf(tenant: string): Flow {
    let flow = this.#flows.get(tenant);
    if (flow === undefined) {
      if (this.#flows.size >= flowsMax) this.#forgetIdle();
      flow = { tenant, running: 0, lastStart: 0, waiting: [] };
      this.#flows.set(tenant, flow);
    }
    return flow;
  }

  #hasRoom({ tenant, running }: Flow): boolean {
    const { runningMax } = this.#limits;
    if (this.#isHanging(tenant))
      return running === 0 && this.#running < runningMax && this.#hanging < Math.ceil(runningMax * hangingPart);
    if (running === 0) return this.#running < runningMax;
    const part = this.#isShared ? parts.shared : parts.alone;
    return this.#running < runningMax && running < Math.floor(runningMax * part);
  }

  get #hanging(): number {
    let running = 0;
    for (const flow of this.#flows.values()) if (this.#isHanging(flow.tenant)) running += flow.running;
    return running;
  }

  get #isShared(): boolean {
    return this.#nowMs() - this.#changedAtMs < sharedMs;
  }

  #start(flow: Flow): Leave {
    const { tenant } = flow;
    this.#starts += 1;
    flow.lastStart = this.#starts;
    if (tenant !== this.#lastTenant) {
      if (this.#lastTenant !== '') this.#changedAtMs = this.#nowMs();
      this.#lastTenant = tenant;
    }
    this.#running += 1;
    flow.running += 1;
    this.#schedule();
    let isRunning = true;
    return () => {
      if (!isRunning) return;
      isRunning = false;
      this.#running -= 1;
      flow.running -= 1;
      if (this.#waiting > 0) this.#schedule();
      else if (flow.running === 0) this.#flows.delete(tenant);
    };
  }

  #schedule(): void {
    if (this.#isTurnTaken) return;
    this.#isTurnTaken = true;
    this.#nextTurn(() => {
      this.#isTurnTaken = false;
      this.#startsBefore = this.#starts;
      for (let starts = 0; starts < this.#limits.startsPerTurn; starts += 1) {
        const next = this.#next();
        if (next === undefined) break;
        next.start();
      }
      if (this.#waiting === 0 && this.#running === 0) this.#forgetIdle();
    });
  }

  /**
   * The waiting request of the tenant that started one longest ago, has room, and has not started
   * another one in this turn unless it is alone.
   */
  #next(): Waiter | undefined {
    let next: Flow | undefined;
    for (const flow of this.#flows.values()) {
      if (flow.waiting.length === 0 || (next !== undefined && flow.lastStart >= next.lastStart)) continue;
      if (flow.lastStart > this.#startsBefore && this.#isShared) continue;
      if (this.#hasRoom(flow)) next = flow;
    }
    return next?.waiting[0];
  }

  /** The flow with the most waiting requests; `own` if none has more. */
  #longest(own: Flow): Flow {
    let longest = own;
    for (const flow of this.#flows.values()) if (flow.waiting.length > longest.waiting.length) longest = flow;
    return longest;
  }

  #forgetIdle(): void {
    for (const [tenant, { running, waiting }] of this.#flows)
      if (running === 0 && waiting.length === 0) this.#flows.delete(tenant);
  }
}

const overloaded = (): RequestError =>
  new RequestError(
    'UNAVAILABLE',
    'Cannot respond now: fewer requests of this client must be in progress; wait for Retry-After seconds',
    { headers: { 'retry-after': retryAfterSeconds } },
  );

declare module 'fastify' {
  interface FastifyRequest {
    /** Ends the turn of a request; `null` while it has none. */
    endTurn: Leave | null;
  }
}

/** Ends the turn of each request when its response begins: then its client sets the pace. */
export function addTurns(app: FastifyInstance): void {
  app.decorateRequest('endTurn', null);
  app.addHook('onSend', (request, _reply, payload, done) => {
    request.endTurn?.();
    done(null, payload);
  });
}

/**
 * Resolves when it is a request's turn in the queue of a tenant, or of a client that requests
 * tokens. Rejects with `UNAVAILABLE` if the service is overloaded.
 */
export async function takeTurn(
  queue: FairQueue,
  key: string,
  request: FastifyRequest,
  { raw }: FastifyReply,
): Promise<void> {
  const { closed } = request;
  closed.throwIfAborted(); // its end would never be noticed
  const leave = await queue.enter(key, closed);
  raw.once('close', leave); // the client may disconnect before the response begins
  request.endTurn = leave;
}
