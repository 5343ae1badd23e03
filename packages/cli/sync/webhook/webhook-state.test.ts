import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { WebhookState } from './webhook-state.ts';

test('--enable ends the wait after a failure before the endpoint was gone', () => {
  const folder = mkdtempSync(join(tmpdir(), 'subreport-webhook-state-'));
  const state = WebhookState.open(join(folder, 'state.db'));
  const source = { url: 'https://example.com/', service: 'https://reports.example.com', clientId: 'acme' };
  state.takePlace({ ...source, token: 't', revision: 1 });
  state.addChanges({ id: 'e', data: '{}', createdAt: 1 });
  state.failed('e', 9_000, 'HTTP 500');
  state.disable(2_000);
  expect(state.place()).toMatchObject({ disabledAt: 2_000, failures: 1, retryAt: 9_000, lastResult: 'HTTP 500' });
  state.enable();
  expect(state.place()).toMatchObject({ disabledAt: 0, failures: 0, retryAt: 0 });
  expect(state.nextEvent(2_000)).toMatchObject({ id: 'e' });
  state.close();
  rmSync(folder, { recursive: true });
});
