import { writeFileSync } from 'node:fs';
import { packageVersion } from '../src/cli/package-version.ts';
import { defaultPageLimits } from '../src/contract/report.ts';
import { SyncFile } from '../src/sync/sync-file.ts';
import { buildOpenApi } from './openapi/openapi.ts';
import { buildOperatorOpenApi } from './openapi/operator-openapi.ts';

/**
 * The committed documents by file name, with default settings and an example URL: the two OpenAPI
 * documents, and the JSON schema of the file of `subreport sync run FILE`.
 */
export function committedContracts(): Readonly<Record<string, string>> {
  const options = { publicUrl: 'https://reports.example.com', version: packageVersion, limits: defaultPageLimits };
  const text = (document: object): string => `${JSON.stringify(document, null, 2)}\n`;
  return {
    'openapi.json': text(buildOpenApi(options)),
    'openapi-operator.json': text(buildOperatorOpenApi(options)),
    'docs/sync.schema.json': text({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: 'https://raw.githubusercontent.com/subreport/subreport/main/docs/sync.schema.json',
      title: 'Copies of reports (subreport sync run FILE)',
      ...SyncFile,
    }),
  };
}

if (import.meta.main) {
  for (const [file, text] of Object.entries(committedContracts()))
    writeFileSync(new URL(`../${file}`, import.meta.url), text);
}
