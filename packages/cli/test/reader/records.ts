import { formatInstant } from '../../../contract/instant.ts';
import type { Subscription } from '../../../contract/subscription.ts';

const products = [
  { id: 'cHJvZHVjdC0zMA', name: 'Europe 5 GB, 30 days', period: 30, period_unit: 'DAYS', plan_id: 'plan-1' },
  { id: 'cHJvZHVjdC0xNQ==', name: 'Zürich 15-Day', period: 0, period_unit: 'DAYS', plan_id: 'plan-2' },
] as const;

/**
 * Records of an account: several of one SIM, of one product, and of one creation date; without
 * status, with a product of period 0. The three dates are in different orders.
 */
export const accountRecords = (records: number): Subscription[] =>
  Array.from({ length: records }, (_, n) => {
    const created = 1_714_521_600 + Math.floor((n * 7) / 10) * 3_600;
    return {
      id: `c3Vi${String(n).padStart(4, '0')}${n % 5 === 0 ? '=' : ''}`,
      ...(n % 4 !== 1 && { status: n % 3 === 0 ? 'DEPLETED' : 'ACTIVE' }),
      activationDate: formatInstant(created + ((n * 13) % 29) * 86_400),
      expirationDate: formatInstant(created + (40 + ((n * 17) % 31)) * 86_400),
      createdDate: formatInstant(created),
      product: products[n % 3 === 2 ? 1 : 0],
      iccid: `89445001021983${String(Math.floor(n / 3) * 17).padStart(5, '0')}`,
      device_id: `device-${n}`,
      auto_renew: n % 2 === 0 ? 'true' : 'false',
    };
  });
