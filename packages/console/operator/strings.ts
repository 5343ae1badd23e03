import type { Import } from '../../contract/operator/import.ts';
import { countOf, formatCount } from '../ui/format-count.ts';
import { auditStrings } from './audit/audit-strings.ts';
import { healthStrings } from './health/health-strings.ts';
import { fileStrings } from './imports/import-strings.ts';

/** "1 record", "1,284 records". */
const records = (count: number): string => countOf(count, 'record', 'records');
const rows = (count: number): string => countOf(count, 'row', 'rows');

/** The results of imports, and the outcomes without counts. */
const outcomeWords = {
  running: 'Running',
  loaded: 'Loaded',
  checked: 'Checked',
  failed: 'Failed',
  interrupted: 'Interrupted',
  ok: 'Ended',
} as const;

/** Every text of the operator's console, by page. */
export const strings = {
  word: 'operator',
  cancel: 'Cancel',
  noValue: '–',
  yes: 'Yes',
  no: 'No',
  tenant: 'Tenant',
  client: 'Client',
  records: 'Records',
  scopes: 'Scopes',
  created: 'Created',
  lastUsed: 'Last used',
  action: 'Action',
  deleteForGood: 'Delete for good',
  /** The link from a page about one item back to the list. */
  all: (what: string) => `All ${what.toLowerCase()}`,
  missingScope: (scope: string) => `Your token needs the scope ${scope}`,
  typeToConfirm: (name: string) => `Type ${name} to confirm`,
  secret: {
    onlyOnce: (what: string) => `The ${what.toLowerCase()} is shown only now. The service stores only its hash.`,
  },
  session: {
    title: 'Sign in',
    token: 'Operator token',
    signIn: 'Sign in',
    expired: (user: string) => `Sign in again as ${user} to continue where you were.`,
  },
  health: healthStrings,
  tenants: {
    title: 'Tenants',
    name: 'Name',
    lastImport: 'Last import',
    lastGoodImport: 'Last without rejected rows',
    ofBudget: (used: string, budget: string) => `${used} of ${budget}`,
    create: 'Create tenant',
    sum: (shown: number, all: number, count: number, hasMore: boolean) => {
      const tenants = countOf(all, 'tenant', 'tenants');
      const of = shown === all ? tenants : `${formatCount(shown)} of ${tenants}`;
      return `${of}${hasMore ? ' (the first by name)' : ''}, ${records(count)}`;
    },
    noneFound: (hasMore: boolean, count: number) =>
      `${hasMore ? `None of the first ${countOf(count, 'tenant', 'tenants')}` : 'No tenant'} has this in its name`,
    none: 'No tenants yet',
    noneHint: 'A tenant is a customer whose subscriptions are reported. Create one, then import its records.',
    erasure: {
      title: 'Erase records',
      ways: { email: 'Email or identifier of the subscriber', iccid: 'ICCID', ids: 'Ids of subscriptions' },
      sourceHint: 'Remove the records from the source of your imports first.',
      count: records,
      all: (of: string) => `all records of ${of}`,
      button: (what: string) => `Erase ${what}`,
      done: (deleted: number, missing: number) =>
        `${records(deleted)} erased${missing === 0 ? '' : `, ${formatCount(missing)} not found`}`,
    },
    deletion: {
      question: (tenant: string) => `Delete ${tenant}?`,
      effect: (count: number) =>
        `The tenant, its clients and ${records(count)} are deleted for good. Its clients are rejected from now on. This takes minutes for millions of records.`,
      done: (tenant: string, clients: number) => `${tenant} and ${countOf(clients, 'client', 'clients')} deleted`,
    },
  },
  clients: {
    title: 'Clients',
    id: 'Client id',
    state: 'State',
    external: 'external issuer',
    grants: 'Grants',
    scopeWords: {
      'subscription:read': 'subscription:read, reads reports',
      'subscription:write': 'subscription:write, loads records',
    },
    refreshTokenUse: 'Used refresh tokens',
    refreshTokenUses: {
      '': 'Setting of the service',
      rotate: 'Valid once (rotate)',
      reuse: 'Valid until they expire (reuse)',
    },
    quota: 'Requests per minute',
    quotaOf: (limit: number | null) => {
      if (limit === null) return 'Setting of the service';
      return limit === 0 ? 'No limit' : formatCount(limit);
    },
    handOver: {
      both: (id: string, secret: string, url: string) =>
        `Client id: ${id}\nClient secret: ${secret}\nConsole: ${url}\n`,
    },
    secretNumber: (index: number, count: number) => {
      if (index === 0) return 'Current';
      return count > 2 ? `Earlier ${index}` : 'Earlier';
    },
    create: 'Create client',
    noneFound: 'No client matches these filters',
    none: 'No clients yet',
    noneHint: 'A client is a program or a person that reads the reports of one tenant.',
    sessions: {
      title: 'Sessions',
      none: 'No sessions',
      noneHint: 'A session begins with a refresh token and includes all tokens issued from it.',
    },
    deletion: {
      question: (id: string) => `Delete ${id}?`,
      effect: 'The client and its secrets are deleted for good, and its tokens are rejected immediately.',
      done: (id: string) => `${id} deleted`,
    },
  },
  imports: {
    title: 'Imports',
    load: 'Import records',
    history: 'Imports',
    all: 'All imports of this tenant',
    one: (tenant: string, started: string) => `Import into ${tenant}, ${started}`,
    id: 'Id',
    started: 'Started, UTC',
    result: 'Result',
    outcomes: outcomeWords,
    /** "2 loaded, 3 rejected"; one word if no row was rejected, or none was loaded. */
    outcomeOf: (outcome: Import['outcome'], accepted: number, rejected: number): string => {
      if (outcome === 'loaded-with-rejects')
        return `${formatCount(accepted)} loaded, ${formatCount(rejected)} rejected`;
      if (outcome === 'checked-with-rejects')
        return `${formatCount(accepted)} valid, ${formatCount(rejected)} rejected`;
      return outcomeWords[outcome];
    },
    starter: 'Started by',
    starters: { command: 'command', client: 'client', operator: 'operator' },
    address: 'Address',
    format: 'Format',
    formats: { ndjson: 'NDJSON', csv: 'CSV' },
    options: 'Options',
    rows: 'Rows',
    read: 'Read',
    accepted: 'Accepted',
    rejected: 'Rejected',
    inserted: 'Added',
    updated: 'Changed',
    unchanged: 'Unchanged',
    removed: 'Removed',
    revision: 'Revision afterwards',
    noneFound: 'No import matches these filters',
    none: 'No imports',
    noneHint: 'Imports by commands and over HTTP appear here.',
    rejectedTitle: 'Rejected rows',
    rejectedShown: (shown: number, kept: number, rejected: number) =>
      shown === rejected
        ? rejected === 1
          ? rows(rejected)
          : `All ${rows(rejected)}`
        : `The first ${formatCount(shown)} of ${rows(rejected)}; the file has ${formatCount(kept)}`,
    lineNumber: (line: number) => `Line ${formatCount(line)}`,
    field: 'Field',
    value: 'Value',
    form: {
      chosen: (name: string, size: string) => `${name}, ${size},`,
      ...fileStrings,
      modes: { load: 'Add and change', strict: 'All or nothing', replace: 'Replace all records' },
      modeHints: {
        load: 'Valid rows are loaded, invalid ones are skipped and listed.',
        strict: 'If any row is invalid, nothing is loaded.',
        replace: 'Records that are not in the file are removed.',
      },
      removeHint:
        'Needed if the file removes all records, or more than half and at least 20: the check then says their number.',
      check: 'Check the file',
      load: {
        load: (count: number) => `Import ${rows(count)}`,
        strict: (count: number) => `Import ${rows(count)}`,
        replace: (count: number) => `Replace with ${rows(count)}`,
      },
      replaceQuestion: (tenant: string) => `Replace all records of ${tenant}?`,
      replaceEffect: (counts: { inserted: number; updated: number; removed?: number | undefined }) =>
        `${records(counts.removed ?? 0)} removed, ${formatCount(counts.inserted)} added, ${formatCount(counts.updated)} changed. This cannot be undone.`,
      sending: 'Sending the file',
      sent: (percent: number) => `${percent} % sent`,
      outcome: (words: string, isDryRun: boolean) => `${words}${isDryRun ? ', nothing was changed' : ''}`,
      strictRefused: (count: number) => `Nothing can be loaded: ${rows(count)} would be rejected.`,
    },
  },
  keys: {
    title: 'Keys',
    purpose: 'Purpose',
    purposes: { access: 'Access tokens', refresh: 'Refresh tokens' },
    states: { next: 'Next', current: 'Current', retiring: 'Retiring', dead: 'No longer needed' },
    none: 'No keys',
    rotate: 'Rotate a key',
    modes: { soon: 'Soon', now: 'Now', compromised: 'Compromised' },
    modeHints: {
      soon: 'The new key is used after six minutes, so that no request fails.',
      now: 'The new key is used immediately.',
      compromised: 'All older keys are deleted, and their tokens are rejected.',
    },
  },
  audit: auditStrings,
  operators: {
    title: 'Tokens',
    name: 'Name',
    scopeWords: {
      'operator:read': 'operator:read, reads everything except records and secrets',
      'operator:write': 'operator:write, changes and deletes',
      'subscription:write': 'subscription:write, loads records into any tenant',
    },
    none: 'No tokens',
    create: 'Create token',
    revoke: 'Revoke',
    revokeQuestion: (name: string) => `Revoke ${name}?`,
  },
  settings: {
    title: 'Settings',
    origins: { environment: 'Environment', file: 'File', default: 'Default' },
    none: 'No setting matches',
  },
} as const;
