import type { TSchema } from 'typebox';
import { printableAscii } from '../schema.ts';
import { Type } from '../type.ts';

const identifier = (description: string, example: string): TSchema =>
  Type.String({
    minLength: 1,
    maxLength: 255,
    pattern: printableAscii,
    description,
    'x-rule': '1 to 255 printable characters',
    examples: [example],
  });

/** The id of an import. */
export const importId = Type.String({
  format: 'uuid',
  maxLength: 36,
  pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
  description: 'Its id, a UUID that begins with the time of the start',
  'x-rule': 'the id of an import',
  examples: ['01890a5d-ac96-774b-bcce-b302099a8057'],
});

/** The path parameters of the operator's API. */
export const pathParameters: Readonly<Record<string, TSchema>> = {
  tenant: identifier('Name of the tenant', 'acme'),
  client_id: identifier('Id of the client', 'acme-reporting'),
  import_id: importId,
  operator_id: identifier("Id of the operator's token", 'op-3f1f2f6a7c10'),
};
