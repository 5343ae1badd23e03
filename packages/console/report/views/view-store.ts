/** A report that somebody has named: the query of its link, which has no email address. */
export interface SavedView {
  readonly name: string;
  readonly search: string;
}

/** Filters that name people, SIMs, devices or subscriptions: the browser must not keep them. */
const personal = ['email', 'iccid', 'device-id', 'id', 'list'];

/** Whether the query of a link has a filter that names people, SIMs, devices or subscriptions. */
export const isPersonal = (search: string): boolean => {
  const query = new URLSearchParams(search);
  return personal.some((name) => query.has(name));
};

/** Number of views that the browser keeps for a client; the oldest ones are dropped. */
export const viewsMax = 50;

/** Keeps the views of one client in this browser, also after sign-out, so none that is personal. */
export class ViewStore {
  readonly #storage: Pick<Storage, 'getItem' | 'setItem'>;
  readonly #key: string;

  constructor(storage: Pick<Storage, 'getItem' | 'setItem'>, tenant: string, clientId: string) {
    this.#storage = storage;
    this.#key = `subreport.views.${JSON.stringify([tenant, clientId])}`;
  }

  /** In the order of their names; none if the stored text was altered. */
  read(): readonly SavedView[] {
    return this.#stored().toSorted((a, b) => a.name.localeCompare(b.name));
  }

  /** In the order in which they were saved. */
  #stored(): readonly SavedView[] {
    try {
      const stored: unknown = JSON.parse(this.#storage.getItem(this.#key) ?? '[]');
      const views = Array.isArray(stored) ? stored.filter(isView) : [];
      const kept = views.filter(({ search }) => !isPersonal(search));
      if (kept.length < views.length) this.#write(kept); // of an older version
      return kept;
    } catch {
      return [];
    }
  }

  /** Adds a view, or replaces the one with its name. */
  save(view: SavedView): void {
    const others = this.#stored().filter(({ name }) => name !== view.name);
    this.#write([...others.slice(1 - viewsMax), view]);
  }

  remove(name: string): void {
    this.#write(this.#stored().filter((view) => view.name !== name));
  }

  #write(views: readonly SavedView[]): void {
    try {
      this.#storage.setItem(this.#key, JSON.stringify(views.filter(({ search }) => !isPersonal(search))));
    } catch {
      // storage is blocked: no view is kept
    }
  }
}

const isView = (value: unknown): value is SavedView => {
  const { name, search } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return typeof name === 'string' && typeof search === 'string';
};
