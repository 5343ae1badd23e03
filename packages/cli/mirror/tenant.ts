import { mirrorRecordsMax } from '../../contract/operator/mirror.ts';
import type { CallOperation } from '../../contract/operator/operations.ts';
import { fitsText } from '../../contract/schema.ts';
import { SubscriptionId } from '../../contract/subscription.ts';
import type { OriginRecord } from './origin.ts';
import type { Applied, MirrorAges, MirrorCounts, MirrorTarget, TenantRecord } from './target.ts';

/** Most characters of the records of one request. */
const charactersMax = 3_000_000;
/** Records of one page of a list. */
const listedTogether = 1_000;

/** A tenant of our service, through the operator's API. */
export class TenantTarget implements MirrorTarget {
  readonly #call: CallOperation;
  readonly #tenant: string;
  #id: string;

  /** @param id the mirror of the tenant, unless `begin` is called */
  constructor(call: CallOperation, tenant: string, id = '') {
    this.#call = call;
    this.#tenant = tenant;
    this.#id = id;
  }

  async begin({ id, origin }: { readonly id: string; readonly origin: string }): Promise<void> {
    this.#id = id;
    await this.#call('beginMirror', { params: { tenant: this.#tenant }, body: { mirror_id: id, origin } });
  }

  async apply({ records, removed, ages, counts, token }: Parameters<MirrorTarget['apply']>[0]): Promise<Applied> {
    const [rejections, digests] = [new Map<string, string>(), new Map<string, string>()];
    const parts = [...split(records)];
    let [left, isExpected] = [token, true];
    for (const part of parts.length === 0 ? [[]] : parts) {
      const applied = await this.#call('applyMirror', {
        params: { tenant: this.#tenant },
        body: {
          mirror_id: this.#id,
          records: part.map((record) => JSON.stringify(record)).join('\n'),
          // no record has another id
          removed_ids: removed.filter((id) => fitsText(SubscriptionId, id)),
          ...(left !== undefined && { revision_token: left }),
          ...agesOf(ages),
          ...(counts && countsOf(counts)),
        },
      });
      for (const { line, reason } of applied.rejected) rejections.set(part[line - 1]?.id ?? '', reason);
      for (const [at, digest] of applied.digests.entries())
        if (digest !== null) digests.set(part[at]?.id ?? '', digest);
      isExpected &&= applied.is_expected;
      left = applied.revision_token;
    }
    return { rejections, digests, token: left ?? '', isExpected };
  }

  async *list(): AsyncGenerator<readonly TenantRecord[], void, undefined> {
    const params = { tenant: this.#tenant };
    for (let cursor: string | undefined; ; ) {
      const { data, next } = await this.#call('listMirrorRecords', {
        params,
        query: { mirror_id: this.#id, limit: listedTogether, cursor },
      });
      yield data.map(({ created_at, ...record }) => ({ ...record, created: Date.parse(created_at) / 1000 }));
      if (next === null) return;
      cursor = next;
    }
  }
}

const agesOf = ({ newAsOf, changesAsOf }: MirrorAges) => ({ new_as_of: newAsOf, changes_as_of: changesAsOf });

const countsOf = ({ rejected, heldBack, unconfirmed }: MirrorCounts) => ({
  rejected_records: rejected,
  held_back_removals: heldBack,
  unconfirmed_removals: unconfirmed,
});

/** Records in parts that fit in one request. */
function* split(records: readonly OriginRecord[]): Generator<readonly OriginRecord[]> {
  let [part, characters]: [OriginRecord[], number] = [[], 0];
  for (const record of records) {
    const { length } = JSON.stringify(record);
    if (part.length === mirrorRecordsMax || (part.length > 0 && characters + length > charactersMax)) {
      yield part;
      [part, characters] = [[], 0];
    }
    part.push(record);
    characters += length;
  }
  if (part.length > 0) yield part;
}
