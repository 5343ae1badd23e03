import type { Logger } from 'pino';
import { formatInstant } from '../../../contract/instant.ts';
import type { AuditEvent } from '../../audit/audit-event.ts';
import type { KeyRingOptions } from '../../auth/keys/ensure-keys.ts';
import { type DueKey, rotateDueKeys } from '../../auth/keys/rotate-keys.ts';
import type { Directory } from '../../storage/store.ts';
import { openAuditStream } from './service-audit.ts';

const everyMs = 3_600_000;

/** The actor in the audit log: no operator asked for the rotation. */
const rotation: Omit<AuditEvent, 'details'> = {
  actor: { kind: 'service', id: null, name: null },
  ...{ action: 'keys.rotate', outcome: 'ok', error: null },
  ...{ address: null, tenant: null, clientId: null, correlationId: null },
};

/** Rotates the keys that are due, now and every hour; an error is logged. */
export function rotateRegularly(options: KeyRingOptions, logger: Logger): void {
  const audit = openAuditStream(options.store, logger, undefined);
  if ((options.rotationDays ?? 0) === 0) return;
  const record = async (directory: Directory, { purpose, kid, activatesAt }: DueKey) => {
    const written = await audit.add(directory, [{ ...rotation, details: { purpose, mode: 'soon', kid } }]);
    return () => {
      const line = { purpose, kid, activates_at: formatInstant(activatesAt) };
      logger.info(line, 'the key was due for rotation; a new one takes over');
      written();
    };
  };
  const attempt = () =>
    void rotateDueKeys(options, record).catch((error: unknown) =>
      logger.warn({ err: error }, 'the keys could not be rotated; trying again'),
    );
  attempt();
  setInterval(attempt, everyMs).unref();
}
