import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { checkersFolder, hasCheckers } from '../../tools/has-checkers.ts';

const deploy = fileURLToPath(new URL('../../deploy/', import.meta.url));

test.runIf(hasCheckers('the files of deploy/ are not checked'))(
  'unknown fields and wrong types in the files of deploy/ are faults',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'subreport-deploy-'));
    cpSync(deploy, folder, { recursive: true });
    const edit = (file: string, from: string, to: string) => {
      const text = readFileSync(join(folder, file), 'utf8');
      expect(text).toContain(from);
      writeFileSync(join(folder, file), text.replace(from, to));
    };
    edit('compose.yaml', 'mem_limit', 'memory_limit');
    edit('kubernetes/subreport.yaml', 'minAvailable', 'leastAvailable');
    edit('kubernetes/subreport-sync.yaml', 'backoffLimit: 2', 'backoffLimit: two');
    const { stderr, status } = spawnSync(
      process.execPath,
      [join(checkersFolder, 'check-deployments.ts'), `${folder}/`],
      { encoding: 'utf8' },
    );
    rmSync(folder, { recursive: true });
    expect(status).toBe(1);
    expect(stderr).toMatch(/additionalProperty":"memory_limit"/);
    expect(stderr).toMatch(/'"leastAvailable"' does not exist/);
    expect(stderr).toMatch(/Type 'string' is not assignable to type 'number'/);
  },
);
