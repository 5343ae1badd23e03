import { defaultPageLimits } from '../../packages/contract/report.ts';
import { Difference, expectEqual } from './failure.ts';
import type { Random } from './random.ts';
import { expectStatus, readWhole, type Source } from './read.ts';

interface ChangesPage {
  readonly changes: readonly { readonly id: string; readonly removed?: true }[];
  readonly next: string;
  readonly has_more: boolean;
}

/** Pages of a drawn size; the rest is read in the largest ones. */
const drawnPages = 5;
const sizeMax = defaultPageLimits.sizeMax;

/** A copy of a tenant's records, kept up to date by reading changes. */
export class Follower {
  readonly copy = new Map<string, string>();
  changes = 0;
  #token: string | undefined;
  #rejection: 'never' | 'possible' | 'certain' = 'never';

  /** Whether the change token is rejected with 410 from now on. */
  expectRejection(rejection: 'never' | 'possible' | 'certain'): void {
    this.#rejection = this.#token === undefined ? 'never' : rejection;
  }

  /** Applies all changes since the last call; begins again if the token is rejected. */
  async catchUp(source: Source, random: Random): Promise<void> {
    if (this.#token === undefined) await this.#begin(source, random);
    for (let pages = 0, more = true; more; pages += 1) {
      const page = await this.#read(source, pages < drawnPages ? random.pick([1, 20, 700]) : sizeMax);
      if (page === undefined) return this.#beginAgain(source, random);
      for (const change of page.changes) {
        this.changes += 1;
        if (change.removed) this.copy.delete(change.id);
        else this.copy.set(change.id, JSON.stringify(change));
      }
      this.#token = page.next;
      more = page.has_more;
    }
  }

  /** Begins with an export, or with all changes. */
  async #begin(source: Source, random: Random): Promise<void> {
    if (random.chance(0.5)) return;
    const { text } = expectStatus(await this.#get(source, '?since=now'), 200, 'since=now');
    const { changes, next } = JSON.parse(text) as ChangesPage;
    expectEqual('the changes since now', changes, []);
    const { records } = await readWhole(source, {});
    for (const record of records) this.copy.set((JSON.parse(record) as { id: string }).id, record);
    this.#token = next;
  }

  async #beginAgain(source: Source, random: Random): Promise<void> {
    this.#token = undefined;
    this.copy.clear();
    await this.catchUp(source, random);
  }

  /** Reads a page of changes; returns `undefined` if the token is rejected as expected. */
  async #read(source: Source, size: number): Promise<ChangesPage | undefined> {
    const token = this.#token;
    const query = `?size=${size}${token === undefined ? '' : `&since=${token}`}`;
    const received = await this.#get(source, query);
    if (received.status === 410 && token !== undefined && this.#rejection !== 'never') {
      if (this.#rejection === 'certain') this.#rejection = 'never';
      return undefined;
    }
    if (this.#rejection === 'certain')
      throw new Difference(`a change token of a discarded history got ${received.status} from /changes${query}`);
    return JSON.parse(expectStatus(received, 200, `/changes${query}`).text) as ChangesPage;
  }

  #get({ session, service, tenant }: Source, query: string) {
    return session.get(service, tenant, `/changes${query}`);
  }
}
