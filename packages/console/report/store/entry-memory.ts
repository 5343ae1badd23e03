import type { Unlinked } from '../link/report-state.ts';

/** What the page remembers of an entry of the browser's history, until the page is closed. */
export interface EntryMemory<Loaded> {
  unlinked?: Unlinked | undefined;
  loaded?: Loaded | undefined;
  /** The row that had the focus. */
  focusedId?: string | undefined;
}

/** Entries that are remembered; a page of 1,000 rows takes about 1 MB. */
const entriesMax = 20;

/**
 * Memories by history entry. The id of an entry is in `history.state` and survives a reload; the
 * memory does not, so that an address or a list is never stored.
 */
export class EntryMemories<Loaded> {
  readonly #memories = new Map<string, EntryMemory<Loaded>>();
  #id: string | undefined;

  /** The memory of the entry that was entered last, until `leave`. */
  get current(): EntryMemory<Loaded> | undefined {
    return this.#id === undefined ? undefined : this.#memories.get(this.#id);
  }

  /** The memory of the browser's current entry. That of a new one is what `inherit` returns. */
  enter(inherit: (last: EntryMemory<Loaded> | undefined) => EntryMemory<Loaded>): EntryMemory<Loaded> {
    const last = this.current;
    const known = entryIdOf(history.state);
    this.#id = known ?? newEntryId();
    if (known === undefined) history.replaceState({ ...history.state, entry: this.#id }, '');
    const memory = this.#memories.get(this.#id) ?? (known === undefined ? inherit(last) : {});
    this.#memories.delete(this.#id);
    this.#memories.set(this.#id, memory); // the newest is the last
    const [oldest] = this.#memories.keys();
    if (this.#memories.size > entriesMax && oldest !== undefined) this.#memories.delete(oldest);
    return memory;
  }

  /** Entries are loaded again when they are shown the next time. */
  forgetLoaded(): void {
    for (const memory of this.#memories.values()) memory.loaded = undefined;
  }

  /** Another page is shown: the next entry inherits nothing. */
  leave(): void {
    this.#id = undefined;
  }

  clear(): void {
    this.#memories.clear();
    this.leave();
  }
}

function entryIdOf(state: unknown): string | undefined {
  const { entry } = (state ?? {}) as { entry?: unknown };
  return typeof entry === 'string' ? entry : undefined;
}

let entries = 0;

/** Unlike the ids of earlier loads of the page, which the browser keeps. */
function newEntryId(): string {
  entries += 1;
  return `${performance.timeOrigin}-${entries}`;
}
