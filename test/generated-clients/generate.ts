import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

// Both generators use the compiler API of TypeScript 5, which TypeScript 7 no longer has.
registerHooks({
  resolve: (specifier, context, next) => next(specifier === 'typescript' ? 'typescript-5' : specifier, context),
});
const { default: openapiTS, astToString } = await import('openapi-typescript');
const { createClient } = await import('@hey-api/openapi-ts');

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
