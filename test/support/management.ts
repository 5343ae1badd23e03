import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import type { OperatorScope } from '../../packages/contract/oauth/grant.ts';
import { createAuditLog } from '../../packages/service/audit/audit-log.ts';
import { type AuditTally, createAuditTally } from '../../packages/service/audit/audit-tally.ts';
import { AccessError } from '../../packages/service/auth/error.ts';
import { createFailureBudget } from '../../packages/service/auth/failure-budget.ts';
import { createOperatorSessions } from '../../packages/service/auth/sessions/session-holder.ts';
import { createOperatorGate } from '../../packages/service/auth/verify/authorize-operator.ts';
import { buildManagementServer } from '../../packages/service/http/operator/management.ts';
import { Spool } from '../../packages/service/import/spool.ts';
import { keepDoctorResult } from '../../packages/service/operator/doctor.ts';
import { createOperator } from '../../packages/service/operator/operators.ts';
import type { OperatorContext } from '../../packages/service/operator/perform.ts';
import { watchGate, watchSessions } from '../../packages/service/operator/watch-gate.ts';
import { requireDocumented } from './documented-statuses.ts';
import type { TestStore } from './engines.ts';
import { testKeyRing } from './key-ring.ts';

/** A management listener in this process; requests are injected. */
export interface TestManagement {
  readonly app: FastifyInstance;
  /** For the functions of `packages/service/operator/`. */
  readonly context: OperatorContext;
  /** Counts rejected tokens and sign-ins. */
  readonly tally: AuditTally;
  /** The log as it was written. */
  logText(): string;
  /** Creates an operator's token. */
  operatorToken(...scopes: OperatorScope[]): Promise<string>;
  /** Sends a request with a token, and parses the JSON body of the response. */
  send(method: Method, path: string, options?: SendOptions): Promise<Sent>;
  close(): Promise<void>;
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';

interface SendOptions {
  readonly token?: string;
  readonly body?: object;
  readonly headers?: Record<string, string>;
  /** Where the request comes from; 127.0.0.1 if absent. */
  readonly address?: string;
}

interface Sent {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  // biome-ignore lint/suspicious/noExplicitAny: each test knows the body that it expects
  readonly body: any;
}

/** The time of the listener; tests may move it. */
export const clock = { seconds: 1_780_000_000 };

/** Builds a management listener on a store, with three failed attempts per minute and address. */
export async function startManagement(
  { store, close }: TestStore,
  options: Partial<Parameters<typeof buildManagementServer>[0]> = {},
): Promise<TestManagement> {
  const folder = mkdtempSync(join(tmpdir(), 'subreport-test-'));
  const lines: string[] = [];
  const sink = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  const now = (): number => clock.seconds;
  const logger = pino({ level: 'trace' }, sink);
  const audit = createAuditLog({ store, now, write: (entry) => logger.info(entry, 'audit') });
  const onFailure = (error: unknown) => logger.error({ err: error });
  const tally = createAuditTally({ log: audit, now, onFailure });
  const gate = createOperatorGate({ store, failures: createFailureBudget(3), now, onUnrecorded: onFailure });
  const watched = watchGate(gate, tally, now);
  const limits = { sessionIdleSeconds: 1_800, sessionSeconds: 43_200 };
  const app = await buildManagementServer({
    store,
    now,
    keyRing: testKeyRing(store, now),
    audit,
    operatorGate: watched,
    operatorSessions: watchSessions(createOperatorSessions({ store, now, limits, onUnrecorded: onFailure }), tally),
    publicUrl: 'http://127.0.0.1',
    renderMetrics: async () => undefined,
    hasConsole: true,
    spool: new Spool(join(folder, 'spool'), 1_000_000),
    bodyPace: { stallMs: 5_000, rateMin: 0 },
    allowedHosts: [],
    requestMs: 60_000,
    connectionsPerAddressMax: 100,
    limiter: { countCostly: async () => undefined },
    authorizeWrite: async () => {
      throw new AccessError('INVALID_TOKEN', 'Cannot accept the access token: this test has no clients');
    },
    checkStore: () => keepDoctorResult(store, [], { startedAt: now(), finishedAt: now(), version: 'test' }),
    readHealth: async () => undefined,
    settings: [],
    checkReady: async () => undefined,
    isDraining: () => false,
    trustedProxies: [],
    logger,
    ...options,
  });
  const context: OperatorContext = {
    store,
    now,
    actor: { kind: 'command', user: 'tester' },
    audit,
    onUnrecorded: onFailure,
  };
  let tokens = 0;
  return {
    app,
    context,
    tally,
    logText: () => lines.join(''),
    operatorToken: async (...scopes) => {
      tokens += 1;
      return (await createOperator(context, { name: `test ${tokens}`, scopes })).token;
    },
    async send(method, path, { token, body, headers = {}, address } = {}) {
      const {
        statusCode,
        headers: received,
        payload,
      } = await app.inject({
        method,
        url: path,
        headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...headers },
        ...(body !== undefined && { payload: body }),
        ...(address !== undefined && { remoteAddress: address }),
      });
      return { status: statusCode, headers: received, body: payload === '' ? undefined : JSON.parse(payload) };
    },
    async close() {
      await app.close();
      await tally.close();
      await close();
      rmSync(folder, { recursive: true });
      requireDocumented(lines.join(''));
    },
  };
}
