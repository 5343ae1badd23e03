import type { Logger } from 'pino';
import { apiPath } from '../../../contract/report.ts';
import type { AuthContext } from '../../auth/auth-context.ts';
import type { FailureBudget } from '../../auth/failure-budget.ts';
import type { KeyRingOptions } from '../../auth/keys/ensure-keys.ts';
import { openKeyRing } from '../../auth/keys/key-ring.ts';
import { createExternalIssuer } from '../../auth/provider/external-issuer.ts';
import type { ExternalIssuer } from '../../auth/verify/resource-server.ts';
import { nowSeconds } from '../../storage/now-seconds.ts';
import type { Config } from '../config.ts';
import { familySeconds } from '../store/key-ring-options.ts';

export const openAuth = async (
  config: Config,
  ring: KeyRingOptions,
  failures: FailureBudget,
): Promise<AuthContext> => ({
  store: ring.store,
  keys: await openKeyRing(ring),
  failures,
  now: nowSeconds,
  settings: authSettings(config),
});

/** A pause for lunch keeps a session of a console; a working day ends it. */
const consoleSessions = { sessionIdleSeconds: 1_800, sessionSeconds: 43_200 };

const authSettings = (config: Config): AuthContext['settings'] => ({
  issuer: config.publicUrl,
  audience: `${config.publicUrl}${apiPath}`,
  accessTokenSeconds: config.ACCESS_TOKEN_SECONDS,
  refreshTokenSeconds: config.REFRESH_TOKEN_SECONDS,
  refreshFamilySeconds: familySeconds(config),
  refreshFamiliesMax: config.fixed.refreshFamiliesMax,
  refreshGraceSeconds: config.REFRESH_GRACE_SECONDS,
  ...consoleSessions,
  refreshTokenUse: config.REFRESH_TOKEN_USE,
});

/**
 * Creates the external issuer. Its keys are loaded in the background; the start does not wait for
 * them.
 */
export function openExternalIssuer({ external }: Config, logger: Logger): ExternalIssuer | undefined {
  if (external === undefined) return undefined;
  const { issuer } = external;
  const opened = createExternalIssuer(external, {
    now: nowSeconds,
    onFault: (error) =>
      logger.warn(
        { err: error, issuer },
        'the keys of the external issuer cannot be read; the cached keys stay in use',
      ),
  });
  void opened.prepare();
  return opened;
}
