import { execFile } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ClientService, startClientService } from '../../packages/client/test/client-service.ts';
import { checkersFolder, hasCheckers } from '../../tools/has-checkers.ts';

const execute = promisify(execFile);
const pathOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const generated = pathOf('../../dist/generated-clients');
const compiled = `${generated}/compiled/test/generated-clients/programs`;

describe.runIf(hasCheckers('clients generated from openapi.json are not tested'))(
  'clients generated from openapi.json',
  () => {
    let running: ClientService;

    beforeAll(async () => {
      running = await startClientService();
      await execute(process.execPath, [join(checkersFolder, 'generate-clients.ts')]);
      await execute(pathOf('../../node_modules/.bin/tsc'), ['-p', pathOf('programs/tsconfig.json')]);
    });
    afterAll(async () => {
      await running.service.close();
      rmSync(generated, { recursive: true, force: true });
    });

    test.each([
      ['openapi-typescript', 'use-openapi-fetch.js'],
      ['@hey-api/openapi-ts', 'use-openapi-ts.js'],
      ['orval with zod', 'use-orval.js'],
    ])('%s: its client is type-checked, sends lists and reads records, counts and problems', async (_name, program) => {
      const { service, credentials, rows } = running;
      const { client_id, client_secret } = credentials;
      const { stdout } = await execute(process.execPath, [
        `${compiled}/${program}`,
        service.url,
        client_id,
        client_secret,
      ]);
      const { ids, dimensions, fault } = JSON.parse(stdout) as Record<string, unknown>;
      const expected = rows.filter(({ status }) => status === 'ACTIVE' || status === 'DEPLETED').map(({ id }) => id);
      expect(expected.length).toBeGreaterThan(100);
      expect((ids as string[]).toSorted()).toEqual(expected.toSorted());
      expect(dimensions).toEqual(['status', 'month']);
      expect(fault).toBe('size');
    });

    test('no type is any, and none unknown but an empty body, NDJSON, and the details of audit entries', () => {
      const codeOf = (file: string): string =>
        readFileSync(join(generated, file), 'utf8').replaceAll(/\/\*.*?\*\//gs, '');
      for (const file of ['openapi-typescript.ts', 'openapi-ts/types.gen.ts', 'orval/client.ts'])
        expect([file, /\bany\b/.exec(codeOf(file))]).toEqual([file, null]);
      const unknown = ['orval/zod.ts', 'orval/operator-zod.ts'].flatMap((file) =>
        [...codeOf(file).matchAll(/^(?:export const | {2}")(\w+).*zod\.(?:unknown|any)\(\)/gm)].map(([, name]) => name),
      );
      expect(unknown).toEqual(['RevokeTokenResponse', 'GetImportErrorsResponse', 'details']);
    });
  },
);
