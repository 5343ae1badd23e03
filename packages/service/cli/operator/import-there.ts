import { queryOf } from '../../../cli/remote/operation-call.ts';
import type { Server } from '../../../cli/remote/server.ts';
import { parseJson, pathOf, send } from '../../../cli/remote/server-operations.ts';
import { type LoadSummary, loadMediaTypes, savedMapping } from '../../../contract/load.ts';
import { operatorOperations } from '../../../contract/operator/operations.ts';
import { UsageError } from '../../../terminal/error.ts';
import type { Output } from '../../../terminal/output.ts';
import { createProgressBar } from '../../../terminal/progress-bar.ts';
import { flagsOf, type ImportCommandOptions, type ImportSource, openImportSource } from './import-source.ts';
import { shownMax, writeImport } from './import-text.ts';

/** Longest silence, in milliseconds: a replacement is committed after its last byte. */
const loadMs = 3_900_000;

/** Sends the file of `subreport import` to a server, and prints the result. */
export async function importThere(
  server: Server,
  file: string,
  options: ImportCommandOptions,
  output: Output,
): Promise<void> {
  if (options.errors !== undefined)
    throw new UsageError(
      "Cannot use --errors: it must not be combined with --server, as it needs the store; 'subreport imports errors' prints the first rejected rows",
    );
  const source = openImportSource(file, options);
  const { correlation_id: _, ...summary } = await load(server, source, options, output);
  writeImport(output, options, { ...summary, errors: summary.errors.slice(0, shownMax) });
  if (summary.rejected > 0) process.exitCode = 1;
}

async function load(
  server: Server,
  source: ImportSource,
  options: ImportCommandOptions,
  output: Output,
): Promise<LoadSummary> {
  const { method, path } = operatorOperations.loadSubscriptions;
  const query = {
    ...Object.fromEntries(Object.entries(flagsOf(options)).flatMap(([name, on]) => (on ? [[name, 'true']] : []))),
    remove: options.remove,
    columns: source.mapping === savedMapping ? savedMapping : source.mapping && JSON.stringify(source.mapping),
  };
  const { encoding } = options;
  const bar = createProgressBar(output, source.bytes);
  const body = source.open((bytes) => bar.updateBytes(bytes));
  const text = await send(server, {
    method,
    path: pathOf(path, { tenant: options.tenant }) + queryOf(query),
    headers: {
      'content-type': loadMediaTypes[source.format] + (encoding === undefined ? '' : `; charset=${encoding}`),
    },
    body,
    silenceMs: loadMs,
  }).finally(() => bar.end());
  return parseJson(server, text) as LoadSummary;
}
