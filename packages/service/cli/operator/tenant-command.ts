import { Option } from 'commander';
import type { TenantStorage } from '../../../contract/operator/tenant.ts';
import { UsageError } from '../../../terminal/error.ts';
import { countText } from '../../../terminal/output.ts';
import { readMappingFile } from './import-source.ts';
import { outcomeText } from './import-text.ts';
import { commandGroup, listCommand, operationCommand } from './operation-command.ts';
import { beginStore } from './operator-api.ts';

const create = operationCommand({
  name: 'create',
  operation: 'createTenant',
  description: 'create a tenant',
  inputs: {
    tenant: {
      argument: '[tenant]',
      hint: 'name of the tenant, 1 to 63 of the characters a-z 0-9 - (default: generated)',
    },
  },
  examples: ['tenant create acme', 'tenant create acme --json'],
  prepare: beginStore,
  text({ tenant }, given) {
    const why = given.tenant === undefined ? ' with a generated name, because none was given' : '';
    return `Tenant ${tenant} was created${why}. Next: subreport client create --tenant ${tenant}`;
  },
});

const tenant = { argument: '<tenant>' };

const remove = operationCommand({
  name: 'delete',
  operation: 'deleteTenant',
  description:
    'permanently delete a tenant: first its clients, then all its records; run it again if it was interrupted',
  inputs: { tenant },
  options: [() => new Option('--yes', 'confirm that all data of the tenant is to be deleted')],
  examples: ['tenant delete acme --yes'],
  prepare(given, { yes }) {
    if (yes === true) return given;
    throw new UsageError(
      `Cannot delete the tenant: --yes must be given, as all its records and clients are permanently deleted: current value is '${given.tenant}'`,
    );
  },
  text: (deleted) => `Tenant ${deleted.tenant} was deleted: ${deleted.clients} clients, ${deleted.rows} rows.`,
});

const list = listCommand({
  name: 'list',
  operation: 'listTenants',
  description: 'list the tenants with the number of their records',
  examples: ['tenant list --json'],
  columns: {
    TENANT: 'tenant',
    CREATED: 'created_at',
    RECORDS: ({ records }) => countText(records),
    REVISION: ({ revision, deleting_since: since }) =>
      since === null ? String(revision) : `being deleted since ${since}`,
    'LAST IMPORT': ({ last_import: last }) => (last === null ? '-' : outcomeText(last)),
    'LAST GOOD IMPORT': 'last_good_import_at',
    STORAGE: ({ storage }) => (storage === null ? '-' : storageText(storage)),
  },
});

/** What a tenant uses, and the share of its budget. */
const storageText = ({ total, budget }: TenantStorage): string => {
  const used = `${(total / 2 ** 20).toFixed(1)} MiB`;
  return budget === null ? used : `${used} (${((100 * total) / budget).toFixed(1)} %)`;
};

const mapColumns = operationCommand({
  name: 'map-columns',
  operation: 'saveColumns',
  description: 'save a mapping of CSV columns to fields, for imports with --columns saved; a file with {} removes it',
  inputs: {
    tenant,
    columns: {
      argument: '<file>',
      hint: 'JSON, as for import --columns',
      parse: (file) => JSON.stringify(readMappingFile(file)),
    },
  },
  examples: ['tenant map-columns acme mapping.json'],
  text: (saved) =>
    saved.columns === null
      ? `Tenant ${saved.tenant} has no mapping of columns.`
      : `The mapping was saved. Next: subreport import FILE --tenant ${saved.tenant} --columns saved`,
});

export const addTenantCommand = commandGroup(
  'tenant',
  'create, list and delete tenants (the customers whose subscriptions are reported)',
  [create, remove, list, mapColumns],
);
