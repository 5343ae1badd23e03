import { Option } from 'commander';
import { UsageError } from '../../terminal/error.ts';
import { forUser, optionOf } from '../../terminal/reader-action.ts';
import type { Manifest, Question } from '../sync/files/manifest.ts';
import { exportParameters, readParameters } from './filter-options.ts';
import { type LinkUse, newestFirst, sayQuestion, withLink } from './link-query.ts';
import type { Screen } from './record-writer.ts';
import type { CopyOptions } from './sync-options.ts';

// `sync --query`: the question of a link, asked again in each run.

const { fields: _fields, dates: _dates, email: _ofSubscriber, 'as-of': _asOf, ...parameters } = exportParameters;

const linkUse: LinkUse = {
  page: 'subscriptions',
  parameters,
  ignored: ['by', 'page', 'size'],
  defaults: newestFirst,
  refused: {
    fields: 'the files of a sync have whole records: use subreport export for some columns',
    dates: 'the files of a sync have dates in UTC: use subreport export for local ones',
    'as-of': 'each run asks about the present: use subreport export for the past',
  },
};

/**
 * Reads the question of `--query` and says it in words; `undefined` without the option. Throws
 * `UsageError` with all faults of the link.
 */
export function readQuestion(options: CopyOptions, screen: Screen): Question | undefined {
  if (options.query === undefined) return undefined;
  const linked: Readonly<Record<string, unknown>> = { ...withLink(options, linkUse) };
  const asked = Object.keys(parameters)
    .sort()
    .flatMap((name) => {
      const value = linked[new Option(`--${name}`).attributeName()];
      return typeof value === 'string' ? [[name, value]] : [];
    });
  const { values } = readLinked(linked);
  sayQuestion(screen, options, values);
  return { text: String(new URLSearchParams(asked)), query: values };
}

/** Whether the question of a file may have another answer at this time, of the same report. */
export function dependsOnTime({ question, query }: Manifest['report']): boolean {
  if (question === undefined) return false;
  if (query?.['expires-within'] !== undefined) return true;
  const asked = [...new URLSearchParams(question)].map(([name, value]) => [
    new Option(`--${name}`).attributeName(),
    value,
  ]);
  return JSON.stringify(readLinked(Object.fromEntries(asked)).values) !== JSON.stringify(query);
}

/** Resolves the days of a link; a fault names the link, as the command has no option for each. */
function readLinked(linked: Readonly<Record<string, unknown>>) {
  try {
    return readParameters(linked, parameters);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(inLink(error.message));
  }
}

/** Runs work with the question of a link; what the service refuses of it names the link. */
export async function withQuestion<T>(question: Question | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (question === undefined) throw error;
    const said = forUser(error, wordOf);
    throw said instanceof UsageError ? new UsageError(inLink(said.message), { cause: error }) : error;
  }
}

const wordOf: typeof optionOf = (name, value) => {
  if (!(name in parameters)) return optionOf(name, value);
  return value === undefined ? name : `${name}=${value}`;
};

const inLink = (message: string): string =>
  message.replaceAll(/^Cannot use (?:--)?([\w-]+): it/gm, (sentence, name: string) =>
    name in parameters ? `Cannot use --query: ${name}` : sentence,
  );
