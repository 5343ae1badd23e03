import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { freemem } from 'node:os';
import { join } from 'node:path';

const memory = '/dev/shm';
const prefix = 'subreport-test-';
/** Room for both PostgreSQL servers with their logs, and for the stores of all workers. */
const neededBytes = 4e9;

/**
 * Puts temporary files of this process, and of those that it starts, in memory where there is room:
 * on ext4, creating the files of databases takes up to 8 % of the CPU time of a run.
 */
export function useMemoryFolder(): void {
  if (process.env.TMPDIR?.startsWith(memory) || !hasRoom()) return;
  removeAbandoned();
  const folder = mkdtempSync(join(memory, `${prefix}${process.pid}-`));
  chmodSync(folder, 0o755); // the account of PostgreSQL passes through
  process.env.TMPDIR = folder;
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
}

/** Whether the folder exists, has room, and may contain programs. */
function hasRoom(): boolean {
  if (!existsSync(memory)) return false;
  const { bavail, bsize } = statfsSync(memory);
  const options = /^\S+ \/dev\/shm \S+ (\S+)/m.exec(readFileSync('/proc/mounts', 'utf8'))?.[1] ?? 'noexec';
  return Math.min(bavail * bsize, freemem()) >= neededBytes && !options.split(',').includes('noexec');
}

/** Removes what a killed run has left, except a mounted disk, which only root can unmount. */
function removeAbandoned(): void {
  for (const name of readdirSync(memory)) {
    const pid = new RegExp(`^${prefix}(\\d+)-`).exec(name)?.[1];
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue;
    try {
      rmSync(join(memory, name), { recursive: true, force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).errno !== busy) throw error;
    }
  }
}

/** How `rmSync` reports EBUSY. */
const busy = -4094;
