import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { engines } from '../../../../test/support/engines.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';

/** Starts a service, and makes a folder, for all tests of a file. */
export async function startBesideFolder(name: string): Promise<{ folder: string; service: TestService }> {
  const folder = mkdtempSync(join(tmpdir(), `subreport-${name}-`));
  const service = await startService(await engines[0].openTestStore());
  afterAll(async () => {
    await service.close();
    rmSync(folder, { recursive: true });
  });
  return { folder, service };
}
