import { afterEach, expect, test, vi } from 'vitest';
import { serverOf } from './server.ts';

afterEach(() => void vi.unstubAllEnvs());

test.each(['https://a.example/?b', 'https://a.example/#b', 'http://a.example', 'https://u:p@a.example', 'a.example'])(
  'the server %s is wrong use, and its password is not shown',
  (server) => {
    vi.stubEnv('SUBREPORT_OPERATOR_TOKEN', `sro_${'a'.repeat(43)}`);
    expect(() => serverOf({ server })).toThrow(/^Cannot use --server: it must be a URL (?!.*u:p)/);
  },
);
