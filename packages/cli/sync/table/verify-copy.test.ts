import { expect, test } from 'vitest';
import type { Source } from '../source/read-source.ts';
import { verifyCopy } from './verify-copy.ts';

const owner = { service: 'https://reports.example.com', clientId: 'acme' };

test.each([{ service: 'https://other.example.com' }, { clientId: 'other' }])(
  'a copy is not compared with the report of another owner: %j',
  async (other) => {
    const position = { ...owner, token: 't', revision: 1, rows: 0, syncedAt: '2026-11-23T03:00:00Z' };
    const copy = { position: async () => position, rows: () => expect.unreachable(), close: async () => undefined };
    await expect(verifyCopy({ ...owner, ...other } as Source, copy)).rejects.toMatchObject({ code: 'OTHER_SOURCE' });
  },
);
