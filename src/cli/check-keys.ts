import { type KeyRotation, listRotations } from '../auth/rotate-due-keys.ts';
import { formatInstant } from '../contract/instant.ts';
import type { Store, StoreCheck } from '../storage/store.ts';
import { nowSeconds } from './store-session.ts';

/** Seconds after which a rotation that is due is overdue; services check every hour. */
const overdueSeconds = 86_400;

/** Checks that no key is used for longer than `rotationDays`. */
export async function checkKeys(store: Store, rotationDays: number): Promise<StoreCheck> {
  const check = 'keys';
  const rotations = await listRotations({ store, rotationDays, now: nowSeconds });
  if (rotations.length === 0) return { check, ok: true, message: 'There are none; the first start generates them' };
  const overdue = rotations.filter(({ dueAt }) => dueAt !== null && nowSeconds() > dueAt + overdueSeconds);
  if (overdue.length === 0) return { check, ok: true, message: rotations.map(describe).join('; ') };
  const dates = overdue.map(({ purpose, dueAt }) => `${purpose} due since ${formatInstant(dueAt ?? 0)}`).join(', ');
  const message = `Cannot rely on the rotation of keys: a running service must rotate each key after ${rotationDays} days (KEY_ROTATION_DAYS): current value is ${dates}; start the service, or run: subreport keys rotate`;
  return { check, ok: false, message };
}

const describe = ({ purpose, activeSince, dueAt }: KeyRotation): string =>
  `${purpose} key in use since ${formatInstant(activeSince)}, ${dueAt === null ? 'not rotated automatically' : `next rotation ${formatInstant(dueAt)}`}`;
