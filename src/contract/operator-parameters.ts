import type { TSchema } from 'typebox';
import { importId } from './operator-import.ts';
import { printableAscii } from './schema.ts';
import { Type } from './type.ts';

const identifier = (description: string, example: string): TSchema =>
  Type.String({
    minLength: 1,
    maxLength: 255,
    pattern: printableAscii,
    description,
    'x-rule': '1 to 255 printable characters',
    examples: [example],
  });

/** The value of the header `Idempotency-Key`, without quotes. */
export const idempotencyKey = Type.String({
  minLength: 1,
  maxLength: 255,
  pattern: '^[\\x20-\\x21\\x23-\\x5b\\x5d-\\x7e]{1,255}$',
  description:
    'Any unique string, such as a UUID. A request with the same key, path and body gets the response of the first one again, for 24 hours (draft-ietf-httpapi-idempotency-key-header)',
  'x-rule': '1 to 255 printable ASCII characters except " and \\',
  examples: ['8e03978e-40d5-43dd-bc93-6894a57f9324'],
});

/** The path parameters of the operator's API. */
export const pathParameters: Readonly<Record<string, TSchema>> = {
  tenant: identifier('Name of the tenant', 'acme'),
  client_id: identifier('Id of the client', 'acme-reporting'),
  import_id: importId,
  operator_id: identifier("Id of the operator's token", 'op-3f1f2f6a7c10'),
};
