import cluster, { type Worker } from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import { CommandError } from '../../../terminal/error.ts';
import { describeHealth } from '../../metrics/health.ts';
import type { ReadableMetrics } from '../../metrics/service-metrics.ts';
import type { Config } from '../config.ts';
import { requireFreePort } from '../listen.ts';
import { describeFailure, listenFailure } from '../log/describe-failure.ts';
import { createCounters } from './counters.ts';
import { heapFlags, planMemory } from './plan-memory.ts';
import { stopDelayMs, stopMsMax } from './stop-service.ts';
import { type PrimaryMessage, runForWorker, type WorkerMessage } from './worker-messages.ts';

/** Delay before a worker is replaced, in milliseconds: doubled after each failure up to `last`. */
const replaceMs = { first: 100, last: 10_000 };
/** Consecutive failed starts of one worker while no worker serves, about six seconds in total. */
const failuresMax = 5;
/** A worker that served for this long, in milliseconds, resets the delay. */
const steadyMs = 30_000;
/** Additional milliseconds for a worker to exit after its own time limit. */
const overtimeMs = 2_000;

interface Serving {
  readonly worker: Worker;
  /** Resolves once it takes no more requests, because it drains or has exited. */
  readonly left: Promise<unknown>;
  /** Resolves with the exit code or the signal when the process has exited. */
  readonly ended: Promise<readonly [code: number | null, signal: string | null]>;
}

/** Worker processes that share one port (`worker.ts`). A worker that exits is replaced. */
export class Workers {
  readonly #config: Config;
  readonly #logger: Logger;
  readonly #counters;
  readonly #serving = new Set<Worker>();
  #replaced = 0;
  #collect: (() => Promise<ReadableMetrics>) | undefined;
  readonly #stopping = new AbortController();
  readonly #silenceMs: number;

  /** A worker whose event loop is blocked for `silenceMs` milliseconds is killed and replaced. */
  constructor(config: Config, logger: Logger, silenceMs = silenceMsMax) {
    this.#config = config;
    this.#logger = logger;
    this.#silenceMs = silenceMs;
    this.#counters = createCounters(config);
  }

