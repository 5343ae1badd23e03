/**
 * Parses the body of a response; `undefined` if it is not JSON. Rejects if the connection breaks,
 * which `Response.json` does not distinguish.
 */
export async function readJson<T>(response: Response): Promise<T | undefined> {
  const text = await response.text();
  try {
    return JSON.parse(text) as T;
  } catch {
    return undefined;
  }
}
