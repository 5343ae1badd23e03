import { expect, test } from 'vitest';
import { urlOf } from './routes.ts';

test('parameters are encoded, and empty filters are left out', () => {
  expect(
    urlOf('/x/{client_id}/y', { client_id: 'a/b?c' }, { limit: 5, tenant: '', actor: 'é&', cursor: undefined }),
  ).toBe('/console/x/a%2Fb%3Fc/y?limit=5&actor=%C3%A9%26');
});
