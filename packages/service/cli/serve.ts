import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { operations } from '../../contract/operations.ts';
import type { AuditTally } from '../audit/audit-tally.ts';
import type { AuthContext } from '../auth/auth-context.ts';
import { createProviderSignIn } from '../auth/provider/provider-sign-in.ts';
import { createOperatorSessions } from '../auth/sessions/session-holder.ts';
import { createOperatorGate } from '../auth/verify/authorize-operator.ts';
import { createResourceServer } from '../auth/verify/resource-server.ts';
import type { ServiceState } from '../http/operator/operator-handlers.ts';
import { buildServer } from '../http/server.ts';
import type { ReadHealth } from '../metrics/health.ts';
import type { ServiceMetrics } from '../metrics/service-metrics.ts';
import { watchGate, watchSessions } from '../operator/watch-gate.ts';
import { nowSeconds } from '../storage/now-seconds.ts';
import { RangeMemory } from '../storage/read/range-memory.ts';
import type { Store } from '../storage/store.ts';
import type { Config } from './config.ts';
import { listSettings } from './config-command.ts';
import { listenOnBoth } from './listen.ts';
import { runDoctorProcess } from './serving/check-store.ts';
import { type Counters, createCounters } from './serving/counters.ts';
import { createProtection, exportLimits } from './serving/create-protection.ts';
import { openAuth, openExternalIssuer } from './serving/open-auth.ts';
import { openServiceAudit } from './serving/service-audit.ts';
import { openCertificates } from './settings/certificates.ts';
import { keyRingOptions } from './store/key-ring-options.ts';
import { openSpool } from './store/open-spool.ts';

/** A client may read the records that it loads from a slow source. */
const bodyPace = { stallMs: 30_000, rateMin: 4_096 };

export interface RunningService {
  readonly app: FastifyInstance;
  readonly management: FastifyInstance | undefined;
  /** Makes `/readyz` return 503 and closes connections after their response, before a shutdown. */
  readonly drain: () => void;
  /** Reads renewed certificates; one that cannot be used does not replace the current one. */
  readonly rereadCertificates: () => void;
  /** The metrics of this process; `undefined` without the operator's API. */
  readonly metrics: ServiceMetrics | undefined;
}

/** How this process shares work with other processes. */
interface ServeOptions {
  readonly counters: Counters;
  /** Whether other processes may listen on the same port (`SO_REUSEPORT`). */
  readonly reusePort: boolean;
  /** Writes the metrics of all processes, if there are others. */
  readonly renderMetrics?: () => Promise<string | undefined>;
  /** The state of all processes, if there are others. */
  readonly readHealth?: ReadHealth;
}

/**
 * Builds the service from its settings and an open store, and starts listening. All wiring is in
 * this function.
 */
export async function serve(
  config: Config,
  store: Store,
  logger: Logger,
  { counters: { failures, requests }, reusePort, renderMetrics, readHealth }: ServeOptions = {
    counters: createCounters(config),
    reusePort: false,
  },
): Promise<RunningService> {
  const { publicUrl } = config;
  store.watch();
  const keyRing = keyRingOptions(config, store, logger);
  const auth = await openAuth(config, keyRing, failures);
  const resourceServer = createResourceServer(auth, openExternalIssuer(config, logger));
  let draining = false;
  const bothListeners = partsOfBoth(config, store, logger, () => draining);
  // without the operator's API, the service loads a quarter fewer modules
  const operator = config.MANAGEMENT_PORT === 0 ? undefined : await loadOperator();
  const certificates = openCertificates(config, logger);
  const protection = createProtection(config, store, requests, (reason) => opened?.metrics.refused(reason));
  const waiting = (): number => protection.queue.waiting;
  const opened = operator?.openMetrics({ store, config, keyRing, isDraining: () => draining, waiting, certificates });
  const audit = openServiceAudit(store, logger, opened);
  const app = await buildServer({
    ...bothListeners,
    tls: certificates.public,
    observe: audit.observe,
    auth,
    resourceServer,
    authorize: (header) => resourceServer.authorize(header, 'subscription:read'),
    limiter: protection.limiter,
    queue: protection.queue,
    exports: { ...exportLimits(config), memory: protection.memory, onCount: opened?.metrics.exports },
    publicUrl,
  });
  app.addHook('onClose', () => audit.tally.close());
  const spool = openSpool(config);
  await spool.sweep();
  const management = await operator?.buildManagementServer({
    ...bothListeners,
    tls: certificates.management,
    store,
    spool,
    now: nowSeconds,
    keyRing,
    audit: audit.log,
    ...openOperatorAccess(auth, audit.tally, logger),
    ...describeService(config, readHealth ?? opened?.readHealth),
    authorizeWrite: (header) => resourceServer.authorize(header, 'subscription:write'),
    limiter: protection.limiter,
    memory: protection.memory,
    bodyPace,
    managementUrl: config.MANAGEMENT_URL,
    allowedHosts: [config.MANAGEMENT_HOST, ...config.MANAGEMENT_ALLOWED_HOSTS],
    observe: opened?.observeManagement,
    measure: opened?.metrics,
    renderMetrics: renderMetrics ?? (async () => opened?.metrics.render()),
    publicUrl,
  });
  management?.addHook('onClose', async () => opened?.close());
  app.addHook('onClose', async () => certificates.close());
  await listenOnBoth(app, management, config, reusePort);
  return {
    app,
    management,
    drain: () => {
      draining = true;
    },
    rereadCertificates: certificates.reread,
    metrics: opened?.metrics,
  };
}

/** What both listeners need. */
const partsOfBoth = (config: Config, store: Store, logger: Logger, isDraining: () => boolean) => ({
  report: {
    store,
    ranges: new RangeMemory(),
    limits: config.limits,
    now: nowSeconds,
    reportUrl: config.publicUrl + operations.listSubscriptions.path,
  },
  isDraining,
  checkReady: (deadline: number) => store.within(deadline).checkReady(),
  requestMs: config.REQUEST_SECONDS_MAX * 1000,
  trustedProxies: config.TRUSTED_PROXIES,
  connectionsPerAddressMax: config.fixed.connectionsPerAddressMax,
  hasConsole: config.CONSOLE === 'true',
  provider: config.provider && createProviderSignIn(config.provider),
  logger,
});

/** What authorizes operators, by a token or a session; the audit log counts sign-ins. */
function openOperatorAccess({ store, failures, settings: limits }: AuthContext, tally: AuditTally, logger: Logger) {
  const onUnrecorded = (error: unknown) =>
    logger.warn({ err: error }, 'the use of a token of an operator could not be recorded');
  const shared = { store, now: nowSeconds, onUnrecorded };
  const gate = watchGate(createOperatorGate({ ...shared, failures }), tally, nowSeconds);
  const sessions = createOperatorSessions({ ...shared, limits });
  return { operatorGate: gate, operatorSessions: watchSessions(sessions, tally) };
}

const describeService = (config: Config, readHealth: ReadHealth | undefined): ServiceState => ({
  checkStore: async () => void (await runDoctorProcess(config)),
  readHealth: async () => readHealth?.(),
  settings: listSettings(config),
});

async function loadOperator() {
  const [{ buildManagementServer }, { openMetrics }] = await Promise.all([
    import('../http/operator/management.ts'),
    import('./serving/open-metrics.ts'),
  ]);
  return { buildManagementServer, openMetrics };
}
