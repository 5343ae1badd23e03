import { writeFileSync } from 'node:fs';
import { defaultPageLimits } from '../packages/contract/report.ts';
import { packageVersion } from '../packages/terminal/package-version.ts';
import { buildOpenApi } from './openapi/openapi.ts';
import { buildOperatorOpenApi } from './openapi/operator-openapi.ts';
import { buildPostman } from './openapi/postman.ts';

/**
 * The committed documents by file name: two of OpenAPI, with default settings and an example URL,
 * and the collection for Postman, with the URL of the demo.
 */
export function committedContracts(): Readonly<Record<string, string>> {
  const options = { publicUrl: 'https://reports.example.com', version: packageVersion, limits: defaultPageLimits };
  const text = (document: object): string => `${JSON.stringify(document, null, 2)}\n`;
  return {
    'openapi.json': text(buildOpenApi(options)),
    'openapi-operator.json': text(buildOperatorOpenApi(options)),
    'openapi-postman.json': text(buildPostman('http://127.0.0.1:8080')),
  };
}

if (import.meta.main) {
  for (const [file, text] of Object.entries(committedContracts()))
    writeFileSync(new URL(`../${file}`, import.meta.url), text);
}
