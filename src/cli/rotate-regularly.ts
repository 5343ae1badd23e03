import type { Logger } from 'pino';
import type { KeyRingOptions } from '../auth/key-ring-options.ts';
import { rotateDueKeys } from '../auth/rotate-due-keys.ts';
import { formatInstant } from '../contract/instant.ts';

const everyMs = 3_600_000;

/** Rotates the keys that are due, now and every hour; an error is logged. */
export function rotateRegularly(options: KeyRingOptions, logger: Logger): void {
  if ((options.rotationDays ?? 0) === 0) return;
  const rotate = async () => {
    for (const { purpose, kid, activatesAt } of await rotateDueKeys(options)) {
      const line = { purpose, kid, activates_at: formatInstant(activatesAt) };
      logger.info(line, 'the key was due for rotation; a new one takes over');
    }
  };
  const attempt = () =>
    void rotate().catch((error: unknown) => logger.warn({ err: error }, 'the keys could not be rotated; trying again'));
  attempt();
  setInterval(attempt, everyMs).unref();
}
