import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ChangesPage, isRemoved } from '../../client/index.ts';
import { linesOf } from './read-source.ts';
import { requireKnown } from './record-row.ts';

/** Most ids that are kept of records that changed while the changes were read. */
const laterMax = 100_000;

/**
 * Changes on their way to a file: they are written only if all could be read. Each response has one
 * snapshot, so a record that changes during the walk is in it twice: then the last line counts.
 */
export class ChangeSpool {
  readonly #folder: string;
  readonly #file: FileHandle;
  /** The last line of each record in responses of another revision than the first one. */
  readonly #later = new Map<string, number>();
  #firstRevision: number | undefined;
  #lines = 0;
  /** Number of records that were added or changed, and of removals; twice what is there twice. */
  #counts = { changed: 0, removals: 0 };

  private constructor(folder: string, file: FileHandle) {
    this.#folder = folder;
    this.#file = file;
  }

  static async open(): Promise<ChangeSpool> {
    const folder = await mkdtemp(join(tmpdir(), 'subreport-changes-'));
    const file = await open(join(folder, 'changes.ndjson'), 'wx+', 0o600);
    // a killed run must leave no records behind; Windows removes no open file
    await rm(folder, { recursive: true, force: true }).catch(() => undefined);
    return new ChangeSpool(folder, file);
  }

  get counts(): { readonly changed: number; readonly removals: number } {
    return this.#counts;
  }

  /** Whether too many records changed during the walk. */
  get isUnsteady(): boolean {
    return this.#later.size > laterMax;
  }

  /** Adds a response. Throws `SyncError` if a record has what this version does not know. */
  async add({ changes, revision }: ChangesPage): Promise<void> {
    this.#firstRevision ??= revision;
    const isLater = revision !== this.#firstRevision;
    let text = '';
    for (const change of changes) {
      const line = JSON.stringify(isRemoved(change) ? { id: change.id, removed: true } : change);
      if (isRemoved(change)) this.#counts.removals += 1;
      else {
        requireKnown(line);
        this.#counts.changed += 1;
      }
      if (isLater) this.#later.set(change.id, this.#lines);
      this.#lines += 1;
      text += `${line}\n`;
    }
    if (text !== '') await this.#file.appendFile(text);
  }

  /** The lines of the change feed, one for each record. */
  async *lines(): AsyncGenerator<readonly string[], void, undefined> {
    let at = 0;
    const isLast = (line: string): boolean => {
      const last = this.#later.size === 0 ? undefined : this.#later.get(JSON.parse(line).id);
      const isIt = last === undefined || last === at;
      at += 1;
      return isIt;
    };
    const content = this.#file.createReadStream({ start: 0, autoClose: false });
    for await (const lines of linesOf(content)) yield lines.filter(isLast);
  }

  async remove(): Promise<void> {
    await this.#file.close();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** The same lines of the change feed; counts them, and the removals among them. */
export async function* countChanges(
  batches: AsyncIterable<readonly string[]>,
  counts: { rows: number; removals: number },
): AsyncGenerator<readonly string[], void, undefined> {
  for await (const lines of batches) {
    counts.rows += lines.length;
    counts.removals += lines.filter((line) => line.endsWith(removedEnd)).length;
    yield lines;
  }
}

/** How the line of a removed record ends; a record ends with its `auto_renew`. */
const removedEnd = ',"removed":true}';
