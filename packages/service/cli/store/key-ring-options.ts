import type { Logger } from 'pino';
import type { KeyRingOptions } from '../../auth/keys/ensure-keys.ts';
import { createKeyCipher } from '../../auth/keys/key-cipher.ts';
import { nowSeconds } from '../../storage/now-seconds.ts';
import type { Store } from '../../storage/store.ts';
import type { Config } from '../config.ts';

/**
 * Seconds after which a client authenticates again, whatever it refreshes: 10 hours, a working day,
 * with the default lifetime of a refresh token.
 */
export const familySeconds = ({ REFRESH_TOKEN_SECONDS }: Pick<Config, 'REFRESH_TOKEN_SECONDS'>): number =>
  20 * REFRESH_TOKEN_SECONDS;

/**
 * Options of the key ring from the settings, for the service and for the commands that manage keys.
 * In a file of its own: the cipher loads jose, which most commands do not need.
 */
export function keyRingOptions(config: Config, store: Store, logger?: Logger): KeyRingOptions {
  return {
    store,
    cipher: createKeyCipher(config.KEY_ENCRYPTION_SECRET, config.KEY_ENCRYPTION_SECRET_BEFORE),
    algorithm: config.SIGNING_ALGORITHM,
    lifetimes: { access: config.ACCESS_TOKEN_SECONDS, refresh: familySeconds(config) },
    rotationDays: config.KEY_ROTATION_DAYS,
    now: nowSeconds,
    onFault: (error) =>
      logger?.warn(
        { err: error },
        'the database files may still contain traces of replaced keys (docs/operators/keys.md)',
      ),
  };
}
