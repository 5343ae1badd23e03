import { gzipSync } from 'node:zlib';
import { type ConsoleName, filesOfFirstPage } from './build-console.ts';

// Prints the weight of each console's first page, compressed. Fails if one is heavier than allowed.

/** Maximum bytes of a first page: HTML, style, icon and scripts, each compressed by gzip. */
const firstPageBytesMax = 90_000;

const names: readonly ConsoleName[] = ['report', 'operator'];

for (const name of names) {
  const files = await filesOfFirstPage(name);
  const bytes = files.reduce((sum, { content }) => sum + gzipSync(content, { level: 9 }).length, 0);
  const kilobytes = `${(bytes / 1000).toFixed(1)} kB of at most ${firstPageBytesMax / 1000} kB in ${files.length} files`;
  console.log(`the first page of the ${name} console: ${kilobytes}`);
  if (bytes > firstPageBytesMax) process.exitCode = 1;
}
