import type { Setting } from '../contract/operator-setting.ts';
import { type Config, settings, showConfig } from './config.ts';

/** The settings in force, for the operator's API; of a secret only whether it is set. */
export const listSettings = (config: Config): readonly Setting[] =>
  showConfig(config).map(({ name, value, ...rest }) => ({
    name,
    value: 'secret' in settings[name as keyof typeof settings] ? null : value,
    is_set: value !== '',
    ...rest,
  }));
