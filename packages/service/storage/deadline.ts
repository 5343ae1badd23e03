import { StorageError } from './error.ts';

/** Time limit of an operation without a deadline, in milliseconds. */
export const operationMsDefault = 7_000;
/**
 * Time limit of a change of a tenant's records, such as a batch of an import: it may wait for
 * another change, and no HTTP request waits for it.
 */
export const changeMsMax = 60_000;
/** Time for which a migration waits for those who use the store, in milliseconds. */
export const migrationMsMax = 600_000;

export const overdue = (): StorageError =>
  new StorageError('UNAVAILABLE', 'Cannot finish the operation: the database must respond before the deadline');

/**
 * Settles as `work` does, unless the deadline, a time of `performance.now()`, passes first: then it
 * calls `giveUp` and rejects with `UNAVAILABLE`.
 */
export function before<T>(deadline: number, work: Promise<T>, giveUp: () => void = () => undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => {
        giveUp();
        reject(overdue());
      },
      Math.max(0, deadline - performance.now()),
    );
    work.then(
      (result) => {
        clearTimeout(timer);
        resolve(result);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}
