import { Option } from 'commander';
import { UsageError } from '../../../terminal/error.ts';
import { commandGroup, listCommand, operationCommand } from './operation-command.ts';

const list = listCommand({
  name: 'list',
  operation: 'listKeys',
  description: 'list the keys, newest first, with the state of each and the date of its automatic rotation',
  examples: ['keys list --json'],
  columns: {
    PURPOSE: 'purpose',
    KID: 'kid',
    ALG: 'alg',
    STATE: 'state',
    'IN USE FROM': 'activates_at',
    ENDS: 'ends_at',
    'ROTATION DUE': 'rotation_due_at',
    ENCRYPTED: 'encrypted',
  },
});

const rotate = operationCommand({
  name: 'rotate',
  operation: 'rotateKeys',
  description: 'generate the next key; it is published now and used after six minutes, so that no request fails',
  inputs: {
    purpose: { hint: 'access: signs access tokens; refresh: protects refresh tokens' },
    mode: null,
  },
  options: [
    () => new Option('--now', 'use the new key immediately; existing tokens stay valid'),
    () =>
      new Option(
        '--compromised',
        'use the new key immediately and delete all older keys; tokens made with them are rejected',
      ),
  ],
  examples: ['keys rotate', 'keys rotate --compromised'],
  prepare(given, { now, compromised }) {
    if (now === true && compromised === true)
      throw new UsageError('Cannot rotate: --now and --compromised must not be combined');
    if (compromised === true) return { ...given, mode: 'compromised' as const };
    return now === true ? { ...given, mode: 'now' as const } : given;
  },
  text({ purpose, kid, activates_at }) {
    const wait = Math.ceil((Date.parse(activates_at) - Date.now()) / 1000);
    return `The new ${purpose} key ${kid} ${wait > 0 ? `takes over in ${wait} seconds` : 'is in use'}.`;
  },
});

export const addKeysCommand = commandGroup(
  'keys',
  'list and rotate the keys that sign access tokens and protect refresh tokens',
  [list, rotate],
);
