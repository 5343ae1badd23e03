import { styleText } from 'node:util';
import type { Subscription } from '../../client/index.ts';
import type { Column } from './fit-table.ts';

const statusStyles: Readonly<Record<string, 'green' | 'yellow' | 'magenta' | 'red'>> = {
  PENDING: 'yellow',
  ACTIVE: 'green',
  DEPLETED: 'magenta',
  EXPIRED: 'red',
};

/** Colors a known status; others keep the color of the terminal. */
export function paintStatus(text: string): string {
  const style = statusStyles[text];
  return style === undefined ? text : styleText(style, text, { validateStream: false });
}

/** The columns of a table of subscriptions. Dates are days in UTC. */
export function subscriptionColumns(color: boolean): readonly Column<Subscription>[] {
  return [
    { header: 'ID', cell: ({ id }) => id },
    { header: 'STATUS', cell: ({ status }) => status ?? '-', ...(color && { paint: paintStatus }) },
    { header: 'PRODUCT', cell: ({ product }) => product.name, least: 12, drop: 6 },
    { header: 'ICCID', cell: ({ iccid }) => iccid, drop: 4 },
    { header: 'DEVICE', cell: ({ device_id: device }) => device, least: 12, drop: 2 },
    { header: 'CREATED', cell: ({ createdDate }) => dayOf(createdDate), drop: 5 },
    { header: 'ACTIVATED', cell: ({ activationDate }) => dayOf(activationDate), drop: 1 },
    { header: 'EXPIRES', cell: ({ expirationDate }) => dayOf(expirationDate), drop: 7 },
    { header: 'RENEWS', cell: ({ auto_renew: renews }) => (renews === 'true' ? 'yes' : 'no'), drop: 3 },
  ];
}

const dayOf = (instant: string): string => instant.slice(0, 10);
