import type { Store, TenantId, TenantSql } from '../storage/store.ts';
import type { RowFault } from './check-row.ts';

/** Imports whose rejected rows are read at once: at most some megabytes. */
const importsAtOnce = 20;

/**
 * Erases the rejected rows in the history of imports that quote one of the values, such as the
 * ICCID or the email of an erased record: as a whole value, as a word of one, shortened, or as the
 * name of a field.
 */
export async function eraseRejections(store: Store, tenant: TenantId, values: Iterable<string>): Promise<void> {
  const quotes = createQuoteTest(values);
  for (let after = ''; ; ) {
    const imports = await store.readTenantOnce(tenant, { sql: selectRejections, values: [after, importsAtOnce] });
    const erased = imports.flatMap(({ import_id: id, row_lines: text }) => {
      const lines = String(text)
        .split('\n')
        .filter((line) => line !== '');
      const kept = lines.filter((line) => !quotes(line));
      if (kept.length === lines.length) return [];
      return [{ sql: updateRejections, values: [String(id), kept.map((line) => `${line}\n`).join('')] }];
    });
    if (erased.length > 0) await store.writeTenant(tenant, erased);
    if (imports.length < importsAtOnce) return;
    after = String(imports.at(-1)?.import_id);
  }
}

/** Tells whether a line of rejected rows quotes one of the values. */
function createQuoteTest(values: Iterable<string>): (line: string) => boolean {
  // an empty value would match every fault that names no field or value
  const whole = new Set([...values].filter((value) => value !== '').map((value) => value.toLowerCase()));
  const all = [...whole];
  const isQuoted = (value: string): boolean => {
    const text = unquoted(value).toLowerCase().trim();
    if (whole.has(text) || text.split(wordEnds).some((word) => whole.has(word))) return true;
    return text.endsWith(shortened) && all.some((each) => each.includes(text.slice(0, -1)) || text.includes(each));
  };
  return (line) => {
    const { errors = [] } = JSON.parse(line) as { readonly errors?: readonly Partial<RowFault>[] };
    const quoted = errors.flatMap(({ field = '', value }) => [field.replace(/^product\./, ''), value ?? '']);
    return quoted.some(isQuoted);
  };
}

/** The last character of a value that was too long. */
const shortened = '…';

const wordEnds = /[^\p{L}\p{N}@.+_=-]+/u;

/** A string without the quotes of JSON; of a shortened one, without the first. */
function unquoted(value: string): string {
  if (!value.startsWith('"')) return value;
  try {
    return String(JSON.parse(value));
  } catch {
    return value.slice(1);
  }
}

const selectRejections: TenantSql = `select import_id, row_lines from import_rejection
  where tenant_id = $1 and import_id > $2 order by import_id limit $3`;

const updateRejections: TenantSql =
  'update import_rejection set row_lines = $3 where tenant_id = $1 and import_id = $2 returning import_id';
