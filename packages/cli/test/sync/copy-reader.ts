import { writeSync } from 'node:fs';
import { digestOfCopy } from './read-copy.ts';

// node copy-reader.ts DESTINATION: reads a copy again and again until SIGTERM. Prints the digest of
// each copy that differs from the one before, and last the number of reads.

const options = JSON.parse(process.argv[2] ?? '');
let isStopped = false;
process.on('SIGTERM', () => {
  isStopped = true;
});
let [last, reads] = ['', 0];
while (!isStopped) {
  const found = await digestOfCopy(options);
  reads += 1;
  if (found !== last) writeSync(1, `${found}\n`);
  last = found;
  await new Promise((resolve) => setTimeout(resolve, 20));
}
writeSync(1, `${reads}\n`);
