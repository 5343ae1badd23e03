import { eraseRecords as eraseById } from '../import/erase-records.ts';
import { type OperatorContext, performInSteps } from './perform.ts';
import { requireTenant } from './tenants.ts';

/**
 * Erases records of a tenant by their ids. Throws `ImportError` `BUSY`, and erases nothing, while
 * an import into the tenant is running.
 */
export function eraseSubscriptions(context: OperatorContext, name: string, ids: ReadonlySet<string>) {
  const work = async () => {
    const summary = await eraseById(context.store, await requireTenant(context.store, name), ids);
    return { tenant: name, ...summary };
  };
  return performInSteps(
    context,
    {
      name: 'subscription.erase',
      target: { tenant: name },
      detailsOf: ({ asked, deleted, missing }) => ({ asked, deleted, missing }),
    },
    work,
  );
}
