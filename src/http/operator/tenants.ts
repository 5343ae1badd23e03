import { describeTenant } from '../../operator/describe-tenant.ts';
import { eraseSubscriptions } from '../../operator/erase.ts';
import { createTenant, deleteTenant, listTenants, showTenant } from '../../operator/tenants.ts';
import type { AddRoute } from './operator-routes.ts';
import { readPage } from './page.ts';

/** Adds the operations on tenants, and `eraseSubscriptions`. */
export function addTenantRoutes(add: AddRoute): void {
  add('listTenants', ({ context, query }) =>
    readPage(query, {
      keyParts: 1,
      read: ([after = ''], limit) => listTenants(context, after, limit),
      keyOf: ({ tenant }) => [tenant],
      show: describeTenant,
    }),
  );
  add('createTenant', ({ context, body }) => createTenant(context, body.tenant));
  add('getTenant', async ({ context, params: { tenant = '' } }) => describeTenant(await showTenant(context, tenant)));
  add('deleteTenant', ({ contextWithoutDeadline, params: { tenant = '' } }) =>
    deleteTenant(contextWithoutDeadline(), tenant),
  );
  add('eraseSubscriptions', ({ contextWithoutDeadline, params: { tenant = '' }, body: { ids } }) =>
    eraseSubscriptions(contextWithoutDeadline(), tenant, new Set(ids)),
  );
}
