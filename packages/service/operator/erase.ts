import { normaliseEmail } from '../../contract/subscription.ts';
import { eraseRecords as eraseById } from '../import/erase-records.ts';
import type { RecordOwner } from '../storage/store.ts';
import { findSubscriptionIds } from '../storage/tables/subscription-ids.ts';
import { OperatorError } from './error.ts';
import { type OperatorContext, performInSteps } from './perform.ts';
import { requireTenant } from './require-tenant.ts';

/** Which records are erased; exactly one member is given. */
interface Erased {
  readonly ids?: readonly string[];
  /** All records of the subscriber. */
  readonly email?: string;
  /** All records of the SIM. */
  readonly iccid?: string;
}

/**
 * Erases records of a tenant. Throws `OperatorError` unless exactly one member of `erased` is
 * given. Throws `ImportError` `BUSY`, and erases nothing, while an import into the tenant runs.
 */
export function eraseSubscriptions(context: OperatorContext, name: string, erased: Erased) {
  const work = async () => {
    if (Object.values(erased).filter((value) => value !== undefined).length !== 1)
      throw new OperatorError('INVALID', 'Cannot erase records: exactly one of ids, email and iccid must be given');
    const owner = ownerOf(erased);
    if (owner?.value === '')
      throw new OperatorError('INVALID', 'Cannot erase records: email and iccid must not be empty');
    const tenant = await requireTenant(context.store, name);
    const findIds = async () => new Set(owner ? await findSubscriptionIds(context.store, tenant, owner) : erased.ids);
    const summary = await eraseById(context.store, tenant, findIds, owner);
    return { tenant: name, ...summary };
  };
  return performInSteps(
    context,
    {
      name: 'subscription.erase',
      target: { tenant: name },
      detailsOf: ({ tenant: _tenant, ...counts }) => counts,
    },
    work,
  );
}

function ownerOf({ email, iccid }: Erased): RecordOwner | undefined {
  if (email !== undefined) return { column: 'email', value: normaliseEmail(email) };
  return iccid === undefined ? undefined : { column: 'iccid', value: iccid };
}
