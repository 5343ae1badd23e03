import type { Static } from 'typebox';
import { Type } from './type.ts';

/**
 * Bodies of sign-ins to the consoles. No value is repeated in an error: people enter secrets in the
 * wrong field.
 */
const text = (maxLength: number, rule: string, example: string) =>
  Type.String({ minLength: 1, maxLength, 'x-rule': rule, 'x-secret': true, examples: [example] });

/** The body of a sign-in to the report's console. */
export const ClientCredentials = Type.Object({
  client_id: text(255, 'the id of a client', 'acme-reporting'),
  client_secret: text(512, 'the secret of the client, 1 to 512 characters', 'kV2-Zq8.tYw4_Nf7~bR1xJ'),
});
export type ClientCredentials = Static<typeof ClientCredentials>;

/** The body of a sign-in to the operator's console. */
export const OperatorCredentials = Type.Object({
  token: text(512, "an operator's token", 'sro_ followed by 43 characters'),
});
export type OperatorCredentials = Static<typeof OperatorCredentials>;
