import { statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { consoleOperations } from '../../../contract/oauth/console-session.ts';
import { operations } from '../../../contract/operations.ts';
import { operatorOperations } from '../../../contract/operator/operations.ts';
import { packageVersion } from '../../../terminal/package-version.ts';
import type { KeyRingOptions } from '../../auth/keys/ensure-keys.ts';
import { listKeys } from '../../auth/keys/rotate-keys.ts';
import { operationNames } from '../../http/listener/operation-routes.ts';
import { firstImportIdAt } from '../../import/with-history.ts';
import { describeHealth, type ReadHealth } from '../../metrics/health.ts';
import type { MeasureResponse } from '../../metrics/request-metrics.ts';
import { createServiceMetrics, type ServiceMetrics } from '../../metrics/service-metrics.ts';
import { nowSeconds } from '../../storage/now-seconds.ts';
import type { Store } from '../../storage/store.ts';
import { versionDays } from '../../storage/tables/sweep-versions.ts';
import type { Config } from '../config.ts';
import { droppedLogLines } from '../log/logger.ts';
import type { Certificates } from '../settings/certificates.ts';

const dayMs = 86_400_000;

/** Longest that a scrape waits for the store, in milliseconds. */
const storeMsMax = 2_000;

/** The metrics of a process, and the observers of its two listeners. */
export interface OpenedMetrics {
  readonly metrics: ServiceMetrics;
  readonly observePublic: MeasureResponse;
  readonly observeManagement: MeasureResponse;
  readonly readHealth: ReadHealth;
  readonly close: () => void;
}

interface MeasuredService {
  readonly store: Store;
  readonly config: Pick<Config, 'DATA_DIR' | 'HISTORY_DAYS' | 'TOMBSTONE_DAYS'>;
  readonly keyRing: Pick<KeyRingOptions, 'lifetimes' | 'rotationDays' | 'now'>;
  readonly isDraining: () => boolean;
  readonly waiting: () => number;
  readonly certificates: Pick<Certificates, 'public' | 'management'>;
}

export function openMetrics(service: MeasuredService): OpenedMetrics {
  const { store, config, keyRing, isDraining, waiting, certificates } = service;
  const open = () => store.within(performance.now() + storeMsMax);
  const metrics = createServiceMetrics({
    version: packageVersion,
    open,
    isDraining,
    now: nowSeconds,
    versionDays: versionDays(config),
    firstImportId: () => firstImportIdAt(Date.now() - dayMs),
    diskSpace: () => readDiskSpace(config.DATA_DIR),
    listKeys: () => listKeys({ ...keyRing, store: open() }),
    waiting,
    poolUse: () => store.poolUse?.(),
    observePoolWaits: (observe) => store.observePoolWaits?.(observe),
    certificateExpiries: () =>
      (['public', 'management'] as const).flatMap((listener) => {
        const expiresAt = certificates[listener]?.expiresAt();
        return expiresAt === undefined ? [] : [[listener, expiresAt] as const];
      }),
    droppedLogLines,
  });
  return {
    metrics,
    readHealth: async () => describeHealth(await metrics.values()),
    close: metrics.close,
    observePublic: metrics.measureListener('public', operationNames({ ...operations, ...consoleOperations })),
    observeManagement: metrics.measureListener(
      'management',
      operationNames({ ...operatorOperations, ...consoleOperations }),
    ),
  };
}

/** With PostgreSQL, the directory exists only once a load was spooled. */
async function readDiskSpace(folder: string) {
  const space = await statfs(folder).catch(() => statfs(dirname(resolve(folder))));
  return { free: space.bavail * space.bsize, total: space.blocks * space.bsize };
}
