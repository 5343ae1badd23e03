import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';

/** Maximum bytes of the client library, minified and compressed. */
export const clientBytesMax = 9_700;

/** Bytes of a module with everything that it imports, minified by a bundler and compressed. */
export async function minifiedBytes(entry: string): Promise<number> {
  const bundle = await rolldown({ input: entry, logLevel: 'silent' });
  try {
    const { output } = await bundle.generate({ format: 'esm', minify: true });
    return gzipSync(output[0].code, { level: 9 }).length;
  } finally {
    await bundle.close();
  }
}
