import { formatInstant, timeOf } from '../../contract/instant.ts';
import type { Key } from '../../contract/operator/key.ts';
import type { KeyRingOptions } from '../auth/keys/ensure-keys.ts';
import { type KeyInfo, planNextKey, type RotationMode } from '../auth/keys/rotate-keys.ts';
import { type OperatorContext, perform } from './perform.ts';

/** Creates the next key of a purpose. Throws `KeyError` if another new key is already waiting. */
export const rotateKeys = (
  context: OperatorContext,
  ring: KeyRingOptions,
  purpose: KeyInfo['purpose'],
  mode: RotationMode,
): Promise<Key> =>
  perform(
    context,
    { name: 'keys.rotate', target: {}, details: { purpose, mode }, detailsOf: ({ kid }: Key) => ({ kid }) },
    async (directory, addKey) => describeKey(await addKey(directory)),
    () => planNextKey(ring, purpose, mode),
  );

/** A key as the API and the commands show it. */
export const describeKey = ({ createdAt, activatesAt, endsAt, rotationDueAt, ...key }: KeyInfo): Key => ({
  ...key,
  created_at: formatInstant(createdAt),
  activates_at: formatInstant(activatesAt),
  ends_at: timeOf(endsAt),
  rotation_due_at: timeOf(rotationDueAt),
});
