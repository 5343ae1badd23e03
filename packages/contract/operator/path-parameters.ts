import type { TSchema } from 'typebox';
import { printableAscii } from '../schema.ts';
import { Type } from '../type.ts';
import { importId } from './import.ts';

const identifier = (description: string, example: string): TSchema =>
  Type.String({
    minLength: 1,
    maxLength: 255,
    pattern: printableAscii,
    description,
    'x-rule': '1 to 255 printable characters',
    examples: [example],
  });

/** The path parameters of the operator's API. */
export const pathParameters: Readonly<Record<string, TSchema>> = {
  tenant: identifier('Name of the tenant', 'acme'),
  client_id: identifier('Id of the client', 'acme-reporting'),
  import_id: importId,
  operator_id: identifier("Id of the operator's token", 'op-3f1f2f6a7c10'),
};
