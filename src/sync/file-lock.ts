import { hostname } from 'node:os';
import { SyncError } from './error.ts';
import { type FileStore, readSmallFile } from './file-store.ts';

/** How long a run counts as alive after its last sign, and how often it gives one. */
const [leaseMs, renewalMs] = [60_000, 15_000];

const lockName = '.subreport-sync.lock';

/** The lock file: who runs, until when it counts as alive, and what it leaves if it dies. */
interface Lock {
  readonly run: string;
  readonly file: string;
  readonly host: string;
  readonly pid: number;
  readonly until: string;
}

/** The lock of a place, which its run renews. */
interface HeldLock {
  /** Throws `DESTINATION_BUSY` if another run has taken the lock; otherwise renews it. */
  confirm(): Promise<void>;
  release(): Promise<void>;
}

/**
 * Takes the lock of a place for a run that writes `file`. The lock of a dead run is taken over
 * after `removeLeftovers` with its file. Throws `DESTINATION_BUSY` while another run is alive.
 *
 * No place can compare and discard in one step. So of two runs that take over a lock at the same
 * moment, one can discard the new lock of the other, which then fails when it confirms. An instant
 * still gets one manifest, because it is created exclusively; an S3 server without `If-None-Match`
 * would need both runs to confirm as well.
 */
export async function takeLock(
  files: FileStore,
  run: string,
  file: string,
  removeLeftovers: (file: string) => Promise<void>,
): Promise<HeldLock> {
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    if (await files.create(lockName, lockText(run, file))) return hold(files, run, file);
    const found = await readLock(files);
    if (found === undefined) continue; // released meanwhile
    if (found.run === run) return hold(files, run, file); // the response to `create` was lost
    if (isAlive(found)) throw busy(files, found);
    await removeDead(files, found, removeLeftovers);
  }
  throw busy(files);
}

async function removeDead(
  files: FileStore,
  dead: Lock,
  removeLeftovers: (file: string) => Promise<void>,
): Promise<void> {
  await removeLeftovers(dead.file);
  // that may have taken a while, in which another run has taken over the lock
  if ((await readLock(files))?.run === dead.run) await files.discard(lockName);
}

function hold(files: FileStore, run: string, file: string): HeldLock {
  const confirm = async (): Promise<void> => {
    const found = await readLock(files);
    if (found?.run !== run) throw busy(files, found);
    await files.replace(lockName, lockText(run, file));
  };
  // a renewal that fails is no failure of the run: it confirms the lock before its manifest
  const timer = setInterval(() => void confirm().catch(() => undefined), renewalMs).unref();
  return {
    confirm,
    async release() {
      clearInterval(timer);
      if ((await readLock(files))?.run === run) await files.discard(lockName);
    },
  };
}

/** Removes the lock of a run that was killed after it had completed its file. */
export async function removeLockOf(
  files: FileStore,
  file: string,
  removeLeftovers: (file: string) => Promise<void>,
): Promise<void> {
  const found = await readLock(files);
  if (found?.file === file && !isAlive(found)) await removeDead(files, found, removeLeftovers);
}

const lockText = (run: string, file: string): string => {
  const until = new Date(Date.now() + leaseMs).toISOString();
  const lock: Lock = { run, file, host: hostname(), pid: process.pid, until };
  return `${JSON.stringify(lock)}\n`;
};

async function readLock(files: FileStore): Promise<Lock | undefined> {
  const text = await readSmallFile(files, lockName);
  if (text === undefined) return undefined;
  const lock = parseLock(text);
  if (lock !== undefined) return lock;
  throw new SyncError(
    'DESTINATION_CHANGED',
    `Cannot use ${files.shown}: ${lockName} must be the lock of a sync; remove it if no sync is running: current value is ${text.slice(0, 100)}`,
  );
}

function parseLock(text: string): Lock | undefined {
  try {
    const lock = JSON.parse(text) as Lock;
    const isWhole =
      /^[\dTZ-]+\/subscriptions-[0-9a-f]{16}\.[a-z.]+$/.test(lock.file) && !Number.isNaN(Date.parse(lock.until));
    return isWhole ? lock : undefined;
  } catch {
    return undefined;
  }
}

/** A process of this machine that has ended is dead at once, another one when its time is over. */
function isAlive({ host, pid, until }: Lock): boolean {
  if (Date.parse(until) < Date.now()) return false;
  if (host !== hostname() || pid === process.pid) return true;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

const busy = (files: FileStore, lock?: Lock): SyncError =>
  new SyncError(
    'DESTINATION_BUSY',
    `Cannot sync to ${files.shown}: no other sync to this place must be running; start one at a time${lock === undefined ? '' : `: current value is process ${lock.pid} of ${lock.host}, which counts as running until ${lock.until}`}`,
  );
