import { writeFileSync } from 'node:fs';
import { defaultPageLimits } from '../packages/contract/report.ts';
import { packageVersion } from '../packages/terminal/package-version.ts';
import { buildOpenApi } from './openapi/openapi.ts';
import { buildOperatorOpenApi } from './openapi/operator-openapi.ts';

/** The committed documents of OpenAPI by file name, with default settings and an example URL. */
export function committedContracts(): Readonly<Record<string, string>> {
  const options = { publicUrl: 'https://reports.example.com', version: packageVersion, limits: defaultPageLimits };
  const text = (document: object): string => `${JSON.stringify(document, null, 2)}\n`;
  return {
    'openapi.json': text(buildOpenApi(options)),
    'openapi-operator.json': text(buildOperatorOpenApi(options)),
  };
}

if (import.meta.main) {
  for (const [file, text] of Object.entries(committedContracts()))
    writeFileSync(new URL(`../${file}`, import.meta.url), text);
}
