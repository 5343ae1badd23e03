import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { drawOne } from '../../../../test/support/draw.ts';
import { engines } from '../../../../test/support/engines.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';
import { directoryStatement } from '../../storage/store.ts';

const drawn = drawOne(engines, import.meta.url);

describe.each(drawn)('health on $engine', ({ openTestStore }) => {
  let service: TestService;
  beforeEach(async () => {
    service = await startService(await openTestStore());
  });
  afterEach(() => service.close());
  const statusOf = async (path: string): Promise<number> => (await fetch(service.url + path)).status;

  test('/readyz is 503 while the store fails its check, and /healthz stays 200', async () => {
    expect(await statusOf('/readyz')).toBe(200);
    await service.store.writeDirectory([
      directoryStatement("update schema_migration set checksum = 'other ' || checksum"),
    ]);
    const refused = await fetch(`${service.url}/readyz`);
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(await statusOf('/healthz')).toBe(200);
    await service.store.writeDirectory([
      directoryStatement('update schema_migration set checksum = substr(checksum, 7)'),
    ]);
    expect(await statusOf('/readyz')).toBe(200);
  });
});
