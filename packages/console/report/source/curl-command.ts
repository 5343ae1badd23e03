import type { ExportOptions } from '../../../client/export.ts';
import { bodyOf, type ExportQuery, isForBody, queryStringOf } from '../../../client/query.ts';
import { reportPaths } from '../../../contract/report.ts';

/** Returns the curl command that reads a record from the service with this origin. */
export function recordCommand(origin: string, id: string, asOf?: string): string {
  const query = asOf === undefined ? '' : `?${queryStringOf({ 'as-of': asOf })}`;
  return commandOf(origin + reportPaths.getSubscription.replace('{id}', encodeURIComponent(id)) + query, []);
}

/**
 * Returns the curl command that exports a report to a file; an email address or a list is in its
 * request body.
 */
export function exportCommand(
  origin: string,
  query: ExportQuery,
  format: ExportOptions['format'],
  file: string,
): string {
  const wanted = { ...query, all: true, format };
  const save = `-o ${quoted(file)}`;
  return !isForBody(query)
    ? commandOf(`${origin}${reportPaths.listSubscriptions}?${queryStringOf(wanted)}`, [save])
    : commandOf(origin + reportPaths.searchSubscriptions, [
        save,
        "-H 'Content-Type: application/json'",
        `-d ${quoted(JSON.stringify(bodyOf(wanted)))}`,
      ]);
}

/** What a link of the subscriptions does not have. */
interface Unlinked {
  readonly email?: string | undefined;
  readonly listed?: { readonly name: string; readonly values: readonly string[] } | undefined;
  readonly dates?: ExportQuery['dates'];
}

/**
 * Returns the `subreport` command that exports the report of a link to a file: the link, and what
 * it does not have. Its days such as `last-month` are those of the time when it runs.
 */
export function linkCommand(link: string, { email, listed, dates }: Unlinked, file: string): string {
  const options = [
    `subreport export ${quoted(file)}`,
    `--query ${quoted(link)}`,
    ...(dates === 'local' ? ['--dates local'] : []),
    ...(email === undefined ? [] : [`--email ${quoted(email)}`]),
    ...(listed === undefined ? [] : [`--${listed.name}-file - <<'END'`]),
  ].join(' \\\n  ');
  return listed === undefined ? options : [options, ...listed.values, 'END'].join('\n');
}

function commandOf(url: string, options: readonly string[]): string {
  return [`curl -fsS ${quoted(url)}`, '-H "Authorization: Bearer $ACCESS_TOKEN"', ...options].join(' \\\n  ');
}

/** Quotes a string for a POSIX shell, which changes nothing between single quotes. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
