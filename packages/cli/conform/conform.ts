import { printable } from '../../terminal/printable.ts';
import { Account, sameIds, type Walk } from './account.ts';
import { type Capabilities, findCapabilities } from './capabilities.ts';
import { type Check, type Finding, failed, notApplicable } from './check.ts';
import { filterChecks } from './filter-checks.ts';
import { numberIn, pagingChecks } from './paging-checks.ts';
import { recordChecks } from './record-checks.ts';
import { requestChecks } from './request-checks.ts';
import { BudgetError, ConformError, type Requester } from './requester.ts';
import { tokenChecks } from './token-checks.ts';

/** All checks, in the order in which they run. */
export const checks: readonly Check[] = [
  ...tokenChecks,
  ...recordChecks,
  ...pagingChecks,
  ...filterChecks,
  ...requestChecks,
];

/** Checks that compare the records of several responses. */
const comparing = new Set([...pagingChecks, ...filterChecks].map(({ id }) => id));

const spent = 'not checked, the requests are spent';

/** A check and what it found. */
interface CheckResult extends Finding {
  readonly id: string;
  readonly sentence: string;
}

/** The result of all checks of a server. */
export interface ConformReport {
  readonly base_url: string;
  readonly requests: number;
  readonly max_requests: number;
  readonly passed: number;
  readonly failed: number;
  readonly not_applicable: number;
  /** Those of them for which the requests did not suffice. */
  readonly not_checked: number;
  /** `null` if the requests were spent before. */
  readonly capabilities: Capabilities | null;
  readonly checks: readonly CheckResult[];
}

/**
 * Checks a server by requests that change nothing, one at a time. Throws `ConformError` if it
 * returns no token or no report.
 */
export async function checkServer(requester: Requester): Promise<ConformReport> {
  const account = await openAccount(requester);
  const { results: all, last } = await runChecks(account);
  const capabilities = await findCapabilities(last).catch(ignoreUnanswered);
  const countOf = (result: Finding['result']): number => all.filter((each) => each.result === result).length;
  return {
    base_url: requester.target.baseUrl,
    requests: requester.requests,
    max_requests: requester.requestsMax,
    passed: countOf('passed'),
    failed: countOf('failed'),
    not_applicable: countOf('not applicable'),
    not_checked: all.filter(({ seen }) => seen === spent).length,
    capabilities,
    checks: all,
  };
}

async function openAccount(requester: Requester): Promise<Account> {
  try {
    return await Account.open(requester);
  } catch (error) {
    if (!(error instanceof BudgetError)) throw error;
    throw new ConformError('Cannot check the server: the requests must suffice for a token and a page');
  }
}

/** The results, and the account as it was read last. */
async function runChecks(first: Account) {
  const results: CheckResult[] = [];
  let last = first;
  /** Checks that failed, and those that need one of them. */
  const broken = new Set<string>();
  for (const { id, sentence, needs = [], run } of checks) {
    const missing = needs.find((need) => broken.has(need));
    let finding = missing === undefined ? await runCheck(run, last) : notApplicable(`not checked, needs ${missing}`);
    if (finding.result === 'failed' && comparing.has(id)) {
      last = await last.refresh().catch(() => last);
      finding = await runAgain(run, last, !broken.has('stable-page') && id !== 'stable-page');
    }
    if (missing !== undefined || finding.result === 'failed') broken.add(id);
    // a server may echo what was sent to it
    results.push({ id, sentence, ...finding, seen: printable(finding.seen) });
  }
  return { results, last };
}

/**
 * Runs a check that has failed once more: the records may have changed between its requests, on the
 * first page or behind it.
 */
async function runAgain(run: Check['run'], account: Account, isStable: boolean): Promise<Finding> {
  const finding = await runCheck(run, account);
  if (finding.result !== 'failed' || !isStable) return finding;
  // without an answer, nothing speaks against what two runs found
  const isUnchanged = await account
    .refresh()
    .then((after) => isSame(account, after))
    .catch(ignoreUnanswered);
  return isUnchanged === false ? notApplicable('the records changed meanwhile') : finding;
}

/** Whether an account has the same records as before; its total alone proves no change. */
async function isSame(account: Account, after: Account): Promise<boolean> {
  if (!sameIds(account.firstPage.ids, after.firstPage.ids)) return false;
  const [before, now] = [account, after].map(({ firstPage }) => numberIn(firstPage, 'x-total-count'));
  if (before === now) return true;
  const walk = await account.walk();
  const again = await after.walk();
  const idsOf = ({ pages }: Walk): string[] => pages.flatMap(({ ids }) => ids);
  return walk.isComplete && again.isComplete && sameIds(idsOf(walk), idsOf(again));
}

async function runCheck(run: Check['run'], account: Account): Promise<Finding> {
  try {
    return await run(account);
  } catch (error) {
    if (error instanceof BudgetError) return notApplicable(spent);
    if (error instanceof ConformError) return failed(error.message);
    throw error;
  }
}

function ignoreUnanswered(error: unknown): null {
  if (error instanceof BudgetError || error instanceof ConformError) return null;
  throw error;
}
