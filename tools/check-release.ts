import { readFileSync } from 'node:fs';

// Refuses a changelog whose newest version is not that of package.json:
//   node tools/check-release.ts            while entries are collected under "Unreleased"
//   node tools/check-release.ts --release  before a release is tagged: "Unreleased" must be empty

/** What is wrong with a changelog for a version, if anything. */
export function findReleaseFault(changelog: string, version: string, isRelease: boolean): string | undefined {
  const [, ...sections] = changelog.split(/^## /m);
  const [unreleased = '', newest = ''] = sections;
  if (!unreleased.startsWith('[Unreleased]\n'))
    return "Cannot release: the first section of CHANGELOG.md must be '## [Unreleased]'";
  const [heading = ''] = newest.split('\n');
  const [, found] = /^(\d+\.\d+\.\d+) - \d{4}-\d{2}-\d{2}$/.exec(heading) ?? [];
  if (found !== version)
    return `Cannot release: the section after '[Unreleased]' must be '## ${version} - ' and a date: current value is '## ${heading}'`;
  if (isRelease && /^- /m.test(unreleased))
    return `Cannot release: entries under '[Unreleased]' must move to the section of version ${version}`;
  return undefined;
}

if (import.meta.main) {
  const read = (file: string): string => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
  const { version } = JSON.parse(read('package.json')) as { version: string };
  const fault = findReleaseFault(read('CHANGELOG.md'), version, process.argv.includes('--release'));
  if (fault !== undefined) {
    console.error(fault);
    process.exitCode = 1;
  }
}
