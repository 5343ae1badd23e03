const decoder = new TextDecoder('utf-8', { fatal: true });

/** A JSON object, and the names of its members with those that are repeated. */
interface JsonObject {
  readonly members: Readonly<Record<string, unknown>>;
  readonly names: readonly string[];
}

/** Parses a request body as one JSON object in UTF-8; `undefined` if it is anything else. */
export function parseJsonObject(body: Uint8Array): JsonObject | undefined {
  try {
    const text = decoder.decode(body);
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return { members: value as Record<string, unknown>, names: memberNames(text) };
  } catch {
    // a TypeError of the decoder or a SyntaxError, whose message would contain part of the body
    return undefined;
  }
}

/** The member names of an object, including repeated ones, which `JSON.parse` drops silently. */
function memberNames(json: string): string[] {
  const names: string[] = [];
  let depth = 0;
  for (const [token, text, colon] of json.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?|[[{]|[\]}]/g)) {
    if (text !== undefined) {
      if (depth === 1 && colon !== undefined) names.push(JSON.parse(text));
    } else depth += token === '{' || token === '[' ? 1 : -1;
  }
  return names;
}
