import { writeFileSync } from 'node:fs';
import { packageVersion } from '../src/cli/package-version.ts';
import { buildOpenApi } from '../src/contract/openapi.ts';
import { defaultPageLimits } from '../src/contract/query.ts';

/**
 * The committed contract: as a service without settings would mean it, under a name of
 * documentation.
 */
export function committedContract(): string {
  const document = buildOpenApi({
    publicUrl: 'https://reports.example.com',
    version: packageVersion,
    limits: defaultPageLimits,
  });
  return `${JSON.stringify(document, null, 2)}\n`;
}

if (import.meta.main) writeFileSync(new URL('../openapi.json', import.meta.url), committedContract());
