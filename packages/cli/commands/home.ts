import { ApiError, type ChangesSummary, type SubreportClient } from '../../client/index.ts';
import { connect, isServiceGiven } from '../../terminal/connection.ts';
import { counted, countText, type Output } from '../../terminal/output.ts';
import { printableText } from '../../terminal/printable.ts';
import { runReader } from '../../terminal/reader-action.ts';
import { readDate } from './filter-options.ts';

/**
 * Returns what `subreport` without arguments does on a terminal: it says who the user is and what
 * the report has, in four lines. `undefined` without a profile.
 */
export function openHome(output: Output): (() => Promise<void>) | undefined {
  if (!isServiceGiven({})) return undefined;
  return () =>
    runReader(async (signal) => {
      const { name, profile, client } = connect({});
      const lines = await linesOf(client, signal);
      const who = `${profile.client_id} at ${profile.base_url}${name === undefined ? '' : `, profile ${name}`}`;
      output.stdout.write(`${printableText([who, ...lines].join('\n'))}\n`);
    });
}

async function linesOf(client: SubreportClient, signal: AbortSignal): Promise<readonly string[]> {
  const [all, ending, changed] = await Promise.all([
    client.summary({ by: 'status' }, { signal }),
    client.summary({ 'expires-within': '7d', by: 'auto-renew' }, { signal }),
    changedSinceYesterday(client, signal),
  ]);
  const statuses = (all.by.status ?? []).map(
    ({ value, count }) => `, ${countText(count)} ${value ?? 'without a status'}`,
  );
  const leaving = ending.by['auto-renew']?.find(({ value }) => value === 'false')?.count ?? 0;
  return [
    `${counted(all.total, 'subscription')}${statuses.slice(0, statusesMax).join('')}`,
    `${countText(ending.total)} end within 7 days, ${countText(leaving)} of them without renewal`,
    changed,
  ];
}

/** Statuses that are named. */
const statusesMax = 6;

async function changedSinceYesterday(client: SubreportClient, signal: AbortSignal): Promise<string> {
  const yesterday = readDate('yesterday', { nowSeconds: Math.floor(Date.now() / 1000) }) ?? '';
  try {
    return sentenceOf(await client.changesSummary(yesterday, { signal }), yesterday);
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'HISTORY_NOT_KEPT')) throw error;
    const { history_begins_at: begins } = error.problem;
    if (begins === undefined) return 'Changes since yesterday are unknown: the service keeps no history';
    return sentenceOf(await client.changesSummary(begins, { signal }), `${begins}, when the history begins`);
  }
}

const sentenceOf = ({ added, changed, removed }: ChangesSummary, since: string): string =>
  `${countText(added)} added, ${countText(changed)} changed, ${countText(removed)} removed since ${since}`;
