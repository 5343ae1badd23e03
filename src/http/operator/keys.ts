import type { KeyRingOptions } from '../../auth/key-ring-options.ts';
import { listKeys } from '../../auth/rotate-keys.ts';
import { describeKey, rotateKeys } from '../../operator/keys.ts';
import type { AddRoute } from './operator-routes.ts';

/** Makes the function that adds `listKeys` and `rotateKeys` for the keys of `ring`. */
export const keyRoutes =
  (ring: KeyRingOptions) =>
  (add: AddRoute): void => {
    add('listKeys', async () => ({ data: (await listKeys(ring)).map(describeKey), next: null }));
    add('rotateKeys', ({ context, body: { purpose = 'access', mode = 'soon' } }) =>
      rotateKeys(context, ring, purpose, mode),
    );
  };
