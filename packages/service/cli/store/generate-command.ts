import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Command, InvalidArgumentError } from 'commander';
import { parseInstant } from '../../../contract/instant.ts';
import { UsageError, writeFailure } from '../../../terminal/error.ts';
import { integerFrom } from '../../../terminal/integer-option.ts';
import { type Output, writeResult } from '../../../terminal/output.ts';
import { syntheticRows } from '../../import/synthetic-rows.ts';
import { loadRecords } from '../../operator/load.ts';
import { requireTenant } from '../../operator/require-tenant.ts';
import { nowSeconds } from '../../storage/now-seconds.ts';
import { readConfig } from '../config.ts';
import { withOperator } from './command-context.ts';

const wholeNumber = integerFrom(0, 999_999_999, 1_000);

interface GenerateOptions {
  readonly tenant?: string;
  readonly subscriptions: number;
  readonly seed: number;
  readonly until?: number;
  readonly output?: string;
  readonly json?: boolean;
}

export function addGenerateCommand(program: Command, output: Output): void {
  program
    .command('generate')
    .description(
      'generate realistic subscriptions, into a tenant or as NDJSON; deterministic for a given --seed and --until',
    )
    .requiredOption('--subscriptions <n>', 'how many', wholeNumber)
    .option('--tenant <tenant>', 'the tenant to load the subscriptions into')
    .option('--output <file>', 'write NDJSON to this file instead (- for standard output)')
    .option('--seed <n>', 'seed of the random generator, an integer', wholeNumber, 1)
    .option('--until <date>', 'point in time that the data treats as now (default: the current time)', parseUntil)
    .option('--json', 'print a JSON summary')
    .addHelpText(
      'after',
      '\nExamples:\n  subreport generate --tenant acme --subscriptions 10000\n  subreport generate --subscriptions 1000000 --seed 7 --until 2026-01-01T00:00:00Z --output data.ndjson',
    )
    .action(async (options: GenerateOptions) => {
      const { subscriptions: count, seed, until = nowSeconds() } = options;
      const rows = () => syntheticRows({ count, seed, until });
      if (options.output !== undefined) return writeNdjson(rows(), options.output, output);
      if (options.tenant === undefined)
        throw new UsageError('Cannot generate: either --tenant or --output must be given, such as --tenant acme');
      const name = options.tenant;
      const { summary } = await withOperator(readConfig(), async (context) =>
        loadRecords(context, {
          tenant: await requireTenant(context.store, name, 'add'),
          via: 'command',
          source: { open: () => ndjsonOf(rows()) },
          format: 'ndjson',
          flags: { replace: false, strict: false, 'dry-run': false },
          errors: [],
          errorsMax: 0,
          onRejected: refuseRejected,
        }),
      );
      const { inserted, updated, unchanged } = summary;
      writeResult(
        output,
        options.json ?? false,
        { tenant: name, inserted, updated, unchanged },
        `Tenant ${name}: ${inserted} inserted, ${updated} updated, ${unchanged} unchanged.`,
      );
    });
}

/** Converts rows to NDJSON, in chunks of some hundred rows. */
export async function* ndjsonOf(rows: Iterable<unknown>): AsyncGenerator<Buffer> {
  let lines: string[] = [];
  for (const row of rows) {
    lines.push(`${JSON.stringify(row)}\n`);
    if (lines.length === 256) {
      yield Buffer.from(lines.join(''));
      lines = [];
    }
  }
  if (lines.length > 0) yield Buffer.from(lines.join(''));
}

async function writeNdjson(rows: Iterable<unknown>, file: string, output: Output): Promise<void> {
  if (file === '-') {
    for await (const chunk of ndjsonOf(rows)) {
      output.stdout.write(chunk.toString());
      await output.stdout.taken?.();
    }
    return;
  }
  await pipeline(Readable.from(ndjsonOf(rows)), createWriteStream(file)).catch((error: NodeJS.ErrnoException) => {
    throw writeFailure(file, error);
  });
}

function refuseRejected({ errors }: { errors: readonly { field: string; rule: string }[] }): never {
  throw new TypeError(`Cannot load a synthetic row: it must fit the contract: ${JSON.stringify(errors)}`);
}

function parseUntil(text: string): number {
  const instant = parseInstant(text);
  if (instant === undefined)
    throw new InvalidArgumentError('It must be an ISO 8601 date-time, such as 2026-01-01T00:00:00Z');
  return instant.seconds;
}