  /**
   * Starts `count` workers and resolves when all of them serve. If one cannot start, stops all and
   * throws `CommandError` with the reason. `ended` resolves when all have exited after `stop`, with
   * whether all exited normally. It rejects with `CommandError` if no worker serves and none can be
   * started.
   */
  async start(count: number): Promise<{ readonly ended: Promise<boolean> }> {
    const { heapMib } = planMemory(this.#config, count);
    // The limit applies to all workers together, but each worker needs one connection.
    const poolSize = Math.max(1, Math.floor(this.#config.DATABASE_POOL_SIZE / count));
    cluster.setupPrimary({
      exec: fileURLToPath(new URL('./worker.ts', import.meta.url)),
      args: [String(poolSize)],
      execArgv: [...process.execArgv, ...heapFlags(heapMib)],
    });
    await this.#requireFreePort('');
    if (this.#config.MANAGEMENT_PORT > 0) await this.#requireFreePort('MANAGEMENT_');
    try {
      const first = await Promise.all(Array.from({ length: count }, () => this.#startOne()));
      const supervised = Promise.all(first.map((serving) => this.#supervise(serving)));
      return { ended: supervised.then((inOrder) => inOrder.every(Boolean)).finally(() => this.kill()) };
    } catch (error) {
      this.kill();
      throw error;
    }
  }

  /** Lets each worker finish its requests and exit; one that takes too long is killed. */
  stop(): void {
    this.#stopping.abort();
    for (const worker of living()) send(worker, { kind: 'drain' });
    setTimeout(() => this.kill(), stopDelayMs(this.#config) + stopMsMax + overtimeMs).unref();
  }

  rereadCertificates(): void {
    for (const worker of this.#serving) worker.process.kill('SIGHUP');
  }

  kill(): void {
    this.#stopping.abort();
    for (const worker of living()) worker.process.kill('SIGKILL');
  }

  /** Starts a worker and resolves when it serves. Throws `CommandError`. */
  async #startOne(): Promise<Serving> {
    // with --demo, they differ from the environment
    const { DATA_DIR, MANAGEMENT_PORT } = this.#config;
    const worker = cluster.fork({ DATA_DIR, MANAGEMENT_PORT });
    const ended: Serving['ended'] = new Promise((resolve) => {
      worker.once('exit', (code, signal) => resolve([code, signal]));
    });
    const failed = ended.then(([code, signal]) => {
      throw new CommandError(
        `Cannot start a worker: it must run until it is stopped: it exited with ${signal ?? code}`,
      );
    });
    const drains = Promise.withResolvers<void>();
    const serving = new Promise<void>((resolve, reject) => {
      worker.on('error', reject); // it could not be started or not receive a message
      worker.on('message', (message: WorkerMessage) => {
        if (message.kind === 'serving') resolve();
        else if (message.kind === 'draining') drains.resolve();
        else if (message.kind === 'failed') reject(new CommandError(message.message));
        else if (message.kind === 'call')
          void runForWorker(
            {
              ...this.#counters,
              renderMetrics: async () => (await this.#collectMetrics()).render(),
              readHealth: async () => describeHealth(await (await this.#collectMetrics()).values()),
            },
            message,
          ).then((result) => send(worker, result));
      });
    });
    try {
      await Promise.race([serving, failed]);
    } catch (error) {
      worker.process.kill('SIGKILL');
      throw error;
    }
    this.#serving.add(worker);
    worker.once('exit', () => {
      this.#serving.delete(worker);
    });
    this.#watch(worker);
    return { worker, ended, left: Promise.race([drains.promise, ended]) };
  }

  async #collectMetrics(): Promise<ReadableMetrics> {
    if (this.#collect === undefined) {
      const { createMetricsCollector } = await import('./worker-metrics.ts');
      this.#collect = createMetricsCollector(this.#serving, send, () => this.#replaced);
    }
    return this.#collect();
  }

  /** Throws if another process uses a port, which the workers would share with it. */
  async #requireFreePort(prefix: '' | 'MANAGEMENT_'): Promise<void> {
    const { [`${prefix}HOST` as const]: host, [`${prefix}PORT` as const]: port } = this.#config;
    await requireFreePort(host, port).catch((error: unknown) => {
      throw listenFailure(error, this.#config, prefix);
    });
  }

  /**
   * Pings a worker regularly, and kills it if too many pings stay without a response. Pings are
   * counted rather than time, so that a pause of this process, which also delays responses, does
   * not count against the worker.
   */
  #watch(worker: Worker): void {
    let unanswered = 0;
    worker.on('message', ({ kind }: WorkerMessage) => {
      if (kind === 'alive') unanswered = 0;
    });
    const timer = setInterval(() => {
      unanswered += 1;
      if (unanswered <= pingsMax) return send(worker, { kind: 'alive?' });
      clearInterval(timer);
      const line = { worker: worker.id, pid: worker.process.pid, silent_ms: this.#silenceMs };
      this.#logger.error(line, 'a worker no longer responds; it is killed');
      worker.process.kill('SIGKILL');
    }, this.#silenceMs / pingsMax);
    worker.once('exit', () => clearInterval(timer));
  }

  /**
   * Replaces a worker whenever it exits or drains, until all are stopped and have exited; returns
   * whether the last one exited normally.
   */
  async #supervise(first: Serving): Promise<boolean> {
    let waitMs = replaceMs.first;
    let replaced: Promise<unknown> = Promise.resolve();
    for (let current = first; ; ) {
      const since = performance.now();
      await current.left;
      replaced = Promise.all([replaced, current.ended]);
      const { id, process } = current.worker;
      if (this.#isStopping) return replaced.then(() => process.exitCode === 0);
      const { pid, exitCode: code, signalCode: signal } = process;
      this.#logger.warn({ worker: id, pid, code, signal }, 'a worker exits; another one replaces it');
      if (performance.now() - since > steadyMs) waitMs = replaceMs.first;
      for (let failures = 0, next: Serving | undefined; next === undefined; failures += 1) {
        await sleep(waitMs, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
        if (this.#isStopping) return replaced.then(() => true);
        waitMs = Math.min(waitMs * 2, replaceMs.last);
        next = await this.#startOne().catch((error: unknown) => this.#tryAgain(error, failures));
        if (next === undefined) continue;
        this.#replaced += 1;
        current = next;
      }
    }
  }

  /**
   * Continues while any worker serves. Otherwise gives up after a while, so that the supervisor can
   * act.
   */
  #tryAgain(error: unknown, failures: number): undefined {
    if (this.#isStopping) return undefined;
    if (this.#serving.size === 0 && failures >= failuresMax) throw error;
    this.#logger.error({ reason: describeFailure(error) }, 'a worker could not be started; trying again');
  }

  get #isStopping(): boolean {
    return this.#stopping.signal.aborted;
  }
}

const living = (): Worker[] => Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);

function send(worker: Worker, message: PrimaryMessage): void {
  // it may have exited already
  if (worker.isConnected()) worker.process.send(message, () => undefined);
}

/**
 * Longest time that a worker's event loop may be blocked, in milliseconds: no request may take that
 * long.
 */
const silenceMsMax = 10_000;

/** Pings sent in that time; each response proves that the worker's event loop runs. */
const pingsMax = 10;
