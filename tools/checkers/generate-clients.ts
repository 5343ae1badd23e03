import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createClient } from '@hey-api/openapi-ts';
import openapiTS, { astToString } from 'openapi-typescript';
import { generate } from 'orval';

// Writes the clients that generators make of openapi.json. They use the compiler API of
// TypeScript 5, which TypeScript 7 no longer has.

const document = new URL('../../openapi.json', import.meta.url);
const folder = new URL('../../dist/generated-clients/', import.meta.url);
const input = fileURLToPath(document);
const form = 'application/x-www-form-urlencoded';
const output = (name: string): string => fileURLToPath(new URL(name, folder));

rmSync(folder, { recursive: true, force: true });
mkdirSync(new URL('node_modules', folder), { recursive: true });
symlinkSync(fileURLToPath(new URL('node_modules/zod', import.meta.url)), output('node_modules/zod'), 'junction');
writeFileSync(new URL('openapi-typescript.ts', folder), astToString(await openapiTS(readFileSync(document, 'utf8'))));
await createClient({ input, output: output('openapi-ts'), logs: { level: 'error' } });
await generate({
  input,
  output: {
    target: output('orval/client.ts'),
    client: 'fetch',
    baseUrl: { runtime: 'process.env.SUBREPORT_URL' },
    // with NDJSON among the types of a response, it would be an untyped stream
    override: { contentType: { include: ['application/json', 'application/problem+json', form] } },
  },
});
await generate({ input, output: { target: output('orval/zod.ts'), client: 'zod' } });
const operatorInput = fileURLToPath(new URL('../../openapi-operator.json', import.meta.url));
await generate({ input: operatorInput, output: { target: output('orval/operator-zod.ts'), client: 'zod' } });
