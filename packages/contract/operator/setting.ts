import type { Static } from 'typebox';
import { closed, plain, printable } from '../schema.ts';
import { Type } from '../type.ts';
import { listOf, nullableText, type OperatorOperation, word } from './operation.ts';

/** A setting in force. */
export const Setting = closed('A setting in force', {
  name: printable(64, 'Its name', 'PORT'),
  value: nullableText(8_192, 'Its value; null for a secret', '8080'),
  is_set: Type.Boolean({ description: 'Whether it has a value, which for a secret is not shown' }),
  origin: word(['environment', 'file', 'default'], 'Where the value comes from', 'default'),
  description: plain(1_024, 'What it means', 'Port to listen on'),
});
export type Setting = Static<typeof Setting>;

/** The operation on settings. */
export const settingOperations = {
  listSettings: {
    method: 'GET',
    path: '/operator/v1/settings',
    tag: 'service',
    summary: 'List the settings in force',
    description:
      'Returns every setting of the process that responds, with its value since the start and its origin, as subreport config does. Secrets are never shown, only whether they are set.',
    scope: 'operator:read',
    response: { status: 200, schema: listOf(Setting, 'The settings'), example: 'settings' },
  },
} as const satisfies Record<string, OperatorOperation>;
