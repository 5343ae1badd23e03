import type { DemoService } from './service.ts';

/** How a program gets the client library. */
export type ImportStyle = 'import' | 'import()' | 'require()';

const statements: Readonly<Record<ImportStyle, { readonly extension: string; readonly text: string }>> = {
  import: { extension: 'mjs', text: "import { createClient } from '@subreport/client';" },
  'import()': { extension: 'mjs', text: "const { createClient } = await import('@subreport/client');" },
  'require()': { extension: 'cjs', text: "const { createClient } = require('@subreport/client');" },
};

/** The name of the program's file for an import style. */
export const programFile = (style: ImportStyle): string =>
  `${style.replace('()', '')}-call.${statements[style].extension}`;

/** A program that reads all records of the demo with the client library and prints their number. */
export function clientProgram(style: ImportStyle, service: DemoService): string {
  return `${statements[style].text}
${readAll(service)}
readAll().then((count) => console.log(count));
`;
}

/** The function of the programs. It needs `createClient`. */
export const readAll = ({ client }: DemoService): string => `
async function readAll() {
  const client = createClient(${JSON.stringify({
    baseUrl: client.base_url,
    tokenUrl: client.token_url,
    clientId: client.client_id,
    clientSecret: client.client_secret,
  })});
  const ids = new Set();
  for await (const { id } of client.subscriptions({ size: 1000 })) ids.add(id);
  return ids.size;
}`;

/** A program with one expected error: an unknown parameter must not compile. */
export const typedProgram = `
import { ApiError, createClient, type Subscription } from '@subreport/client';
const client = createClient({ baseUrl: 'https://x/connect-api', tokenUrl: 'https://x/oauth2/token', clientId: 'a', clientSecret: 'b' });
export async function expiring(): Promise<string[]> {
  const ids: string[] = [];
  for await (const subscription of client.subscriptions({ status: 'ACTIVE', before: new Date(), size: 100 })) {
    const typed: Subscription = subscription;
    if (typed.auto_renew === 'false') ids.push(typed.id);
  }
  return ids;
}
export const csv = async (): Promise<ReadableStream<string>> =>
  (await client.export({}, { format: 'csv' })).pipeThrough(new TextDecoderStream());
export const isTooMany = (error: unknown): boolean => error instanceof ApiError && error.code === 'TOO_MANY_REQUESTS';
// @ts-expect-error a parameter that does not exist
void client.subscriptions({ productid: 'x' });
`;
