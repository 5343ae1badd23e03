import { readFileSync } from 'node:fs';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';

// Prints what arethetypeswrong finds in tarballs, as JSON, one problem a line. `require` of an
// ESM-only package is not one: Node.js 20.19, 22.12 and later support it.

for (const tarball of process.argv.slice(2)) {
  const found = await checkPackage(createPackageFromTarballData(new Uint8Array(readFileSync(tarball))));
  const problems = found.types === false ? [{ kind: 'NoTypes' }] : found.problems;
  for (const problem of problems.filter(({ kind }) => kind !== 'CJSResolvesToESM'))
    process.stdout.write(`${JSON.stringify(problem)}\n`);
}
