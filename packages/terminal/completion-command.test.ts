import { execFileSync, spawnSync } from 'node:child_process';
import { beforeAll, describe, expect, test } from 'vitest';
import { runCommandLine } from '../service/cli/command-line.ts';

const scriptOf = async (shell: string): Promise<string> => {
  let text = '';
  const keep = { write: (part: string | Uint8Array) => (text += part) };
  expect(await runCommandLine(['completion', shell], { stdout: keep, stderr: keep })).toBe(0);
  return text;
};

const isThere = (shell: string): boolean => spawnSync(shell, ['--version']).status === 0;

describe.runIf(isThere('bash'))('completion in bash', () => {
  let script: string;
  beforeAll(async () => {
    script = await scriptOf('bash');
  });
  /** What bash offers for the last word. */
  const complete = (...words: string[]): string[] => {
    const quoted = ['subreport', ...words].map((word) => `'${word}'`).join(' ');
    const call = `COMP_WORDS=(${quoted}); COMP_CWORD=${words.length}; _subreport; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return execFileSync('bash', ['-c', `${script}\n${call}`], { encoding: 'utf8' })
      .split('\n')
      .filter(Boolean);
  };

  test.each([
    [['li'], ['list']],
    [
      ['tenant', ''],
      ['create', 'delete', 'list', 'map-columns', 'help'],
    ],
    [['client', 're'], ['revoke-tokens']],
    [['list', '--stat'], ['--status']],
    [['list', '--date-field', 'e'], ['expiration']],
    [
      ['list', '--quiet', '-o', ''],
      ['table', 'json', 'ndjson', 'csv'],
    ],
    [['--env', '.env', 'summ'], ['summary']],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish', 'powershell'],
    ],
    [['export', ''], []],
    [['export', '--iccid', ''], []],
  ])('%j offers %j', (words, offered) => {
    expect(complete(...words)).toEqual(offered);
  });
});

test.each(['zsh', 'fish', 'powershell'])('the script for %s has every command and option', async (shell) => {
  const script = await scriptOf(shell);
  for (const word of ['tenant create', 'expires-within', 'revoke-tokens', '-createdDate', 'ndjson'])
    expect(script).toContain(word);
  if (shell !== 'powershell' && isThere(shell))
    expect(spawnSync(shell, ['-n', '-c', script], { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
});
