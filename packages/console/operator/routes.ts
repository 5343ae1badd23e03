/** Where the session's cookie authorizes the operations. */
const base = '/console';

/** Replaces each `{name}` of a path, and adds the query string. */
export function urlOf(
  path: string,
  params: Readonly<Record<string, string>> = {},
  query: Readonly<Record<string, string | number | undefined>> = {},
): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  const sent = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, String(value)]],
  );
  return `${base}${filled}${sent.length === 0 ? '' : `?${new URLSearchParams(sent)}`}`;
}
