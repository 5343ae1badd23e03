import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createClient } from '@hey-api/openapi-ts';
import openapiTS, { astToString } from 'openapi-typescript';

// Writes the clients that both generators make of openapi.json. They use the compiler API of
// TypeScript 5, which TypeScript 7 no longer has.

const document = new URL('../../openapi.json', import.meta.url);
const folder = new URL('../../dist/generated-clients/', import.meta.url);

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
writeFileSync(new URL('openapi-typescript.ts', folder), astToString(await openapiTS(readFileSync(document, 'utf8'))));
await createClient({
  input: fileURLToPath(document),
  output: fileURLToPath(new URL('openapi-ts', folder)),
  logs: { level: 'error' },
});
