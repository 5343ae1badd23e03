import { expect, test } from 'vitest';
import { findReleaseFault } from '../../tools/check-release.ts';

const released = '## 0.2.0 - 2027-01-31\n\n- A.\n\n## 0.1.0 - 2026-11-22\n\n- B.\n';
const unreleased = '# Changelog\n\n## [Unreleased]\n\n';

test.each([
  ['no entries since the release', `${unreleased}${released}`, true, undefined],
  ['entries since the release, in between', `${unreleased}### Fixed\n\n- C.\n\n${released}`, false, undefined],
  ['entries without a version', `${unreleased}### Fixed\n\n- C.\n\n${released}`, true, "entries under '[Unreleased]'"],
  ['no section of the version', `${unreleased}${released.slice(released.indexOf('## 0.1'))}`, false, "'## 0.2.0 - '"],
  ['a section without a date', `${unreleased}## 0.2.0\n`, false, "'## 0.2.0 - '"],
  ['nothing released', unreleased, false, "'## 0.2.0 - '"],
  ["no section 'Unreleased'", `# Changelog\n\n${released}`, false, "'## [Unreleased]'"],
])('a changelog with %s', (_title, changelog, isRelease, fault) => {
  const found = findReleaseFault(changelog, '0.2.0', isRelease);
  if (fault === undefined) expect(found).toBeUndefined();
  else expect(found).toContain(fault);
});
