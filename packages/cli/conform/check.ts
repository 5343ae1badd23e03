import type { Account } from './account.ts';
import { cut, type Exchange } from './requester.ts';

/** What a check found. `seen` has no secrets, no tokens and no ICCIDs: reports are passed on. */
export interface Finding {
  readonly result: 'passed' | 'failed' | 'not applicable';
  readonly seen: string;
}

/** A statement about every server of the published API, and how to observe it. */
export interface Check {
  /** Stable. `auth-N-…` is item N of "Authentication" in docs/contributors/spec.md. */
  readonly id: string;
  readonly sentence: string;
  /** Ids of earlier checks: if one of them failed, this one shows nothing. */
  readonly needs?: readonly string[];
  readonly run: (account: Account) => Promise<Finding>;
}

export const passed = (seen: string): Finding => ({ result: 'passed', seen });
export const failed = (seen: string): Finding => ({ result: 'failed', seen });
export const notApplicable = (seen: string): Finding => ({ result: 'not applicable', seen });

/** Passed if the condition holds. */
export const judge = (holds: boolean, seen: string): Finding => (holds ? passed(seen) : failed(seen));

/** "1 record", "2 records". */
export const count = (number: number, noun: string): string =>
  `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`;

/** Passed if the media type of a response is JSON. */
export function isJson({ headers }: Exchange): Finding {
  const type = headers.get('content-type') ?? 'no Content-Type';
  return judge(/^application\/json\s*(;|$)/i.test(type), cut(type, 60));
}
