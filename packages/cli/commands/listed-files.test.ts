import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterAll, expect, test } from 'vitest';
import iccidForms from '../../../test/corpus/iccid-forms.json' with { type: 'json' };
import { filterParameters } from '../../contract/query.ts';
import { addParameterOptions } from './filter-options.ts';
import { readListedFiles } from './listed-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'subreport-'));
afterAll(() => rmSync(folder, { recursive: true }));

test.each(iccidForms)(
  '--iccid-file and --iccid understand ICCIDs with $form, or name them',
  async ({ text, values }) => {
    const file = join(folder, 'iccids.txt');
    writeFileSync(file, text);
    const listed = readListedFiles({ iccidFile: file });
    if (values.length > 0) expect((await listed).lists).toEqual({ iccid: values });
    else await expect(listed).rejects.toThrow('Cannot use --iccid-file: line');
    const command = addParameterOptions(new Command(), { iccid: filterParameters.iccid });
    expect(command.parse(['--iccid', text], { from: 'user' }).opts()).toEqual({
      iccid: values.length === 1 ? values[0] : text,
    });
  },
);
