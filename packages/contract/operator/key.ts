import type { Static } from 'typebox';
import { closed, printable, printableAscii } from '../schema.ts';
import { Type } from '../type.ts';
import { listOf, nullableTime, type OperatorOperation, time, word } from './operation.ts';

const purposes = ['access', 'refresh'] as const;
const modes = ['soon', 'now', 'compromised'] as const;

/** A key of the service. */
export const Key = closed('A key of the service, without any secret', {
  purpose: word(purposes, 'access: signs access tokens; refresh: protects refresh tokens'),
  kid: printable(64, 'Thumbprint of the key (RFC 7638)', 'm9vRcR2m0i3bqYwCqv0nN3x7b1cPq9AkV2Zq8tYw4Nf'),
  alg: printable(16, 'Its algorithm', 'ES256'),
  state: Type.String({
    maxLength: 16,
    pattern: printableAscii,
    description:
      'next: published, not yet in use; current: in use; retiring: only verifies tokens; dead: no token needs it',
    examples: ['current'],
  }),
  created_at: time('When it was created'),
  activates_at: time('When it becomes the key for new tokens'),
  ends_at: nullableTime('When the last token made with it expires; null while it has no successor'),
  rotation_due_at: nullableTime('Of the current key, when it is rotated automatically; null if never'),
  encrypted: Type.Boolean({ description: 'Whether it is encrypted in the store' }),
});
export type Key = Static<typeof Key>;

/** The body of `rotateKeys`. */
export const KeyRotation = closed('How to rotate a key', {
  purpose: Type.Optional({ ...word(purposes, 'Which key to rotate'), default: 'access' }),
  mode: Type.Optional({
    ...word(
      modes,
      'soon: the new key is used after six minutes, so that no request fails; now: immediately; compromised: immediately, and all older keys are deleted, so their tokens are rejected',
    ),
    default: 'soon',
  }),
});

/** The operations on keys. */
export const keyOperations = {
  listKeys: {
    method: 'GET',
    path: '/operator/v1/keys',
    tag: 'keys',
    summary: 'List keys',
    description:
      'Returns the keys of the service, newest first for each purpose, without their secrets. The list has one page.',
    scope: 'operator:read',
    response: { status: 200, schema: listOf(Key, 'The keys of the service'), example: 'keys' },
  },
  rotateKeys: {
    method: 'POST',
    path: '/operator/v1/keys/rotate',
    tag: 'keys',
    summary: 'Rotate a key',
    description: 'Creates the next key of a purpose. 409 means that another new key is already waiting.',
    scope: 'operator:write',
    body: KeyRotation,
    response: { status: 201, schema: Key, example: 'key' },
    errors: [409],
    sample: { json: { purpose: 'access', mode: 'soon' } },
  },
} as const satisfies Record<string, OperatorOperation>;
