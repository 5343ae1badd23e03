import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packagesFolder } from './stage-packages.ts';
import { makeProject } from './try/project.ts';

// Writes the bill of materials of each tarball of `npm run pack`, as npm installs it, to
// dist/sbom/:
//   node tools/packages/write-sboms.ts

const root = fileURLToPath(new URL('../../', import.meta.url));
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
const folder = join(root, 'dist/sbom');
mkdirSync(folder, { recursive: true });
for (const name of ['subreport', 'subreport-cli', 'subreport-client', 'subreport-mcp']) {
  const project = makeProject(mkdtempSync(join(tmpdir(), 'subreport-sbom-')), { name: 'sbom', version });
  const npm = (...args: string[]): string => execFileSync('npm', args, { cwd: project, encoding: 'utf8' });
  npm('install', '--ignore-scripts', '--no-audit', '--no-fund', join(packagesFolder, `${name}-${version}.tgz`));
  const bill = npm('sbom', '--sbom-format', 'cyclonedx');
  rmSync(project, { recursive: true });
  const { components } = JSON.parse(bill) as { components: readonly unknown[] };
  writeFileSync(join(folder, `${name}.cdx.json`), bill);
  console.log(`dist/sbom/${name}.cdx.json: ${components.length} packages`);
}
